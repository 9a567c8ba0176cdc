/**
 * Markets as the bytes of an answer. A venue gives the same record for a market until something about it changes, so
 * the bytes of a record are made once, for everybody who asks, and go with the record.
 */
import type { Briefing, Market } from '@bellwether/contract';
import type { FastifyReply } from 'fastify';
import type { MarketRecord } from '../domain/market.ts';
import { type FoundMarket, marketItem } from './markets.ts';

interface Written {
  readonly venue: string;
  readonly bytes: Buffer;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')] as const;

export type SendMarkets = (reply: FastifyReply, found: readonly FoundMarket[]) => FastifyReply;

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

export type SendBriefing = (reply: FastifyReply, briefing: Briefing) => FastifyReply;

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
