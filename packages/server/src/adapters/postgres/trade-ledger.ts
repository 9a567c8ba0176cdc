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
import type { Evidence, OutcomeEvidence } from '../../ports/evidence.ts';
import type { Admission, NewOrder, Standing, StandingQuestion, TradeLedger } from '../../ports/stores.ts';
import type { VenueAnswer, VenueId } from '../../ports/venue.ts';
import { type JudgedGroup, judgeGroup, type VenueInCommit, type Verdict } from './admission-group.ts';
import { dependsOnCommit, type Group, Line, type LonelyTrades, type Outcome } from './admission-line.ts';
import {
  type GroupFacts,
  keepGroupPlans,
  keepPlans,
  readAlone,
  readGroup,
  unlockedFacts,
} from './admission-reads.ts';
import { bindOthers, writeGroup } from './admission-writes.ts';
import { BrokenCommits } from './broken-commits.ts';
import type { Sql, Tx } from './connection.ts';
import { databaseFault } from './database-faults.ts';
import { writeEvidence } from './evidence.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { only, orderRow } from './rows.ts';
import { KnownCallers } from './trade-callers.ts';
import { ownFacts, restrictingFacts, safeguardRows, standingOf, usage } from './trade-standing.ts';

/** A venue's journal in the desk's database. */
export interface VenueJournal {
  readonly venue: VenueId;
  /** Whether this process may write it now. */
  isHere(): boolean;
  /**
   * Lets work decide inside the journal's next commit. Resolves when all of it is durable.
   * @returns `unknown`: there is no proof whether it is @throws VenueUnavailable when nothing was recorded because the
   *   commit failed @throws what the reads throw: then nothing happened
   */
  join(work: JournalWork): Promise<'recorded' | 'unknown'>;
}

export interface JournalWork {
  read(tx: Tx): Promise<unknown>;
  /** Called once all reads are answered; must not wait. */
  decide(venue: VenueInCommit): void;
  /** Issues the statements that record the evidence of the commit, of this work's orders and of all others. */
  record(tx: Tx, evidence: Evidence): readonly PromiseLike<unknown>[];
  /** Called when the commit is sent. */
  sent(): void;
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
  const alone = createLonelyTrades(sql, broken);
  const markets = new RecordedMarkets();
  const callers = new KnownCallers();
  const recorded = new Line(
    {
      run: (group) => runOnPool(sql, group, callers),
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
            run: (group) => runInJournal(journal, group, { broken, markets, callers }),
            // A journal is one connection: one group commits, one reads.
            most: 2,
            readsAhead: true,
            elsewhere: (admission) => recorded.add(admission),
          },
          alone,
        );
  return {
    admit<Order extends NewOrder>(admission: Admission<Order>): Promise<VenueAnswer | null> {
      const general = admission as unknown as Admission;
      if (!broken.mayShare(admission.caller.agentId)) return alone.run(general);
      const joins =
        joined !== null &&
        admission.toVenue !== undefined &&
        admission.venue === journal?.venue &&
        journal.isHere() &&
        broken.mayJoinJournal();
      return (joins ? joined : recorded).add(general);
    },

    look: async (question) => (await look(sql, question, async () => {})).standing,

    async preview(question) {
      const { standing, further } = await look(sql, question, (tx) => unlockedFacts(tx, question));
      const { key, credentials, hasUnreachable } = further.caller;
      const { existing } = further;
      return {
        ...standing,
        credentials,
        hasUnreachable,
        keyActive: key.status === 1,
        userId: key.user_id,
        existing: existing === undefined ? null : orderRow(existing),
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

const issued = (statements: readonly PromiseLike<unknown>[]): void => {
  // The commit reports their failure.
  for (const statement of statements) statement.then(undefined, () => {});
};

const NO_OUTCOMES: ReadonlyMap<string, OutcomeEvidence> = new Map();

/** Records the orders; their callers send them. */
async function runOnPool(
  sql: Sql,
  { take, judged: onJudged }: Group,
  callers: KnownCallers,
): Promise<readonly Outcome[]> {
  const group = take();
  if (group.length === 0) return [];
  const { tx, commit, rollback } = openTransaction(sql);
  let judged: JudgedGroup;
  try {
    const [, facts] = await Promise.all([keepGroupPlans(tx).execute(), readGroup(tx, group, callers)]);
    judged = judgeGroup(group, facts, { venue: null });
    if (judged.budgets.length > 0) issued(writeGroup(tx, { ...judged, outcomes: NO_OUTCOMES }));
  } catch (error) {
    await rollback();
    throw error;
  }
  const { verdicts, budgets } = judged;
  onJudged(verdicts);
  if (budgets.length === 0) {
    await rollback();
    return verdicts;
  }
  return commit().then(
    () => verdicts,
    (error: unknown) => {
      if (error instanceof CommitInDoubt) return withFailure(verdicts, error);
      throw error;
    },
  );
}

const withFailure = (verdicts: readonly Verdict[], reason: unknown): readonly Outcome[] =>
  verdicts.map((verdict) => (dependsOnCommit(verdict) ? { kind: 'failed', reason } : verdict));

/** What this process remembers from group to group. */
interface ProcessState {
  readonly broken: BrokenCommits;
  readonly markets: RecordedMarkets;
  readonly callers: KnownCallers;
}

/** Records the orders with their venue's answers, in the commit of the venue's journal. */
async function runInJournal(
  journal: VenueJournal,
  { take, judged: onJudged, sent }: Group,
  { broken, markets, callers }: ProcessState,
): Promise<readonly Outcome[]> {
  let group: readonly Admission[] = [];
  let facts: GroupFacts | undefined;
  let judged: JudgedGroup | undefined;
  let traded: Evidence['markets'] = [];
  const work: JournalWork = {
    async read(tx) {
      group = take();
      facts = await readGroup(tx, group, callers);
    },
    decide(venue) {
      judged = judgeGroup(group, facts as GroupFacts, { venue });
      onJudged(judged.verdicts);
    },
    record(tx, evidence) {
      const { accepted, budgets } = judged as JudgedGroup;
      const own = new Set(accepted.map(({ question }) => question.orderId));
      const outcomes = new Map(
        evidence.outcomes.filter(({ orderId }) => own.has(orderId)).map((one) => [one.orderId, one]),
      );
      traded = markets.missingOf(evidence.markets);
      const rest = {
        ...evidence,
        outcomes: evidence.outcomes.filter(({ orderId }) => !own.has(orderId)),
        markets: traded,
      };
      return [
        ...(budgets.length === 0 ? [] : writeGroup(tx, { accepted, budgets, outcomes })),
        ...writeEvidence(tx, rest),
      ];
    },
    sent,
  };
  try {
    const result = await journal.join(work);
    const verdicts = judged?.verdicts ?? [];
    if (result !== 'recorded') return verdicts.map(withoutProof);
    markets.add(traded);
    return verdicts;
  } catch (error) {
    if (judged === undefined) throw error;
    broken.inJournal(error);
    return withFailure(judged.verdicts, databaseCause(error) ?? error);
  }
}

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

function createLonelyTrades(sql: Sql, broken: BrokenCommits): LonelyTrades {
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
    issued(writeGroup(tx, { accepted, budgets, outcomes: NO_OUTCOMES }));
    issued(accepted.filter(({ others }) => others.length > 0).map((one) => bindOthers(tx, one)));
  } catch (error) {
    void rollback();
    throw error;
  }
  await commit();
  return null;
}
