/** Writes the exchange's journal: the right to do so, turns, and group commits. */
import {
  arrayOf,
  commitAll,
  endOwnSession,
  type Lead,
  openTransaction,
  type Sql,
  type Take,
  type Transaction,
  type Tx,
  takeLead,
} from '@bellwether/durable';
import type { EngineEvent, Entry, JournalTurn, PlacedCommand, Recorder } from '../paper-exchange.ts';
import { gatherOrders, insertPosted, type OrderAddition } from './orders.ts';

/** "Bellweth" in ASCII, as one signed 64-bit key. */
const LOCK_KEY = '4784349392266425448';

/** @returns undefined when another process leads. @throws when the database does not answer */
export const takeExchangeLead = (database: Sql, holder: string): Promise<Lead | undefined> =>
  takeLead(database, { name: 'exchange', holder, lockKey: LOCK_KEY, settings: PLANNING });

/** Ends this process's lost session on the server, if it still exists there. */
export const endLostSession = (database: Sql, backendPid: number): Promise<void> =>
  endOwnSession(database, LOCK_KEY, backendPid);

/**
 * All writes go to a few rows by their keys. The planner does not know the size of a batch, or how large a table has
 * grown since planning: with default settings it may read the whole table for every batch.
 */
export const PLANNING = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Otherwise a scan of a whole cached index seems as cheap as one lookup per row of the batch.
  enable_material: 'off',
  // Some versions estimate a forced plan as expensive, and compile it.
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

// Turns at the journal: each is one commit, whose holder reads, places orders and records in the transaction of the journal. While a
// commit is running, the holder of the next turn may already read: its statements go out behind the commit and see what it wrote.

/** Services of the exchange for the holder of a turn. */
interface TurnOptions {
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

// One group commit: `begin … commit` in one write to the journal's connection, without waiting in between. (That of a turn reads
// first.) When it resolves, all of it is durable. When it throws after it has taken rows, the state in memory is ahead of
// the journal, so the caller must release the lead and recover from the journal.

/** A price to record. */
export interface PriceTick {
  readonly tokenId: string;
  readonly at: number;
  readonly pips: number;
  /** The market's other token, with the first price of a market that this process records. */
  readonly noTokenId?: string;
}

/** An applied command that is not yet journalled. */
export interface JournalRow {
  readonly entry: Entry;
  /** Encoded. */
  readonly command: string;
  readonly prices: readonly PriceTick[];
}

/** Most rows of one commit: bounds its size, and how long the next commit waits. */
const MAX_BATCH_ROWS = 500;

export type Leading = Pick<Lead, 'session' | 'term'>;

/** @throws CommitInDoubt when the connection was lost during the commit; other errors prove that nothing was written */
export async function commitRows(
  { session, term }: Leading,
  take: Take<JournalRow>,
  recorder: Recorder | undefined,
): Promise<void> {
  const rows = take(MAX_BATCH_ROWS);
  const entries = rows.map(({ entry }) => entry);
  const recorded = await recorder?.(entries, { sql: session, term: term.number });
  await commitAll(session, (tx) => [term.assert(tx), ...(recorded?.(tx) ?? []), ...journalRows(tx, rows)]);
}

/** Issues the statements that journal the rows. */
function journalRows(tx: Tx, rows: readonly JournalRow[]): PromiseLike<unknown>[] {
  if (rows.length === 0) return [];
  const entries = rows.map(({ entry }) => entry);
  const statements: PromiseLike<unknown>[] = [];
  const prices = rows.flatMap((row) => row.prices);
  if (prices.length > 0) statements.push(insertPrices(tx, prices));
  const first = prices.filter(isFirst);
  if (first.length > 0) statements.push(insertTokens(tx, first));
  const orders = gatherOrders(entries);
  const grown = orders.filter((order) => !order.isNew);
  if (grown.length > 0) statements.push(extendOrders(tx, grown));
  const posted = insertPosted(tx, entries);
  if (posted !== undefined) statements.push(posted);
  statements.push(
    insertJournal(
      tx,
      rows,
      orders.filter((order) => order.isNew),
    ),
  );
  return statements;
}

/** The commands and the orders that begin with them: two statements would cost more to start than to run. */
const insertJournal = (
  tx: Tx,
  rows: readonly JournalRow[],
  orders: readonly OrderAddition[],
): PromiseLike<unknown> => tx`
  with begun as (
    insert into exchange_orders (order_id, account, seq, events)
    select * from unnest(
      ${arrayOf('text', orders, (order) => order.orderId)},
      ${arrayOf('text', orders, (order) => order.account)},
      ${arrayOf('int8', orders, (order) => order.seq)},
      ${arrayOf('text', orders, (order) => order.lines.join('\n'))})
  )
  insert into exchange_journal (seq, at_ms, command)
  select * from unnest(
    ${arrayOf('int8', rows, ({ entry }) => entry.seq)},
    ${arrayOf('int8', rows, ({ entry }) => entry.at)},
    ${arrayOf('text', rows, (row) => row.command)})`;

const insertPrices = (tx: Tx, prices: readonly PriceTick[]): PromiseLike<unknown> => tx`
  insert into exchange_prices (token_id, at_ms, pips)
  select * from unnest(
    ${arrayOf('text', prices, (price) => price.tokenId)},
    ${arrayOf('int8', prices, (price) => price.at)},
    ${arrayOf('int4', prices, (price) => price.pips)})
  on conflict do nothing`;

const isFirst = (price: PriceTick): price is PriceTick & { readonly noTokenId: string } =>
  price.noTokenId !== undefined;

const insertTokens = (
  tx: Tx,
  prices: readonly { readonly tokenId: string; readonly noTokenId: string }[],
): PromiseLike<unknown> => tx`
  insert into exchange_tokens (no_token_id, yes_token_id)
  select * from unnest(
    ${arrayOf('text', prices, (price) => price.noTokenId)},
    ${arrayOf('text', prices, (price) => price.tokenId)})
  on conflict do nothing`;

const extendOrders = (tx: Tx, orders: readonly OrderAddition[]): PromiseLike<unknown> => tx`
  update exchange_orders set events = exchange_orders.events || chr(10) || more.events
  from unnest(
    ${arrayOf('text', orders, (order) => order.orderId)},
    ${arrayOf('text', orders, (order) => order.lines.join('\n'))}) as more (order_id, events)
  where exchange_orders.order_id = more.order_id`;

// Errors of an exchange that cannot serve.

/**
 * A command got no answer. `executed: 'no'` is proof that it had no effect and may be sent again; `'unknown'` means
 * that the database was lost while it was in flight: `orderRecord` returns the outcome later.
 */
export class ExchangeUnavailable extends Error {
  override readonly name = 'ExchangeUnavailable';
  readonly executed: 'no' | 'unknown';
  constructor(executed: 'no' | 'unknown', reason: string, options?: ErrorOptions) {
    super(`the paper exchange is unavailable: ${reason}`, options);
    this.executed = executed;
  }
}

/** Another process writes this database's journal. */
export class ExchangeLedElsewhere extends Error {
  override readonly name = 'ExchangeLedElsewhere';
  constructor() {
    super(
      'another process runs the paper exchange on this database; only one may write its journal at a time',
    );
  }
}

/** The database's world has markets of the other kind: simulated ones and a live venue's do not mix. */
export class OtherMarkets extends Error {
  override readonly name = 'OtherMarkets';

  constructor(wantsLive: boolean) {
    super(
      wantsLive
        ? 'this database has a simulated paper world; live markets need a database of their own'
        : "this database's paper world has a live venue's markets; the simulated ones need a database of their own",
    );
  }
}
