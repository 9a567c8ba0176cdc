/**
 * Admits trades: judges each under its agent's lock, reserves its budget and records its order.
 *
 * Trades that arrive at the same time form a group, which costs two trips: one that locks and reads, one that writes and
 * commits. Where this process keeps the venue's journal, the group joins the journal's next commit and the orders reach
 * the venue inside it; elsewhere the caller sends each order to its venue once it is recorded. A group never waits
 * for a lock: a trade whose agent or order id is locked is tried again in the next groups, and then waits alone, as
 * does a trade that needs the rows of several agents.
 */
import {
  CommitInDoubt,
  currentOrigin,
  DatabaseError,
  openTransaction,
  withOrigin,
} from '@bellwether/durable';
import type { Evidence } from '../domain/evidence.ts';
import type { NewOrder, Standing } from '../domain/records.ts';
import { databaseFault, only, type Sql, type Tx } from '../platform/database/connection.ts';
import { createKeyedMutex } from '../platform/scheduler.ts';
import type { PositionsInPlay, TokenKey } from '../positions/index.ts';
import type { JoinedVenue, VenueJournal, VenueOrder, VenueSet, VenueTurn } from '../venues/venue.ts';
import {
  type Admission,
  type Admitted,
  isTrade,
  type Judgement,
  mayRest,
  nameKey,
  type Recorded,
  type StandingQuestion,
  type TradeLedger,
  type TradeScope,
} from './admission.ts';
import {
  type CallerFacts,
  type GroupFacts,
  KnownCallers,
  keepGroupPlans,
  keepPlans,
  type LockedAgent,
  ownFacts,
  readAlone,
  readGroup,
  restrictingFacts,
  safeguardRows,
  standingOf,
  unlockedFacts,
  usage,
} from './admission-reads.ts';
import { orderRow } from './order-store.ts';
import {
  type Accepted,
  bindOthers,
  type GroupWrites,
  type UsedBudget,
  writeEvidence,
  writeGroup,
} from './outcomes.ts';

/** How often the set of restricting agents may change during a trade before the trade fails. */
const ATTEMPTS = 10;
/**
 * Most agents whose trades hold a connection while they wait for a lock: a replica that is frozen over a group keeps more
 * agents locked than others have connections. The rest looks again.
 */
const MAX_LOCK_WAITERS = 3;
/** Most groups at a time: a connection may stand still for as long as statements may take. */
const MAX_GROUPS = 4;
const MAX_REMEMBERED_MARKETS = 10_000;

export function createTradeLedger(
  sql: Sql,
  { journal, positions }: { readonly journal: VenueJournal | null; readonly positions: PositionsInPlay },
): TradeLedger {
  const broken = new BrokenCommits();
  const memory = { callers: new KnownCallers(), markets: new RecordedMarkets(), positions, broken };
  const alone = createUngroupedTrades(sql, broken);
  const recorded = new Line(
    {
      run: async (group) => admitGroup(turnOnPool(sql), group, memory),
      most: MAX_GROUPS,
      readsAhead: false,
      elsewhere: alone.run,
    },
    alone,
  );
  const joined =
    journal === null
      ? null
      : new Line(
          {
            run: async (group) => admitGroup(await journal.nextTurn(), group, memory),
            // A journal is one connection: one group commits, one reads.
            most: 2,
            readsAhead: true,
            elsewhere: (admission) => recorded.add(admission),
          },
          alone,
        );
  /** Where the trade is admitted: it joins its venue's commit, is recorded with others, or alone. */
  const lineOf = ({ caller, venue, toVenue }: Admission): Pick<Line, 'add'> => {
    if (!broken.mayShare(caller.agentId)) return { add: alone.run };
    const joins =
      joined !== null &&
      toVenue !== undefined &&
      venue === journal?.venue &&
      journal.isHere() &&
      broken.mayJoinJournal();
    return joins ? joined : recorded;
  };
  return {
    // What `judge` returned comes back.
    admit: <Order extends NewOrder, Answer>(admission: Admission<Order, Answer>) =>
      lineOf(admission).add(admission) as Promise<Admitted<Order, Answer>>,

    look: async (question) => (await look(sql, question, async () => {})).standing,

    async preview(question) {
      const { standing, further } = await look(sql, question, (tx) => unlockedFacts(tx, question));
      const { key, credentials, hasUnreachable } = further.caller;
      const { existing, named } = further;
      const { clientOrderId, caller } = question;
      return {
        ...standing,
        credentials,
        hasUnreachable,
        keyActive: key.status === 1,
        userId: key.user_id,
        existing: existing === undefined ? null : orderRow(existing),
        namedOrder:
          clientOrderId === null ? null : (named.get(nameKey(caller.agentId, clientOrderId)) ?? null),
        quoteWithdrawn: key.is_withdrawn,
        way: { kind: 'recorded' },
      };
    },
  };
}

