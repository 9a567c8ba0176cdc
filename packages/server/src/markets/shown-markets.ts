/**
 * Parts of answers about a market, the same for every agent. A venue gives the same record, and the same book, until
 * something about them changes; so what is made of them is made once, kept with those objects and forgotten with them.
 */
import { type Briefing, type Market, type MarketContext, outcomeName } from '@bellwether/contract';
import {
  divide,
  MICRO,
  type Micro,
  microToNumber,
  type Pips,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import type { FastifyReply } from 'fastify';
import { mayBring, type Sweep, saleMarket, sweep, sweepContracts } from '../domain/book-sweep.ts';
import type { Book, MarketRecord } from '../domain/market.ts';
import { plainText, UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { tradingOf } from '../venues/asking.ts';
import { type FoundMarket, type Located, levels, marketItem } from './markets.ts';

type OneSide = 'BUY' | 'SELL' | undefined;
type Slippage = MarketContext['slippage'];

/** A context's view of a market and its books. */
interface MarketLook {
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

// A market's book and what orders would get of it, as answers show them.

/** Books of both outcomes. */
export type Books = Readonly<Record<'YES' | 'NO', Book>>;

const DEPTH = 10;

const side = (book: Book) => ({
  bids: levels(book.bids.slice(0, DEPTH)),
  asks: levels(book.asks.slice(0, DEPTH)),
});

function bookSummary(yes: Book, no: Book): MarketContext['orderbook'] {
  const bid = yes.bids[0]?.[0];
  const ask = yes.asks[0]?.[0];
  const shown = side(yes);
  return {
    bestBid: shown.bids[0]?.price ?? null,
    bestAsk: shown.asks[0]?.price ?? null,
    spread: bid === undefined || ask === undefined ? null : pipsToNumber(ask - bid),
    yes: shown,
    no: side(no),
    sequence: yes.sequence,
    timestamp: new Date(yes.changedAt).toISOString(),
  };
}

const priceOf = (price: Pips | null): number | null => (price === null ? null : pipsToNumber(price));
export const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;

export const slippageRecords = (
  { venue, market }: Located,
  books: Books,
  sweeps: readonly Sweep[],
): MarketContext['slippage'] =>
  sweeps.map((swept) => slippageRecord(market, swept, countedOf(tradingOf(venue), market, books, swept)));

/** Amount that the safeguards count of an order of this size: for a SELL by signature, at any worst price. */
function countedOf(
  trading: ReturnType<typeof tradingOf>,
  market: MarketRecord,
  books: Books,
  { side, outcome, amount, cost }: Sweep,
): Micro {
  if (side === 'BUY') return amount;
  if (trading === 'quotes') return cost;
  return mayBring({ shares: amount, money: 0n }, saleMarket(market, outcome, books[outcome]));
}

function slippageRecord(
  { outcomes }: MarketRecord,
  swept: Sweep,
  counted: Micro,
): MarketContext['slippage'][number] {
  const { side: direction, outcome, amount, best, worst, shares, cost, fee, complete } = swept;
  const average =
    shares === 0n
      ? null
      : microToNumber(divide(cost * MICRO, shares, direction === 'BUY' ? 'ceil' : 'floor'));
  return {
    side: direction,
    outcome,
    outcomeName: outcomeName(outcomes, outcome),
    amount: microToNumber(amount),
    counted: microToNumber(counted),
    price: priceOf(best),
    averagePrice: average,
    worstPrice: priceOf(worst),
    priceImpact: average === null || best === null ? null : round6(Math.abs(average - pipsToNumber(best))),
    filledShares: microToNumber(shares),
    cost: microToNumber(cost),
    fee: microToNumber(fee),
    complete,
  };
}

// A market as it may be shown to a model that reads: the texts of strangers are plain and bounded.

export const TITLE_CHARS = 300;
const RULES_CHARS = 2_000;

function plainMarket(venue: string, market: MarketRecord): Market {
  const item = marketItem(venue, market);
  return {
    ...item,
    title: plainText(item.title, TITLE_CHARS),
    question: plainText(item.question, TITLE_CHARS),
    description: plainText(item.description, RULES_CHARS),
    ...(item.resolutionSource === undefined
      ? {}
      : { resolutionSource: plainText(item.resolutionSource, TITLE_CHARS) }),
  };
}

export const untrustedTexts = ({
  eventTitle,
  question,
  description,
  outcomes,
}: MarketRecord): MarketContext['untrustedText'] => ({
  notice: UNTRUSTED_NOTICE,
  event: plainText(eventTitle, TITLE_CHARS),
  title: plainText(question, TITLE_CHARS),
  rules: plainText(description, RULES_CHARS),
  outcomes: [...outcomes],
});

// Markets as the bytes of an answer. A venue gives the same record for a market until something about it changes, so
// the bytes of a record are made once, for everybody who asks, and go with the record.

interface Written {
  readonly venue: string;
  readonly bytes: Buffer;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')] as const;

type SendMarkets = (reply: FastifyReply, found: readonly FoundMarket[]) => FastifyReply;

/** Sends them as the array that the route's schema describes. */
export function createMarketSender(): SendMarkets {
  const written = new WeakMap<MarketRecord, Written>();

  const bytesOf = (reply: FastifyReply, venue: string, market: MarketRecord): Buffer => {
    const known = written.get(market);
    if (known?.venue === venue) return known.bytes;
    const items: readonly [Market] = [marketItem(venue, market)];
    // The route's own serializer, without the brackets that it puts around the list.
    const bytes = Buffer.from((reply.serialize(items) as string).slice(1, -1));
    written.set(market, { venue, bytes });
    return bytes;
  };

  return (reply, found) => {
    reply.code(200).type(JSON_TYPE);
    const parts = found.flatMap(({ venue, market }, nth) => {
      const bytes = bytesOf(reply, venue, market);
      return nth === 0 ? [bytes] : [COMMA, bytes];
    });
    return reply.send(Buffer.concat([OPEN, ...parts, CLOSE]));
  };
}

/** Text that precedes the list. No text of others can contain it: in JSON their quotes are escaped. */
const NEW_MARKETS = '"opportunities":{"newMarkets":[';

type SendBriefing = (reply: FastifyReply, briefing: Briefing) => FastifyReply;

/** Sends it as the route's schema describes. Most of a briefing are its new markets, the same objects for every agent. */
export function createBriefingSender(): SendBriefing {
  const written = new WeakMap<Market, Buffer>();

  return (reply, briefing) => {
    const { newMarkets } = briefing.opportunities;
    const textWith = (markets: Market[]): string =>
      reply.serialize({
        ...briefing,
        opportunities: { ...briefing.opportunities, newMarkets: markets },
      }) as string;
    const text = textWith([]);
    const at = text.indexOf(NEW_MARKETS) + NEW_MARKETS.length;
    const parts = newMarkets.flatMap((market, nth) => {
      let bytes = written.get(market);
      if (bytes === undefined) {
        const withOne = textWith([market]);
        bytes = Buffer.from(withOne.slice(at, withOne.length - (text.length - at)));
        written.set(market, bytes);
      }
      return nth === 0 ? [bytes] : [COMMA, bytes];
    });
    reply.code(200).type(JSON_TYPE);
    return reply.send(Buffer.concat([Buffer.from(text.slice(0, at)), ...parts, Buffer.from(text.slice(at))]));
  };
}
