/**
 * Keeps the history behind the journal. It takes the entries that are durable, gathers their trades and moves, and writes
 * them in batches with the position that they reach: no commit of the journal waits for it or carries more because of it.
 * After a crash the entries behind the position are replayed by the recovery anyway, and are taken from there; so no snapshot
 * may be written of a command that the history does not cover yet, and the journal is never pruned beyond it.
 *
 * It does nothing while nothing is traded.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sql } from '@bellwether/durable';
import type { Entry, MarketFacts } from '../paper-exchange.ts';
import type { AccountMove, Trade, TradePlace } from '../trade-history.ts';
import {
  type EndedFate,
  pruneHistory,
  pruneMarkets,
  readFailing,
  readPosition,
  writeHistory,
} from './store.ts';
import { type Fate, movesOf, tradesOf } from './trades.ts';

/** How long rows wait for others, unless a reader asks. */
const GATHER_MS = 250;
const RETRY_MS = 1_000;
/** Rows of one batch, and rows that may wait: beyond these the exchange takes no more commands. */
const ROWS_PER_BATCH = 2_000;
const MOST_WAITING_ROWS = 100_000;
const DAY_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
const SLICES_PER_PRUNE = 500;
/** How long the trades and moves of accounts are kept, and trades of the house among itself. */
const ACCOUNTS_KEPT_DAYS = 90;
const HOUSE_KEPT_DAYS = 2;

export type Taken = Pick<Entry, 'seq' | 'at' | 'events' | 'markets'>;

interface WaitingReader {
  readonly seq: number;
  readonly trades: readonly Trade[];
  readonly failing: readonly number[];
  readonly fates: readonly EndedFate[];
  readonly moves: readonly AccountMove[];
  readonly markets: readonly MarketFacts[];
}

const rowsOf = ({ trades, moves }: WaitingReader): number => trades.length + moves.length + 1;

const NOTHING = {
  ...{ trades: [], moves: [], markets: [], fates: [] },
  failing: new Set<number>(),
  marketIds: new Map<string, string>(),
};

const KEPT: ReadonlySet<Taken['events'][number]['kind']> = new Set([
  ...(['fill', 'market_resolved', 'trade_reversed', 'reversal_refused'] as const),
  ...(['deposited', 'split', 'merged', 'converted', 'redeemed'] as const),
]);
const isKept = ({ kind }: Taken['events'][number]): boolean => KEPT.has(kind);

function fatesOf(events: Taken['events'], at: number): EndedFate[] {
  return events.flatMap((event): EndedFate[] => {
    if (event.kind === 'trade_reversed') return [{ number: event.trade, kind: 'failed', at }];
    return event.kind === 'reversal_refused' ? [{ number: event.trade, kind: 'settled_late', at }] : [];
  });
}

interface ProjectorOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly failing: FailingTrades;
  readonly log: (message: string, details?: unknown) => void;
}