/** Reads a standing without locks, and what else is asked for in the same trip. */
async function look<Further>(
  sql: Sql,
  question: StandingQuestion,
  ask: (tx: Tx) => Promise<Further>,
): Promise<{ readonly standing: Standing; readonly further: Further }> {
  for (let attempt = 1; ; attempt += 1) {
    const { tx, rollback } = openTransaction(sql);
    const [, locked, used, facts, restricting, further] = await Promise.all([
      keepPlans(tx),
      safeguardRows(tx, question),
      usage(tx, question),
      ownFacts(tx, question),
      restrictingFacts(tx, question),
      ask(tx),
    ]).finally(() => void rollback());
    const standing = standingOf(question, { locked, used: only(used), facts: only(facts), restricting });
    if (standing !== null) return { standing, further };
    if (attempt === ATTEMPTS) throw new Error('the locks that bind the wallet keep changing');
  }
}

/** Memory of this process from group to group. */
interface LedgerMemory {
  readonly callers: KnownCallers;
  readonly markets: RecordedMarkets;
  readonly positions: PositionsInPlay;
  readonly broken: BrokenCommits;
}

/** A transaction on the pool: the orders of its group are recorded, and their callers send them. */
interface PoolTurn extends Pick<VenueTurn, 'tx' | 'giveUp'> {
  readonly venue: null;
  begin(): PromiseLike<unknown>;
  commit(): Promise<void>;
}

function turnOnPool(sql: Sql): PoolTurn {
  const { tx, commit, rollback } = openTransaction(sql);
  return { tx, venue: null, begin: () => keepGroupPlans(tx).execute(), commit, giveUp: rollback };
}

/**
 * A group of trades, from its turn to its answers, in the order in which it happens. Refusals are answered once they are judged,
 * everything else with what this returns.
 */
async function admitGroup(
  turn: VenueTurn | PoolTurn,
  group: Group,
  { callers, markets, positions, broken }: LedgerMemory,
): Promise<readonly Outcome[]> {
  let done: DecidedGroup;
  let newMarkets: Evidence['markets'] = [];
  try {
    const admissions = group.take();
    const [, , facts] = await Promise.all([
      turn.begin(),
      turn.venue === null ? null : positions.read(turn.tx, turn.term, admissions.flatMap(soldBy)),
      readGroup(turn.tx, admissions, callers),
    ]);
    done = decideAndPlace(admissions, facts, { venue: turn.venue });
    group.decided(done.verdicts);
    const recorded = done.budgets.length === 0 ? null : done;
    if (turn.venue !== null) {
      const evidence = turn.evidence();
      const folded = await positions.fold(turn.tx, turn.term, evidence);
      newMarkets = markets.missingOf(evidence.markets);
      issue(writeEvidence(turn.tx, { ...evidence, markets: newMarkets }, folded, recorded));
    } else if (recorded !== null) issue(writeGroup(turn.tx, recorded));
    else {
      await turn.giveUp(null);
      return done.verdicts;
    }
  } catch (error) {
    await turn.giveUp(error);
    throw error;
  }
  const committing = turn.commit();
  group.sent();
  try {
    if ((await committing) === 'unknown') return done.verdicts.map(withoutProof);
  } catch (error) {
    if (turn.venue === null) {
      // Nothing was recorded, so the trades may be admitted one by one.
      if (!(error instanceof CommitInDoubt)) throw error;
      return withFailure(done.verdicts, error);
    }
    broken.inJournal(error);
    return withFailure(done.verdicts, databaseCause(error) ?? error);
  }
  markets.add(newMarkets);
  return done.verdicts;
}

