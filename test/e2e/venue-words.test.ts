/** Whatever a venue says of a market: the desk answers every question about it, and goes on with all others. */
import { createServer, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { RawAnswer, TestService } from '../harness.ts';
import { newLiveTrader, startLiveDesk, startVenue } from '../live-desk.ts';
import { listening } from '../stand-in.ts';

type Json = Record<string, unknown>;

const ODD: readonly unknown[] = [
  ...[0.00005, 0.03, 1.5, -1, 0, 1e300, 8.65e15, 1e17, '1e-5', '0.00005', '-0.5'],
  ...[
    '99999999999999999999999999',
    '',
    'soon',
    'YES',
    'v9',
    '+275760-09-14',
    '\u202e\u0000',
    '[]',
    '{"a":1}',
  ],
  ...[
    '["",null]',
    null,
    true,
    [],
    {},
    [[]],
    ['Yes'],
    [null, {}],
    { rate: 'x', exponent: -1 },
    [{ price: 2 }],
  ],
  [{ price: '0.12345', size: '-1' }],
];
const OF_MARKET = [
  ...['id', 'conditionId', 'slug', 'question', 'description', 'version', 'outcomes', 'outcomePrices'],
  ...['clobTokenIds', 'positionIds', 'orderPriceMinTickSize', 'orderMinSize', 'feesEnabled', 'feeSchedule'],
  ...[
    'active',
    'closed',
    'archived',
    'acceptingOrders',
    'enableOrderBook',
    'negRisk',
    'automaticallyResolved',
  ],
  ...[
    'umaResolutionStatus',
    'resolutionStatus',
    'category',
    'createdAt',
    'startDate',
    'endDate',
    'updatedAt',
  ],
  ...['volume', 'volumeNum', 'volume24hr', 'liquidity', 'liquidityNum', 'events', 'tags'],
];
const OF_BOOK = ['timestamp', 'bids', 'asks', 'min_order_size', 'tick_size', 'neg_risk', 'last_trade_price'];
const WORDS = [...OF_MARKET, ...OF_BOOK].flatMap((field) => ODD.map((value) => ({ field, value })));

/** In `npm test` a part: each field and each value several times. */
const PARTS = process.env.RANDOM_RUNS === 'all' ? Number.POSITIVE_INFINITY : 2;
/** Shares no divisor with the number of all. */
const STRIDE = 101;

/** A field that the venue says otherwise, by the market's condition. */
type Said = ReadonlyMap<string, { readonly field: string; readonly value: unknown }>;

function altered(value: unknown, said: Said): unknown {
  if (Array.isArray(value)) return value.map((one) => altered(one, said));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Json;
  const one = said.get(String(record.conditionId ?? record.market));
  const fields = 'clobTokenIds' in record ? OF_MARKET : 'bids' in record ? OF_BOOK : [];
  const whole = Object.fromEntries(Object.entries(record).map(([key, inner]) => [key, altered(inner, said)]));
  return one !== undefined && fields.includes(one.field) ? { ...whole, [one.field]: one.value } : whole;
}

function alteredText(text: string, said: Said): string {
  try {
    return JSON.stringify(altered(JSON.parse(text), said));
  } catch {
    return text;
  }
}

/** The venue, its sockets included, but for what it says of markets. */
async function openAltered(venue: string, said: Said): Promise<string> {
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const answer = await fetch(venue + request.url, {
      method: request.method ?? '',
      headers: headers as Record<string, string>,
      ...(body === '' ? {} : { body }),
    });
    const type = answer.headers.get('content-type') ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': type });
    response.end(alteredText(await answer.text(), said));
  });
  new WebSocketServer({ server }).on('connection', (desk, { url }) => {
    const upstream = new WebSocket(venue.replace(/^http/, 'ws') + url);
    const waiting: string[] = [];
    desk.on('message', (data) => {
      if (upstream.readyState === WebSocket.OPEN) upstream.send(String(data));
      else waiting.push(String(data));
    });
    upstream.on('open', () => waiting.splice(0).forEach((text) => void upstream.send(text)));
    upstream.on('message', (data) => desk.send(alteredText(String(data), said)));
    upstream.on('close', () => desk.close());
    desk.on('close', () => upstream.close());
  });
  return listening(server);
}

test('no word of the venue fails a request, or hides another market', async () => {
  const venue = await startVenue();
  const markets = [...venue.exchange.markets()].filter(({ status }) => status === 'open');
  // Every second one is said as it is.
  const odd = markets.filter((_, index) => index % 2 === 0);
  const plain = markets.filter((_, index) => index % 2 === 1);
  const parts = Math.min(PARTS, Math.ceil(WORDS.length / odd.length));
  for (let part = 0; part < parts; part += 1) {
    const said: Said = new Map(
      odd.map(({ conditionId }, index) => [
        conditionId,
        WORDS[((part * odd.length + index) * STRIDE) % WORDS.length]!,
      ]),
    );
    const desk = await startLiveDesk({ ...venue, url: await openAltered(venue.url, said) });
    await asksAbout(desk, venue, { odd, plain, said });
    await desk.stop();
  }
});

type Listed = ReturnType<TestService['exchange']['markets']> extends Iterable<infer M> ? M : never;

async function asksAbout(
  desk: TestService,
  venue: TestService,
  {
    odd,
    plain,
    said,
  }: { readonly odd: readonly Listed[]; readonly plain: readonly Listed[]; readonly said: Said },
): Promise<void> {
  const trader = await newLiveTrader(desk, venue);
  const intent = (marketId: string) => ({
    ...{ clientOrderId: marketId.slice(0, 40), marketId, outcome: 'YES', side: 'BUY', price: 0.5, size: 10 },
    timestamp: Date.now(),
  });
  const listed = await trader.get('/markets?q=*&limit=500');
  expect(listed.status).toBe(200);
  const ids = new Set(listed.body.map(({ conditionId }: { conditionId: string }) => conditionId));
  expect(plain.filter(({ conditionId }) => !ids.has(conditionId))).toEqual([]);
  const failed: unknown[] = [];
  const look = (about: unknown, { method, status, body }: RawAnswer) => {
    if (status >= 500 && body.code !== 'service_unavailable') failed.push([about, method, status, body]);
  };
  for (const { conditionId, tokenIds } of odd) {
    const about = said.get(conditionId);
    look(about, await trader.get(`/markets/${conditionId}`));
    look(about, await trader.get(`/markets/context/${conditionId}`));
    look(about, await trader.get(`/markets/orderbook/${tokenIds[0]}`));
    look(about, await trader.post('/markets/trade/prepare', intent(conditionId)));
  }
  const together = [...odd.slice(0, 10), ...plain.slice(0, 10)].map(({ conditionId }) => intent(conditionId));
  look('a batch', await trader.post('/markets/batch-trade/prepare', { intents: together }));
  look('the briefing', await trader.get('/markets/briefing'));
  expect(failed).toEqual([]);
}
