import type { RecoveryQuestion } from '@bellwether/protocol';

/**
 * Recovers a public key on another thread. `null`: no key gives this signature. Never fails: what a thread cannot answer
 * is recovered here.
 */
export type RecoverElsewhere = (question: RecoveryQuestion) => Promise<Uint8Array | null>;