const soldBy = ({ funder, sells }: Admission): TokenKey[] =>
  (sells ?? []).map((tokenId) => ({ wallet: funder, tokenId }));

const issue = (statements: readonly PromiseLike<unknown>[]): void => {
  // The commit reports their failure.
  for (const statement of statements) statement.then(undefined, () => {});
};

const withFailure = (verdicts: readonly Verdict[], reason: unknown): readonly Outcome[] =>
  verdicts.map((verdict) => (dependsOnCommit(verdict) ? { kind: 'failed', reason } : verdict));

/** Markets whose rows are committed. They are kept permanently, so a group need not insert them again. */
class RecordedMarkets {
  readonly #ids = new Set<string>();

  missingOf(markets: Evidence['markets']): Evidence['markets'] {
    return markets.filter(({ conditionId }) => !this.#ids.has(conditionId));
  }

  add(markets: Evidence['markets']): void {
    if (this.#ids.size > MAX_REMEMBERED_MARKETS) this.#ids.clear();
    for (const { conditionId } of markets) this.#ids.add(conditionId);
  }
}

/** The database's own error, which says more than the venue's. */
function databaseCause(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (databaseFault(cause) !== null) return cause;
  return null;
}

const withoutProof = (verdict: Verdict): Verdict =>
  verdict.kind === 'joined' ? { ...verdict, answer: { kind: 'unknown' } } : verdict;

function createUngroupedTrades(sql: Sql, broken: BrokenCommits): UngroupedTrades {
  const agents = createKeyedMutex();
  /** Trades that wait for locks, by agent. */
  const waiting = new Map<string, number>();

  async function run(admission: Admission): Promise<Admitted> {
    admission.trace?.enter('wait');
    const release = await agents.acquire(admission.caller.agentId);
    try {
      admission.requireTime?.();
      for (let attempt = 1; ; attempt += 1) {
        admission.trace?.enter('judge');
        const judged = await runAlone(sql, admission);
        if (judged !== 'again') return judged;
        if (attempt === ATTEMPTS) throw new Error('the locks that bind the wallet keep changing');
      }
    } catch (error) {
      broken.alone(admission.caller.agentId, error);
      throw error;
    } finally {
      release();
    }
  }

  return {
    run,
    wait(admission) {
      const { agentId } = admission.caller;
      const before = waiting.get(agentId);
      if (before === undefined && waiting.size >= MAX_LOCK_WAITERS) return null;
      waiting.set(agentId, (before ?? 0) + 1);
      return run(admission).finally(() => {
        const rest = (waiting.get(agentId) ?? 1) - 1;
        if (rest > 0) waiting.set(agentId, rest);
        else waiting.delete(agentId);
      });
    },
  };
}

async function runAlone(sql: Sql, admission: Admission): Promise<Admitted | 'again'> {
  const { tx, commit, rollback } = openTransaction(sql);
  let admitted: Admitted;
  try {
    const [, read] = await Promise.all([keepPlans(tx).execute(), readAlone(tx, admission)]);
    if (read === null) {
      await rollback();
      return 'again';
    }
    const { facts, restrictions } = read;
    const done = decideAndPlace([admission], facts, { venue: null, restrictions });
    const verdict = only(done.verdicts);
    if (verdict.kind === 'refused') throw verdict.reason;
    if (verdict.kind === 'locked' || verdict.kind === 'restricted')
      throw new Error('a trade that waited for its locks was not judged');
    if (verdict.kind === 'same') {
      void rollback();
      return verdict;
    }
    admitted = verdict;
    issue(writeGroup(tx, done));
    issue(done.accepted.filter(({ others }) => others.length > 0).map((one) => bindOthers(tx, one)));
  } catch (error) {
    void rollback();
    throw error;
  }
  await commit();
  return admitted;
}

// The line in which trades wait for a group. It never waits for a lock: a trade whose agent or order id is locked is tried
// again in the next groups, and then waits alone.

/** Most trades of one group: bounds how long the ones after it wait. */
const MAX_GROUP = 128;
/** In how many groups a trade finds its agent locked before it waits for the lock alone. */
const MAX_LOCKED_TRIES = 2;
const LOOK_AGAIN_MS = 50;
/** How long a group may take before the trades after it form another one beside it. */
const SLOW_GROUP_MS = 250;
/**
 * When the next group reads, as a share of the time that a commit takes. Late enough to take most of the trades that
 * arrive meanwhile, because a small group costs nearly as much as a large one; early enough to be answered right behind
 * the commit.
 */
const READS_AHEAD_AFTER = 0.8;
/** Weight of the last commit in the average. */
const LAST_COMMIT = 0.25;

interface WaitingTrade {
  readonly admission: Admission;
  /** A group is sent for the first of its trades. */
  readonly origin: string | undefined;
  readonly resolve: (admitted: Admitted) => void;
  readonly reject: (reason: unknown) => void;
  lockedTries: number;
}

/** Trades that have a transaction each, in which they wait for their locks; those of one agent one after another. */
interface UngroupedTrades {
  run(admission: Admission): Promise<Admitted>;
  /** For a trade that was found locked. `null`: enough agents wait for locks already. */
  wait(admission: Admission): Promise<Admitted> | null;
}

/** One group, as its runner sees it. */
interface Group {
  /** Takes its trades. To be called once. */
  take(): readonly Admission[];
  /** Answers the trades that record nothing: they need not wait for the commit. */
  decided(verdicts: readonly Verdict[]): void;
  /** Its commit is sent: of a runner that reads ahead, the next group may read behind it. */
  sent(): void;
}

/** Records groups. */
interface GroupRunner {
  /**
   * @returns what became of each of the group's trades, in their order
   * @throws where nothing was recorded: then its trades are run ungrouped
   */
  readonly run: (group: Group) => Promise<readonly Outcome[]>;
  /** Groups at a time. */
  readonly most: number;
  /** Whether one group reads while the commit of the one before it is running. */
  readonly readsAhead: boolean;
  /** Where trades go that could not be judged here. */
  readonly elsewhere: (admission: Admission) => Promise<Admitted>;
}

/** `failed`: its commit failed. */
type Outcome = Verdict | { readonly kind: 'failed'; readonly reason: unknown };

/** A refusal, too, when it counts what its agent's trades before it in the group reserve. */
const dependsOnCommit = (outcome: Outcome): boolean =>
  outcome.kind === 'joined' ||
  outcome.kind === 'recorded' ||
  (outcome.kind === 'refused' && outcome.isProvisional);

/**
 * The trades that wait for a group. While one group runs, the trades that arrive form the next one. Only a group that
 * stands still is overtaken.
 */
class Line {
  readonly #runner: GroupRunner;
  readonly #alone: UngroupedTrades;
  #waiting: WaitingTrade[] = [];
  #isRunning = false;
  readonly #groups = new Set<Promise<void>>();
  /** Average of the last ones. */
  #commitMs = 0;

  constructor(runner: GroupRunner, alone: UngroupedTrades) {
    this.#runner = runner;
    this.#alone = alone;
  }

  add(admission: Admission): Promise<Admitted> {
    return new Promise((resolve, reject) => {
      this.#push({ admission, origin: currentOrigin(), resolve, reject, lockedTries: 0 });
    });
  }

  #push(waiting: WaitingTrade): void {
    waiting.admission.trace?.enter('wait');
    this.#waiting.push(waiting);
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Trades that arrive in the same turn of the event loop share the group.
    setImmediate(() => void this.#runAll());
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#groups.size >= this.#runner.most) await Promise.race(this.#groups);
      const sent = Promise.withResolvers<void>();
      const run = withOrigin(this.#waiting[0]?.origin, () => this.#runOne(sent.resolve));
      const group: Promise<void> = run.finally(() => this.#groups.delete(group));
      this.#groups.add(group);
      if (this.#runner.readsAhead) await this.#mayReadAhead(group, sent.promise);
      else await withinMs(SLOW_GROUP_MS, group);
    }
    this.#isRunning = false;
  }

  async #mayReadAhead(group: Promise<void>, sent: Promise<void>): Promise<void> {
    let isOver = false;
    const over = group.then(() => {
      isOver = true;
    });
    await Promise.race([over, sent]);
    if (isOver) return;
    const since = performance.now();
    const measured = over.then(() => {
      this.#commitMs += (performance.now() - since - this.#commitMs) * LAST_COMMIT;
    });
    await withinMs(this.#commitMs * READS_AHEAD_AFTER, measured);
  }

  async #runOne(sent: () => void): Promise<void> {
    let group: readonly WaitingTrade[] = [];
    let hasTaken = false;
    /** Those of the group that nothing was decided for, or whose commit is not finished. */
    const left = new Set<WaitingTrade>();
    const settle = (outcomes: readonly Outcome[], isCommitted: boolean): void =>
      outcomes.forEach((outcome, place) => {
        const waiting = group[place];
        if (waiting === undefined || (!isCommitted && dependsOnCommit(outcome))) return;
        if (left.delete(waiting)) this.#settle(waiting, outcome);
      });
    try {
      const outcomes = await this.#runner.run({
        take: () => {
          hasTaken = true;
          group = this.#take();
          for (const waiting of group) left.add(waiting);
          return group.map(({ admission }) => admission);
        },
        decided: (verdicts) => settle(verdicts, false),
        sent,
      });
      settle(outcomes, true);
    } catch {
      // Where it failed before it took its trades, none of those that wait can be admitted here.
      const rest = hasTaken ? left : this.#waiting.splice(0);
      for (const { admission, origin, resolve, reject } of rest)
        withOrigin(origin, () => this.#runner.elsewhere(admission)).then(resolve, reject);
    }
  }

  /** An order id occurs once in a group: the second trade with it finds the first one's order. */
  #take(): readonly WaitingTrade[] {
    const taken: WaitingTrade[] = [];
    const left: WaitingTrade[] = [];
    const ids = new Set<string>();
    for (const waiting of this.#waiting) {
      const { orderId, requireTime } = waiting.admission;
      if (taken.length === MAX_GROUP || ids.has(orderId)) {
        left.push(waiting);
        continue;
      }
      try {
        requireTime?.();
      } catch (reason) {
        waiting.reject(reason);
        continue;
      }
      ids.add(orderId);
      taken.push(waiting);
      waiting.admission.trace?.enter('judge');
    }
    this.#waiting = left;
    return taken;
  }

  #settle(waiting: WaitingTrade, outcome: Outcome): void {
    switch (outcome.kind) {
      case 'refused':
      case 'failed':
        waiting.reject(outcome.reason);
        break;
      case 'same':
      case 'recorded':
      case 'joined':
        waiting.resolve(outcome);
        break;
      case 'locked':
        this.#settleLocked(waiting);
        break;
      case 'restricted':
        withOrigin(waiting.origin, () => this.#alone.run(waiting.admission)).then(
          waiting.resolve,
          waiting.reject,
        );
    }
  }

