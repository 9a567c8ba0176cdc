/**
 * Combines world, journal and clock into a running paper exchange. The only file of this package that keeps state
 * between calls and reads a clock.
 *
 * States: open, reopening, closed. Open: a command is applied to the state in memory immediately, in order of arrival,
 * and answered when it is journalled; reads show the state in memory, which is at most one commit ahead. When a commit
 * fails, memory may be ahead of the journal: the exchange is reopening. Commands are refused, reads show the last
 * state, and the exchange takes the lead and recovers the state from the database again, with growing pauses. Closed is
 * permanent.
 */

import { randomUUID } from 'node:crypto';
import { setImmediate as otherWork, setTimeout as sleep } from 'node:timers/promises';
import { CommitInDoubt, GroupCommit, type Lead, type Sql, type Take } from '@bellwether/durable';
import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  EngineEvent,
  HolderView,
  OpenOrder,
  OrderId,
  Outcome,
  TokenId,
} from './engine/commands.ts';
import { ExchangeHistory } from './history/history.ts';
import type { ChooseFailing, Taken } from './history/projector.ts';
import { encodeCommand, type JournalCommand, publicEvents } from './journal/commands.ts';
import {
  commitRows,
  ExchangeLedElsewhere,
  ExchangeUnavailable,
  endLostSession,
  type JournalRow,
  OtherMarkets,
  type PriceTick,
  Turns,
  takeExchangeLead,
} from './journal/commits.ts';
import { isRefused, OrderIds, RefusedIds, readPosted, readRecords } from './journal/orders.ts';
import { createPriceHistory, PriceTicks } from './journal/prices.ts';
import {
  applyCommand,
  type LaterCommand,
  marketIds,
  type Recovered,
  type Replayed,
  recover,
} from './journal/recovery.ts';
import { hashOf, SnapshotSchedule } from './journal/snapshots.ts';
import type {
  Entry,
  ExecuteOptions,
  JournalTurn,
  OrderRecord,
  PaperExchange,
  PlacedCommand,
  PostedOrder,
  PriceHistory,
  Recorder,
  UnplacedOrder,
} from './paper-exchange.ts';
import type { SettlementDelays, TradeHistory } from './trade-history.ts';
import { isHouse } from './world/house.ts';
import type { Catalogue, MarketFacts, MarketView, PublicCommand } from './world/markets.ts';
import type { MirrorChange } from './world/mirror.ts';
import { SLOTS, type V2Share } from './world/slots.ts';
import { SPEED_UNIT, World } from './world/world.ts';

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  every(ms: number, work: () => void): { stop(): void };
}

export const systemClock: Clock = {
  now: Date.now,
  every: (ms, work) => {
    const timer = setInterval(work, ms);
    return { stop: () => clearInterval(timer) };
  },
};

export interface ExchangeOptions {
  /** A pool on a database that has EXCHANGE_SCHEMA. The journal opens a separate connection with its options. */
  readonly sql: Sql;
  /** Only read when the database has no exchange yet. */
  readonly seed: string;
  /** World time per wall time, 0.001 to 100,000; 1 when omitted. May differ between openings. */
  readonly speed?: number;
  /** How many markets are of Protocol V2. Only read when the database has no exchange yet. Default `few`. */
  readonly v2Share?: V2Share | 'none';
  readonly clock?: Clock;
  readonly recorder?: Recorder;
  /** `live`: every market is a live venue's, and `mirror()` brings what happens there. A world is one or the other. */
  readonly markets?: 'simulated' | 'live';
  /** False: only `step()` moves the world. */
  readonly autoStep?: boolean;
  readonly snapshotEveryCommands?: number;
  readonly snapshotEveryMs?: number;
  /** False: the journal is kept from its beginning, which no recovery needs. */
  readonly prunesJournal?: boolean;
  /** How long to wait for a lead that another session holds; a crashed session's lock may remain for a moment. */
  readonly leadWaitMs?: number;
  /** How long after its match a trade counts as mined, and as confirmed. */
  readonly settlement?: SettlementDelays;
  /** A fault: which trades fail when they should be mined. They are reversed when they should be confirmed. */
  readonly failingTrades?: ChooseFailing;
  readonly log?: (message: string, details?: unknown) => void;
  /** How long each commit of the journal took. */
  readonly onCommitMs?: (ms: number) => void;
}

