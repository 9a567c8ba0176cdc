/**
 * Executes a transaction in the machine, once: what must not land is taken back. A node's preflight is a second execution,
 * and the machine is by far the most expensive part of a send.
 */
import {
  isWritable,
  MalformedTransaction,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaTransaction,
} from '@bellwether/protocol';
import type { ChainAccount, LandedMeta, LoadedAddresses, NodeRefusal } from './chain-interface.ts';
import type { Machine, Run } from './machine.ts';
import { INVALID_PARAMS, PREFLIGHT_FAILED, SIGNATURE_FAILED } from './rpc/requests.ts';
import { errorSentence } from './transaction-errors.ts';

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
): Effect | NodeRefusal {
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
function refusalOf({ tx, run, before, after, lands }: Executed): NodeRefusal | null {
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
): NodeRefusal | null {
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

// The accounts that a transaction names, and whether it changed one of them.

/** Static ones first, then what is loaded: the order of a message's indices. */
export const addressesOf = (tx: SolanaTransaction, loaded: LoadedAddresses): string[] => [
  ...tx.accountKeys,
  ...loaded.writable,
  ...loaded.readonly,
];

const writableOf = (tx: SolanaTransaction, loaded: LoadedAddresses): string[] => [
  ...tx.accountKeys.filter((_, index) => isWritable(tx, index)),
  ...loaded.writable,
];

function isSame(a: ChainAccount | null, b: ChainAccount | null): boolean {
  if (a === null || b === null) return a === b;
  return a.lamports === b.lamports && a.owner === b.owner && Buffer.from(a.data).equals(b.data);
}

// Limits the size of accounts. Space costs only play money and accounts are stored permanently, so an account has at
// most 10 KB: enough for tokens with their extensions and for lookup tables, small enough for a free sandbox.

const MAX_ACCOUNT_BYTES = 10_240;

/** Instructions of the system program that allocate space, by number: the offset of the size in their data. */
const SPACE_AT: ReadonlyMap<number, (view: DataView) => number> = new Map<number, (view: DataView) => number>(
  [
    [0, () => 12], // create account: number, lamports, space
    [3, (view) => seedEnd(view) + 8], // create account with seed: number, base, seed, lamports, space
    [8, () => 4], // allocate: number, space
    [9, (view) => seedEnd(view)], // allocate with seed: number, base, seed, space
  ],
);
const SEED_AT = 36;
const MAX_SEED_BYTES = 32n;

/** The offset after a seed: eight bytes of length, then the seed. The program itself refuses longer seeds. */
function seedEnd(view: DataView): number {
  const length = view.byteLength < SEED_AT + 8 ? 0n : view.getBigUint64(SEED_AT, true);
  return SEED_AT + 8 + Number(length > MAX_SEED_BYTES ? 0n : length);
}

function spaceAsked({ program, data }: SolanaTransaction['instructions'][number]): bigint {
  if (program !== SOLANA_PROGRAMS.system || data.length < 4) return 0n;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const at = SPACE_AT.get(view.getUint32(0, true))?.(view);
  return at === undefined || data.length < at + 8 ? 0n : view.getBigUint64(at, true);
}

/**
 * Why the transaction makes an account too large; `null` when it does not. Before execution the instructions are
 * checked, to avoid useless large allocations; after execution (`after`) the resulting accounts.
 */
export function oversized(
  tx: SolanaTransaction,
  after?: ReadonlyMap<string, ChainAccount | null>,
  before: (address: string) => ChainAccount | null = () => null,
): string | null {
  if (after === undefined) {
    const asked = tx.instructions.map(spaceAsked).find((space) => space > MAX_ACCOUNT_BYTES);
    return asked === undefined ? null : sentence(asked);
  }
  for (const [address, account] of after) {
    const bytes = account?.data.length ?? 0;
    if (bytes > MAX_ACCOUNT_BYTES && bytes > (before(address)?.data.length ?? 0))
      return sentence(BigInt(bytes));
  }
  return null;
}

const sentence = (bytes: bigint): string =>
  `the sandbox keeps accounts of at most ${MAX_ACCOUNT_BYTES} bytes; this transaction asks for ${bytes}`;

// The fee of a transaction: 5,000 lamports per signature, and the compute units it bids for.

const LAMPORTS_PER_SIGNATURE = 5_000n;
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const SET_LIMIT = 2;
const SET_PRICE = 3;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
const MAX_UNITS = 1_400_000n;
const UNITS_OF_A_PROGRAM = 200_000n;
const UNITS_OF_A_BUILTIN = 3_000n;
/** Builtin programs, which cost little. The loaders are missing: calling them is refused here. */
const BUILTINS: ReadonlySet<string> = new Set([COMPUTE_BUDGET, '11111111111111111111111111111111']);

type Instructions = Pick<SolanaTransaction, 'instructions' | 'requiredSignatures'>;

/** In lamports. Signatures that precompiled programs check are not counted: they cost more on the real network. */
export function feeOf(tx: Instructions): bigint {
  let price = 0n;
  let limit: bigint | null = null;
  let units = 0n;
  for (const { program, data } of tx.instructions) {
    const isBudget = program === COMPUTE_BUDGET;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (isBudget && data[0] === SET_LIMIT && data.length >= 5) limit = BigInt(view.getUint32(1, true));
    if (isBudget && data[0] === SET_PRICE && data.length >= 9) price = view.getBigUint64(1, true);
    units += BUILTINS.has(program) ? UNITS_OF_A_BUILTIN : UNITS_OF_A_PROGRAM;
  }
  const bidFor = limit ?? units;
  const priority = price * (bidFor < MAX_UNITS ? bidFor : MAX_UNITS);
  return (
    BigInt(tx.requiredSignatures) * LAMPORTS_PER_SIGNATURE +
    (priority + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT
  );
}

// A node's answers when it refuses a transaction.

export function readOrRefuse(wire: Uint8Array): SolanaTransaction | NodeRefusal {
  try {
    return readTransaction(wire);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    return refusal(INVALID_PARAMS, `failed to deserialize the transaction: ${error.message}`);
  }
}

export const refusal = (code: number, message: string): NodeRefusal => ({ kind: 'refused', code, message });

export const preflightFailed = (err: unknown, run?: Run): NodeRefusal => ({
  kind: 'refused',
  code: PREFLIGHT_FAILED,
  message: `Transaction simulation failed: ${errorSentence(err)}`,
  data: { err, logs: run?.logs ?? [], unitsConsumed: run?.unitsConsumed ?? 0n },
});
