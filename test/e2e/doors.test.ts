/** The doors of the paper venues for callers without a key: which are open, rate limits, sizes. */
import { SolanaSigner } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { quotingVenue } from '../../packages/server/src/venues/asking.ts';
import { call, newAgent, sharedTestService, startTestService, type TestService } from '../harness.ts';
import { aSandboxMarket, newSandboxTrader } from '../sandbox.ts';

const CLOB = '/paper/clob';
const DATA = '/paper/data';
const GAMMA = '/paper/gamma';
const METADATA = '/paper/dflow/metadata/api/v1';
const TRADE = '/paper/dflow/trade';
const SOLANA = '/paper/solana';

let service: TestService;
beforeAll(async () => {
  service = await sharedTestService();
});

const get = async (path: string, of: TestService = service) => {
  const response = await fetch(of.url + path);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const rpc = (method: string, params: unknown[] = [], of: TestService = service) =>
  fetch(of.url + SOLANA, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

describe('which doors are open', () => {
  const open = async (of: TestService) => ({
    clob: (await get(`${CLOB}/time`, of)).status === 200,
    data: (await get(`${DATA}/v2/status`, of)).status === 200,
    gamma: (await get(`${GAMMA}/tags`, of)).status === 200,
    dflow: (await get(`${TRADE}/venues`, of)).status === 200,
    solana: (await rpc('getHealth', [], of)).status === 200,
  });

  test('all of them when the service listens on this machine only', async () => {
    expect(await open(service)).toEqual({ clob: true, data: true, gamma: true, dflow: true, solana: true });
  });

  test('only the CLOB when others can reach the service; quotes still work', async () => {
    const others = await startTestService({ PAPER_WORLD: 'off', HOST: '0.0.0.0' });
    const url = others.url.replace('0.0.0.0', '127.0.0.1');
    const local = { ...others, url };
    expect(await open(local)).toEqual({ clob: true, data: true, gamma: true, dflow: false, solana: false });
    const trader = await newSandboxTrader(local);
    const { id } = await aSandboxMarket(trader.client);
    const { body } = await trader.quote({ marketTicker: id, side: 'YES', action: 'BUY', amount: 10 });
    expect(body).toMatchObject({ unsignedTransaction: expect.any(String) });
    expect(local.needs.paperRpcUrl).toBeNull();
  });

  test('the configured ones', async () => {
    const named = await startTestService({ PAPER_WORLD: 'off', PAPER_DOORS: 'solana' });
    expect(await open(named)).toEqual({ clob: false, data: false, gamma: false, dflow: false, solana: true });
  });
});

describe('rate limits', () => {
  let limited: TestService;
  beforeAll(async () => {
    limited = await startTestService({
      PAPER_WORLD: 'off',
      RATE_LIMITS: 'on',
      RATE_LIMIT_DOOR_PER_SECOND: '1',
      RATE_LIMIT_DOOR_BURST: '30',
    });
  });

  test('an address has one bucket for all doors, each door refuses in its own format, and the desk still answers', async () => {
    const trader = await newSandboxTrader(limited);
    const { id } = await aSandboxMarket(trader.client);
    // Eleven tokens each: they cost computing time and memory.
    for (let nth = 0; nth < 3; nth += 1)
      await rpc('requestAirdrop', [SolanaSigner.generate().address, 1e9], limited);
    // A slow machine gets a token back now and then; a bucket of its own would last a door for thirty calls.
    const emptied = async <Answer extends { readonly status: number }>(
      ask: () => Promise<Answer>,
    ): Promise<Answer> => {
      for (let call = 1; call < 10; call += 1) {
        const answer = await ask();
        if (answer.status === 429) return answer;
      }
      return ask();
    };
    const clob = await emptied(() => get(`${CLOB}/time`, limited));
    expect([clob.status, Number(clob.headers.get('retry-after'))]).toEqual([429, 1]);
    expect(JSON.parse(clob.text)).toEqual({ error: expect.stringContaining('wait 1 s') });
    const dflow = await emptied(() => get(`${METADATA}/markets?limit=1`, limited));
    expect([dflow.status, JSON.parse(dflow.text).code]).toEqual([429, 'rate_limited']);
    const solana = await emptied(() => rpc('getSlot', [], limited));
    expect(solana.status).toBe(429);
    expect(await solana.json()).toMatchObject({ jsonrpc: '2.0', error: { code: 429 }, id: null });
    // Only a replica may name the caller of a forwarded request.
    const disguised = await emptied(() =>
      fetch(`${limited.url}${CLOB}/time`, {
        headers: { 'x-bellwether-replica': 'guessed', 'x-bellwether-client': '203.0.113.9' },
      }),
    );
    expect(disguised.status).toBe(429);
    // The desk calls the same doors internally, for callers with a key.
    const { body } = await trader.quote({ marketTicker: id, side: 'YES', action: 'BUY', amount: 10 });
    expect(body).toMatchObject({ unsignedTransaction: expect.any(String) });
    expect((await get('/healthz', limited)).status).toBe(200);
  });
});

describe('requests that every door refuses', () => {
  test.each([
    [`${CLOB}/markets/%00`, 'The URL holds a NUL'],
    [`${CLOB}/book?token_id=1%00`, 'The URL holds a NUL'],
    [`${CLOB}/auth/api-keys?x=%00`, 'The URL holds a NUL'],
    [`${METADATA}/market/KX%00`, 'The URL holds a NUL'],
    [`${METADATA}/event/%00`, 'The URL holds a NUL'],
    [`${METADATA}/onchain-trades?wallet=a%00b`, 'The URL holds a NUL'],
    [`${METADATA}/onchain-trades/by-event/%00`, 'The URL holds a NUL'],
    [`${METADATA}/markets/%00`, 'The URL holds a NUL'],
    [`${TRADE}/order-status?signature=%00`, 'The URL holds a NUL'],
  ])('%s: 400', async (path, said) => {
    const { status, text } = await get(path);
    expect([status, text]).toEqual([400, expect.stringContaining(said)]);
  });

  test('a NUL in a body', async () => {
    const response = await fetch(`${service.url}${METADATA}/markets/batch`, {
      method: 'POST',
      body: JSON.stringify({ tickers: ['KX\0'] }),
    });
    expect(response.status).toBe(400);
  });
});

describe('tickers of any form', () => {
  const FORMS = [
    `KX${'A'.repeat(99)}`,
    'K'.repeat(120),
    '😀'.repeat(120),
    'kxnone-1',
    '..',
    '.',
    '../markets',
    'a/b',
    '%2e%2e',
    'KX NONE',
    'KX?x=1#y',
    '日本',
  ];

  test('that are unknown give market_not_found', async () => {
    const { apiKey, client } = await newAgent(service);
    const known = await aSandboxMarket(client);
    for (const marketTicker of FORMS) {
      const { status, body } = await call(service, 'POST', '/venueb/agent/quote', {
        key: apiKey,
        body: { marketTicker, side: 'YES', action: 'BUY', amount: 10 },
      });
      expect([marketTicker, status, body.quoteErrorCode]).toEqual([marketTicker, 200, 'market_not_found']);
      const found = await call(
        service,
        'GET',
        `/markets/${encodeURIComponent(marketTicker).replaceAll('.', '%2e')}?venue=kalshi`,
        { key: apiKey },
      );
      // Characters that the path does not allow, such as "..", lead to other routes.
      if (!/^[.]|%/.test(marketTicker))
        expect([marketTicker, found.status, found.body.code]).toEqual([
          marketTicker,
          404,
          'market_not_found',
        ]);
    }
    // And none of them counted as an outage.
    expect(quotingVenue(service.needs).status()).toBe('ready');
    expect(await quotingVenue(service.needs).quotes.market(known.id)).toMatchObject({ id: known.id });
  });

  test('are found by the door itself up to the maximum length', async () => {
    expect((await get(`${METADATA}/market/${'K'.repeat(120)}`)).status).toBe(404);
  });
});

test('the liquidity of a quoted market is what rests in its book', async () => {
  const { client } = await newAgent(service);
  const { id } = await aSandboxMarket(client);
  const said = async () => Number((await client.getMarket(id)).liquidity);
  expect(await said()).toBeGreaterThan(0);
  // The desk keeps a market for a moment, in which makers quote anew what an earlier test took.
  const apart = async () => {
    const resting = (await service.sandbox.venue.catalog.byTicker(id))?.view?.liquidity;
    return Math.abs((await said()) - Number(resting) / 1e6);
  };
  await expect.poll(apart).toBeLessThan(0.05);
});

test('redeeming a ticker names the SELL quote that redeems it', async () => {
  const { apiKey, client } = await newAgent(service);
  const { id, clobTokenIds } = await aSandboxMarket(client);
  for (const marketId of [id, clobTokenIds[0]]) {
    const { status, body } = await call(service, 'POST', '/markets/redeem', {
      key: apiKey,
      body: { marketId },
    });
    expect([status, body.code]).toEqual([400, 'wrong_venue_route']);
    expect(body.detail).toContain('SELL quote of the winning outcome');
  }
  const unknown = await call(service, 'POST', '/markets/redeem', {
    key: apiKey,
    body: { marketId: 'KXNONE-1' },
  });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'market_not_found']);
});

test('the first wallet that an agent trades with is its solAddress; a quote alone does not set it', async () => {
  const trader = await newSandboxTrader(service);
  const { id } = await aSandboxMarket(trader.client);
  const ask = { side: 'YES', action: 'BUY', amount: 5 } as const;
  await trader.quote({ marketTicker: id, ...ask, userPublicKey: SolanaSigner.generate().address });
  expect((await trader.client.getMe()).solAddress).toBeNull();
  await trader.trade({ ticker: id, ...ask });
  expect((await trader.client.getMe()).solAddress).toBe(trader.wallet);
  // A second wallet does not replace the first.
  const second = SolanaSigner.generate();
  await trader.client.venueB.trade({ ticker: id, ...ask, signer: second });
  expect((await trader.client.getMe()).solAddress).toBe(trader.wallet);
});