  #settleLocked(waiting: WaitingTrade): void {
    waiting.lockedTries += 1;
    if (waiting.lockedTries <= MAX_LOCKED_TRIES) {
      this.#push(waiting);
      return;
    }
    const answer = withOrigin(waiting.origin, () => this.#alone.wait(waiting.admission));
    if (answer === null) setTimeout(() => this.#push(waiting), LOOK_AGAIN_MS);
    else answer.then(waiting.resolve, waiting.reject);
  }
}

/** Resolves with the work, or when the time is up. */
async function withinMs(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, timeUp]);
  clearTimeout(timer);
}

// Decides a group of trades in memory, one after another: each is judged and, where its venue is in the commit, executed there before
// the next one is looked at. A trade sees what the trades of its agent before it in the group have reserved, as it would see their
// orders in the database.

type Restrictions = Standing['restrictions'];

/**
 * Course of a trade. `locked`: others hold its agent or its order's id. `restricted`: locks of other owners bind its
 * wallet. Neither was judged.
 */
type Verdict =
  | { readonly kind: 'locked' }
  | { readonly kind: 'restricted' }
  | {
      readonly kind: 'refused';
      readonly reason: unknown;
      /** Right only if the group's commit succeeds. */
      readonly isProvisional: boolean;
    }
  | Admitted;

