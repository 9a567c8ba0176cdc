/**
 * Executes a transaction in the machine, once: what must not land is taken back. A node's preflight is a second execution,
 * and the machine is by far the most expensive part of a send.
 */
import { SOLANA_PROGRAMS, type SolanaTransaction } from '@bellwether/protocol';
import { oversized } from './account-size.ts';
import { feeOf } from './fee.ts';
import type { Machine, Run } from './machine.ts';
import { preflightFailed, refusal } from './refusals.ts';
import { INVALID_PARAMS, SIGNATURE_FAILED } from './rpc/rpc-error.ts';
import { addressesOf, isSame, writableOf } from './touched-accounts.ts';
import type { ChainAccount, LandedMeta, Refusal } from './types.ts';

/** The effect of a transaction that lands; when it failed, only its fee. */
export interface Effect {
  readonly kind: 'effect';
  readonly run: Run;
  /** Every account that changed; `null`: deleted. */
  readonly accounts: ReadonlyMap<string, ChainAccount | null>;
  readonly meta: LandedMeta;
}

type Accounts = ReadonlyMap<string, ChainAccount | null>;

/** @param lands whether a failing transaction lands, for its fee */
export function executeOnce(
  machine: Machine,
  { tx, wire, lands }: { readonly tx: SolanaTransaction; readonly wire: Uint8Array; readonly lands: boolean },
): Effect | Refusal {
  const loadedAddresses = machine.loadedAddresses(tx);
  const addresses = addressesOf(tx, loadedAddresses);
  const before = read(machine, addresses);
  const run = machine.execute(tx, wire);
  const writable = writableOf(tx, loadedAddresses);
  // Only these can have changed.
  const after: Accounts = new Map([...before, ...read(machine, writable)]);
  const refused = refusalOf({ tx, run, before, after, lands });
  if (refused !== null) {
    restore(machine, writable, before, after);
    return refused;
  }
  const accounts = new Map<string, ChainAccount | null>();
  for (const address of writable) {
    const account = after.get(address) ?? null;
    if (account?.executable === true || isSame(before.get(address) ?? null, account)) continue;
    machine.noteWritten(address, account);
    accounts.set(address, account);
  }
  const sheetOf = (state: Accounts) => machine.balances(addresses, (address) => state.get(address) ?? null);
  const { logs, unitsConsumed, returnData, inner } = run;
  const [pre, post] = [sheetOf(before), sheetOf(after)];
  const meta = { fee: feeOf(tx), logs, unitsConsumed, returnData, inner, pre, post, loadedAddresses };
  return { kind: 'effect', run, accounts, meta };
}

const read = (machine: Machine, addresses: readonly string[]): Accounts =>
  new Map(addresses.map((address) => [address, machine.account(address)]));

interface Executed {
  readonly tx: SolanaTransaction;
  readonly run: Run;
  readonly before: Accounts;
  readonly after: Accounts;
  readonly lands: boolean;
}

/** In a node's order. */
function refusalOf({ tx, run, before, after, lands }: Executed): Refusal | null {
  const fault = faultOf(tx, { run, after }, (address) => before.get(address) ?? null);
  if (fault !== null || run.err === null) return fault;
  const payer = tx.accountKeys[0]!;
  // A transaction that fails before its payer is charged never lands.
  const isCharged = after.get(payer)?.lamports !== before.get(payer)?.lamports;
  return lands && isCharged ? null : preflightFailed(run.err, run);
}

/** Refusals of a node although the transaction could be executed. */
export function faultOf(
  tx: SolanaTransaction,
  { run, after }: { readonly run: Run; readonly after: Accounts },
  before: (address: string) => ChainAccount | null,
): Refusal | null {
  const grown = run.err === null ? oversized(tx, after, before) : null;
  if (grown !== null) return refusal(INVALID_PARAMS, grown);
  return run.err === 'SignatureFailure'
    ? refusal(SIGNATURE_FAILED, 'Transaction signature verification failure')
    : null;
}

function restore(machine: Machine, writable: readonly string[], before: Accounts, after: Accounts): void {
  for (const address of writable) {
    const [was, is] = [before.get(address) ?? null, after.get(address) ?? null];
    if (!isSame(was, is)) machine.put({ address, account: was ?? GONE });
  }
}

/** An account without lamports does not exist. */
const GONE: ChainAccount = {
  lamports: 0n,
  owner: SOLANA_PROGRAMS.system,
  data: new Uint8Array(),
  executable: false,
};
