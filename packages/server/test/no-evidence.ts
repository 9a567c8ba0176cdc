import type { Evidence } from '../src/domain/evidence.ts';

/** For tests that tell of one thing only. */
export const NO_EVIDENCE: Evidence = { outcomes: [], fills: [], markets: [], resolutions: [], deposits: [] };
