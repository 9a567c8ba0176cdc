/**
 * The orders and the trades of an API key's accounts, as the venue shows them. Wire reference 2.8. An order that the
 * desk placed for a wallet is listed like one that was posted here: it rests on the same account.
 */
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import { type Address, conditionIdOfBothWidths, parseAddress, parseHex } from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type {
  EngineEvent,
  MarketFacts,
  OpenOrder,
  OrderId,
  OrderRecord,
  Outcome,
  PostedOrder,
} from '../../paper-exchange.ts';
import type { TradePlace, TradeQuery, TradeRecord } from '../../trade-history.ts';
import { charge } from '../limits.ts';
import type { L2, Reader } from './authentication.ts';
import type { DelayedOrder, DelayedOrders } from './order-routes.ts';
import { earlyMs } from './posted-order.ts';
import {
  accountsOf,
  commanded,
  type DoorExchange,
  END_CURSOR,
  offsetOf,
  openHere,
  type Page,
  type PolymarketDoorOptions,
  pageOf,
  parameter,
  WireError,
} from './requests.ts';
import type { VenueKeys } from './venue-keys.ts';
import { nameOf, tokenOf, type WireTrade, wireTrade } from './wire.ts';

/** The venue's page. */
const PAGE_ORDERS = 100;
/** Every page is cut from a list of all that are open. */
const ORDERS_PER_TOKEN = 500;
const ORDER_ID_BYTES = 32;
/** The most matches of the orders of one answer, for their trades' ids. */
const MOST_MATCHES = 1_000;
/**
 * How long after it was posted an order that has ended can still be read: long enough to learn the fate of an order whose
 * answer was lost. Then it is gone, as at the venue.
 */
const ENDED_ORDERS_READABLE_MS = 10 * 60_000;

interface WireOrder {
  readonly id: OrderId;
  readonly status: 'LIVE' | 'DELAYED' | 'MATCHED' | 'CANCELED' | 'CANCELED_MARKET_RESOLVED';
  /** API key. */
  readonly owner: string;
  readonly maker_address: string;
  readonly market: string;
  readonly asset_id: string;
  readonly side: 'BUY' | 'SELL';
  /** Decimal shares; of an immediate BUY its budget in collateral. */
  readonly original_size: string;
  readonly size_matched: string;
  readonly price: string;
  readonly outcome: string;
  /** Epoch seconds, '0' for none. */
  readonly expiration: string;
  readonly order_type: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly associate_trades: readonly string[];
  readonly created_at: number;
}

type OwnOrderOptions = PolymarketDoorOptions & { readonly delayed: DelayedOrders };

export function ownOrderRoutes(door: FastifyInstance, l2: L2, options: OwnOrderOptions): void {
  const seenBy = (reader: Reader): Seen => ({ ...options, reader });

  door.get('/data/orders', async (request): Promise<Page<WireOrder>> => {
    const reader = await l2.reader(request);
    const offset = offsetOf(parameter(request, 'next_cursor'));
    const [id, market, token] = ['id', 'market', 'asset_id'].map((name) =>
      parameter(request, name).toLowerCase(),
    );
    const exchange = openHere(options);
    const found = accountsOf(reader.address)
      .flatMap((account) => exchange.openOrders(account))
      .filter((order) => id === '' || order.orderId === id)
      .filter((order) => market === '' || order.conditionId === conditionIdOfBothWidths(market ?? ''))
      .filter((order) => token === '' || sideOf(exchange.market(order.conditionId), order).asset_id === token)
      .sort((a, b) => a.acceptedAt - b.acceptedAt || (a.orderId < b.orderId ? -1 : 1));
    await charge(options.guard, request, found.length / ORDERS_PER_TOKEN);
    const page = found.slice(offset, offset + PAGE_ORDERS);
    const rows = await openRows(exchange, page, seenBy(reader));
    return pageOf(rows, { offset, total: found.length, limit: PAGE_ORDERS });
  });

  door.get<{ Params: { orderId: string } }>('/data/order/:orderId', async (request, reply) => {
    const reader = await l2.reader(request);
    const orderId = request.params.orderId.toLowerCase();
    const isId = parseHex(orderId)?.length === ORDER_ID_BYTES;
    const order = isId ? await readOrder(openHere(options), orderId, seenBy(reader)) : null;
    return reply.type('application/json').send(JSON.stringify(order));
  });
}

type SideWords = Pick<WireOrder, 'asset_id' | 'outcome'>;

/** '' of a market that is not known any more. */
const sideOf = (market: MarketFacts | undefined, { outcome }: Pick<OpenOrder, 'outcome'>): SideWords =>
  market === undefined
    ? { asset_id: '', outcome: '' }
    : { asset_id: tokenOf(market, outcome), outcome: nameOf(market, outcome) };

interface Seen extends Pick<OwnOrderOptions, 'keys' | 'now' | 'gtdMinLeadS' | 'delayed'> {
  readonly reader: Reader;
}

const keyOf = (keys: VenueKeys, { order }: PostedOrder): string =>
  keys.apiKeyOf(order.posted.key.address as Address, BigInt(order.posted.key.nonce));

