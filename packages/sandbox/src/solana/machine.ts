/**
 * The virtual machine: litesvm with the programs of the real network. It only executes; it uses neither blocks nor the
 * database. `chain.ts` checks whether a blockhash is valid and a transaction is new.
 *
 * litesvm's own wrapper decodes and encodes every transaction and address through @solana/kit, which makes reading an
 * account a hundred times slower (measured: 36 µs against 0.3); so its native binding is used directly. The version is
 * pinned, and the tests cover every call that is used here.
 */
import { parseBase58, type SolanaTransaction, toBase58 } from '@bellwether/protocol';
import type {
  FailedTransactionMetadata,
  LiteSvm,
  SimulatedTransactionInfo,
  TransactionMetadata,
} from 'litesvm/dist/internal.js';
import type {
  AddressedAccount,
  BalanceSheet,
  ChainAccount,
  InnerInstructions,
  LoadedAddresses,
  ReturnData,
  TokenBalance,
  TokenFilter,
} from './chain-interface.ts';
import { readToken, TokenIndex } from './token-accounts.ts';
import { toRpcError } from './transaction-errors.ts';

type Binding = typeof import('litesvm/dist/internal.js');

/** The outcome of a transaction in the machine. */
export interface Run {
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  readonly returnData: ReturnData | null;
  readonly inner: readonly InnerInstructions[];
}

/** Bytes of a lookup table's header; its addresses follow. */
const TABLE_HEADER_BYTES = 56;
const KEY_BYTES = 32;
const ADDRESS_LOOKUP_TABLES = 'AddressLookupTab1e1111111111111111111111111';
/** How many of the newest blocks the machine's sysvar of slots names; tables can be made with a slot of these. */
const SLOT_HASHES = 64;
const SLOTS_PER_EPOCH = 432_000n;
/** Bounds the cache: any caller may assign an account to any program. */
const MAX_REMEMBERED_PROGRAMS = 1_000;
/** About 150 bytes each. Any caller may ask for any address. */
const MAX_REMEMBERED_KEYS = 10_000;

export async function createMachine(): Promise<Machine> {
  return new Machine(await import('litesvm/dist/internal.js'));
}

export class Machine {
  readonly #binding: Binding;
  readonly #vm: LiteSvm;
  readonly #tokens = new TokenIndex();
  /** Cache of program addresses, which are few and encoded often: by their bytes in hex, and by base58. */
  readonly #programs = new Map<string, string>();
  readonly #programKeys = new Map<string, Uint8Array>();
  /**
   * Executable accounts by address. Their set is fixed, and only their lamports may change; the largest has 100 KB, which
   * would be copied for each transaction that names it.
   */
  readonly #executables = new Map<string, ChainAccount>();
  /** Cache of the bytes of addresses. */
  readonly #keys = new Map<string, Uint8Array>();
  #time = { slot: -1, second: -1 };

  constructor(binding: Binding) {
    this.#binding = binding;
    this.#vm = new binding.LiteSvm();
    this.#vm.setBlockhashCheck(false);
    this.#vm.setTransactionHistory(0n);
  }

  /** Sets the sysvars to the given time. @param hashes of a slot */
  setTime(slot: number, nowMs: number, hashes: (slot: number) => string): void {
    const second = Math.floor(nowMs / 1000);
    const previous = this.#time;
    if (slot === previous.slot && second === previous.second) return;
    this.#time = { slot, second };
    const epoch = BigInt(slot) / SLOTS_PER_EPOCH;
    this.#vm.setClock(new this.#binding.Clock(BigInt(slot), 0n, epoch, epoch + 1n, BigInt(second)));
    if (slot === previous.slot) return;
    const named: { slot: bigint; hash: string }[] = [];
    for (let past = slot - 1; past >= 0 && named.length < SLOT_HASHES; past--)
      named.push({ slot: BigInt(past), hash: hashes(past) });
    this.#vm.setSlotHashes(named);
  }

