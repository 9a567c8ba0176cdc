/**
 * Parts of answers about a market, the same for every agent. A venue gives the same record, and the same book, until
 * something about them changes; so what is made of them is made once, kept with those objects and forgotten with them.
 */
import type { Market, MarketContext } from '@bellwether/contract';
import { MICRO, type Micro } from '@bellwether/contract/decimals';
import { type Sweep, sweep, sweepContracts } from '../domain/book-sweep.ts';
import type { MarketRecord } from '../domain/market.ts';
import { tradingOf } from '../venues/asking.ts';
import { type Books, bookSummary, slippageRecords } from './market-figures.ts';
import type { Located } from './markets.ts';
import { plainMarket, untrustedTexts } from './untrusted-market.ts';

export type OneSide = 'BUY' | 'SELL' | undefined;
type Slippage = MarketContext['slippage'];

/** A context's view of a market and its books. */
export interface MarketLook {
  readonly orderbook: MarketContext['orderbook'];
  readonly untrustedText: MarketContext['untrustedText'];
  /** Slippage of the usual sizes. */
  slippage(side: OneSide): Slippage;
}

export interface ShownMarkets {
  /** With the texts of strangers plain and bounded. */
  plain(venue: string, market: MarketRecord): Market;
  look(located: Located, books: Books): MarketLook;
}

/** Collateral to spend, or shares to sell. */
const SIZES: readonly Micro[] = [10n * MICRO, 50n * MICRO, 250n * MICRO];
const OUTCOMES = ['YES', 'NO'] as const;
const SIDES = ['BUY', 'SELL'] as const;

export function sweepsOf(
  { venue, market }: Located,
  books: Books,
  only: OneSide,
  sizes: readonly Micro[],
): Sweep[] {
  const take = tradingOf(venue) === 'quotes' ? sweepContracts : sweep;
  return (only === undefined ? SIDES : [only]).flatMap((direction) =>
    OUTCOMES.flatMap((outcome) =>
      sizes.map((amount) => take(market, books[outcome], { side: direction, outcome, amount })),
    ),
  );
}

function lookAt(located: Located, books: Books): MarketLook {
  const slippages = new Map<OneSide, Slippage>();
  return {
    orderbook: bookSummary(books.YES, books.NO),
    untrustedText: untrustedTexts(located.market),
    slippage(side) {
      let known = slippages.get(side);
      if (known === undefined) {
        known = slippageRecords(located, books, sweepsOf(located, books, side, SIZES));
        slippages.set(side, known);
      }
      return known;
    },
  };
}

export function createShownMarkets(): ShownMarkets {
  const plains = new WeakMap<MarketRecord, { readonly venue: string; readonly market: Market }>();
  const looks = new WeakMap<MarketRecord, Books & { readonly venue: string; readonly look: MarketLook }>();
  return {
    plain(venue, market) {
      const known = plains.get(market);
      if (known?.venue === venue) return known.market;
      const shown = plainMarket(venue, market);
      plains.set(market, { venue, market: shown });
      return shown;
    },

    look(located, books) {
      const { venue, market } = located;
      const known = looks.get(market);
      if (known?.venue === venue.id && known.YES === books.YES && known.NO === books.NO) return known.look;
      const look = lookAt(located, books);
      looks.set(market, { ...books, venue: venue.id, look });
      return look;
    },
  };
}