const STEP_MS = 1_000;
const LEAD_WAIT_MS = 2_000;
const LEAD_RETRY_MS = 50;
const REOPEN_FIRST_PAUSE_MS = 50;
const REOPEN_LONGEST_PAUSE_MS = 5_000;
/** Most commands waiting for the journal; more are refused immediately. */
const MAX_WAITING_COMMANDS = 20_000;
const GREATEST_SPEED = 100_000;

type Status = 'opening' | 'open' | 'reopening' | 'closing' | 'closed';

/** The state of one term of leadership; discarded as a whole. */
interface Term {
  readonly lead: Lead;
  readonly queue: GroupCommit<JournalRow>;
  readonly orderIds: OrderIds;
  readonly turns: Turns;
  readonly openedAt: number;
}

/**
 * Opens the exchange of a database, founding it when there is none.
 * @throws ExchangeLedElsewhere when another process runs it. @throws RangeError for a speed out of range.
 * @throws Error when the journal cannot be read or is inconsistent.
 */
export async function openExchange(options: ExchangeOptions): Promise<JournalledExchange> {
  const speed = options.speed ?? 1;
  if (!(speed >= 1 / SPEED_UNIT && speed <= GREATEST_SPEED))
    throw new RangeError(`the speed of the paper world must be 0.001 to ${GREATEST_SPEED}, not ${speed}`);
  const exchange = new JournalledExchange(options);
  await exchange.open();
  return exchange;
}

const unavailable = (executed: 'no' | 'unknown', cause: unknown): ExchangeUnavailable =>
  new ExchangeUnavailable(
    executed,
    executed === 'no' ? 'its journal could not be written' : 'the database was lost during the commit',
    { cause },
  );

/** Commands of the world itself. */
const isWorlds = (command: JournalCommand): command is Exclude<JournalCommand, PublicCommand> =>
  command.kind === 'begin' ||
  command.kind === 'step' ||
  command.kind === 'sweep' ||
  command.kind === 'mirror' ||
  command.kind === 'reverse';

const isPlaced = (command: PublicCommand): command is PlacedCommand =>
  command.kind === 'place' || ('orderId' in command && command.orderId !== undefined);

const refOf = (command: PlacedCommand): UnplacedOrder => (command.kind === 'place' ? command.order : command);

const takenOf = ({ seq, at, events, world }: Replayed): Taken => {
  const shown = publicEvents(events);
  return { seq, at, events: shown, markets: marketsOf(world, shown) };
};

function marketsOf(world: World, events: readonly EngineEvent[]): Entry['markets'] {
  const markets = new Map<ConditionId, MarketFacts>();
  for (const event of events) {
    const further = event.kind === 'converted' ? event.made.map(({ conditionId }) => conditionId) : [];
    for (const conditionId of 'conditionId' in event ? [event.conditionId, ...further] : further) {
      const facts = markets.has(conditionId) ? undefined : world.facts(conditionId);
      if (facts !== undefined) markets.set(conditionId, facts);
    }
  }
  return markets;
}

