/** Whatever a venue says of a market: the desk answers every question about it, and goes on with all others. */
import { Signer } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { newAgent, type RawAnswer, startTestService, type TestService } from '../harness.ts';
import { alteredVenue, startLiveDesk, startLiveQuoteDesk, startVenue } from '../live-desk.ts';

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
    'endDateIso',
  ],
  ...[
    'secondsDelay',
    'gameStartTime',
    'eventStartTime',
    'clearBookOnStart',
    'negRiskOther',
    'resolutionSource',
  ],
  ...['volume', 'volumeNum', 'volume24hr', 'liquidity', 'liquidityNum', 'events', 'tags'],
];
const OF_BOOK = ['timestamp', 'bids', 'asks', 'min_order_size', 'tick_size', 'neg_risk', 'last_trade_price'];
const OF_TICKER = [
  ...[
    'ticker',
    'eventTicker',
    'title',
    'subtitle',
    'yesSubTitle',
    'openTime',
    'closeTime',
    'status',
    'result',
  ],
  ...['yesBid', 'yesAsk', 'noBid', 'noAsk', 'volume', 'volumeFp', 'volume24hFp', 'liquidity', 'liquidityFp'],
  ...['rulesPrimary', 'rulesSecondary', 'accounts'],
];
const OF_RAIL = ['yesMint', 'noMint', 'isInitialized', 'redemptionStatus', 'scalarOutcomePct'];

/** In `npm test` a part: each field and each value several times. */
const PARTS = process.env.RANDOM_RUNS === 'all' ? Number.POSITIVE_INFINITY : 2;
/** Shares no divisor with the number of all. */
const STRIDE = 101;

/** A field that the venue says otherwise, by the market's condition or ticker. */
type Said = ReadonlyMap<string, { readonly field: string; readonly value: unknown }>;

function altered(record: Json, said: Said): Json {
  const one = said.get(String(record.conditionId ?? record.market ?? record.ticker));
  if (one === undefined) return record;
  const { field, value } = one;
  if (OF_RAIL.includes(field) && 'accounts' in record)
    for (const rail of Object.values(record.accounts as Record<string, Json>)) rail[field] = value;
  const isIts =
    (OF_MARKET.includes(field) && 'clobTokenIds' in record) ||
    (OF_BOOK.includes(field) && 'bids' in record) ||
    (OF_TICKER.includes(field) && 'accounts' in record);
  return isIts ? { ...record, [field]: value } : record;
}

interface Case {
  readonly fields: readonly string[];
  readonly venueName: string;
  /** Names of markets, as the venue's words and the desk's paths have them. */
  readonly idsOf: (venue: TestService) => Promise<readonly string[]>;
  readonly start: (venue: TestService, url: string) => Promise<TestService>;
}

const CASES: Readonly<Record<'A' | 'B', Case>> = {
  A: {
    fields: [...OF_MARKET, ...OF_BOOK],
    venueName: 'polymarket',
    idsOf: async ({ exchange }) =>
      [...exchange.markets()].filter(({ status }) => status === 'open').map(({ conditionId }) => conditionId),
    start: (venue, url) => startLiveDesk({ ...venue, url }),
  },
  B: {
    fields: [...OF_TICKER, ...OF_RAIL],
    venueName: 'kalshi',
    idsOf: async (venue) => {
      const { client } = await newAgent(venue);
      const markets = await client.listMarkets({ q: '*', limit: 500, venue: 'kalshi' });
      return markets.map(({ id }) => id);
    },
    start: async (venue, url) => (await startLiveQuoteDesk(venue, url)).desk,
  },
};

test.each(['A', 'B'] as const)(
  'no word of venue %s fails a request, or hides another market',
  async (kind) => {
    const { fields, venueName, idsOf, start } = CASES[kind];
    const words = fields.flatMap((field) => ODD.map((value) => ({ field, value })));
    const venue = kind === 'A' ? await startVenue() : await startTestService({ PAPER_WORLD: 'off' });
    const ids = await idsOf(venue);
    // Every second one is said as it is.
    const odd = ids.filter((_, index) => index % 2 === 0);
    const plain = ids.filter((_, index) => index % 2 === 1);
    const parts = Math.min(PARTS, Math.ceil(words.length / odd.length));
    for (let part = 0; part < parts; part += 1) {
      const said: Said = new Map(
        odd.map((id, index) => [id, words[((part * odd.length + index) * STRIDE) % words.length]!]),
      );
      const desk = await start(venue, await alteredVenue(venue.url, (record) => altered(record, said)));
      await asksAbout(desk, venueName, { odd, plain, said });
      await desk.stop();
    }
  },
);

async function asksAbout(
  desk: TestService,
  venue: string,
  {
    odd,
    plain,
    said,
  }: { readonly odd: readonly string[]; readonly plain: readonly string[]; readonly said: Said },
): Promise<void> {
  const { get, post } = await newAgent(desk);
  const intent = (marketId: string) => ({
    ...{
      clientOrderId: marketId.slice(0, 40),
      venue,
      marketId,
      outcome: 'YES',
      side: 'BUY',
      price: 0.5,
      size: 10,
    },
    ...{ timestamp: Date.now(), walletAddress: Signer.generate().address },
  });
  const listed = await get(`/markets?q=*&limit=500&venue=${venue}`);
  expect(listed.status).toBe(200);
  const names = new Set(
    listed.body.flatMap(({ id, conditionId }: { id: string; conditionId: string }) => [id, conditionId]),
  );
  expect(plain.filter((id) => !names.has(id))).toEqual([]);
  const failed: unknown[] = [];
  const look = (about: unknown, { method, status, body }: RawAnswer) => {
    if (status >= 500 && body.code !== 'service_unavailable') failed.push([about, method, status, body]);
  };
  for (const id of odd) {
    const about = said.get(id);
    const found = await get(`/markets/${id}?venue=${venue}`);
    look(about, found);
    look(about, await get(`/markets/context/${id}?venue=${venue}`));
    for (const token of found.body.clobTokenIds ?? []) look(about, await get(`/markets/orderbook/${token}`));
    look(about, await post('/markets/trade/prepare', intent(id)));
    if (venue === 'kalshi')
      look(about, await post('/venueb/agent/quote', { ...QUOTE, marketTicker: id, userPublicKey: WALLET }));
  }
  const together = [...odd.slice(0, 10), ...plain.slice(0, 10)].map(intent);
  look('a batch', await post('/markets/batch-trade/prepare', { intents: together }));
  look('the briefing', await get('/markets/briefing'));
  expect(failed).toEqual([]);
}

const QUOTE = { side: 'YES', action: 'BUY', amount: 5 };
const WALLET = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
