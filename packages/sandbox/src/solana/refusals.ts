/** A node's answers when it refuses a transaction. */
import { MalformedTransaction, readTransaction, type SolanaTransaction } from '@bellwether/protocol';
import type { Run } from './machine.ts';
import { INVALID_PARAMS, PREFLIGHT_FAILED } from './rpc/rpc-error.ts';
import { errorSentence } from './transaction-errors.ts';
import type { Refusal } from './types.ts';

export function readOrRefuse(wire: Uint8Array): SolanaTransaction | Refusal {
  try {
    return readTransaction(wire);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    return refusal(INVALID_PARAMS, `failed to deserialize the transaction: ${error.message}`);
  }
}

export const refusal = (code: number, message: string): Refusal => ({ kind: 'refused', code, message });

export const preflightFailed = (err: unknown, run?: Run): Refusal => ({
  kind: 'refused',
  code: PREFLIGHT_FAILED,
  message: `Transaction simulation failed: ${errorSentence(err)}`,
  data: { err, logs: run?.logs ?? [], unitsConsumed: run?.unitsConsumed ?? 0n },
});
