/** A node's transaction errors, and which of them prove that a transaction cannot land. Reference §3.4. */
import type { SendAnswer } from '../chain.ts';
import { RpcError } from './rpc.ts';

/** The name of an `InstructionError`, or the text itself; `null` for anything else. */
function nameOf(err: unknown): string | null {
  if (typeof err === 'string') return err;
  if (err === null || typeof err !== 'object') return null;
  return Object.keys(err)[0] ?? null;
}

/** A TransactionError in RPC JSON as one line: "instruction 2: Custom 1", "BlockhashNotFound". */
export function reasonOf(err: unknown): string {
  const name = nameOf(err);
  if (name === null) return 'an error without a name';
  const detail = typeof err === 'string' ? undefined : (err as Record<string, unknown>)[name];
  if (name !== 'InstructionError' || !Array.isArray(detail)) return name;
  const [index, inner] = detail as [unknown, unknown];
  const custom = (inner as { Custom?: unknown } | null)?.Custom;
  return `instruction ${Number(index)}: ${custom === undefined ? (nameOf(inner) ?? 'an error') : `Custom ${Number(custom)}`}`;
}

/** Temporary errors, and errors of the node rather than the transaction. */
const PASSING = new Set([
  'BlockhashNotFound',
  'AccountInUse',
  'ClusterMaintenance',
  'AlreadyProcessed',
  'WouldExceedMaxBlockCostLimit',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'ResanitizationNeeded',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
]);

/** Permanent errors of a preflight. A name that is not listed proves nothing. */
const LASTING = new Set([
  'InstructionError',
  'InsufficientFundsForFee',
  'InsufficientFundsForRent',
  'SignatureFailure',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InvalidAccountForFee',
  'InvalidAccountIndex',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'MissingSignatureForFee',
  'AccountLoadedTwice',
  'InvalidWritableAccount',
  'InvalidRentPayingAccount',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'MaxLoadedAccountsDataSizeExceeded',
  'UnsupportedVersion',
  'UnbalancedTransaction',
  'DuplicateInstruction',
]);

/** Whether a simulation with this error says nothing about the transaction itself. */
export const isPassing = (err: unknown): boolean => PASSING.has(nameOf(err) ?? '');

const PREFLIGHT_FAILED = -32002;
const SIGNATURE_WRONG = -32003;
const PRECOMPILE_FAILED = -32006;
const SIGNATURES_MISCOUNTED = -32013;

/** Proof in the error of a send. */
export function sendAnswerOf(error: unknown): SendAnswer {
  if (!(error instanceof RpcError)) return { kind: 'unknown' };
  switch (error.code) {
    case SIGNATURE_WRONG:
      return { kind: 'refused', reason: 'SignatureFailure' };
    case PRECOMPILE_FAILED:
      return { kind: 'refused', reason: 'a precompiled program refuses it' };
    case SIGNATURES_MISCOUNTED:
      return { kind: 'refused', reason: 'its signatures do not fit its message' };
    case PREFLIGHT_FAILED: {
      const err = (error.data as { err?: unknown } | null | undefined)?.err;
      const name = nameOf(err) ?? '';
      if (name === 'AlreadyProcessed') return { kind: 'sent' };
      return LASTING.has(name) ? { kind: 'refused', reason: reasonOf(err) } : { kind: 'unknown' };
    }
    default:
      return { kind: 'unknown' };
  }
}
