/** The history as the exchange offers it: rows, with ids and settlement derived from the world's seed and the time. */
import type { Sql } from '@bellwether/durable';
import type { ConditionId, Entry, MarketFacts } from '../paper-exchange.ts';
import type {
  MoveQuery,
  MoveRecord,
  Settlement,
  SettlementDelays,
  TradeHistory,
  TradePlace,
  TradeQuery,
  TradeRecord,
} from '../trade-history.ts';
import type { FailingTrades } from './failing-trades.ts';
import { readMarket, readMoves, readTrades, readTradesOfMatches, type TradeRow } from './reads.ts';
import { settlementOf } from './settlement.ts';
import { tradesOf } from './trade.ts';
import { tradeIdOf, tradeNumberOf } from './trade-id.ts';

export interface HistoryOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly seed: () => string;
  readonly delays: SettlementDelays;
  readonly failing: Pick<FailingTrades, 'fateOf'>;
  /** Resolves when every command that was answered is in the tables. @throws ExchangeUnavailable */
  readonly settled: () => Promise<void>;
}

export class History implements TradeHistory {
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
