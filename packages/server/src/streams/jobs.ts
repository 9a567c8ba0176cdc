import type { Job } from '../platform/scheduler.ts';
import { type ForgetFactsParts, forgetFacts } from './forget-facts.ts';

const EVERY_MS = 300_000;

export const forgetFactsJob = (needs: ForgetFactsParts): Job => ({
  name: 'forget facts',
  everyMs: EVERY_MS,
  run: () => forgetFacts(needs),
});
