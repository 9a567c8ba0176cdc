/**
 * The world's markets as the venue lists them: tickers, mints, and the record of markets that the exchange has dropped
 * while their tokens still exist. It finds markets; it handles neither prices nor wire formats.
 */

import type { OutcomeNames } from '@bellwether/contract';
import type { Sql } from '@bellwether/durable';
import type { ConditionId, MarketView, Outcome, PaperExchange, Payout } from '@bellwether/exchange';
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import type { Statement } from '../solana/index.ts';
import { keylessAddress } from './tokens.ts';

export type CatalogExchange = Pick<PaperExchange, 'markets' | 'market' | 'subscribe'>;

/** A market's identifiers and texts. Kept after the exchange drops its own record. */
interface MarketFacts {
  readonly conditionId: ConditionId;
  /** `KX<CATEGORY>-<event>-<market>`; the event's is the same without its last part, the series' its first. */
  readonly ticker: string;
  readonly eventTicker: string;
  readonly seriesTicker: string;
  readonly category: string;
  readonly eventTitle: string;
  readonly question: string;
  readonly rules: string;
  /** YES's first. */
  readonly outcomes: OutcomeNames;
  readonly mints: Readonly<Record<Outcome, SolanaAddress>>;
  readonly ledger: SolanaAddress;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly endDate: number;
}

export interface ListedMarket extends MarketFacts {
  readonly status: 'open' | 'closed' | 'resolved';
  readonly payout: Payout | null;
  /** `null` once the exchange has dropped the market. */
  readonly view: MarketView | null;
}

interface FoundMint {
  readonly market: ListedMarket;
  /** `null`: the market's ledger, which is not a token. */
  readonly outcome: Outcome | null;
}

/** Of a record that was made before it had names. */
const YES_NO: OutcomeNames = ['Yes', 'No'];

/** Any other text is not a ticker of this venue. */
const TICKER = /^[!-~]{1,120}$/;

export const seriesTickerOf = (category: string): string => `KX${category.toUpperCase()}`;

function storedMarket(row: Readonly<Record<string, unknown>>): ListedMarket {
  const { outcomes = YES_NO, ...facts } = JSON.parse(row.facts as string) as MarketFacts;
  const payout = row.payout as Payout | null;
  // The exchange dropped it and no payout is recorded: it ended, and no account held its tokens.
  return { ...facts, outcomes, status: payout === null ? 'closed' : 'resolved', payout, view: null };
}

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

  /** Every market that the exchange has, oldest first. */
  *all(): Generator<ListedMarket & { readonly view: MarketView }> {
    for (const view of this.#exchange.markets()) yield this.#listed(view);
  }

  /** A market that the exchange has. */
  get(conditionId: ConditionId): ListedMarket | null {
    const view = this.#exchange.market(conditionId);
    return view === undefined ? null : this.#listed(view);
  }

  async byTicker(ticker: string): Promise<ListedMarket | null> {
    return (await this.byTickers([ticker])).get(ticker) ?? null;
  }

  async byMint(mint: string): Promise<FoundMint | null> {
    return (await this.byMints([mint])).get(mint) ?? null;
  }

  /** The markets that exist, with at most one query for all. */
  async byTickers(tickers: readonly string[]): Promise<ReadonlyMap<string, ListedMarket>> {
    const found = new Map<string, ListedMarket>();
    const unknown: string[] = [];
    for (const ticker of tickers) {
      const conditionId = this.#look().tickers.get(ticker);
      const view = conditionId === undefined ? undefined : this.#exchange.market(conditionId);
      if (view !== undefined) found.set(ticker, this.#listed(view));
      else if (TICKER.test(ticker)) unknown.push(ticker);
    }
    if (unknown.length === 0) return found;
    const rows = await this.#sql`select * from sandbox_markets where ticker = any(${unknown})`;
    for (const market of rows.map(storedMarket)) found.set(market.ticker, market);
    return found;
  }

  /** The same by mints. */
  async byMints(mints: readonly string[]): Promise<ReadonlyMap<string, FoundMint>> {
    const found = new Map<string, FoundMint>();
    const unknown: string[] = [];
    for (const mint of mints) {
      const known = this.#look().mints.get(mint);
      const view = known === undefined ? undefined : this.#exchange.market(known.conditionId);
      if (known !== undefined && view !== undefined)
        found.set(mint, { market: this.#listed(view), outcome: known.outcome });
      else if (parseSolanaAddress(mint) !== null) unknown.push(mint);
    }
    if (unknown.length === 0) return found;
    const rows = await this.#sql`
      select * from sandbox_markets where yes_mint = any(${unknown}) or no_mint = any(${unknown})`;
    for (const market of rows.map(storedMarket)) {
      found.set(market.mints.YES, { market, outcome: 'YES' });
      found.set(market.mints.NO, { market, outcome: 'NO' });
    }
    return found;
  }

  /** Records a market in the transaction that creates its mints. */
  record({ status: _, payout: __, view: ___, ...facts }: ListedMarket): Statement {
    return {
      text: `
        insert into sandbox_markets (condition_id, ticker, yes_mint, no_mint, facts) values ($1, $2, $3, $4, $5)
        on conflict do nothing`,
      values: [facts.conditionId, facts.ticker, facts.mints.YES, facts.mints.NO, JSON.stringify(facts)],
    };
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
      outcomes: view.outcomes,
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

  /** Rebuilt after a new listing; dropped markets leave the index then. */
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
