/**
 * Turns at the journal: each is one commit, whose holder reads, places orders and records in the transaction of the journal. While a
 * commit is running, the holder of the next turn may already read: its statements go out behind the commit and see what it wrote.
 */
import { openTransaction, type Take, type Transaction } from '@bellwether/durable';
import type { EngineEvent, Entry, JournalTurn, PlacedCommand } from '../paper-exchange.ts';
import { type JournalRow, journalRows, type Leading } from './commit.ts';

/** Services of the exchange for the holder of a turn. */
export interface TurnOptions {
  readonly lead: Leading;
  place(order: PlacedCommand): readonly EngineEvent[];
  /** The commit is sent. @param seq its last entry's, if it has one @param durable its outcome */
  sent(seq: number | undefined, durable: Promise<void>): void;
  /** The orders are durable. */
  committed(): void;
  /** Called when the commit failed: the orders in memory are not durable. @returns the error for the holder */
  failed(cause: unknown): Error;
}

export class Turn implements JournalTurn {
  readonly #options: TurnOptions;
  readonly #transaction: Transaction;
  readonly #isLeader: PromiseLike<unknown>;
  readonly #own = Promise.withResolvers<Take<JournalRow>>();
  readonly #over = Promise.withResolvers<void>();
  #take: Take<JournalRow> | undefined;
  #rows: readonly JournalRow[] | undefined;
  #hasPlaced = false;
  #canceled: Error | undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#transaction = openTransaction(options.lead.session);
    this.#isLeader = options.lead.term.assert(this.tx);
    // They reject also where the holder does not wait for them.
    for (const one of [this.#isLeader, this.#own.promise, this.#over.promise]) one.then(undefined, () => {});
  }

  get tx(): JournalTurn['tx'] {
    return this.#transaction.tx;
  }

  get term(): bigint {
    return this.#options.lead.term.number;
  }

  /** Hands the exchange to the holder. Resolves when the turn is over. @throws why its commit failed */
  run(take: Take<JournalRow>): Promise<void> {
    this.#own.resolve(take);
    return this.#over.promise;
  }

  /** It will not come: the journal is closed. */
  cancel(reason: Error): void {
    this.#canceled = reason;
    this.#own.reject(reason);
    void this.#transaction.rollback();
  }

  async begin(): Promise<void> {
    try {
      await this.#isLeader;
    } catch (fault) {
      throw this.#canceled ?? fault;
    }
    this.#take = await this.#own.promise;
  }

  place(order: PlacedCommand): readonly EngineEvent[] {
    if (this.#take === undefined || this.#rows !== undefined) throw new Error('the turn takes no orders');
    this.#hasPlaced = true;
    return this.#options.place(order);
  }

  entries(): readonly Entry[] {
    if (this.#take === undefined) throw new Error('the turn has not begun');
    // All of them: what was just placed stands at the end, and the state in memory includes everything before it.
    this.#rows ??= this.#take();
    return this.#rows.map(({ entry }) => entry);
  }

  async commit(): Promise<void> {
    this.entries();
    try {
      for (const statement of journalRows(this.tx, this.#rows as readonly JournalRow[]))
        statement.then(undefined, () => {});
      const committed = this.#transaction.commit();
      this.#options.sent(this.#rows?.at(-1)?.entry.seq, this.#over.promise);
      await committed;
    } catch (cause) {
      throw this.#fail(cause);
    }
    this.#options.committed();
    this.#over.resolve();
  }

  async giveUp(cause: unknown): Promise<void> {
    await this.#transaction.rollback();
    if (this.#hasPlaced || this.#rows !== undefined) this.#fail(cause);
    else this.#over.resolve();
  }

  #fail(cause: unknown): Error {
    const reported = this.#options.failed(cause);
    this.#over.reject(cause);
    return reported;
  }
}

interface WaitingTurn {
  readonly resolve: (turn: Turn) => void;
  readonly reject: (reason: Error) => void;
}

export class Turns {
  readonly #options: TurnOptions;
  #waiting: WaitingTurn[] = [];
  /** Its holder reads behind the commit that is running. */
  #ahead: Turn | null = null;
  #isCommitSent = false;

  constructor(options: TurnOptions) {
    this.#options = {
      ...options,
      sent: (seq, durable) => {
        this.#isCommitSent = true;
        this.#ahead ??= this.#begin();
        options.sent(seq, durable);
      },
    };
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves with a turn as soon as its holder may read. */
  ask(): Promise<JournalTurn> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#isCommitSent) this.#ahead ??= this.#begin();
    });
  }

  /** The turn of the next commit. `null`: none is asked for. */
  next(): Turn | null {
    const next = this.#ahead ?? this.#begin();
    this.#ahead = null;
    this.#isCommitSent = false;
    return next;
  }

  fail(reason: Error): void {
    this.#ahead?.cancel(reason);
    this.#ahead = null;
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #begin(): Turn | null {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return null;
    const turn = new Turn(this.#options);
    waiting.resolve(turn);
    return turn;
  }
}
