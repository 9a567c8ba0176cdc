/**
 * The world's markets as the venue lists them: tickers, mints, and the record of those whose tokens outlive them. It
 * finds markets and knows nothing of prices or wires.
 */
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import type { Sql } from 'postgres';
import type { ConditionId, MarketView, Outcome, PaperExchange, Payout } from '../../index.ts';
import { keylessAddress } from './keys.ts';

export type CatalogExchange = Pick<PaperExchange, 'markets' | 'market' | 'subscribe'>;

/** What identifies a market here, and what people read of it. Survives the exchange's own record. */
export interface MarketFacts {
  readonly conditionId: ConditionId;
  /** `KX<CATEGORY>-<event>-<market>`; the event's is the same without its last part, the series' its first. */
  readonly ticker: string;
  readonly eventTicker: string;
  readonly seriesTicker: string;
  readonly category: string;
  readonly eventTitle: string;
  readonly question: string;
  readonly rules: string;
  readonly mints: Readonly<Record<Outcome, SolanaAddress>>;
  readonly ledger: SolanaAddress;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly endDate: number;
}

export interface ListedMarket extends MarketFacts {
  readonly status: 'open' | 'closed' | 'resolved';
  readonly payout: Payout | null;
  /** `null` once the exchange has forgotten the market. */
  readonly view: MarketView | null;
}

export interface FoundMint {
  readonly market: ListedMarket;
  /** `null`: the market's ledger, which is no token. */
  readonly outcome: Outcome | null;
}

/** Longer texts are no tickers of ours. */
const MAX_TICKER_CHARS = 120;

export const seriesTickerOf = (category: string): string => `KX${category.toUpperCase()}`;

interface Identity {
  readonly mints: MarketFacts['mints'];
  readonly ledger: SolanaAddress;
}

interface Index {
  readonly tickers: Map<string, ConditionId>;
  readonly mints: Map<string, { readonly conditionId: ConditionId; readonly outcome: Outcome | null }>;
}

export class Catalog {
  readonly #sql: Sql;
  readonly #exchange: CatalogExchange;
  readonly #seed: string;
  readonly #identities = new Map<ConditionId, Identity>();
  readonly #unsubscribe: () => void;
  #index: Index | undefined;

  constructor(options: { readonly sql: Sql; readonly exchange: CatalogExchange; readonly seed: string }) {
    this.#sql = options.sql;
    this.#exchange = options.exchange;
    this.#seed = options.seed;
    this.#unsubscribe = options.exchange.subscribe((entries) => {
      for (const { events } of entries)
        if (events.some(({ kind }) => kind === 'market_listed')) this.#index = undefined;
    });
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Every market that the exchange knows, oldest first. */
  *all(): Generator<ListedMarket & { readonly view: MarketView }> {
    for (const view of this.#exchange.markets()) yield this.#listed(view);
  }

  /** One that the exchange knows. */
  get(conditionId: ConditionId): ListedMarket | null {
    const view = this.#exchange.market(conditionId);
    return view === undefined ? null : this.#listed(view);
  }

  async byTicker(ticker: string): Promise<ListedMarket | null> {
    const conditionId = this.#look().tickers.get(ticker);
    const view = conditionId === undefined ? undefined : this.#exchange.market(conditionId);
    if (view !== undefined) return this.#listed(view);
    if (ticker.length > MAX_TICKER_CHARS) return null;
    return this.#stored(await this.#sql`select * from sandbox_markets where ticker = ${ticker}`);
  }

  async byMint(mint: string): Promise<FoundMint | null> {
    const known = this.#look().mints.get(mint);
    const view = known === undefined ? undefined : this.#exchange.market(known.conditionId);
    if (known !== undefined && view !== undefined)
      return { market: this.#listed(view), outcome: known.outcome };
    if (parseSolanaAddress(mint) === null) return null;
    const market = this.#stored(
      await this.#sql`select * from sandbox_markets where yes_mint = ${mint} or no_mint = ${mint}`,
    );
    return market === null ? null : { market, outcome: market.mints.YES === mint ? 'YES' : 'NO' };
  }

  /** Puts a market on record, inside the transaction that makes its mints. */
  record(tx: Sql, { status: _, payout: __, view: ___, ...facts }: ListedMarket): PromiseLike<unknown> {
    return tx`
      insert into sandbox_markets (condition_id, ticker, yes_mint, no_mint, facts)
      values (${facts.conditionId}, ${facts.ticker}, ${facts.mints.YES}, ${facts.mints.NO},
        ${JSON.stringify(facts)}::text)
      on conflict do nothing`;
  }

  #stored(rows: readonly Record<string, unknown>[]): ListedMarket | null {
    const [row] = rows;
    if (row === undefined) return null;
    const facts = JSON.parse(row.facts as string) as MarketFacts;
    const payout = row.payout as Payout | null;
    // Forgotten by the exchange without a payout of its own record: it ended, and nobody held anything.
    return { ...facts, status: payout === null ? 'closed' : 'resolved', payout, view: null };
  }

  #listed(view: MarketView): ListedMarket & { readonly view: MarketView } {
    const seriesTicker = seriesTickerOf(view.category);
    const eventTicker = `${seriesTicker}-${view.eventId}`;
    return {
      conditionId: view.conditionId,
      ticker: `${eventTicker}-${view.id}`,
      eventTicker,
      seriesTicker,
      category: view.category,
      eventTitle: view.eventTitle,
      question: view.question,
      rules: view.description,
      ...this.#identityOf(view.conditionId),
      createdAt: view.createdAt,
      endDate: view.endDate,
      status: view.status,
      payout: view.payout ?? null,
      view,
    };
  }

  #identityOf(conditionId: ConditionId): Identity {
    let identity = this.#identities.get(conditionId);
    if (identity === undefined) {
      const address = (what: string) => keylessAddress(this.#seed, `${what} ${conditionId}`);
      identity = { mints: { YES: address('yes mint'), NO: address('no mint') }, ledger: address('ledger') };
      this.#identities.set(conditionId, identity);
    }
    return identity;
  }

  /** Built anew when a market was listed since; that is also when the forgotten ones are dropped. */
  #look(): Index {
    if (this.#index !== undefined) return this.#index;
    const index: Index = { tickers: new Map(), mints: new Map() };
    for (const { ticker, conditionId, mints, ledger } of this.all()) {
      index.tickers.set(ticker, conditionId);
      index.mints.set(mints.YES, { conditionId, outcome: 'YES' });
      index.mints.set(mints.NO, { conditionId, outcome: 'NO' });
      index.mints.set(ledger, { conditionId, outcome: null });
    }
    for (const conditionId of this.#identities.keys())
      if (this.#exchange.market(conditionId) === undefined) this.#identities.delete(conditionId);
    this.#index = index;
    return index;
  }
}
