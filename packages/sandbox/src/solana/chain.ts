/**
 * A single-node Solana chain for paper trading: litesvm executes, PostgreSQL stores. Memory is ahead of the database by
 * the running commits, so nothing is acknowledged before it is durable; when a commit fails, memory is discarded and
 * loaded again before other calls are served. It has no notion of markets or orders.
 *
 * Differences from a real network: there are no forks (a transaction is confirmed when it is durable); durable nonces
 * and deployed programs are refused.
 */
import { GroupCommit, type Sql, Superseded } from '@bellwether/durable';
import { type SolanaTransaction, transactionId } from '@bellwether/protocol';
import {
  type AddressedAccount,
  type AirdropAllowance,
  AirdropRefused,
  type ChainAccount,
  type ChainOptions,
  type Executed,
  type LandedTransaction,
  type LocalChain,
  SandboxChainUnavailable,
  type SendOptions,
  type SendOutcome,
  type SignatureStatus,
  type SimulateOptions,
  type SimulationOutcome,
  type Statement,
  type TokenFilter,
} from './chain-interface.ts';
import { ChainStore, type ChainTerm, type Change } from './chain-store.ts';
import {
  addressesOf,
  type Effect,
  executeOnce,
  faultOf,
  feeOf,
  oversized,
  preflightFailed,
  readOrRefuse,
  refusal,
} from './execution.ts';
import {
  Allowances,
  accountsOf,
  FAUCET_LAMPORTS,
  type Faucet,
  giftStatements,
  openFaucet,
  utcDay,
} from './faucet.ts';
import { callsLoader, createMachine, type Machine, type Run } from './machine.ts';
import { INVALID_PARAMS } from './rpc/requests.ts';
import {
  type BlockClock,
  type BlockOrigin,
  blockClock,
  hashOf,
  latestBlockhash,
  messageHashOf,
  RECENT_SLOTS,
  type RecentTransaction,
  StatusCache,
  statusOf,
} from './slots.ts';
import type { ChainState } from './thread-messages.ts';
import { readToken } from './token-accounts.ts';

const RELOAD_PAUSE_MS = 500;
/** Transactions in one commit: bounds its size, and how long the next one waits. */
const MAX_BATCH = 200;
const ACCOUNTS_PER_SLICE = 1_000;
const SYSTEM_PROGRAM = '11111111111111111111111111111111';

interface LocalChainOptions extends Omit<ChainOptions, 'sql'> {
  readonly sql: Sql;
  /**
   * Prefix of the holder's name of every term that this chain begins. Two processes never share a name; successive
   * threads of one process do.
   */
  readonly name: string;
  /** Number of the thread within its process. */
  readonly generation: number;
  /** For the first time that the chain is read. */
  readonly machine: Machine;
  readonly onLanded: () => void;
  readonly onState: (state: ChainState) => void;
}

/** The caller must start it. */
export const createLocalChain = async (options: LocalChainOptions): Promise<DurableChain> =>
  new DurableChain(options, await openFaucet(options.seed));

/** All state that is derived from the database. */
interface Live {
  readonly machine: Machine;
  readonly blocks: BlockClock;
  readonly origin: BlockOrigin;
  readonly line: GroupCommit<Change>;
  readonly term: ChainTerm;
  readonly recent: StatusCache;
  readonly allowances: Allowances;
  /** Transactions that ever landed. */
  landed: number;
}

interface Execution {
  readonly live: Live;
  readonly tx: SolanaTransaction;
  readonly wire: Uint8Array;
  readonly slot: number;
  readonly messageHash: string;
  readonly effect: Effect;
  readonly also: readonly Statement[];
}

/** Reads each account once: a copy of its data crosses from the machine. */
function remembered(
  read: (address: string) => ChainAccount | null,
): (address: string) => ChainAccount | null {
  const known = new Map<string, ChainAccount | null>();
  return (address) => {
    let account = known.get(address);
    if (account === undefined) {
      account = read(address);
      known.set(address, account);
    }
    return account;
  };
}

export class DurableChain implements LocalChain {
  readonly #options: LocalChainOptions;
  readonly #store: ChainStore;
  readonly #faucet: Faucet;
  #times = 0;
  #spare: Machine | null;
  #live: Live | null = null;
  #reloading: Promise<void> = Promise.resolve();
  #closed = false;

  /** Called by `createLocalChain` only. */
  constructor(options: LocalChainOptions, faucet: Faucet) {
    this.#options = options;
    this.#faucet = faucet;
    this.#spare = options.machine;
    this.#store = new ChainStore(options.sql, options.seed, options.landing ?? null);
  }