/** Reserved amounts of the group's earlier trades of an agent. */
interface Reserved {
  trades: number;
  amount: bigint;
  openOrders: number;
  /** Possible cost of the agent's BUYs, by market. */
  readonly buys: Map<string, bigint>;
  /** Order ids by client order id. */
  readonly names: ReadonlyMap<string, string>;
}

interface DecidedGroup extends GroupWrites {
  readonly verdicts: readonly Verdict[];
}

/** @param restrictions of a trade that waits alone, with every agent that restricts it locked */
function decideAndPlace(
  admissions: readonly Admission[],
  facts: GroupFacts,
  { venue, restrictions }: { readonly venue: JoinedVenue | null; readonly restrictions?: Restrictions },
): DecidedGroup {
  const way = venue ?? RECORDED_FIRST;
  const reserved = new Map<string, Reserved>();
  const accepted: Accepted[] = [];
  const verdicts = admissions.map((admission, place): Verdict => {
    const agent = facts.agents.get(admission.caller.agentId);
    const caller = facts.callers[place];
    if (agent === undefined || caller === undefined || facts.takenIds.has(admission.orderId))
      return { kind: 'locked' };
    if (caller.key.is_restricted && restrictions === undefined) return { kind: 'restricted' };
    const before = reserved.get(admission.caller.agentId) ?? NOTHING_RESERVED;
    let judged: Judgement;
    try {
      judged = admission.judge(scopeOf({ admission, facts, caller, agent, before, way, restrictions }));
    } catch (reason) {
      return { kind: 'refused', reason, isProvisional: before !== NOTHING_RESERVED };
    }
    if (judged.kind === 'same') return judged;
    const { recorded } = judged;
    const answer = venue?.place(venueFormOf(admission, recorded));
    if (answer?.kind !== 'rejected') reserved.set(admission.caller.agentId, withOrder(before, recorded));
    accepted.push({
      question: admission,
      recorded,
      day: agent.day,
      isKnown: caller.key.is_known,
      others: (restrictions ?? []).map(({ agentId }) => agentId),
      isAgain: facts.orders.has(admission.orderId),
    });
    admission.trace?.enter('commit', admissions.length);
    return answer === undefined ? judged : { kind: 'joined', recorded, answer };
  });
  return { verdicts, accepted, budgets: budgetsOf(facts, accepted) };
}

