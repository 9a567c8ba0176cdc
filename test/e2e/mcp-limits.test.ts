/** The MCP server when something is in the way: its own limit, lost answers, a frozen desk, a client that leaves. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { BellwetherClient } from '@bellwether/sdk';
import { type DeskKeys, deskPlace, loadKeys, SpendingLimit } from '@bellwether/sdk/keystore';
import { beforeAll, describe, expect, test } from 'vitest';
import { decline, ownerOf } from '../approving.ts';
import { startTestService, type TestService, withTurns } from '../harness.ts';
import {
  connect,
  environmentFor,
  type Facts,
  type McpEnvironment,
  type Model,
  PASSPHRASE,
  readyEnvironment,
  startHttp,
} from '../mcp-client.ts';
import { listening } from '../stand-in.ts';

type Handling = 'pass' | 'lose the answer' | 'hold';

let service: TestService;
/** Between the MCP servers and the desk. */
let proxy: {
  url: string;
  handle: (path: string, how: Handling) => void;
  held: () => number;
  release: () => void;
};
let env: McpEnvironment;
let keys: DeskKeys;
let client: BellwetherClient;
let model: Model;
let market: Facts;

async function startProxy(target: string): Promise<typeof proxy> {
  const handling = new Map<string, Handling>();
  let waiting: (() => void)[] = [];
  const pass = (request: IncomingMessage, response: ServerResponse, how: Handling) => {
    const { method, headers } = request;
    const options = { method, headers: { ...headers, host: new URL(target).host } };
    const upstream = forward(target + request.url, options, (answer) => {
      if (how === 'lose the answer') {
        answer.resume().once('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.once('close', () => upstream.destroy());
    upstream.once('error', () => response.destroy());
    request.pipe(upstream);
  };
  const server = createServer((request, response) => {
    const how = handling.get((request.url ?? '').split('?', 1)[0] ?? '') ?? handling.get('*') ?? 'pass';
    if (how !== 'hold') return pass(request, response, how);
    const go = () => pass(request, response, 'pass');
    waiting.push(go);
    response.once('close', () => {
      waiting = waiting.filter((one) => one !== go);
    });
  });
  return {
    url: await listening(server),
    handle: (path, how) => void handling.set(path, how),
    held: () => waiting.length,
    release() {
      const all = waiting;
      waiting = [];
      for (const go of all) go();
    },
  };
}

const limitOf = (of: McpEnvironment) => new SpendingLimit(deskPlace(of));
/** So much is left of today's limit. */
function leave(amount: number, of = env): void {
  const limit = limitOf(of);
  limit.setLimit(limit.standing().spent + BigInt(amount * 1e6));
}

beforeAll(async () => {
  service = await startTestService();
  proxy = await startProxy(service.url);
  env = await readyEnvironment(proxy.url, { BELLWETHER_DESK_HOST: new URL(service.url).host });
  ({ keys } = await loadKeys({ env }));
  client = new BellwetherClient({ baseUrl: service.url, apiKey: keys.apiKey });
  leave(1_000);
  model = await connect(env, { transport: 'http' });
  const { markets } = await model.call('search_markets', { query: '*', order: 'liquidity', limit: 50 });
  expect(markets.length).toBeGreaterThan(0);
  market = markets.find((one: Facts) => one.tradable && one.bestBid > 0.1 && one.bestAsk < 0.85);
});

const buying = () => ({ market: market.market, outcome: 'YES', side: 'BUY' });
/** A BUY that rests far below the market. */
const resting = (size = 10) => ({ ...buying(), price: market.tickSize * 2, size });
/** A BUY that takes what the book offers. */
const taking = (amount: number) => ({ ...buying(), worstPrice: 0.9, amount });
const ordersOf = async () => (await model.call('list_orders', { which: 'all', limit: 100 })).orders.length;

describe('the spending limit', () => {
  test('stops an order above it, with the figures and the way out, and nothing reaches the desk', async () => {
    leave(4);
    const before = await ordersOf();
    const refusal = await model.refusal('place_order', taking(5));
    expect(refusal).toMatchObject({ code: 'spending_limit_reached', figures: { left: 4 } });
    expect(refusal.fix).toContain('bellwether-mcp limit set');
    expect(await ordersOf()).toBe(before);
    expect(await model.call('place_order', taking(3))).toMatchObject({ placed: true });
  });

  test('is one for two servers on one keystore', async () => {
    leave(10);
    const models = await Promise.all([1, 2].map(() => connect(env, { transport: 'http' })));
    const tries = await Promise.allSettled(
      [...models, ...models].map((one) => one.call('place_order', taking(3))),
    );
    const refused = tries.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(tries.length - refused.length).toBe(3);
    for (const { reason } of refused) expect(String(reason)).toContain('spending_limit_reached');
    expect(limitOf(env).standing().left).toBeLessThan(1_000_000n);
    for (const one of models) await one.close();
  });

  test('has back what the desk refused, and not what was canceled', async () => {
    leave(500);
    const { spent } = limitOf(env).standing();
    await client.updateSettings({ maxTradeAmount: 1 });
    expect(await model.refusal('place_order', taking(5))).toMatchObject({
      code: 'max_trade_amount_exceeded',
    });
    await client.updateSettings({ maxTradeAmount: 1_000 });
    expect(limitOf(env).standing().spent).toBe(spent);
    const { orderId, status } = await model.call('place_order', resting());
    expect(status).toBe('live');
    const reserved = limitOf(env).standing().spent;
    expect(reserved).toBeGreaterThan(spent);
    expect(await model.call('cancel_orders', { orderId })).toMatchObject({ canceled: [orderId] });
    expect(limitOf(env).standing().spent).toBe(reserved);
  });
});

describe('an order whose answer is lost', () => {
  test('stays reserved, and is the same order when it is tried again', async () => {
    leave(500);
    proxy.handle('/markets/trade', 'lose the answer');
    const lost = await model.refusal('place_order', resting(11));
    proxy.handle('/markets/trade', 'pass');
    expect(lost).toMatchObject({ code: 'order_outcome_unknown', clientOrderId: expect.any(String) });
    const { spent } = limitOf(env).standing();
    const before = await ordersOf();
    const again = { ...resting(11), clientOrderId: lost.clientOrderId };
    const found = await model.call('place_order', again);
    expect(found).toMatchObject({ placed: true, repeated: true, orderId: lost.orderId, status: 'live' });
    expect(limitOf(env).standing().spent).toBe(spent);
    expect(await ordersOf()).toBe(before);
    await model.call('cancel_orders', { all: true });
  });
});

describe('an order that waits for the owner', () => {
  test('is refused with its name, counts once, and is placed under that name afterwards', async () => {
    leave(500);
    const { spent } = limitOf(env).standing();
    await client.updateSettings({ approvalAbove: 0 });
    const terms = {
      ...resting(14),
      timeInForce: 'GTD',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    expect(await model.refusal('place_order', terms)).toMatchObject({
      code: 'approval_required',
      fix: expect.stringContaining('claim address'),
    });
    const owner = await ownerOf(service, { client });
    const unwanted = await model.refusal('place_order', { ...terms, size: 15 });
    await decline(owner, unwanted.approvalId, 'too large');
    expect(
      await model.refusal('place_order', { ...terms, size: 15, clientOrderId: unwanted.clientOrderId }),
    ).toMatchObject({ code: 'approval_required', fix: expect.stringContaining('declined') });

    const refusal = await model.refusal('place_order', terms);
    expect(refusal).toMatchObject({
      code: 'approval_required',
      clientOrderId: expect.any(String),
      approvalId: expect.any(String),
      fix: expect.stringContaining('approval.decided'),
    });
    // The desk has the signed order.
    const counted = limitOf(env).standing().spent;
    expect(counted).toBeGreaterThan(spent);
    await client.updateSettings({ approvalAbove: null });
    const again = { ...terms, clientOrderId: refusal.clientOrderId };
    const placed = { placed: true, orderId: refusal.orderId, status: 'live' };
    expect(await model.call('place_order', again)).toMatchObject({ ...placed, repeated: false });
    expect(await model.call('place_order', again)).toMatchObject({ ...placed, repeated: true });
    expect(limitOf(env).standing().spent).toBe(counted);
    await model.call('cancel_orders', { all: true });
  });
});

describe('a client that leaves', () => {
  test('before the order is sent places nothing and reserves nothing', async () => {
    const { spent } = limitOf(env).standing();
    const before = await ordersOf();
    proxy.handle('/markets/trade/prepare', 'hold');
    const leaving = new AbortController();
    const call = model.call('place_order', resting(12), { signal: leaving.signal });
    const ended = expect(call).rejects.toThrow();
    await expect.poll(() => proxy.held(), { timeout: 60_000 }).toBe(1);
    leaving.abort();
    await ended;
    // The server has given up its call of the desk: it knows that its client has left.
    await expect.poll(() => proxy.held(), { timeout: 60_000 }).toBe(0);
    proxy.handle('/markets/trade/prepare', 'pass');
    proxy.release();
    expect(await model.call('place_order', resting(13))).toMatchObject({ placed: true });
    expect(await ordersOf()).toBe(before + 1);
    const sizes = (await model.call('list_orders', { which: 'open' })).orders.map(({ size }: Facts) => size);
    expect(sizes).not.toContain(12);
    await model.call('cancel_orders', { all: true });
    expect(limitOf(env).standing().spent).toBeGreaterThan(spent);
  });
});

describe('a desk that does not answer', () => {
  test('frozen: each call ends in time, and says so', async () => {
    const frozen = await connect({ ...env, BELLWETHER_TIMEOUT_MS: '300' }, { transport: 'http' });
    proxy.handle('*', 'hold');
    for (const [name, args] of [
      ['search_markets', { query: '*' }],
      ['place_order', resting()],
    ] as const)
      expect(await frozen.refusal(name, args)).toMatchObject({ code: 'desk_timeout' });
    proxy.handle('*', 'pass');
    proxy.release();
    await frozen.close();
  });

  test('away: the server runs, and works once it is back', async () => {
    // No program listens at port 2.
    const nowhere = { BELLWETHER_URL: 'http://127.0.0.1:2', BELLWETHER_API_KEY: 'bw_key' };
    const away = await connect({ ...env, ...nowhere }, { transport: 'http' });
    expect((await away.client.listTools()).tools.length).toBeGreaterThan(10);
    expect(await away.refusal('get_portfolio')).toMatchObject({ code: 'desk_unreachable' });
    expect((await away.client.listPrompts()).prompts).toEqual([]);
    await away.close();
  });
});

describe('keys', () => {
  test.each([
    ['there are none', {}, 'keystore_missing', 'bellwether-mcp init'],
    [
      'the passphrase is wrong',
      { BELLWETHER_PASSPHRASE: 'another passphrase' },
      'passphrase_wrong',
      'BELLWETHER_PASSPHRASE',
    ],
    [
      'the passphrase is missing',
      { BELLWETHER_PASSPHRASE: '' },
      'passphrase_missing',
      'BELLWETHER_PASSPHRASE_FILE',
    ],
  ])('%s', async (title, changed, code, fix) => {
    const base = title === 'there are none' ? environmentFor(service.url) : env;
    const keyless = await connect({ ...base, ...changed }, { transport: 'http' });
    const refusal = await keyless.refusal('place_order', resting());
    expect(refusal).toMatchObject({ code, fix: expect.stringContaining(fix) });
    await keyless.close();
  });

  test('that were refused are read again: the person may have replaced them', async () => {
    const spare = await client.createApiKey('spare');
    const changing: Record<string, string> = { ...env, BELLWETHER_API_KEY: spare.apiKeyCode };
    const rotated = await connect(changing, { transport: 'http' });
    await rotated.call('get_portfolio');
    await client.revokeApiKey(spare.id);
    expect(await rotated.refusal('get_portfolio')).toMatchObject({ code: 'unauthorized' });
    changing.BELLWETHER_API_KEY = keys.apiKey;
    expect(await rotated.call('get_portfolio')).toMatchObject({ balance: expect.any(Number) });
    await rotated.close();
  });

  test('are in no answer', async () => {
    const answers = [
      await model.call('get_portfolio'),
      await model.call('get_briefing'),
      await model.call('list_orders', { which: 'all', limit: 100 }),
      await model.call('read_journal', { limit: 100 }),
      await model.refusal('place_order', taking(100_000)),
    ];
    for (const secret of [keys.apiKey, keys.evm[0]!.privateKey.slice(2), keys.solana!.secretKey, PASSPHRASE])
      expect(inspect(answers, { depth: null, maxStringLength: null })).not.toContain(secret);
  });
});

describe('what a model gets wrong', () => {
  test('is refused before anything happens: a misspelt field, terms that contradict each other', async () => {
    const before = await ordersOf();
    for (const [args, words] of [
      [{ ...taking(5), amout: 5 }, ['amout']],
      [
        { ...taking(5), price: 0.5, postOnly: true },
        ['price makes a limit order and worstPrice a market order', 'postOnly'],
      ],
      [{ market: market.market, outcome: 'YES', side: 'SELL', price: 0.5 }, ['needs size']],
    ] as const) {
      const result = await model.client.callTool({ name: 'place_order', arguments: args });
      expect(result.isError).toBe(true);
      for (const word of words) expect(JSON.stringify(result.content)).toContain(word);
    }
    expect(await ordersOf()).toBe(before);
  });
});

describe('venue B', () => {
  test('a quote is traded once, within the limit', async () => {
    leave(5);
    const { markets } = await model.call('search_markets', {
      query: '*',
      venue: 'kalshi',
      order: 'volume24hr',
    });
    const ask = { market: markets[0].market, outcome: 'YES', side: 'BUY' };
    const large = await model.call('quote_venue_b', { ...ask, amount: 6 });
    expect(await model.refusal('trade_venue_b', { quoteId: large.quoteId })).toMatchObject({
      code: 'spending_limit_reached',
    });
    const quote = await model.call('quote_venue_b', { ...ask, amount: 4 });
    expect(quote).toMatchObject({ tradable: true, takesAtMost: expect.any(Number) });
    const trade = { quoteId: quote.quoteId, waitSeconds: 40 };
    const traded = await withTurns(service, ['follow'], model.call('trade_venue_b', trade));
    expect(traded).toMatchObject({ placed: true, spendingLimit: { left: 1 } });
    expect(await model.call('trade_venue_b', trade)).toMatchObject({
      orderId: traded.orderId,
      transaction: traded.transaction,
      spendingLimit: { left: 1 },
    });
    expect(await model.refusal('trade_venue_b', { quoteId: 'unknown' })).toMatchObject({
      code: 'quote_not_found',
    });
  });
});

describe('the rest of the job', () => {
  test('an event is waited for, from where the last one ended', async () => {
    leave(100);
    const { cursor } = await model.call('wait_for_event', { types: ['venue'], seconds: 50 });
    await model.call('place_order', taking(2));
    const { event } = await model.call('wait_for_event', { types: ['fill'], after: cursor, seconds: 50 });
    expect(event).toMatchObject({ type: 'fill', data: { side: 'BUY', outcome: 'YES' } });
  });

  test('briefing, journal and pause; nothing resumes', async () => {
    const briefing = await model.call('get_briefing');
    expect(briefing).toMatchObject({ tradingPaused: false, nextCursor: expect.any(String) });
    expect(await model.call('get_briefing', { since: briefing.nextCursor })).toMatchObject({
      recentOrders: [],
    });
    expect((await model.call('read_journal')).entries.length).toBeGreaterThan(0);
    expect(await model.refusal('redeem', { market: market.market })).toMatchObject({
      code: 'market_not_resolved',
    });
    expect(
      await model.call('configure_agent', { silenceSeconds: 600, autoRedeemEnabled: true }),
    ).toMatchObject({
      ...{ silenceSeconds: 600, autoRedeemEnabled: true },
    });
    expect(await model.refusal('configure_agent', {})).toMatchObject({ code: 'invalid_request' });
    expect(await model.call('pause_trading')).toEqual({ tradingPaused: true, backend: 'paper' });
    expect(await model.refusal('place_order', taking(2))).toMatchObject({ code: 'trading_paused' });
    const { tools } = await model.client.listTools();
    expect(tools.map(({ name }) => name).filter((name) => /resume|setting|limit|key/.test(name))).toEqual([]);
  });

  test('the pages of the desk, its skills, and prompts for the official ones', async () => {
    const { resources } = await model.client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['bellwether://llms.txt', 'bellwether://signing']));
    const { prompts } = await model.client.listPrompts();
    expect(prompts.length).toBeGreaterThan(0);
    for (const { name } of prompts) expect(uris).toContain(`bellwether://skills/${name}`);
    for (const [uri, words] of [
      ['bellwether://llms.txt', '# Bellwether'],
      ['bellwether://signing', 'EIP-712'],
      [`bellwether://skills/${prompts[0]!.name}`, '<untrusted-'],
    ] as const) {
      const { contents } = await model.client.readResource({ uri });
      expect(JSON.stringify(contents)).toContain(words);
    }
    const prompt = await model.client.getPrompt({ name: prompts[0]!.name });
    expect(JSON.stringify(prompt.messages)).toContain('<untrusted-');
    await expect(model.client.getPrompt({ name: 'none' })).rejects.toThrow('no such prompt');
    await expect(model.client.readResource({ uri: 'bellwether://skills/none' })).rejects.toThrow();
  });

  test('sessions of older clients are few, and each has its end', async () => {
    const { url } = await startHttp(env, { mostSessions: 1 });
    const first = await connect(env, { transport: 'http', generation: '2025', url });
    await expect(connect(env, { transport: 'http', generation: '2025', url })).rejects.toThrow(
      /Too many sessions/,
    );
    await first.close();
  });
});