async function openRows(
  exchange: DoorExchange,
  open: readonly OpenOrder[],
  seen: Seen,
): Promise<WireOrder[]> {
  const posted = await exchange.postedOrders(open.map(({ orderId }) => orderId));
  const traded = open.filter(({ filled }) => filled > 0n).map(({ orderId }) => orderId);
  const trades = await tradesOf(exchange, await exchange.orderRecords(traded));
  return open.map((order) => {
    const known = posted.get(order.orderId);
    const side = sideOf(exchange.market(order.conditionId), order);
    return {
      id: order.orderId,
      status: 'LIVE',
      owner: known === undefined ? seen.reader.apiKey : keyOf(seen.keys, known),
      maker_address: order.account,
      market: order.conditionId,
      asset_id: side.asset_id,
      side: order.side,
      original_size: formatMicro(order.size),
      size_matched: formatMicro(order.filled),
      price: formatPips(order.limit),
      outcome: side.outcome,
      expiration: String(expirationOf(order, known, seen.gtdMinLeadS)),
      order_type: order.timeInForce === 'GTD' ? 'GTD' : 'GTC',
      associate_trades: trades.get(order.orderId) ?? [],
      created_at: Math.floor(order.acceptedAt / 1000),
    };
  });
}

/** Epoch seconds, as signed; 0 for none. */
function expirationOf(
  { expiresAt }: OpenOrder,
  posted: PostedOrder | undefined,
  gtdMinLeadS: number,
): number {
  if (posted !== undefined) return posted.order.posted.expiration;
  return expiresAt === undefined ? 0 : Math.floor((expiresAt + earlyMs(gtdMinLeadS)) / 1000);
}

/** An order of the reader's accounts; `null` for any other. */
async function readOrder(exchange: DoorExchange, orderId: OrderId, seen: Seen): Promise<WireOrder | null> {
  const own = new Set<string>(accountsOf(seen.reader.address));
  const open = exchange.openOrder(orderId);
  if (open !== undefined) {
    const [row = null] = own.has(open.account) ? await openRows(exchange, [open], seen) : [];
    return row;
  }
  const waiting = seen.delayed.find(orderId);
  if (waiting !== undefined) return own.has(waiting.order.account) ? waitingRow(waiting, seen) : null;
  const posted = (await exchange.postedOrders([orderId])).get(orderId);
  if (posted === undefined || !own.has(posted.order.account)) return null;
  if (seen.now() - posted.at > ENDED_ORDERS_READABLE_MS) return null;
  const record = await commanded(() => exchange.orderRecord(orderId));
  if (record === undefined) return null;
  const trades = (await tradesOf(exchange, new Map([[orderId, record]]))).get(orderId) ?? [];
  const { conditionId } = posted.order;
  const market =
    exchange.market(conditionId) ?? (await commanded(() => exchange.history.market(conditionId)));
  return endedRow(posted, { events: record.events, trades, market, seen });
}

/** Ids of the trades that each of those orders has a part in. */
async function tradesOf(
  { history }: Pick<DoorExchange, 'history'>,
  records: ReadonlyMap<OrderId, OrderRecord>,
): Promise<ReadonlyMap<OrderId, readonly string[]>> {
  const matches = [...records.values()].flatMap(({ events }) =>
    events.flatMap((event) => (event.kind === 'fill' ? [event.matchId] : [])),
  );
  const found = await commanded(() => history.tradesOfMatches(matches.slice(0, MOST_MATCHES)));
  return new Map(
    [...records.keys()].map((id) => [
      id,
      found
        .filter(
          ({ taker, matches: made }) => taker.orderId === id || made.some(({ orderId }) => orderId === id),
        )
        .map((trade) => trade.id),
    ]),
  );
}

function endedRow(
  posted: PostedOrder,
  {
    events,
    trades,
    market,
    seen,
  }: {
    readonly events: readonly EngineEvent[];
    readonly trades: readonly string[];
    readonly market: MarketFacts | undefined;
    readonly seen: Seen;
  },
): WireOrder | null {
  const done = events.find((event) => event.kind === 'order_done');
  // An order that was refused or killed unfilled never was one.
  if (done === undefined) return null;
  return postedRow(seen.keys, posted, {
    status: ENDS[done.reason],
    words: sideOf(market, posted.order),
    matched: done.filled,
    trades,
  });
}

const waitingRow = ({ order, market, at }: DelayedOrder, { keys }: Seen): WireOrder => {
  const words = sideOf(market, order);
  return postedRow(keys, { order, at }, { status: 'DELAYED', words, matched: 0n, trades: [] });
};

interface Fate {
  readonly status: WireOrder['status'];
  readonly words: SideWords;
  readonly matched: bigint;
  readonly trades: readonly string[];
}

const postedRow = (
  keys: VenueKeys,
  posted: PostedOrder,
  { status, words, matched, trades }: Fate,
): WireOrder => {
  const { order, at } = posted;
  return {
    id: order.orderId,
    status,
    owner: keyOf(keys, posted),
    maker_address: order.account,
    market: order.conditionId,
    asset_id: words.asset_id,
    side: order.side,
    original_size: formatMicro(order.spend ?? order.size),
    size_matched: formatMicro(matched),
    price: formatPips(order.limit),
    outcome: words.outcome,
    expiration: String(order.posted.expiration),
    order_type: order.timeInForce,
    associate_trades: trades,
    created_at: Math.floor(at / 1000),
  };
};

type DoneReason = Extract<EngineEvent, { kind: 'order_done' }>['reason'];

const ENDS: Readonly<Record<DoneReason, WireOrder['status']>> = {
  filled: 'MATCHED',
  killed: 'MATCHED',
  canceled: 'CANCELED',
  expired: 'CANCELED',
  self_trade: 'CANCELED',
  market_closed: 'CANCELED_MARKET_RESOLVED',
  market_resolved: 'CANCELED_MARKET_RESOLVED',
};

// Trades.

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
    const asked = tradesAskedOf(request, exchange, reader);
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
function tradesAskedOf(
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
