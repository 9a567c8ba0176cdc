/** The history of one running exchange: what it takes, what it answers, and which trades are to be reversed. */
import type { Sql } from '@bellwether/durable';
import type { ConditionId, EngineCommand, Entry, MarketFacts } from '../paper-exchange.ts';
import type {
  MoveQuery,
  MoveRecord,
  Settlement,
  SettlementDelays,
  Trade,
  TradeHistory,
  TradePlace,
  TradeQuery,
  TradeRecord,
} from '../trade-history.ts';
import { type ChooseFailing, FailingTrades, HistoryProjector, type Taken } from './projector.ts';
import { readMarket, readMoves, readTrades, readTradesOfMatches, type TradeRow } from './store.ts';
import { SETTLEMENT_DELAYS, settlementOf, tradeIdOf, tradeNumberOf, tradesOf } from './trades.ts';

interface ExchangeHistoryOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly seed: () => string;
  readonly delays: SettlementDelays | undefined;
  readonly failingTrades: ChooseFailing | undefined;
  /** @throws ExchangeUnavailable */
  readonly requireOpen: () => void;
  readonly log: (message: string, details?: unknown) => void;
}

type Reversal = Extract<EngineCommand, { readonly kind: 'reverse' }>;

export class ExchangeHistory {
  readonly reads: TradeHistory;
  readonly #options: ExchangeHistoryOptions;
  readonly #delays: SettlementDelays;
  readonly #failing: FailingTrades;
  readonly #projector: HistoryProjector;

  constructor(options: ExchangeHistoryOptions) {
    const { delays = SETTLEMENT_DELAYS, failingTrades, requireOpen } = options;
    this.#options = options;
    this.#delays = delays;
    this.#failing = new FailingTrades(failingTrades);
    this.#projector = new HistoryProjector({ ...options, failing: this.#failing });
    const settled = async () => {
      requireOpen();
      await this.#projector.flush();
    };
    this.reads = new History({ ...options, delays, failing: this.#failing, settled });
  }

  /** Before a recovery, whose commands `take` receives again. */
  async restart(): Promise<{ readonly checkRecovery: (snapshotSeq: number) => void }> {
    const position = await this.#projector.restart();
    return {
      checkRecovery: (snapshotSeq) => {
        if (position !== undefined && snapshotSeq > position)
          this.#options.log(`the paper exchange's history lacks the trades of ${position} to ${snapshotSeq}`);
      },
    };
  }

  readonly take = (entries: readonly Taken[]): void => this.#projector.take(entries);

  /** Resolves when it covers the journal up to `seq`, whose commit is done. */
  readonly cover = (seq: number): Promise<void> => this.#projector.cover(seq);

  /** True while too much waits to be written: the exchange must not take further commands. */
  get isFull(): boolean {
    return this.#projector.isFull;
  }

  /** Reversals that undo the trades that have failed by now. */
  reversals(now: number): Reversal[] {
    return this.#failing.due(now, this.#delays.confirmedAfterMs).map(reversalOf);
  }

  async close(): Promise<void> {
    await this.#projector
      .flush()
      .catch((error: unknown) =>
        this.#options.log('the history of the paper exchange was not written', error),
      );
    await this.#projector.stop();
  }
}

const reversalOf = ({ conditionId, number, taker, matches }: Trade): Reversal => ({
  kind: 'reverse',
  conditionId,
  trade: number,
  legs: matches.flatMap(({ account, outcome, side, size, cost, takerCost, takerFee }) => [
    {
      ...{ account: taker.account, outcome: taker.outcome, side: taker.side },
      size,
      cost: takerCost,
      fee: takerFee,
    },
    { account, outcome, side, size, cost, fee: 0n },
  ]),
});

// The history as the exchange offers it: rows, with ids and settlement derived from the world's seed and the time.

interface HistoryOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly seed: () => string;
  readonly delays: SettlementDelays;
  readonly failing: Pick<FailingTrades, 'fateOf'>;
  /** Resolves when every command that was answered is in the tables. @throws ExchangeUnavailable */
  readonly settled: () => Promise<void>;
}

class History implements TradeHistory {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  async trades(query: TradeQuery): Promise<readonly TradeRecord[]> {
    await this.#options.settled();
    return (await readTrades(this.#options.sql, query)).map((row) => this.#record(row));
  }

  async trade(id: string): Promise<TradeRecord | undefined> {
    const number = tradeNumberOf(this.#options.seed(), id);
    if (number === undefined) return undefined;
    return (await this.tradesOfMatches([number])).find((trade) => trade.number === number);
  }

  async tradesOfMatches(matchIds: readonly number[]): Promise<readonly TradeRecord[]> {
    if (matchIds.length === 0) return [];
    await this.#options.settled();
    return (await readTradesOfMatches(this.#options.sql, matchIds)).map((row) => this.#record(row));
  }

  async moves(query: MoveQuery): Promise<readonly MoveRecord[]> {
    await this.#options.settled();
    return readMoves(this.#options.sql, query);
  }

  async market(conditionId: ConditionId): Promise<MarketFacts | undefined> {
    await this.#options.settled();
    return readMarket(this.#options.sql, conditionId);
  }

  tradeId(firstMatchId: number): string {
    return tradeIdOf(this.#options.seed(), firstMatchId);
  }

  tradesIn({ events, at, markets }: Pick<Entry, 'events' | 'at' | 'markets'>): readonly TradeRecord[] {
    const now = this.#options.now();
    return tradesOf(events, at).flatMap((trade) => {
      const market = markets.get(trade.conditionId);
      const settlement = this.settlement(trade, now);
      return market === undefined ? [] : [{ ...trade, id: this.tradeId(trade.number), market, settlement }];
    });
  }

  settlement(trade: TradePlace, at: number): Settlement {
    const fate = this.#options.failing.fateOf(trade.number);
    return settlementOf(trade, fate, { ...this.#moment(), now: at });
  }

  get delays(): SettlementDelays {
    return this.#options.delays;
  }

  #moment(): { readonly seed: string; readonly now: number; readonly delays: SettlementDelays } {
    const { seed, now, delays } = this.#options;
    return { seed: seed(), now: now(), delays };
  }

  #record({ trade, market, fate }: TradeRow): TradeRecord {
    const settlement = settlementOf(trade, fate, this.#moment());
    return { ...trade, id: this.tradeId(trade.number), market, settlement };
  }
}