export class HistoryProjector {
  readonly #options: ProjectorOptions;
  #waiting: WaitingReader[] = [];
  #rows = 0;
  /** Position of the last entry taken, and the one that is written. */
  #seq = 0;
  #written = 0;
  /** Markets that have their row. */
  #known = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #pruning: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: ProjectorOptions) {
    this.#options = options;
  }

  /**
   * Forgets what it has gathered: the state is recovered again.
   * @returns the position behind which entries are to be replayed to `take`; undefined where there is no history yet
   */
  async restart(): Promise<number | undefined> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flushing?.catch(() => {});
    this.#waiting = [];
    this.#rows = 0;
    this.#known = new Set();
    const { sql, failing } = this.#options;
    const position = await readPosition(sql);
    failing.clear();
    for (const { trade } of await readFailing(sql)) failing.resume(trade);
    this.#seq = position ?? 0;
    this.#written = this.#seq;
    this.#pruning ??= setInterval(() => void this.prune(), PRUNE_EVERY_MS).unref();
    return position;
  }

  /** True while too much waits: the exchange must not take further commands. */
  get isFull(): boolean {
    return this.#rows >= MOST_WAITING_ROWS;
  }

  /** Entries in order, each once; those that the history has already are skipped. */
  take(entries: readonly Taken[]): void {
    for (const entry of entries) {
      if (entry.seq <= this.#seq) continue;
      this.#seq = entry.seq;
      this.#gather(entry);
    }
    if (this.#rows > 0) this.#schedule(GATHER_MS);
  }

  #gather({ seq, at, events, markets }: Taken): void {
    if (!events.some(isKept)) return;
    const trades = tradesOf(events, at);
    const moves = movesOf(events, { seq, at });
    const resolved = events.filter((event) => event.kind === 'market_resolved');
    const fates = fatesOf(events, at);
    for (const fate of fates) this.#options.failing.end(fate.number, fate);
    const ids = [...trades, ...moves, ...resolved].flatMap(({ conditionId }) => conditionId ?? []);
    const facts = [...new Set(ids)].flatMap((conditionId) => markets.get(conditionId) ?? []);
    const known = new Set(facts.map(({ conditionId }) => conditionId));
    // An exchange that has forgotten a market has no facts of it: nothing of it can have happened.
    const isKnown = ({ conditionId }: { readonly conditionId?: string }) =>
      conditionId === undefined || known.has(conditionId);
    const waiting: WaitingReader = {
      ...{ seq, fates, markets: facts },
      trades: trades.filter(isKnown),
      failing: trades.filter((trade) => this.#options.failing.take(trade)).map(({ number }) => number),
      moves: moves.filter(isKnown),
    };
    this.#waiting.push(waiting);
    this.#rows += rowsOf(waiting);
  }

  /** Resolves when every entry taken so far is in the history. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#flushing !== undefined) {
      this.#flushing ??= this.#writeBatch().finally(() => {
        this.#flushing = undefined;
      });
      await this.#flushing;
    }
  }

  /** Resolves when the history covers the journal up to `seq`, whose commit is done. */
  async cover(seq: number): Promise<void> {
    // Who waits for the same commit may be called before its entries are taken.
    if (this.#seq < seq) await nextTurn();
    if (this.#seq < seq) throw new Error(`the history has not received the journal's command ${seq}`);
    await this.flush();
    if (this.#written >= seq) return;
    const reached = this.#seq;
    await writeHistory(this.#options.sql, { ...NOTHING, seq: reached });
    this.#written = Math.max(this.#written, reached);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearInterval(this.#pruning);
    await this.#flushing?.catch(() => {});
  }

  /** Deletes what is too old, in slices. */
  async prune(): Promise<void> {
    const now = this.#options.now();
    const kept = {
      accountsMs: now - ACCOUNTS_KEPT_DAYS * DAY_MS,
      houseMs: now - HOUSE_KEPT_DAYS * DAY_MS,
    };
    try {
      for (let slice = 0; slice < SLICES_PER_PRUNE && !this.#isStopped; slice += 1)
        if (!(await pruneHistory(this.#options.sql, kept))) break;
      await this.flush();
      this.#known = new Set();
      this.#flushing = pruneMarkets(this.#options.sql).finally(() => {
        this.#flushing = undefined;
      });
      await this.#flushing;
    } catch (error) {
      this.#options.log('the history of the paper exchange was not pruned', error);
    }
  }

  #schedule(ms: number): void {
    if (this.#isStopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch((error: unknown) => {
        this.#options.log('the history of the paper exchange was not written', error);
        this.#schedule(RETRY_MS);
      });
    }, ms).unref();
  }

  async #writeBatch(): Promise<void> {
    const batch: WaitingReader[] = [];
    let rows = 0;
    while (rows < ROWS_PER_BATCH && this.#waiting.length > 0) {
      const next = this.#waiting.shift()!;
      batch.push(next);
      rows += rowsOf(next);
    }
    // Without further rows everything taken is covered.
    const seq = this.#waiting.length === 0 ? this.#seq : batch.at(-1)!.seq;
    const markets = new Map(batch.flatMap((one) => one.markets).map((facts) => [facts.conditionId, facts]));
    const unwritten = [...markets.values()].filter(
      ({ conditionId, payout }) => payout !== undefined || !this.#known.has(conditionId),
    );
    try {
      await writeHistory(this.#options.sql, {
        seq,
        trades: batch.flatMap((one) => one.trades),
        failing: new Set(batch.flatMap((one) => one.failing)),
        fates: batch.flatMap((one) => one.fates),
        moves: batch.flatMap((one) => one.moves),
        markets: unwritten,
        marketIds: new Map([...markets.values()].map(({ conditionId, id }) => [conditionId, id])),
      });
    } catch (error) {
      this.#waiting.unshift(...batch);
      throw error;
    }
    this.#written = seq;
    this.#rows -= rows;
    for (const { conditionId } of unwritten) this.#known.add(conditionId);
  }
}

// Trades that are going to fail, from the match until they are reversed or settle after all, and how the last of them ended. A choice is
// kept with the trade (`exchange_trades.fate`), so a restart under another plan changes no fate that was chosen.

/** Fates that ended, in memory for those who follow a trade. */
const MOST_ENDED = 10_000;
const WALLET = /^0x[0-9a-f]{40}$/;

export type ChooseFailing = (trade: TradePlace) => boolean;

export class FailingTrades {
  readonly #choose: ChooseFailing | undefined;
  readonly #failing = new Map<number, Trade>();
  readonly #ended = new Map<number, Fate>();

  constructor(choose: ChooseFailing | undefined) {
    this.#choose = choose;
  }

  /** Only trades of wallets fail: those of the house among itself concern no one, and the sandbox of venue B settles its own. */
  take(trade: Trade): boolean {
    if (this.#choose === undefined) return false;
    const accounts = [trade.taker, ...trade.matches].map(({ account }) => account);
    const outside = accounts.filter((account) => !account.startsWith('house:'));
    if (outside.length === 0 || !outside.every((account) => WALLET.test(account))) return false;
    if (!this.#choose(trade)) return false;
    this.#failing.set(trade.number, trade);
    return true;
  }

  /** One that was chosen before a restart. */
  resume(trade: Trade): void {
    this.#failing.set(trade.number, trade);
  }

  end(number: number, fate: Extract<Fate, { readonly at: number }>): void {
    this.#failing.delete(number);
    this.#ended.set(number, fate);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  fateOf(number: number): Fate {
    if (this.#failing.has(number)) return { kind: 'fails' };
    return this.#ended.get(number) ?? { kind: 'settles' };
  }

  /** Those whose match is at least so old, oldest first. */
  due(now: number, afterMs: number): Trade[] {
    return [...this.#failing.values()].filter(({ at }) => at + afterMs <= now);
  }

  clear(): void {
    this.#failing.clear();
    this.#ended.clear();
  }
}