  /**
   * @param resume takes the chain only from a thread of this process, and retries until the database answers
   * @throws when the database does not answer, or holds the chain of another seed
   */
  async start(resume: boolean): Promise<void> {
    if (resume) {
      this.#reloading = this.#reload(null);
      return this.#reloading;
    }
    this.#live = await this.#load();
    if (this.account(this.#faucet.address) === null) await this.#fillFaucet();
    this.#reportOpen(this.#live);
  }

  /** See `BlockClock.reach`. */
  reach(slot: number): void {
    this.#live?.blocks.reach(slot);
  }

  slot(): number {
    return this.#open().blocks.slot();
  }

  blockHeight(): number {
    return this.slot();
  }

  latestBlockhash(): { blockhash: string; lastValidBlockHeight: number } {
    return latestBlockhash(this.#open().blocks);
  }

  isBlockhashValid(blockhash: string): boolean {
    return this.#open().blocks.isValid(blockhash);
  }

  genesisHash(): string {
    return hashOf(this.#options.seed, 'genesis');
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

  tokenSupplies(mints: readonly string[]): readonly bigint[] {
    const { machine } = this.#open();
    return mints.map((mint) => {
      const account = machine.account(mint);
      const token = account === null ? null : readToken(account);
      return token?.kind === 'mint' ? token.supply : 0n;
    });
  }

  tokenAccountsOf(owner: string, filter: TokenFilter): readonly AddressedAccount[] {
    return this.#open().machine.ownedTokens(owner, filter);
  }

  async send(wire: Uint8Array, options: SendOptions = {}): Promise<SendOutcome> {
    const live = this.#open();
    const tx = readOrRefuse(wire);
    if ('kind' in tx) return tx;
    if (callsLoader(tx)) return refusal(INVALID_PARAMS, 'the sandbox takes no programs of your own');
    const asked = oversized(tx);
    if (asked !== null) return refusal(INVALID_PARAMS, asked);
    const slot = this.#keepTime(live);
    const messageHash = messageHashOf(tx.message);
    const isStale = !live.blocks.isValid(tx.recentBlockhash);
    const duplicate = live.recent.ofMessage(messageHash);
    if (isStale || duplicate !== undefined) {
      // Not executed; but what a node finds first is reported first.
      const { machine } = live;
      const fault = faultOf(tx, machine.simulate(tx, wire, true), (address) => machine.account(address));
      if (fault !== null) return fault;
      if (isStale) return preflightFailed('BlockhashNotFound');
      // Answered only after the first copy is durable.
      await duplicate?.pending;
      return preflightFailed('AlreadyProcessed');
    }
    const effect = executeOnce(live.machine, { tx, wire, lands: options.skipPreflight === true });
    if (effect.kind === 'refused') return effect;
    return this.#commit({ live, tx, messageHash, wire, slot, effect, also: options.also ?? [] });
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
    const fault = faultOf(tx, { run, after }, (address) => machine.account(address));
    if (fault !== null) return fault;
    const replaced = options.replaceRecentBlockhash;
    const stale = !replaced && !blocks.isValid(tx.recentBlockhash) ? 'BlockhashNotFound' : null;
    const known =
      !replaced && recent.ofMessage(messageHashOf(tx.message)) !== undefined ? 'AlreadyProcessed' : null;
    const refusedAs = stale ?? known;
    const reported: Run =
      refusedAs === null ? run : { err: refusedAs, logs: [], unitsConsumed: 0n, returnData: null, inner: [] };
    const before = remembered((address) => machine.account(address));
    const read = (address: string): ChainAccount | null => {
      const changed = reported.err === null ? after.get(address) : undefined;
      return changed === undefined ? before(address) : changed;
    };
    const loadedAddresses = machine.loadedAddresses(tx);
    const addresses = addressesOf(tx, loadedAddresses);
    return {
      kind: 'simulated',
      ...reported,
      accounts: (options.accounts ?? []).map(read),
      fee: feeOf(tx),
      pre: machine.balances(addresses, before),
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
      also: giftStatements({ keys: accounts.map(({ key }) => key), day, lamports }),
    });
    if (outcome.kind === 'executed') return outcome.executed.signature;
    for (const { key } of accounts) allowances.add(day, key, -lamports);
    throw new AirdropRefused(outcome.message);
  }

  put(accounts: readonly AddressedAccount[], also: readonly Statement[] = []): Promise<void> {
    const { machine, line } = this.#open();
    if (accounts.some(({ account }) => account.executable))
      throw new RangeError('programs cannot be put into the sandbox chain');
    for (const one of accounts) machine.put(one);
    const changed = new Map(accounts.map(({ address }) => [address, machine.account(address)]));
    return line.add({ accounts: changed, landed: null, also });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const live = this.#live;
    this.#live = null;
    await live?.line.settled();
    live?.term.end();
    await this.#reloading;
  }

  async #commit({ live, tx, messageHash, wire, slot, effect, also }: Execution): Promise<SendOutcome> {
    const { run, accounts, meta } = effect;
    const { err, logs, unitsConsumed } = run;
    const signature = transactionId(tx);
    const executed: Executed = { signature, slot, err, logs, unitsConsumed, wire, message: tx.message };
    const landed = { executed, atMs: this.#options.clock.now(), meta };
    const entry: RecentTransaction = { signature, messageHash, slot, err, pending: null };
    entry.pending = live.line.add({ accounts, landed, also }).then(() => {
      entry.pending = null;
      live.landed += 1;
      this.#options.onLanded();
    });
    live.recent.add(entry);
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

  /** Sets the machine's clock, and drops signatures whose blockhash is long dead. @returns the slot */
  #keepTime({ machine, blocks, recent }: Live): number {
    const slot = blocks.slot();
    machine.setTime(slot, this.#options.clock.now(), blocks.blockhash);
    recent.forgetBefore(slot - RECENT_SLOTS);
    return slot;
  }

  /** @param from prefix of the holder from which the chain may be taken; missing: from any holder */
  async #load(from?: string): Promise<Live> {
    const { clock, seed, name, generation } = this.#options;
    this.#times += 1;
    const holder = `${name}:${generation}:${this.#times}`;
    const nowMs = clock.now();
    const stored = await this.#store.take({
      holder,
      nowMs,
      recentSlots: RECENT_SLOTS,
      ...(from === undefined ? {} : { from }),
    });
    const machine = this.#spare ?? (await createMachine());
    this.#spare = null;
    for (const [index, one] of stored.accounts.entries()) {
      machine.put(one);
      // A large chain is read in slices: the thread must keep answering liveness checks.
      if (index % ACCOUNTS_PER_SLICE === ACCOUNTS_PER_SLICE - 1)
        await new Promise((turn) => setImmediate(turn));
    }
    const recent = new StatusCache();
    for (const entry of stored.recent) recent.add({ ...entry, pending: null });
    const day = utcDay(nowMs);
    const origin = { genesisMs: stored.genesisMs, atLeast: stored.lastSlot };
    return {
      machine,
      blocks: blockClock({ seed, ...origin, now: () => clock.now() }),
      origin,
      line: this.#lineOf(stored.term),
      term: stored.term,
      recent,
      allowances: new Allowances(day, await this.#store.airdropsOf(day)),
      landed: stored.landed,
    };
  }

  #lineOf(term: ChainTerm): GroupCommit<Change> {
    const line = new GroupCommit<Change>({
      commit: (take) => term.commit(take(MAX_BATCH)),
      onFailed: (cause) => {
        term.end();
        this.#restart(cause);
      },
      errorOf: (executed, cause) =>
        new SandboxChainUnavailable(
          executed,
          executed === 'no'
            ? 'the sandbox chain could not be written'
            : 'the database was lost during the commit',
          { cause },
        ),
    });
    term.lost.catch((cause: unknown) => {
      if (!this.#closed) line.fail(cause);
    });
    return line;
  }

  #restart(cause: unknown): void {
    this.#live = null;
    if (this.#closed) return;
    this.#options.onState({ kind: 'reading' });
    this.#options.log?.('the sandbox chain could not be written; it is loaded again from the database', {
      err: cause,
    });
    this.#reloading = this.#reload(cause);
  }

  async #reload(cause: unknown): Promise<void> {
    let problem = cause;
    while (!this.#closed) {
      if (problem instanceof Superseded) {
        this.#closed = true;
        this.#options.onState({ kind: 'superseded' });
        this.#options.log?.('another process has opened the sandbox chain; this process stops using it');
        return;
      }
      try {
        // Only from this process: if another process took the chain meanwhile, that process leads.
        const live = await this.#load(`${this.#options.name}:`);
        if (this.#closed) {
          live.term.end();
          return;
        }
        this.#live = live;
        this.#reportOpen(live);
        return;
      } catch (error) {
        problem = error;
        await new Promise((resolve) => setTimeout(resolve, RELOAD_PAUSE_MS));
      }
    }
  }

  #reportOpen({ origin }: Live): void {
    this.#options.onState({ kind: 'open', blocks: origin });
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