const NOTHING_RESERVED: Reserved = {
  trades: 0,
  amount: 0n,
  openOrders: 0,
  buys: new Map(),
  names: new Map(),
};

const RECORDED_FIRST = { kind: 'recorded' } as const;

function venueFormOf({ toVenue }: Admission, { order }: Recorded): VenueOrder | VenueSet {
  if (toVenue === undefined) throw new Error('an order that joins its venue has no form for it');
  return toVenue(order);
}

function withOrder(
  { trades, amount, openOrders, buys, names: before }: Reserved,
  recorded: Recorded,
): Reserved {
  const { order } = recorded;
  const { side, conditionId, money, clientOrderId, orderId } = order;
  const names = clientOrderId === null ? before : new Map(before).set(clientOrderId, orderId);
  const open = openOrders + (mayRest(order) ? 1 : 0);
  if (!isTrade(order)) return { trades, amount, openOrders: open, buys, names };
  return {
    names,
    trades: trades + 1,
    amount: amount + recorded.reserves,
    openOrders: open,
    buys: side === 'BUY' ? new Map(buys).set(conditionId, (buys.get(conditionId) ?? 0n) + money) : buys,
  };
}

interface JudgedScope {
  readonly admission: Admission;
  readonly facts: GroupFacts;
  readonly caller: CallerFacts;
  readonly agent: LockedAgent;
  readonly before: Reserved;
  readonly way: TradeScope['way'];
  readonly restrictions: Restrictions | undefined;
}

