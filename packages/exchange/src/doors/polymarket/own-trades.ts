/** The trades of an API key's accounts. Wire reference 2.8. */
import { conditionIdOfBothWidths, parseAddress } from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Outcome } from '../../paper-exchange.ts';
import type { TradePlace, TradeQuery, TradeRecord } from '../../trade-history.ts';
import { accountsOf } from './accounts.ts';
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';
import type { L2, Reader } from './l2-auth.ts';
import { commanded, openHere } from './open-here.ts';
import { END_CURSOR, type Page } from './page-cursor.ts';
import { parameter } from './request-parts.ts';
import { WireError } from './wire-error.ts';
import { type WireTrade, wireTrade } from './wire-trade.ts';

const PAGE_TRADES = 100;
/** Base64 of "0", which clients send for the first page. */
const FIRST_CURSOR = 'MA==';
const SECONDS = /^[0-9]{1,12}$/;
const PLACE = /^([0-9]{1,16}):([0-9]{1,16})$/;
const SECOND_MS = 1_000;

interface OwnTradesQuery {
  readonly accounts: readonly string[];
  readonly query: Omit<TradeQuery, 'account'>;
}

export function ownTradeRoutes(door: FastifyInstance, l2: L2, options: PolymarketDoorOptions): void {
  door.get('/data/trades', async (request): Promise<Page<WireTrade>> => {
    const reader = await l2.reader(request);
    const exchange = openHere(options);
    const id = parameter(request, 'id');
    const asked = askedOf(request, exchange, reader);
    const found = await commanded(() =>
      id === '' ? readTrades(exchange, asked) : readTrade(exchange, id, reader),
    );
    const page = found.slice(0, PAGE_TRADES);
    const viewer = { accounts: new Set<string>(accountsOf(reader.address)), apiKey: reader.apiKey };
    const last = page.at(-1);
    return {
      limit: PAGE_TRADES,
      count: page.length,
      next_cursor: last === undefined || found.length <= PAGE_TRADES ? END_CURSOR : cursorOf(last),
      data: page.map((trade) => wireTrade(trade, viewer)),
    };
  });
}

/** @throws WireError */
function askedOf(
  request: FastifyRequest,
  exchange: DoorExchange,
  { address }: Reader,
): OwnTradesQuery | null {
  const after = placeOf(parameter(request, 'next_cursor'));
  const maker = parameter(request, 'maker_address');
  const market = conditionIdOfBothWidths(parameter(request, 'market').toLowerCase());
  const token = parameter(request, 'asset_id');
  const [since, until] = ['after', 'before'].map((name) => timeOf(parameter(request, name)));
  const accounts = accountsOf(address).filter((account) => maker === '' || account === parseAddress(maker));
  let [conditionId, outcome]: [string | undefined, Outcome | undefined] = [market || undefined, undefined];
  if (token !== '') {
    const listed = exchange.marketByToken(token);
    if (listed === undefined || (market !== '' && listed.market.conditionId !== market)) return null;
    [conditionId, outcome] = [listed.market.conditionId, listed.outcome];
  }
  return {
    accounts,
    query: {
      limit: PAGE_TRADES + 1,
      ...(conditionId === undefined ? {} : { conditionId }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(after === undefined ? {} : { after }),
    },
  };
}

/** @throws WireError */
function timeOf(text: string): number | undefined {
  if (text === '') return undefined;
  if (!SECONDS.test(text)) throw new WireError(400, 'Invalid payload');
  return Number(text) * SECOND_MS;
}

const cursorOf = ({ at, number }: TradePlace): string => Buffer.from(`${at}:${number}`).toString('base64');

/** @throws WireError */
function placeOf(cursor: string): TradePlace | undefined {
  if (cursor === '' || cursor === FIRST_CURSOR) return undefined;
  if (cursor === END_CURSOR) throw new WireError(400, 'next item should be greater than or equal to 0');
  const [, at, number] = PLACE.exec(Buffer.from(cursor, 'base64').toString('utf8')) ?? [];
  if (at === undefined || number === undefined) throw new WireError(400, 'Invalid next_cursor');
  return { at: Number(at), number: Number(number) };
}

/** Newest first. A trade between two of the accounts comes once. */
async function readTrades(exchange: DoorExchange, asked: OwnTradesQuery | null): Promise<TradeRecord[]> {
  if (asked === null) return [];
  const { accounts, query } = asked;
  const found = await Promise.all(accounts.map((account) => exchange.history.trades({ ...query, account })));
  const byNumber = new Map(found.flat().map((trade) => [trade.number, trade]));
  return [...byNumber.values()].sort((a, b) => b.at - a.at || b.number - a.number);
}

async function readTrade(exchange: DoorExchange, id: string, { address }: Reader): Promise<TradeRecord[]> {
  const trade = await exchange.history.trade(id);
  const own = new Set<string>(accountsOf(address));
  const parties = trade === undefined ? [] : [trade.taker, ...trade.matches];
  return trade !== undefined && parties.some(({ account }) => own.has(account)) ? [trade] : [];
}
