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
import type { VenueId } from '../domain/market.ts';
import type { Standing } from '../domain/records.ts';
import { databaseFault, only, type Sql, type Tx } from '../platform/database/connection.ts';
import { createKeyedMutex } from '../platform/scheduler.ts';
import type { FoldedPositions, PositionsInPlay, TokenKey } from '../positions/index.ts';
import type { VenueAnswer, VenueOrder, VenueSet } from '../venues/venue.ts';
import {
  type Admission,
  isTrade,
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
import { type Accepted, bindOthers, type UsedBudget, writeEvidence, writeGroup } from './outcomes.ts';

/** A venue's journal in the desk's database. */
export interface VenueJournal {
  readonly venue: VenueId;
  readonly positions: PositionsInPlay;
  /** Whether this process may write it now. */
  isHere(): boolean;
  /** @throws where none is to be had: then nothing happened */
  nextTurn(): Promise<VenueTurn>;
}

/** One commit of the venue's journal, in the hands of its holder. */
interface VenueTurn {
  /** The commit's transaction: what is issued before `begin` resolves reads behind the commit before. */
  readonly tx: Tx;
  /** While it lasts, no other process writes positions at the venue. */
  readonly term: bigint;
  readonly venue: VenueInCommit;
  /**
   * Resolves when the commit before is durable: from then until `evidence`, or `giveUp`, the venue is the holder's, who must not wait for
   * anything. @throws to be given up then
   */
  begin(): Promise<void>;
  /** Evidence of this commit: of the holder's orders and of all others. No order is placed afterwards. */
  evidence(): Evidence;
  /**
   * Sends the commit before it returns; resolves when all of it is durable.
   * @returns `unknown`: there is no proof whether it is @throws VenueUnavailable when nothing was recorded
   */
  commit(): Promise<'recorded' | 'unknown'>;
  /** Ends the turn in place of `commit`; nothing is recorded. */
  giveUp(cause: unknown): Promise<void>;
}

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

export function createTradeLedger(sql: Sql, journal: VenueJournal | null): TradeLedger {
  const broken = new BrokenCommits();
  const alone = createUngroupedTrades(sql, broken);
  const known: LedgerMemory = { callers: new KnownCallers(), markets: new RecordedMarkets() };
  const recorded = new Line(
    {
      run: async (group) => admitGroup(turnOnPool(sql), group, known),
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
            run: async (group) =>
              admitGroup(turnInJournal(await journal.nextTurn(), journal.positions, broken), group, known),
            // A journal is one connection: one group commits, one reads.
            most: 2,
            readsAhead: true,
            elsewhere: (admission) => recorded.add(admission),
          },
          alone,
        );
  return {
    admit(admission) {
      if (!broken.mayShare(admission.caller.agentId)) return alone.run(admission);
      const joins =
        joined !== null &&
        admission.toVenue !== undefined &&
        admission.venue === journal?.venue &&
        journal.isHere() &&
        broken.mayJoinJournal();
      return (joins ? joined : recorded).add(admission);
    },

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
        balance: null,
        book: null,
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
}

/** The transaction of a group, with the venue in it where this process keeps its journal. */
interface GroupTurn extends Pick<VenueTurn, 'tx' | 'giveUp'> {
  readonly venue: VenueInCommit | null;
  /** Reads what only the way needs, then resolves as a venue's turn does. */
  begin(admissions: readonly Admission[]): Promise<unknown>;
  /** `null` where the venue is not in the transaction: its evidence follows. */
  evidence(): Promise<FoldedEvidence | null>;
  /** @throws where the trades may be admitted in another way */
  commit(): Promise<'recorded' | 'unknown' | { readonly failed: unknown }>;
}

interface FoldedEvidence extends Evidence {
  readonly positions: FoldedPositions;
}

/**
 * A group of trades, from its turn to its answers, in the order in which it happens. Refusals are answered once they are judged,
 * everything else with what this returns.
 */
async function admitGroup(
  turn: GroupTurn,
  group: Group,
  { callers, markets }: LedgerMemory,
): Promise<readonly Outcome[]> {
  let judged: JudgedGroup;
  let newMarkets: Evidence['markets'] = [];
  try {
    const admissions = group.take();
    const [, facts] = await Promise.all([turn.begin(admissions), readGroup(turn.tx, admissions, callers)]);
    judged = judgeGroup(admissions, facts, { venue: turn.venue });
    group.judged(judged.verdicts);
    const evidence = await turn.evidence();
    if (evidence === null && judged.budgets.length === 0) {
      await turn.giveUp(null);
      return judged.verdicts;
    }
    newMarkets = markets.missingOf(evidence?.markets ?? []);
    writeJudged(turn.tx, judged, evidence === null ? null : { ...evidence, markets: newMarkets });
  } catch (error) {
    await turn.giveUp(error);
    throw error;
  }
  const committing = turn.commit();
  group.sent();
  const committed = await committing;
  if (committed === 'unknown') return judged.verdicts.map(withoutProof);
  if (committed !== 'recorded') return withFailure(judged.verdicts, committed.failed);
  markets.add(newMarkets);
  return judged.verdicts;
}

/** Issues the statements for the group's orders, each with what their venue has said, and for what it proved of others. */
function writeJudged(tx: Tx, { accepted, budgets }: JudgedGroup, evidence: FoldedEvidence | null): void {
  const own = new Set(accepted.map(({ question }) => question.orderId));
  const [ofGroup, ofOthers] = partition(evidence?.outcomes ?? [], ({ orderId }) => own.has(orderId));
  const outcomes = new Map(ofGroup.map((one) => [one.orderId, one]));
  if (budgets.length > 0) issue(writeGroup(tx, { accepted, budgets, outcomes }));
  if (evidence !== null) issue(writeEvidence(tx, { ...evidence, outcomes: ofOthers }, evidence.positions));
}

/** The orders are recorded; their callers send them. */
function turnOnPool(sql: Sql): GroupTurn {
  const { tx, commit, rollback } = openTransaction(sql);
  return {
    tx,
    venue: null,
    begin: () => keepGroupPlans(tx).execute(),
    evidence: async () => null,
    giveUp: rollback,
    commit: () =>
      commit().then(
        () => 'recorded' as const,
        (error: unknown) => {
          if (error instanceof CommitInDoubt) return { failed: error };
          throw error;
        },
      ),
  };
}

/** The orders are recorded with their venue's answers, in the commit of the venue's journal. */
const turnInJournal = (turn: VenueTurn, positions: PositionsInPlay, broken: BrokenCommits): GroupTurn => ({
  ...turn,
  begin: (admissions) =>
    Promise.all([turn.begin(), positions.read(turn.tx, turn.term, admissions.flatMap(soldBy))]),
  async evidence() {
    const evidence = turn.evidence();
    return { ...evidence, positions: await positions.fold(turn.tx, turn.term, evidence) };
  },
  commit: () =>
    turn.commit().catch((error: unknown) => {
      broken.inJournal(error);
      return { failed: databaseCause(error) ?? error };
    }),
});

const soldBy = ({ funder, sells }: Admission): TokenKey[] =>
  (sells ?? []).map((tokenId) => ({ wallet: funder, tokenId }));

const issue = (statements: readonly PromiseLike<unknown>[]): void => {
  // The commit reports their failure.
  for (const statement of statements) statement.then(undefined, () => {});
};

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [T[], T[]] {
  const [first, second]: [T[], T[]] = [[], []];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}

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
  verdict.kind === 'accepted' ? { kind: 'accepted', answer: { kind: 'unknown' } } : verdict;

function createUngroupedTrades(sql: Sql, broken: BrokenCommits): UngroupedTrades {
  const agents = createKeyedMutex();
  /** Trades that wait for locks, by agent. */
  const waiting = new Map<string, number>();

  async function run(admission: Admission): Promise<VenueAnswer | null> {
    admission.trace?.enter('wait');
    const release = await agents.acquire(admission.caller.agentId);
    try {
      admission.requireTime?.();
      for (let attempt = 1; ; attempt += 1) {
        admission.trace?.enter('judge');
        const answer = await runAlone(sql, admission);
        if (answer !== 'again') return answer;
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

async function runAlone(sql: Sql, admission: Admission): Promise<null | 'again'> {
  const { tx, commit, rollback } = openTransaction(sql);
  try {
    const [, read] = await Promise.all([keepPlans(tx).execute(), readAlone(tx, admission)]);
    if (read === null) {
      await rollback();
      return 'again';
    }
    const { facts, restrictions } = read;
    const { verdicts, accepted, budgets } = judgeGroup([admission], facts, { venue: null, restrictions });
    const verdict = only(verdicts);
    if (verdict.kind === 'refused') throw verdict.reason;
    if (verdict.kind === 'nothing') {
      void rollback();
      return null;
    }
    issue(writeGroup(tx, { accepted, budgets, outcomes: new Map() }));
    issue(accepted.filter(({ others }) => others.length > 0).map((one) => bindOthers(tx, one)));
  } catch (error) {
    void rollback();
    throw error;
  }
  await commit();
  return null;
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
  readonly resolve: (answer: VenueAnswer | null) => void;
  readonly reject: (reason: unknown) => void;
  lockedTries: number;
}

/** Trades that have a transaction each, in which they wait for their locks; those of one agent one after another. */
interface UngroupedTrades {
  run(admission: Admission): Promise<VenueAnswer | null>;
  /** For a trade that was found locked. `null`: enough agents wait for locks already. */
  wait(admission: Admission): Promise<VenueAnswer | null> | null;
}

/** One group, as its runner sees it. */
interface Group {
  /** Takes its trades. To be called once. */
  take(): readonly Admission[];
  /** Answers the trades that record nothing: they need not wait for the commit. */
  judged(verdicts: readonly Verdict[]): void;
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
  readonly elsewhere: (admission: Admission) => Promise<VenueAnswer | null>;
}

/** `failed`: its commit failed. */
type Outcome = Verdict | { readonly kind: 'failed'; readonly reason: unknown };

/** A refusal, too, when it counts what its agent's trades before it in the group reserve. */
const dependsOnCommit = (outcome: Outcome): boolean =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.isProvisional);

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

  add(admission: Admission): Promise<VenueAnswer | null> {
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
        judged: (verdicts) => settle(verdicts, false),
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
      case 'nothing':
        waiting.resolve(null);
        break;
      case 'accepted':
        waiting.resolve(outcome.answer);
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

// Judges a group of trades in memory, one after another. A trade sees what the trades of its agent before it in the
// group have reserved, as it would see their orders in the database.

type Restrictions = Standing['restrictions'];

/** The venue, where its journal shares the group's commit. */
interface VenueInCommit {
  balance: NonNullable<TradeScope['balance']>;
  book: NonNullable<TradeScope['book']>;
  place(order: VenueOrder | VenueSet): VenueAnswer;
}

/**
 * Course of a trade. `locked`: others hold its agent or its order's id. `restricted`: locks of other owners bind its
 * wallet. Neither was judged.
 */
type Verdict =
  | { readonly kind: 'locked' | 'restricted' }
  | {
      readonly kind: 'refused';
      readonly reason: unknown;
      /** Right only if the group's commit succeeds. */
      readonly isProvisional: boolean;
    }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'accepted'; readonly answer: VenueAnswer | null };

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

interface JudgedGroup {
  readonly verdicts: readonly Verdict[];
  readonly accepted: readonly Accepted[];
  readonly budgets: readonly UsedBudget[];
}

/** @param restrictions of a trade that waits alone, with every agent that restricts it locked */
function judgeGroup(
  admissions: readonly Admission[],
  facts: GroupFacts,
  { venue, restrictions }: { readonly venue: VenueInCommit | null; readonly restrictions?: Restrictions },
): JudgedGroup {
  const reserved = new Map<string, Reserved>();
  const accepted: Accepted[] = [];
  const verdicts = admissions.map((admission, place): Verdict => {
    const agent = facts.agents.get(admission.caller.agentId);
    const caller = facts.callers[place];
    if (agent === undefined || caller === undefined || facts.takenIds.has(admission.orderId))
      return { kind: 'locked' };
    if (caller.key.is_restricted && restrictions === undefined) return { kind: 'restricted' };
    const before = reserved.get(admission.caller.agentId) ?? NOTHING_RESERVED;
    let recorded: Recorded | null;
    try {
      recorded = admission.judge(scopeOf({ admission, facts, caller, agent, before, venue, restrictions }));
    } catch (reason) {
      return { kind: 'refused', reason, isProvisional: before !== NOTHING_RESERVED };
    }
    if (recorded === null) return { kind: 'nothing' };
    const answer = venue === null ? null : placeAt(venue, admission, recorded);
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
    return { kind: 'accepted', answer };
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

function placeAt(venue: VenueInCommit, { toVenue }: Admission, { order }: Recorded): VenueAnswer {
  if (toVenue === undefined) throw new Error('an order that joins its venue has no form for it');
  return venue.place(toVenue(order));
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
  readonly venue: VenueInCommit | null;
  readonly restrictions: Restrictions | undefined;
}

function scopeOf({ admission, facts, caller, agent, before, venue, restrictions }: JudgedScope): TradeScope {
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
    balance: venue?.balance ?? null,
    book: venue?.book ?? null,
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