  /** Checks signatures, executes, and keeps the result; a failed transaction still pays its fee. */
  execute(tx: SolanaTransaction, wire: Uint8Array): Run {
    const result =
      tx.version === 'legacy'
        ? this.#vm.sendLegacyTransaction(wire)
        : this.#vm.sendVersionedTransaction(wire);
    return isFailed(result) ? failedRun(result) : runOf(null, result);
  }

  /** @returns also the resulting accounts by address (`null`: deleted); empty when it fails */
  simulate(
    tx: SolanaTransaction,
    wire: Uint8Array,
    checkSignatures: boolean,
  ): { run: Run; after: ReadonlyMap<string, ChainAccount | null> } {
    this.#vm.setSigverify(checkSignatures);
    let result: SimulatedTransactionInfo | FailedTransactionMetadata;
    try {
      result =
        tx.version === 'legacy'
          ? this.#vm.simulateLegacyTransaction(wire)
          : this.#vm.simulateVersionedTransaction(wire);
    } finally {
      this.#vm.setSigverify(true);
    }
    if (isFailed(result)) return { run: failedRun(result), after: new Map() };
    const after = new Map(
      result.postAccounts().map((one) => {
        const address = toBase58(one.address);
        return [address, this.#present(address, one.account())] as const;
      }),
    );
    return { run: runOf(null, result.meta()), after };
  }

  account(address: string): ChainAccount | null {
    const key = this.#keyOf(address);
    if (key === null) return null;
    const program = this.#executables.get(address);
    if (program === undefined) return this.#present(address, this.#vm.getAccount(key));
    const lamports = this.#vm.getBalance(key) ?? 0n;
    return lamports === 0n ? null : { ...program, lamports };
  }

  put({ address, account }: AddressedAccount): void {
    const { Account } = this.#binding;
    const { lamports, data, owner, executable } = account;
    const [key, program] = [keyOf(address), this.#keyOfProgram(owner)];
    // The owner of an account without lamports does not matter.
    const value = lamports === 0n ? new Account(0n, new Uint8Array(), program, false, 0n) : null;
    this.#vm.setAccount(key, value ?? new Account(lamports, data, program, executable, 0n));
    this.#tokens.note(address, lamports === 0n ? null : account);
  }

  /** Calls back with every account that an executed transaction could write to. */
  noteWritten(address: string, account: ChainAccount | null): void {
    this.#tokens.note(address, account);
  }

  ownedTokens(owner: string, filter: TokenFilter): AddressedAccount[] {
    return this.#matching(this.#tokens.ofOwner(owner), filter);
  }

  minimumBalance(bytes: number): bigint {
    return this.#vm.minimumBalanceForRentExemption(BigInt(bytes));
  }

  /** The lookup tables' addresses at the indices; missing ones are omitted, and the machine then refuses. */
  loadedAddresses(tx: SolanaTransaction): LoadedAddresses {
    const writable: string[] = [];
    const readonly: string[] = [];
    for (const lookup of tx.lookups) {
      const table = this.account(lookup.table);
      if (table?.owner !== ADDRESS_LOOKUP_TABLES) continue;
      const at = (index: number): string[] => {
        const start = TABLE_HEADER_BYTES + index * KEY_BYTES;
        return start + KEY_BYTES > table.data.length
          ? []
          : [toBase58(table.data.subarray(start, start + KEY_BYTES))];
      };
      writable.push(...lookup.writable.flatMap(at));
      readonly.push(...lookup.readonly.flatMap(at));
    }
    return { writable, readonly };
  }

  /** @param read returns the accounts in the state to report */
  balances(addresses: readonly string[], read: (address: string) => ChainAccount | null): BalanceSheet {
    const lamports: bigint[] = [];
    const tokens: TokenBalance[] = [];
    for (const [accountIndex, address] of addresses.entries()) {
      const account = read(address);
      lamports.push(account?.lamports ?? 0n);
      const token = account === null ? null : readToken(account);
      if (account === null || token?.kind !== 'account') continue;
      const { mint, owner, amount } = token;
      const minted = read(mint) ?? this.account(mint);
      const mintState = minted === null ? null : readToken(minted);
      const decimals = mintState?.kind === 'mint' ? mintState.decimals : 0;
      tokens.push({ accountIndex, mint, owner, programId: account.owner, amount, decimals });
    }
    return { lamports, tokens };
  }

  #matching(
    addresses: readonly string[],
    { mint, programId, most = Number.POSITIVE_INFINITY }: TokenFilter,
  ): AddressedAccount[] {
    const mintKey = mint === undefined ? null : keyOf(mint);
    const found: AddressedAccount[] = [];
    for (const address of addresses) {
      if (found.length >= most) break;
      const account = this.account(address);
      if (account === null) continue;
      if (programId !== undefined && account.owner !== programId) continue;
      if (mintKey !== null && !Buffer.from(mintKey).equals(account.data.subarray(0, KEY_BYTES))) continue;
      found.push({ address, account });
    }
    return found;
  }

  #present(address: string, account: InstanceType<Binding['Account']> | null): ChainAccount | null {
    if (account === null) return null;
    const lamports = account.lamports();
    if (lamports === 0n) return null;
    const known = this.#executables.get(address);
    if (known !== undefined) return { ...known, lamports };
    const executable = account.executable();
    const present: ChainAccount = {
      ...{ lamports, executable },
      owner: this.#programOf(account.owner()),
      data: account.data(),
    };
    if (executable && this.#executables.size < MAX_REMEMBERED_PROGRAMS)
      this.#executables.set(address, present);
    return present;
  }

  #programOf(key: Uint8Array): string {
    const hex = Buffer.from(key).toString('hex');
    const known = this.#programs.get(hex);
    if (known !== undefined) return known;
    const spelled = toBase58(key);
    if (this.#programs.size < MAX_REMEMBERED_PROGRAMS) this.#programs.set(hex, spelled);
    return spelled;
  }

  #keyOf(address: string): Uint8Array | null {
    const known = this.#keys.get(address);
    if (known !== undefined) return known;
    const key = parseBase58(address);
    if (key?.length !== KEY_BYTES) return null;
    if (this.#keys.size >= MAX_REMEMBERED_KEYS) this.#keys.clear();
    this.#keys.set(address, key);
    return key;
  }

  #keyOfProgram(address: string): Uint8Array {
    const known = this.#programKeys.get(address);
    if (known !== undefined) return known;
    const key = keyOf(address);
    if (this.#programKeys.size < MAX_REMEMBERED_PROGRAMS) this.#programKeys.set(address, key);
    return key;
  }
}

/** @throws RangeError for an invalid address */
function keyOf(address: string): Uint8Array {
  const key = parseBase58(address);
  if (key?.length !== KEY_BYTES) throw new RangeError(`${address} is no Solana address`);
  return key;
}

const isFailed = (
  result: TransactionMetadata | SimulatedTransactionInfo | FailedTransactionMetadata,
): result is FailedTransactionMetadata => 'err' in result;

const failedRun = (failed: FailedTransactionMetadata): Run => runOf(toRpcError(failed.err()), failed.meta());

function runOf(err: unknown, meta: TransactionMetadata): Run {
  const returned = meta.returnData();
  const data = returned.data();
  return {
    err,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    returnData: data.length === 0 ? null : { programId: toBase58(returned.programId()), data },
    inner: innerOf(meta),
  };
}

/** Calls of programs by programs, by the number of the message's instruction; those without any are left out. */
const innerOf = (meta: TransactionMetadata): InnerInstructions[] =>
  meta.innerInstructions().flatMap((made, index) => {
    if (made.length === 0) return [];
    const instructions = made.map((one) => {
      const instruction = one.instruction();
      return {
        program: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: instruction.data(),
        stackHeight: one.stackHeight(),
      };
    });
    return [{ index, instructions }];
  });

/** Programs that no transaction may call: the set of programs in the sandbox is fixed. */
const LOADERS: ReadonlySet<string> = new Set([
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]);

export const callsLoader = (tx: SolanaTransaction): boolean =>
  tx.instructions.some(({ program }) => LOADERS.has(program));
