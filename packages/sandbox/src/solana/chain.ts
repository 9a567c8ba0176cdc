/**
 * A Solana chain of one node for paper trading: litesvm executes, PostgreSQL remembers. Memory is ahead of the
 * database by the commits on their way, so nothing is acknowledged before it is durable; when a commit fails, memory
 * is thrown away and read anew before anything else is served. It knows no markets and no orders.
 *
 * What it leaves out of a real network: forks (a transaction is confirmed when it is durable), durable nonces and
 * programs of one's own, both of which are refused.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '@bellwether/durable';
import {
  isWritable,
  MalformedTransaction,
  readTransaction,
  type SolanaTransaction,
  transactionId,
} from '@bellwether/protocol';
import { oversized } from './account-size.ts';
import { BLOCKHASH_LIFE_BLOCKS, type BlockClock, blockClock, hashOf, RECENT_SLOTS } from './block-clock.ts';
import { ChainStore, type Change, Superseded } from './chain-store.ts';
import { CommitLine } from './commit-line.ts';
import { Allowances, accountsOf, FAUCET_LAMPORTS, type Faucet, openFaucet, utcDay } from './faucet.ts';
import { feeOf } from './fee.ts';
import { callsLoader, createMachine, type Machine, type Run } from './machine.ts';
import { INVALID_PARAMS, PREFLIGHT_FAILED, SIGNATURE_FAILED } from './rpc/rpc-error.ts';
import { messageHashOf, type RecentTransaction, StatusCache } from './status-cache.ts';
import { errorSentence } from './transaction-errors.ts';
import {
  type AddressedAccount,
  type AirdropAllowance,
  AirdropRefused,
  type ChainAccount,
  type ChainOptions,
  type Executed,
  type LandedTransaction,
  type LoadedAddresses,
  type Refusal,
  type SandboxChain,
  SandboxChainUnavailable,
  type SendOptions,
  type SendOutcome,
  type SignatureStatus,
  type SimulateOptions,
  type SimulationOutcome,
  type TokenFilter,
  type Witness,
} from './types.ts';

/** Blocks until a transaction is final. */
const FINAL_AFTER_SLOTS = 32;
const RELOAD_PAUSE_MS = 500;
const SYSTEM_PROGRAM = '11111111111111111111111111111111';

/** @throws when the database does not answer, or holds the chain of another seed */
export async function openChain(options: ChainOptions): Promise<SandboxChain> {
  const chain = new DurableChain(options, await openFaucet(options.seed));
  await chain.start();
  return chain;
}

/** Everything that follows from what the database holds. */
interface Live {
  readonly machine: Machine;
  readonly blocks: BlockClock;
  readonly line: CommitLine;
  readonly recent: StatusCache;
  readonly allowances: Allowances;
  /** Transactions that ever landed. */
  landed: number;
}

