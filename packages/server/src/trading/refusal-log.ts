/**
 * Writes refused attempts after the answers: they are collected for a moment and written in one statement. Each agent has
 * a ring of its newest ones, so a runaway agent cannot fill the disk with refusals.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { withOrigin } from '@bellwether/durable';
import type { Sql } from '../platform/database/connection.ts';

interface RefusalLogOptions {
  readonly sql: Sql;
  /** Rows kept of each agent. */
  readonly ring: number;
  readonly log: { warn(context: object, message: string): void };
}

const COLLECT_MS = 20;
const MAX_BATCH_ROWS = 1_000;
/** Beyond this the database is too slow; the oldest rows are dropped, because the newest are more useful. */
const MAX_WAITING_ROWS = 20_000;

export function createRefusalLog({ sql, ring, log }: RefusalLogOptions) {
  const repeated = new RepeatedRefusals();
  let waiting: RefusedAttempt[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    timer = undefined;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH_ROWS);
      waiting = waiting.slice(MAX_BATCH_ROWS);
      try {
        await sql`select record_refusals(${sql.json(batch.map(columns))}, ${ring})`;
      } catch (error) {
        log.warn({ err: error, rows: batch.length }, 'refused attempts were not recorded');
      }
    }
  };
  const turn = (): Promise<void> => {
    clearTimeout(timer);
    writing = writing.then(write);
    return writing;
  };

  return {
    /**
     * Returns at once; the row is written shortly after, without blocking others.
     * @returns how long to wait before the same is tried again, in seconds; `null`: it was not refused so often
     */
    add(attempt: RefusedAttempt): number | null {
      waiting.push(attempt);
      if (waiting.length > MAX_WAITING_ROWS) waiting = waiting.slice(-MAX_WAITING_ROWS);
      timer ??= withOrigin(undefined, () => setTimeout(turn, COLLECT_MS));
      return repeated.add(attempt);
    },
    /** Resolves when everything added so far is written. */
    flush: turn,
  };
}

const columns = (attempt: RefusedAttempt) => ({
  agent_id: attempt.agentId,
  refused_at: new Date(attempt.at).toISOString(),
  code: attempt.code,
  detail: attempt.detail,
  venue: attempt.venue,
  condition_id: attempt.conditionId,
  question: attempt.question,
  outcome: attempt.outcome,
  side: attempt.side,
  shares: attempt.shares.toString(),
  money: attempt.money.toString(),
  wallet_address: attempt.walletAddress,
  reasoning: attempt.reasoning,
  source: attempt.source,
  skill_slug: attempt.skillSlug,
  request_id: attempt.requestId,
});

/** An attempt to trade that the desk refused. */
interface RefusedAttempt {
  readonly agentId: string;
  readonly at: number;
  readonly code: string;
  readonly detail: string;
  readonly venue: string;
  readonly conditionId: string;
  readonly question: string;
  /** YES, NO or BOTH; as the request said it, where that is none of its market's. */
  readonly outcome: string;
  readonly side: 'BUY' | 'SELL';
  readonly shares: Micro;
  readonly money: Micro;
  readonly walletAddress: string;
  readonly reasoning: string | null;
  readonly source: string | null;
  readonly skillSlug: string | null;
  readonly requestId: string;
}

export type RefusalLog = ReturnType<typeof createRefusalLog>;

// Counts refusals that are the same: of one agent, in one market, on one side, with one code. The answer tells an agent that
// loops to wait longer each time; the desk still judges every attempt. In memory, so each replica counts its own; the alert of
// the agent's owner counts those of all (functions/refusals.sql).

/** What makes refusals the same, and when one was. */
interface Refused {
  readonly agentId: string;
  readonly conditionId: string;
  readonly side: 'BUY' | 'SELL';
  readonly code: string;
  readonly at: number;
}

const WINDOW_MS = 60_000;
/** From so many within the window on. */
const REPEATED = 10;
const LONGEST_S = 60;
/** Further ones say nothing new: the wait is at its longest by then. */
const MOST_TIMES = REPEATED + 6;
const MOST_KEYS = 10_000;

export class RepeatedRefusals {
  /** Those that were refused last are at the end. */
  readonly #times = new Map<string, readonly number[]>();

  /** @returns how long to wait, in seconds; `null`: it was not refused so often */
  add({ agentId, conditionId, side, code, at }: Refused): number | null {
    const key = `${agentId} ${side} ${code} ${conditionId}`;
    const before = this.#times.get(key) ?? [];
    const times = [...before.filter((time) => time > at - WINDOW_MS), at].slice(-MOST_TIMES);
    this.#times.delete(key);
    this.#times.set(key, times);
    const [oldest] = this.#times.keys();
    if (this.#times.size > MOST_KEYS && oldest !== undefined) this.#times.delete(oldest);
    return times.length < REPEATED ? null : Math.min(2 ** (times.length - REPEATED), LONGEST_S);
  }
}
