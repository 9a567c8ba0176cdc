/**
 * Remembers commits that the database refused because of what a trade wrote. Such a trade breaks the commit that it
 * shares with others, and its agent may send it again and again. The commit of a venue's journal is the worst one to
 * break: the venue must recover from it. So one such failure keeps all trades out of that commit for a while, longer
 * after each further one; and an agent whose trade was refused alone shares no commit for a while.
 */
import { DatabaseError } from '@bellwether/durable';
import { databaseFault } from '../platform/database/database-faults.ts';

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