class DurableChain implements SandboxChain {
  readonly genesisHash: string;
  readonly #options: ChainOptions;
  readonly #store: ChainStore;
  readonly #faucet: Faucet;
  readonly #witnesses = new Set<Witness>();
  /** Every time this process takes the chain it does so under this and a number. */
  readonly #name = `${randomUUID()}:`;
  #times = 0;
  #live: Live | null = null;
  #reloading: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ChainOptions, faucet: Faucet) {
    this.#options = options;
    this.#faucet = faucet;
    this.#store = new ChainStore(options.sql, options.seed);
    this.genesisHash = hashOf(options.seed, 'genesis');
  }

  async start(): Promise<void> {
    this.#live = await this.#load();
    if (this.account(this.#faucet.address) === null) await this.#fillFaucet();
  }

  slot(): number {
    return this.#open().blocks.slot();
  }

  blockHeight(): number {
    return this.slot();
  }

  latestBlockhash(): { blockhash: string; lastValidBlockHeight: number } {
    const { blocks } = this.#open();
    const slot = blocks.slot();
    return { blockhash: blocks.blockhash(slot), lastValidBlockHeight: slot + BLOCKHASH_LIFE_BLOCKS };
  }

  isBlockhashValid(blockhash: string): boolean {
    return this.#open().blocks.isValid(blockhash);
  }

  transactionCount(): number {
    return this.#open().landed;
  }

  landedSince(slot: number): number {
    return this.#open().recent.durableSince(slot);
  }

  minimumBalanceForRentExemption(bytes: number): bigint {
    return this.#open().machine.minimumBalance(bytes);
  }

  account(address: string): ChainAccount | null {
    return this.#open().machine.account(address);
  }

  tokenAccountsOf(owner: string, filter: TokenFilter): readonly AddressedAccount[] {
    return this.#open().machine.ownedTokens(owner, filter);
  }

  tokenAccountsByDelegate(delegate: string, filter: TokenFilter): readonly AddressedAccount[] {
    return this.#open().machine.delegatedTokens(delegate, filter);
  }

  watch(witness: Witness): () => void {
    this.#witnesses.add(witness);
    return () => this.#witnesses.delete(witness);
  }

  isOpen(): boolean {
    return this.#live !== null;
  }

  async send(wire: Uint8Array, options: SendOptions = {}): Promise<SendOutcome> {
    const live = this.#open();
    const tx = readOrRefuse(wire);
    if ('kind' in tx) return tx;
    if (callsLoader(tx)) return refusal(INVALID_PARAMS, 'the sandbox takes no programs of your own');
    const asked = oversized(tx);
    if (asked !== null) return refusal(INVALID_PARAMS, asked);
    const slot = this.#keepTime(live);
    const { run: preview, after } = live.machine.simulate(tx, wire, true);
    const grown = oversized(tx, after, (address) => live.machine.account(address));
    if (grown !== null) return refusal(INVALID_PARAMS, grown);
    if (preview.err === 'SignatureFailure')
      return refusal(SIGNATURE_FAILED, 'Transaction signature verification failure');
    if (!live.blocks.isValid(tx.recentBlockhash)) return preflightFailed('BlockhashNotFound');
    const twin = live.recent.ofMessage(tx.message);
    if (twin !== undefined) {
      // Said only once it is true for good.
      await twin.pending;
      return preflightFailed('AlreadyProcessed');
    }
    if (preview.err !== null && options.skipPreflight !== true) return preflightFailed(preview.err, preview);
    return this.#execute(live, tx, wire, slot, options.also);
  }

  async simulate(wire: Uint8Array, options: SimulateOptions): Promise<SimulationOutcome> {
    const { machine, blocks, recent } = this.#keepTimeOf();
    if (options.sigVerify && options.replaceRecentBlockhash)
      return refusal(INVALID_PARAMS, 'sigVerify may not be used with replaceRecentBlockhash');
    const tx = readOrRefuse(wire);
    if ('kind' in tx) return tx;
    const asked = oversized(tx);
    if (asked !== null) return refusal(INVALID_PARAMS, asked);
    const { run, after } = machine.simulate(tx, wire, options.sigVerify);
    const grown = oversized(tx, after, (address) => machine.account(address));
    if (grown !== null) return refusal(INVALID_PARAMS, grown);
    if (run.err === 'SignatureFailure')
      return refusal(SIGNATURE_FAILED, 'Transaction signature verification failure');
    const replaced = options.replaceRecentBlockhash;
    const stale = !replaced && !blocks.isValid(tx.recentBlockhash) ? 'BlockhashNotFound' : null;
    const known = !replaced && recent.ofMessage(tx.message) !== undefined ? 'AlreadyProcessed' : null;
    const refusedAs = stale ?? known;
    const told: Run =
      refusedAs === null ? run : { err: refusedAs, logs: [], unitsConsumed: 0n, returnData: null };
    const read = (address: string): ChainAccount | null => {
      const changed = told.err === null ? after.get(address) : undefined;
      return changed === undefined ? machine.account(address) : changed;
    };
    const loadedAddresses = machine.loadedAddresses(tx);
    const addresses = addressesOf(tx, loadedAddresses);
    return {
      kind: 'simulated',
      ...told,
      accounts: (options.accounts ?? []).map(read),
      fee: feeOf(tx),
      pre: machine.balances(addresses, (address) => machine.account(address)),
      post: machine.balances(addresses, read),
      loadedAddresses,
      replacementBlockhash: replaced ? this.latestBlockhash() : null,
    };
  }

  async status(signature: string, searchHistory = false): Promise<SignatureStatus | null> {
    const [status] = await this.statuses([signature], searchHistory);
    return status ?? null;
  }

  async statuses(
    signatures: readonly string[],
    searchHistory = false,
  ): Promise<readonly (SignatureStatus | null)[]> {
    const { recent, blocks } = this.#open();
    const slot = blocks.slot();
    const known = (signature: string): { slot: number; err: unknown } | null => {
      const found = recent.durable(signature);
      return found === undefined || found.slot < slot - RECENT_SLOTS ? null : found;
    };
    const missing = searchHistory ? signatures.filter((signature) => known(signature) === null) : [];
    const history = missing.length === 0 ? null : await this.#store.outcomes(missing);
    return signatures.map((signature) => {
      const found = known(signature) ?? history?.get(signature);
      return found === undefined || found === null ? null : statusOf(found, slot);
    });
  }

  transaction(signature: string): Promise<LandedTransaction | null> {
    this.#open();
    return this.#store.transaction(signature);
  }

  async airdrop(address: string, lamports: bigint, allowance?: AirdropAllowance): Promise<string> {
    const { allowances } = this.#open();
    const day = utcDay(this.#options.clock.now());
    const accounts = accountsOf(address, this.#options.seed, allowance);
    for (const { key, most, whom } of accounts) {
      const given = allowances.given(day, key);
      if (most !== null && given + lamports > most)
        throw new AirdropRefused(
          `the faucet gives ${whom} ${most} lamports a day, and gave it ${given}; try again after midnight UTC`,
        );
    }
    for (const { key } of accounts) allowances.add(day, key, lamports);
    if ((this.account(this.#faucet.address)?.lamports ?? 0n) < 2n * lamports) await this.#fillFaucet();
    const wire = await this.#faucet.transfer(address, lamports, this.latestBlockhash().blockhash);
    const outcome = await this.send(wire, {
      also: (_executed, tx) => [
        // What was given on other days binds nobody any more.
        tx`delete from sandbox_airdrops where day <> ${day}`,
        ...accounts.map(
          ({ key }) => tx`
            insert into sandbox_airdrops (address, day, lamports)
            values (${key}, ${day}, ${String(lamports)}::bigint)
            on conflict (address, day) do update set lamports = sandbox_airdrops.lamports + excluded.lamports`,
        ),
      ],
    });
    if (outcome.kind === 'executed') return outcome.executed.signature;
    for (const { key } of accounts) allowances.add(day, key, -lamports);
    throw new AirdropRefused(outcome.message);
  }

  put(
    accounts: readonly AddressedAccount[],
    also: ((tx: Tx) => readonly PromiseLike<unknown>[]) | null = null,
  ): Promise<void> {
    const { machine, line } = this.#open();
    if (accounts.some(({ account }) => account.executable))
      throw new RangeError('programs cannot be put into the sandbox chain');
    for (const one of accounts) machine.put(one);
    const changed = new Map(accounts.map(({ address }) => [address, machine.account(address)]));
    return line.add({ accounts: changed, landed: null, witnesses: [], also });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const live = this.#live;
    this.#live = null;
    await live?.line.settled();
    live?.line.end();
    await this.#reloading;
  }

  async #execute(
    live: Live,
    tx: SolanaTransaction,
    wire: Uint8Array,
    slot: number,
    also: Witness | undefined,
  ): Promise<SendOutcome> {
    const { machine, recent } = live;
    const loadedAddresses = machine.loadedAddresses(tx);
    const addresses = addressesOf(tx, loadedAddresses);
    const before = new Map(addresses.map((address) => [address, machine.account(address)]));
    const pre = machine.balances(addresses, (address) => before.get(address) ?? null);
    const run = machine.execute(tx, wire);
    const after = new Map(addresses.map((address) => [address, machine.account(address)]));
    const payer = tx.accountKeys[0]!;
    // One that fails before its payer was charged has never been on the chain.
    if (run.err !== null && after.get(payer)?.lamports === before.get(payer)?.lamports)
      return preflightFailed(run.err, run);

    const accounts = new Map<string, ChainAccount | null>();
    for (const address of writableOf(tx, loadedAddresses)) {
      const account = after.get(address) ?? null;
      if (account?.executable === true || isSame(before.get(address) ?? null, account)) continue;
      machine.noteWritten(address, account);
      accounts.set(address, account);
    }
    const { err, logs, unitsConsumed, returnData } = run;
    const signature = transactionId(tx);
    const executed: Executed = { signature, slot, err, logs, unitsConsumed, wire, message: tx.message };
    const post = machine.balances(addresses, (address) => after.get(address) ?? null);
    const change: Change = {
      accounts,
      landed: {
        executed,
        atMs: this.#options.clock.now(),
        meta: { fee: feeOf(tx), logs, unitsConsumed, returnData, pre, post, loadedAddresses },
      },
      witnesses: [...this.#witnesses, ...(also === undefined ? [] : [also])],
      also: null,
    };
    const messageHash = messageHashOf(tx.message);
    const entry: RecentTransaction = { signature, messageHash, slot, err, pending: null };
    entry.pending = live.line.add(change).then(() => {
      entry.pending = null;
      live.landed += 1;
    });
    recent.add(entry);
    await entry.pending;
    return { kind: 'executed', executed };
  }

  #open(): Live {
    if (this.#live !== null) return this.#live;
    throw new SandboxChainUnavailable(
      'no',
      this.#closed ? 'the sandbox chain is closed' : 'the sandbox chain is being read from its database',
    );
  }

  #keepTimeOf(): Live {
    const live = this.#open();
    this.#keepTime(live);
    return live;
  }

  /** Lets the machine's clock follow ours, and forgets signatures whose blockhash is long dead. @returns the slot */
  #keepTime({ machine, blocks, recent }: Live): number {
    const slot = blocks.slot();
    machine.setTime(slot, this.#options.clock.now(), blocks.blockhash);
    recent.forgetBefore(slot - RECENT_SLOTS);
    return slot;
  }

  /** @param from whom it may be taken from: anybody, when missing */
  async #load(from?: string): Promise<Live> {
    const { clock, seed } = this.#options;
    this.#times += 1;
    const holder = `${this.#name}${this.#times}`;
    const nowMs = clock.now();
    const stored = await this.#store.take({
      holder,
      nowMs,
      recentSlots: RECENT_SLOTS,
      ...(from === undefined ? {} : { from }),
    });
    const machine = await createMachine();
    for (const one of stored.accounts) machine.put(one);
    const recent = new StatusCache();
    for (const entry of stored.recent) recent.add({ ...entry, pending: null });
    const day = utcDay(nowMs);
    return {
      machine,
      blocks: blockClock({
        seed,
        genesisMs: stored.genesisMs,
        atLeast: stored.lastSlot,
        now: () => clock.now(),
      }),
      line: new CommitLine({
        tenure: stored.tenure,
        onFailed: (cause) => this.#startAnew(cause),
      }),
      recent,
      allowances: new Allowances(day, await this.#store.airdropsOf(day)),
      landed: stored.landed,
    };
  }

  #startAnew(cause: unknown): void {
    this.#live = null;
    if (this.#closed) return;
    this.#options.log?.('the sandbox chain could not be written and is read anew', { err: cause });
    this.#reloading = this.#reload(cause);
  }

  async #reload(cause: unknown): Promise<void> {
    let problem = cause;
    while (!this.#closed) {
      if (problem instanceof Superseded) {
        this.#closed = true;
        this.#options.log?.('another process has opened the sandbox chain; this one is done with it');
        return;
      }
      try {
        // Only from ourselves: whoever took it meanwhile leads now.
        const live = await this.#load(this.#name);
        if (this.#closed) live.line.end();
        else this.#live = live;
        return;
      } catch (error) {
        problem = error;
        await new Promise((resolve) => setTimeout(resolve, RELOAD_PAUSE_MS));
      }
    }
  }

  #fillFaucet(): Promise<void> {
    const account = {
      lamports: FAUCET_LAMPORTS,
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(),
      executable: false,
    };
    return this.put([{ address: this.#faucet.address, account }]);
  }
}

/** Static ones first, then what is loaded: the order of a message's indices. */
const addressesOf = (tx: SolanaTransaction, loaded: LoadedAddresses): string[] => [
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

function readOrRefuse(wire: Uint8Array): SolanaTransaction | Refusal {
  try {
    return readTransaction(wire);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    return refusal(INVALID_PARAMS, `failed to deserialize the transaction: ${error.message}`);
  }
}

const refusal = (code: number, message: string): Refusal => ({ kind: 'refused', code, message });

const preflightFailed = (err: unknown, run?: Run): Refusal => ({
  kind: 'refused',
  code: PREFLIGHT_FAILED,
  message: `Transaction simulation failed: ${errorSentence(err)}`,
  data: { err, logs: run?.logs ?? [], unitsConsumed: run?.unitsConsumed ?? 0n },
});

const statusOf = ({ slot, err }: { slot: number; err: unknown }, now: number): SignatureStatus => {
  const isFinal = now - slot >= FINAL_AFTER_SLOTS;
  return {
    slot,
    err,
    confirmations: isFinal ? null : Math.max(now - slot, 0),
    confirmationStatus: isFinal ? 'finalized' : 'confirmed',
  };
};