function scopeOf({ admission, facts, caller, agent, before, way, restrictions }: JudgedScope): TradeScope {
  const { key, settings, credentials, hasUnreachable } = caller;
  const existing = facts.orders.get(admission.orderId);
  return {
    claimed: key.claimed,
    safeguards: settings,
    usage: {
      ...agent.usage,
      trades: agent.usage.trades + before.trades,
      amount: agent.usage.amount + before.amount,
    },
    realizedToday: agent.realizedToday,
    positionValue: key.position_value + (before.buys.get(admission.conditionId) ?? 0n),
    openOrders: agent.openOrders + before.openOrders,
    restrictions: restrictions ?? [],
    keyActive: key.status === 1,
    // Read under the lock: a claim may have moved the agent since its key was looked up.
    userId: key.user_id,
    credentials,
    hasUnreachable,
    existing: existing === undefined ? null : orderRow(existing),
    namedOrder: namedOrder(admission, facts, before),
    quoteWithdrawn: key.is_withdrawn,
    way,
  };
}

const namedOrder = (
  { caller, clientOrderId }: Admission,
  { named }: GroupFacts,
  { names }: Reserved,
): string | null =>
  clientOrderId === null
    ? null
    : (names.get(clientOrderId) ?? named.get(nameKey(caller.agentId, clientOrderId)) ?? null);

/**
 * The agents whose rows change: those with accepted orders, and those whose returned budget was read, because reading
 * deletes it.
 */
function budgetsOf(facts: GroupFacts, accepted: readonly Accepted[]): UsedBudget[] {
  const used = new Map<string, { trades: number; amount: bigint }>();
  for (const [agentId, { hasReturns }] of facts.agents)
    if (hasReturns) used.set(agentId, { trades: 0, amount: 0n });
  for (const { recorded } of accepted) {
    const { trades, amount } = used.get(recorded.order.agentId) ?? { trades: 0, amount: 0n };
    const counts = isTrade(recorded.order) ? 1 : 0;
    used.set(recorded.order.agentId, { trades: trades + counts, amount: amount + recorded.reserves });
  }
  return [...used].map(([agentId, more]) => {
    const agent = facts.agents.get(agentId);
    if (agent === undefined) throw new Error('an agent that is not locked has an accepted order');
    const { day, usage } = agent;
    return { agentId, day, trades: usage.trades + more.trades, amount: usage.amount + more.amount };
  });
}

// Remembers commits that the database refused because of what a trade wrote. Such a trade breaks the commit that it
// shares with others, and its agent may send it again and again. The commit of a venue's journal is the worst one to
// break: the venue must recover from it. So one such failure keeps all trades out of that commit for a while, longer
// after each further one; and an agent whose trade was refused alone shares no commit for a while.

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
const ALONE_MS = 60_000;
/** The agent that was noted longest ago is forgotten first. */
const MAX_AGENTS = 1_000;

/** The database's own refusal of a statement, anywhere among the causes. */
function refusalIn(error: unknown): DatabaseError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DatabaseError) return cause;
  return null;
}

export class BrokenCommits {
  /** When the agent may share commits again. Monotonic milliseconds, as all times here. */
  readonly #agents = new Map<string, number>();
  readonly #now: () => number;
  #pauseMs = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A commit with the venue's journal failed. */
  inJournal(error: unknown): void {
    if (refusalIn(error) === null) return;
    const now = this.#now();
    // A failure long after the pause is another matter.
    const isAnother = now > this.#pausedUntil + LONGEST_PAUSE_MS;
    this.#pauseMs = isAnother ? FIRST_PAUSE_MS : Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    this.#pausedUntil = now + this.#pauseMs;
  }

  /** An agent's trade failed in a transaction of its own. */
  alone(agentId: string, error: unknown): void {
    const refused = refusalIn(error);
    // A lock that was held for too long says nothing of the trade.
    if (refused === null || databaseFault(refused) !== null) return;
    this.#agents.delete(agentId);
    this.#agents.set(agentId, this.#now() + ALONE_MS);
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > MAX_AGENTS && oldest !== undefined) this.#agents.delete(oldest);
  }

  mayJoinJournal(): boolean {
    return this.#now() >= this.#pausedUntil;
  }

  mayShare(agentId: string): boolean {
    if (this.#agents.size === 0) return true;
    const until = this.#agents.get(agentId);
    if (until === undefined) return true;
    if (this.#now() < until) return false;
    this.#agents.delete(agentId);
    return true;
  }
}
