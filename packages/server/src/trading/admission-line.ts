/**
 * The line in which trades wait for a group. It never waits for a lock: a trade whose agent or order id is locked is tried
 * again in the next groups, and then waits alone.
 */

import { currentOrigin, withOrigin } from '@bellwether/durable';
import type { VenueAnswer } from '../venues/venue.ts';
import type { Admission } from './admission.ts';
import type { Verdict } from './admission-group.ts';

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
export interface UngroupedTrades {
  run(admission: Admission): Promise<VenueAnswer | null>;
  /** For a trade that was found locked. `null`: enough agents wait for locks already. */
  wait(admission: Admission): Promise<VenueAnswer | null> | null;
}

/** One group, as its runner sees it. */
export interface Group {
  /** Takes its trades. To be called once. */
  take(): readonly Admission[];
  /** Answers the trades that record nothing: they need not wait for the commit. */
  judged(verdicts: readonly Verdict[]): void;
  /** Its commit is sent: of a runner that reads ahead, the next group may read behind it. */
  sent(): void;
}

/** Records groups. */
export interface GroupRunner {
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
export type Outcome = Verdict | { readonly kind: 'failed'; readonly reason: unknown };

/** A refusal, too, when it counts what its agent's trades before it in the group reserve. */
export const dependsOnCommit = (outcome: Outcome): boolean =>
  outcome.kind === 'accepted' || (outcome.kind === 'refused' && outcome.isProvisional);

/**
 * The trades that wait for a group. While one group runs, the trades that arrive form the next one. Only a group that
 * stands still is overtaken.
 */
export class Line {
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
