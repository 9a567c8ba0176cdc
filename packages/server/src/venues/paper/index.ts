/** The paper exchange and the sandbox on its book, which venues on paper share: what they and the wiring may use of it. */

export { createStandby, type LocalParts } from './lead.ts';
export { relaySocket } from './leader-calls.ts';
export { createLivePaperMarkets, onLiveBooks, startLiveMirror } from './live-mirror.ts';
export { type PaperBackend, startPaperBackend } from './paper-backend.ts';
export { createPaperMarketData } from './paper-market-data.ts';
export {
  createExchangeCalls,
  createPaperVenue,
  createTurns,
  creditOnce,
  type ExchangeCalls,
} from './paper-venue.ts';
export { createSandboxHolder } from './sandbox-holder.ts';
export { toEvidence } from './translate.ts';
