/** The public lists of markets, in pages. Wire reference 2.9. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { MarketView } from '../../paper-exchange.ts';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { openHere } from './open-here.ts';
import { offsetOf, pageOf } from './page-cursor.ts';
import { parameter } from './request-parts.ts';
import { wireMarket, wireSimplifiedMarket } from './wire.ts';

/** The venue's page. */
const PAGE_MARKETS = 1_000;
/** Characters of the entries of one page: the page ends before it would be exceeded. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;
/** A page is made from texts that are kept while the markets do not change, so its entries cost less than others. */
const PAGE_ENTRIES_PER_TOKEN = 10 * ENTRIES_PER_TOKEN;

type ToRecord = (market: MarketView) => object;

/** A market's text, as long as its view is the same: another view is another object. */
const keptTexts = (toRecord: ToRecord): ((market: MarketView) => string) => {
  const texts = new WeakMap<MarketView, string>();
  return (market) => {
    const known = texts.get(market);
    if (known !== undefined) return known;
    const text = JSON.stringify(toRecord(market));
    texts.set(market, text);
    return text;
  };
};

const ALL = (): boolean => true;
/** The venue samples the markets that pay rewards; here nothing does, and every market that takes orders is a sample. */
const takesOrders = (market: MarketView): boolean => market.status === 'open';

export function marketPageRoutes(
  door: FastifyInstance,
  options: Pick<PolymarketDoorOptions, 'exchange' | 'guard'>,
): void {
  const full = keptTexts(wireMarket);
  const simplified = keptTexts(wireSimplifiedMarket);

  const page =
    (textOf: (market: MarketView) => string, isListed: (market: MarketView) => boolean) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const offset = offsetOf(parameter(request, 'next_cursor'));
      const exchange = openHere(options);
      const listed = [...exchange.markets()].filter(isListed);
      const texts = firstTexts(listed.slice(offset, offset + PAGE_MARKETS).map(textOf));
      await charge(options.guard, request, texts.length / PAGE_ENTRIES_PER_TOKEN);
      const { data: _, ...rest } = pageOf(texts, { offset, total: listed.length, limit: PAGE_MARKETS });
      const head = JSON.stringify(rest).slice(0, -1);
      return reply.type('application/json').send(`${head},"data":[${texts.join(',')}]}`);
    };

  door.get('/markets', page(full, ALL));
  door.get('/simplified-markets', page(simplified, ALL));
  door.get('/sampling-markets', page(full, takesOrders));
  door.get('/sampling-simplified-markets', page(simplified, takesOrders));
}

/** As many as an answer may have. */
function firstTexts(texts: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = texts.findIndex((text) => {
    bytes += text.length;
    return bytes > MAX_PAGE_BYTES;
  });
  return end < 0 ? texts : texts.slice(0, Math.max(1, end));
}
