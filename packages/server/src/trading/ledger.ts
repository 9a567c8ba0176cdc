/**
 * Admits trades: judges each under its agent's lock, reserves its budget and records its order.
 *
 * Trades that arrive at the same time form a group, which costs two trips: one that locks and reads, one that writes and
 * commits. Where this process keeps the venue's journal, the group joins the journal's next commit and the orders reach
 * the venue inside it; elsewhere the caller sends each order to its venue once it is recorded. A group never waits
 * for a lock: a trade whose agent or order id is locked is tried again in the next groups, and then waits alone, as
 * does a trade that needs the rows of several agents.
 */
import { CommitInDoubt, openTransaction } from '@bellwether/durable';
import type { Evidence } from '../domain/evidence.ts';
import type { VenueId } from '../domain/market.ts';
import type { Standing } from '../domain/records.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import { databaseFault } from '../platform/database/database-faults.ts';
import { only } from '../platform/database/rows.ts';
import { createKeyedMutex } from '../platform/keyed-mutex.ts';
import type { FoldedPositions, PositionsInPlay, TokenKey } from '../positions/index.ts';
import type { VenueAnswer } from '../venues/venue.ts';
import { type Admission, nameKey, type StandingQuestion, type TradeLedger } from './admission.ts';
import { type JudgedGroup, judgeGroup, type VenueInCommit, type Verdict } from './admission-group.ts';
import { dependsOnCommit, type Group, Line, type Outcome, type UngroupedTrades } from './admission-line.ts';
import { keepGroupPlans, keepPlans, readAlone, readGroup, unlockedFacts } from './admission-reads.ts';
import { bindOthers, writeGroup } from './admission-writes.ts';
import { BrokenCommits } from './broken-commits.ts';
import { writeEvidence } from './evidence.ts';
import { orderRow } from './order-rows.ts';
import { KnownCallers } from './trade-callers.ts';
import { ownFacts, restrictingFacts, safeguardRows, standingOf, usage } from './trade-standing.ts';

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
export interface VenueTurn {
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