export class JournalledExchange implements PaperExchange {
  readonly #options: ExchangeOptions;
  readonly #sql: Sql;
  readonly #clock: Clock;
  /** Holder's name of the terms that this exchange begins. */
  readonly #holder = randomUUID();
  readonly #listeners = new Set<(entries: readonly Entry[]) => void>();
  #status: Status = 'opening';
  readonly #snapshots: SnapshotSchedule;
  readonly #history: ExchangeHistory;
  #isReversing = false;
  readonly prices: PriceHistory;
  readonly #refusedIds = new RefusedIds();
  #term: Term | undefined;
  #terms = 0;
  #world!: World;
  #prices!: PriceTicks;
  #seq = 0;
  #isCatchingUp = false;
  #reopening: Promise<void> = Promise.resolve();
  /** Why it reopens, or reopened last. */
  #lostBy: unknown;
  #ticker: { stop(): void } | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#sql = options.sql;
    this.#clock = options.clock ?? systemClock;
    this.prices = createPriceHistory(this.#sql);
    this.#history = new ExchangeHistory({
      sql: this.#sql,
      now: () => this.#clock.now(),
      seed: () => this.#world.seed,
      delays: options.settlement,
      failingTrades: options.failingTrades,
      requireOpen: () => void this.#openTerm(),
      log: this.#log,
    });
    this.#snapshots = new SnapshotSchedule({ ...options, cover: this.#history.cover, log: this.#log });
  }

  /** Called once, by `openExchange`. */
  async open(): Promise<void> {
    const lead = await this.#waitForLead();
    try {
      await this.#start(lead);
    } catch (error) {
      lead.session.end();
      this.#status = 'closed';
      throw error;
    }
    if (this.#options.autoStep !== false) {
      this.#ticker = this.#clock.every(STEP_MS, () => {
        if (this.#status !== 'open') return;
        this.step()
          .then(() => this.reverseFailed())
          .catch(() => {});
      });
    }
  }

  async execute(
    command: PublicCommand,
    { isNew = false, isSentAgain = false }: ExecuteOptions = {},
  ): Promise<readonly EngineEvent[]> {
    const { account } = command.kind === 'place' ? command.order : command;
    if (isHouse(account)) throw new RangeError(`${account} belongs to the house`);
    if (command.kind === 'deposit' && command.orderId !== undefined) {
      const made = await this.#openTerm().orderIds.once(command.orderId, false, () => this.#apply(command));
      return made ?? (await this.orderRecord(command.orderId))?.events ?? [];
    }
    if (!isPlaced(command)) return this.#apply(command);
    const { orderId, conditionId } = refOf(command);
    const { orderIds } = this.#openTerm();
    const events = await orderIds.once(orderId, isNew && !isSentAgain, () => this.#apply(command));
    if (events !== undefined) return events;
    if (isNew) {
      // An earlier leader received it, or it was refused before it arrived: that is its answer.
      const record = orderIds.mayBePosted(orderId) ? undefined : await this.orderRecord(orderId);
      if (record !== undefined) return record.events;
      // Its sender has recorded it, and needs the refusal among the evidence. The term may be another one by now.
      const { queue } = this.#openTerm();
      return this.#settle(queue, this.#refuseDuplicate(queue, command, this.#now()));
    }
    return [{ kind: 'order_rejected', orderId, account, conditionId, reason: 'duplicate_order' }];
  }

  /**
   * A turn at the journal, as soon as its holder may read.
   * @throws ExchangeUnavailable as `execute` does
   */
  async nextTurn(): Promise<JournalTurn> {
    const { queue, turns } = this.#openTerm();
    this.#refuseWhenFull(queue);
    const turn = turns.ask();
    queue.wake();
    return turn;
  }

  /** Moves the world once, as the clock does every second unless `autoStep` is off. */
  async step(): Promise<void> {
    // The first step of a world of an earlier release.
    const { hasBoundedSweeps, hasDerivedTokens } = this.#world;
    await this.#apply({
      kind: 'step',
      ...(hasBoundedSweeps ? {} : { boundedSweeps: true }),
      ...(hasDerivedTokens ? {} : { derivedTokens: true }),
    });
  }

  /** Applies the changes of the live venue that this world mirrors, in their order. Resolves when they are durable. */
  async mirror(changes: readonly MirrorChange[]): Promise<void> {
    await this.#apply({ kind: 'mirror', changes });
  }

  /** Mirrored markets that are not resolved, and whether an account besides the house has an order there. */
  unresolvedMirrors(): ReturnType<World['unresolvedMirrors']> {
    return this.#world.unresolvedMirrors();
  }

  /** Trades with their settlement, and the other moves of accounts. */
  get history(): TradeHistory {
    return this.#history.reads;
  }

  /** Reverses the trades that failed to settle by now, as the clock does after every step. */
  async reverseFailed(): Promise<void> {
    if (this.#isReversing) return;
    this.#isReversing = true;
    try {
      for (const reversal of this.#history.reversals(this.#now())) await this.#apply(reversal);
    } finally {
      this.#isReversing = false;
    }
  }

  /** Calls back with every batch of entries once it is durable, until the returned function is called. */
  subscribe(listener: (entries: readonly Entry[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get status(): 'open' | 'reopening' | 'closed' {
    if (this.#status === 'open') return this.#term?.lead.isHeld() === true ? 'open' : 'reopening';
    return this.#status === 'reopening' || this.#status === 'opening' ? 'reopening' : 'closed';
  }

  /** When its lease ran out, performance.now(), while it may still be renewed; else `null`. */
  get lapsedAt(): number | null {
    return this.#status === 'open' ? (this.#term?.lead.lapsedAt() ?? null) : null;
  }

  /** The world's seed, which may differ from the options: a world keeps its first seed. */
  get seed(): string {
    return this.#world.seed;
  }

  /** Number of times that the lead was taken. Data derived from an earlier term's state may be stale. */
  get term(): number {
    return this.#terms;
  }

  /** When the present term began, epoch milliseconds; `null` while the exchange takes no commands. */
  get openedAt(): number | null {
    return this.status === 'open' ? (this.#term?.openedAt ?? null) : null;
  }

  markets(): Iterable<MarketView> {
    return this.#world.markets();
  }

  get catalogue(): Catalogue {
    return this.#world.catalogue;
  }

  market(conditionId: ConditionId): MarketView | undefined {
    return this.#world.market(conditionId);
  }

  marketByToken(tokenId: TokenId): { readonly market: MarketView; readonly outcome: Outcome } | undefined {
    return this.#world.marketByToken(tokenId);
  }

  book(conditionId: ConditionId, outcome: Outcome, depth?: number): BookView | undefined {
    return this.#world.book(conditionId, outcome, depth);
  }

  account(account: AccountId): AccountView {
    return this.#world.account(account);
  }

  holders(conditionId: ConditionId): readonly HolderView[] {
    return this.#world.holders(conditionId);
  }

  available(account: AccountId): bigint {
    return this.#world.available(account);
  }

  freeTokens(account: AccountId, conditionId: ConditionId, outcome: Outcome): bigint {
    return this.#world.freeTokens(account, conditionId, outcome);
  }

  openOrder(orderId: OrderId): OpenOrder | undefined {
    return this.#world.openOrder(orderId);
  }

  openOrders(account: AccountId): readonly OpenOrder[] {
    return this.#world.openOrders(account);
  }

  async orderRecord(orderId: OrderId): Promise<OrderRecord | undefined> {
    const term = this.#openTerm();
    for (;;) {
      await term.queue.settled();
      // After a lost connection the order's transaction may still be running, so an empty result would prove nothing.
      if (this.#openTerm() !== term) throw new ExchangeUnavailable('no', 'it was reopened meanwhile');
      const record = (await readRecords(this.#sql, [orderId])).get(orderId);
      if (this.#openTerm() !== term) throw new ExchangeUnavailable('no', 'it was reopened meanwhile');
      if (record !== undefined) return record;
      if (!term.orderIds.isInFlight(orderId)) return undefined;
    }
  }

  async refuseUnplaced({ orderId, account, conditionId }: UnplacedOrder): Promise<OrderRecord> {
    const { orderIds } = this.#openTerm();
    await orderIds.once(orderId, false, async () => {
      const { queue, orderIds: present } = this.#openTerm();
      if (present !== orderIds) throw new ExchangeUnavailable('no', 'it was reopened meanwhile');
      const row = this.#execute(queue, { kind: 'sweep' }, this.#now());
      const ref = { orderId, account, conditionId };
      const refusal = { kind: 'order_rejected', ...ref, reason: 'not_received' } as const;
      orderIds.refuse(orderId);
      const events = [...row.entry.events, refusal];
      await this.#settle(queue, { ...row, entry: { ...row.entry, events } });
    });
    const record = await this.orderRecord(orderId);
    if (record === undefined) throw new ExchangeUnavailable('no', 'it was reopened meanwhile');
    return record;
  }

  orderRecords(orderIds: readonly OrderId[]): Promise<ReadonlyMap<OrderId, OrderRecord>> {
    return readRecords(this.#sql, orderIds);
  }

  postedOrders(orderIds: readonly OrderId[]): Promise<ReadonlyMap<OrderId, PostedOrder>> {
    return readPosted(this.#sql, orderIds);
  }

  stateHash(): string {
    return hashOf(this.#world.snapshot());
  }

  async close(): Promise<void> {
    if (this.#status === 'closing' || this.#status === 'closed') return;
    const wasOpen = this.#status === 'open';
    this.#status = 'closing';
    this.#ticker?.stop();
    await this.#reopening;
    const term = this.#term;
    await term?.queue.settled();
    await this.#snapshots.end();
    await this.#history.close();
    if (wasOpen && term?.lead.session.isLost() === false)
      await this.#snapshots.writeLast(this.#seq, () => ({ at: this.#now(), state: this.#world.snapshot() }));
    await term?.lead.release();
    this.#status = 'closed';
  }

  #openTerm(): Term {
    if (this.#status !== 'open' || this.#term === undefined)
      throw new ExchangeUnavailable('no', `it is ${this.#status}`, { cause: this.#lostBy });
    if (!this.#term.lead.isHeld())
      throw new ExchangeUnavailable('no', 'its lease could not be renewed in time');
    return this.#term;
  }

  #refuseWhenFull(queue: GroupCommit<JournalRow>): void {
    if (queue.length >= MAX_WAITING_COMMANDS)
      throw new ExchangeUnavailable('no', `${MAX_WAITING_COMMANDS} commands wait for its journal`);
    if (this.#history.isFull) throw new ExchangeUnavailable('no', 'too many trades wait for its history');
  }

  /** Applies immediately, resolves when durable. */
  async #apply(command: LaterCommand): Promise<readonly EngineEvent[]> {
    const { queue } = this.#openTerm();
    this.#refuseWhenFull(queue);
    const at = this.#now();
    return this.#settle(queue, this.#execute(queue, command, at));
  }

  async #settle(queue: GroupCommit<JournalRow>, row: JournalRow): Promise<readonly EngineEvent[]> {
    const durable = queue.add(row);
    const { seq, at, events } = row.entry;
    if (this.#snapshots.isDue(seq, at)) this.#snapshots.take(seq, at, durable);
    await durable;
    return events;
  }

  /** @returns what the journal must record of it */
  #execute(queue: GroupCommit<JournalRow>, command: LaterCommand, at: number): JournalRow {
    let events: EngineEvent[];
    try {
      const all = applyCommand(this.#world, command, at);
      this.#prices.observe(all);
      events = publicEvents(all);
    } catch (cause) {
      // A bug that left the state half changed: only the journal is correct.
      queue.fail(cause);
      throw new ExchangeUnavailable('no', 'an internal error occurred', { cause });
    }
    if (command.kind === 'place' && command.order.posted !== undefined && !isRefused(command.order, events))
      this.#term?.orderIds.post(command.order.orderId);
    const prices = command.kind === 'step' ? this.#prices.collect(at) : [];
    if (this.#world.isBehind) void this.#catchUp();
    return this.#row(command, at, events, prices);
  }

  /**
   * Refuses an order whose id was posted at a door, although its sender has proof that it is new. The engine may have
   * forgotten the posted order, so what is journalled is a command without effect on it.
   */
  #refuseDuplicate(queue: GroupCommit<JournalRow>, command: PlacedCommand, at: number): JournalRow {
    const { orderId, account, conditionId } = refOf(command);
    const row = this.#execute(queue, { kind: 'sweep' }, at);
    const refusal = { kind: 'order_rejected', orderId, account, conditionId } as const;
    const events = [...row.entry.events, { ...refusal, reason: 'duplicate_order' } as const];
    return { ...row, entry: { ...row.entry, command, events, markets: marketsOf(this.#world, events) } };
  }

  /** Removes the orders that earlier commands left (engine/resting.ts), a slice at a time: other work goes in between. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    try {
      do {
        await otherWork();
        await this.#apply({ kind: 'sweep' });
      } while (this.#world.isBehind);
    } catch {
      // The exchange is not open: the next step begins again.
    } finally {
      this.#isCatchingUp = false;
    }
  }

  /** One commit: that of a turn, if one is asked for. */
  #commit(
    { lead, queue, turns }: Pick<Term, 'lead' | 'queue' | 'turns'>,
    take: Take<JournalRow>,
  ): Promise<void> {
    const turn = turns.next();
    if (turn === null) return commitRows(lead, take, this.#options.recorder);
    if (turns.isWaiting) queue.wake();
    return turn.run(take);
  }

  /** Turns of one term. */
  #turns(lead: Lead, orderIds: OrderIds, queueOf: () => GroupCommit<JournalRow>): Turns {
    return new Turns({
      lead,
      place: (command) => {
        const queue = queueOf();
        const at = this.#now();
        const row = orderIds.join(refOf(command).orderId)
          ? this.#execute(queue, command, at)
          : this.#refuseDuplicate(queue, command, at);
        queue.append(row);
        return row.entry.events;
      },
      sent: (seq, durable) => {
        const at = this.#now();
        // Effects of this commit, not of commands that were applied meanwhile.
        if (seq !== undefined && this.#snapshots.isDue(seq, at)) this.#snapshots.take(seq, at, durable);
      },
      committed: () => orderIds.joinedIsDurable(),
      failed: (cause) => {
        queueOf().fail(cause);
        return unavailable(cause instanceof CommitInDoubt ? 'unknown' : 'no', cause);
      },
    });
  }

  /** Wall time for the journal: an integer that never decreases. */
  #now(): number {
    return Math.max(this.#world?.now ?? 0, Math.floor(this.#clock.now()));
  }

  #row(
    command: JournalCommand,
    at: number,
    events: readonly EngineEvent[],
    prices: readonly PriceTick[],
  ): JournalRow {
    this.#seq += 1;
    const shown = isWorlds(command) ? ({ kind: 'step' } as const) : command;
    const entry: Entry = {
      seq: this.#seq,
      at,
      command: shown,
      events,
      markets: marketsOf(this.#world, events),
    };
    return { entry, command: encodeCommand(command), prices };
  }

  /** Recovers or founds the state under `lead`, then opens. */
  async #start(lead: Lead): Promise<void> {
    const speed = Math.round((this.#options.speed ?? 1) * SPEED_UNIT);
    const { checkRecovery } = await this.#history.restart();
    const onReplayed = (replayed: Replayed): void => this.#history.take([takenOf(replayed)]);
    const recovered = await recover(lead.session, this.#log, { onReplayed });
    checkRecovery(recovered?.snapshotSeq ?? 0);
    const orderIds = new OrderIds(this.#sql, this.#refusedIds);
    await orderIds.load();
    const turns = this.#turns(lead, orderIds, () => queue);
    const queue: GroupCommit<JournalRow> = new GroupCommit<JournalRow>({
      commit: (take) => this.#commit({ lead, queue, turns }, take),
      onCommitted: (rows) => this.#notifyListeners(rows.map(({ entry }) => entry)),
      ...(this.#options.onCommitMs === undefined ? {} : { onTimed: this.#options.onCommitMs }),
      onFailed: (cause) => {
        turns.fail(unavailable('no', cause));
        this.#failed(queue, cause);
      },
      errorOf: unavailable,
    });
    // Also without commands in flight: the next caller then receives "no" instead of "unknown".
    lead.session.lost.catch((cause: unknown) => queue.fail(cause));
    const openedAt = Math.floor(this.#clock.now());
    this.#term = { lead, queue, orderIds, turns, openedAt };
    this.#terms += 1;
    if (recovered === undefined) await this.#found(queue, speed);
    else this.#resume(recovered);
    const isLive = this.#options.markets === 'live';
    if (this.#world.isMirror !== isLive) throw new OtherMarkets(isLive);
    if (this.#status !== 'closing') this.#status = 'open';
    if (recovered !== undefined && recovered.world.speed !== speed)
      await this.#apply({ kind: 'step', speed });
  }

  async #found(queue: GroupCommit<JournalRow>, speed: number): Promise<void> {
    const { seed, v2Share: asked = 'few' } = this.#options;
    const v2Share = asked === 'none' ? undefined : asked;
    const at = Math.floor(this.#clock.now());
    const slots = this.#options.markets === 'live' ? 0 : SLOTS.length;
    const { world, events } = World.begin(seed, speed, at, { slots, ids: marketIds, v2Share });
    this.#world = world;
    this.#seq = 0;
    this.#snapshots.begin(0, at);
    this.#prices = new PriceTicks(world);
    const prices = this.#prices.collect(at);
    world.boundSweeps();
    const begin = {
      ...({ kind: 'begin', seed, speed, slots, boundedSweeps: true, derivedTokens: true } as const),
      ...(v2Share === undefined ? {} : { v2Share }),
    };
    await queue.add(this.#row(begin, at, publicEvents(events), prices));
  }

  #resume({ world, seq, snapshotSeq }: Recovered): void {
    if (world.seed !== this.#options.seed)
      this.#log(`the paper world keeps the seed "${world.seed}" that it began with`);
    this.#world = world;
    this.#prices = new PriceTicks(world);
    this.#seq = seq;
    this.#snapshots.begin(snapshotSeq, this.#now());
  }

  #notifyListeners(entries: readonly Entry[]): void {
    for (const listener of [this.#history.take, ...this.#listeners]) {
      try {
        listener(entries);
      } catch (error) {
        this.#log('a subscriber of the paper exchange failed', error);
      }
    }
  }

  #failed(queue: GroupCommit<JournalRow>, cause: unknown): void {
    const term = this.#term;
    if (term === undefined || term.queue !== queue) return;
    term.lead.session.end();
    if (this.#status !== 'open') return;
    this.#log('the paper exchange lost its journal and reopens', cause);
    this.#status = 'reopening';
    this.#lostBy = cause;
    this.#reopening = this.#reopen(term.lead.session.backendPid);
  }

  async #reopen(stalePid: number): Promise<void> {
    let pause = REOPEN_FIRST_PAUSE_MS;
    while (this.#status === 'reopening') {
      await sleep(pause);
      pause = Math.min(REOPEN_LONGEST_PAUSE_MS, pause * 2);
      let lead: Lead | undefined;
      try {
        lead = await takeExchangeLead(this.#sql, this.#holder);
        if (lead === undefined) {
          await endLostSession(this.#sql, stalePid);
          this.#log('the paper exchange waits for its lead');
          continue;
        }
        await this.#start(lead);
      } catch (error) {
        lead?.session.end();
        this.#log('the paper exchange could not reopen yet', error);
      }
    }
  }

  async #waitForLead(): Promise<Lead> {
    // Real time, not the world's clock: this waits for the database.
    const until = performance.now() + (this.#options.leadWaitMs ?? LEAD_WAIT_MS);
    for (;;) {
      const lead = await takeExchangeLead(this.#sql, this.#holder);
      if (lead !== undefined) return lead;
      if (performance.now() >= until) throw new ExchangeLedElsewhere();
      await sleep(LEAD_RETRY_MS);
    }
  }

  readonly #log = (message: string, details?: unknown): void => {
    this.#options.log?.(message, details);
  };
}
