/** The paper exchange and the sandbox on its book, which venues on paper share: what they and the wiring may use of it. */

export { creditOnce } from './credit-once.ts';
export { startLiveMirror } from './live-mirror.ts';
export { createLivePaperMarkets, onLiveBooks } from './live-paper.ts';
export type { LocalParts } from './local-parts.ts';
export { type PaperBackend, startPaperBackend } from './paper-backend.ts';
export { createPaperMarketData } from './paper-market-data.ts';
export { createExchangeCalls, createTurns, type ExchangeCalls } from './paper-venue.ts';
export { createSandboxHolder } from './sandbox-holder.ts';
export { relaySocket } from './socket-relay.ts';
export { createStandby } from './standby.ts';
export { toEvidence } from './translate.ts';
export { createPaperVenue } from './venue.ts';
