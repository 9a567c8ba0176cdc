/** Answers are correct, complete and consistent. */
import {
  BellwetherClient,
  linkSignersWallet,
  linkSolanaWallet,
  type Market,
  Signer,
  SolanaSigner,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  limitOrder,
  marketBuy,
  newAgent,
  newTrader,
  restingOrder,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

let service: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  trader = await newTrader(service);
  market = await aMarket(trader.client);
});

const post = (path: string, body: unknown, key = trader.apiKey) => call(service, 'POST', path, { key, body });
const get = (path: string, key = trader.apiKey) => call(service, 'GET', path, { key });
const base64url = (text: string) => Buffer.from(text).toString('base64url');

const buy = (agent: Trader, amount: number) => marketBuy(agent, market, amount);

describe('orders and pages', () => {
  test('open orders are paged by Link and by offset', async () => {
    const agent = await newTrader(service);
    for (let i = 0; i < 5; i++) await agent.client.placeTrade(await restingOrder(agent, market, 10 + i));
    const seen: string[] = [];
    let path: string | undefined = '/markets/orders/open?limit=2&venue=all';
    while (path !== undefined) {
      const { status, body, headers } = await get(path, agent.apiKey);
      expect(status).toBe(200);
      expect(headers.get('x-total-count')).toBe('5');
      seen.push(...body.map(({ orderId }: { orderId: string }) => orderId));
      path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(new Set(seen).size).toBe(5);
    const rest = await get('/markets/orders/open?limit=2&offset=4', agent.apiKey);
    expect(rest.body.map(({ orderId }: { orderId: string }) => orderId)).toEqual(seen.slice(4));
  });

  test('a forged cursor is refused, with any content', async () => {
    const order = `0x${'a'.repeat(64)}`;
    for (const place of [
      `999999999999999.${order}`,
      `8640000000000001.${order}`,
      `253402300800000.${order}`,
      '1.0x',
      '',
      '1',
    ])
      for (const path of ['/markets/orders', '/markets/orders/open']) {
        const { status, body } = await get(`${path}?cursor=${base64url(place) || 'AA'}`);
        expect({ place, status, code: body.code }).toEqual({ place, status: 400, code: 'invalid_request' });
      }
    const mixed = await get(`/markets/orders?offset=3&cursor=${base64url(`1.${order}`)}`);
    expect(mixed.body.code).toBe('contradictory_filter');
    for (const since of [
      '0000-01-01T00:00:00Z',
      'b1.9999999999999.1.1.1:2:',
      '9999999999999',
      'b1.1.9999999999999.1.1:2:',
      '+275760-09-13T00:00:00Z',
    ])
      expect((await get(`/markets/briefing?since=${encodeURIComponent(since)}`)).status, since).toBeLessThan(
        500,
      );
  });

  test('a page that ends on a quoted order has a next page', async () => {
    const id = '01a200b9-1af8-7ed7-a814-0f77c8764e83';
    const { status, body } = await get(`/markets/orders?cursor=${base64url(`1700000000000.${id}`)}`);
    expect({ status, body }).toEqual({ status: 200, body: [] });
  });

  test('feeAmount is in the record, and filledSize may exceed orderSize', async () => {
    const agent = await newTrader(service);
    const { orderId } = await agent.client.placeTrade({ ...(await buy(agent, 10)), feeAmount: 0.25 });
    const order = await agent.client.getOrder(orderId);
    expect(order).toMatchObject({ feeAmount: 0.25 });
    expect(order.filledSize).toBeGreaterThan(order.orderSize);
  });

  test('cancel returns success; a repeat returns the reason of the failure', async () => {
    const { orderId } = await trader.client.placeTrade(await restingOrder(trader, market));
    const body = { orderId: orderId.toUpperCase().replace('0X', '0x') };
    expect((await post('/markets/orders/cancel', body)).body).toMatchObject({
      success: true,
      canceled: [orderId],
    });
    expect((await post('/markets/orders/cancel', body)).body).toMatchObject({
      success: false,
      notCanceled: { [orderId]: 'already canceled' },
    });
  });

  test('cancel-market filters by venue, refuses an unknown one, and explains how to cancel all', async () => {
    const agent = await newTrader(service);
    const { orderId } = await agent.client.placeTrade(await restingOrder(agent, market));
    const none = await agent.post('/markets/orders/cancel-market');
    expect(none).toMatchObject({ status: 400, body: { code: 'body_required' } });
    expect(none.body.fix).toContain('{}');
    const cancel = (body: unknown) => post('/markets/orders/cancel-market', body, agent.apiKey);
    expect((await cancel({ venue: 'nasdaq' })).body.code).toBe('unknown_venue');
    expect((await cancel({ venue: 'kalshi' })).body.totalCanceled).toBe(0);
    expect(
      (await cancel({ address: agent.funder.toUpperCase(), venue: 'polymarket' })).body.canceled,
    ).toEqual([orderId]);
  });

  test('a canceled order still counts for its day, as /agents/me shows', async () => {
    const agent = await newTrader(service);
    const { orderId } = await agent.client.placeTrade(await restingOrder(agent, market));
    await agent.client.cancelOrder(orderId);
    await agent.client.placeTrade(await restingOrder(agent, market, 11));
    await agent.client.placeTrade(await buy(agent, 5));
    const refused = await agent.client.placeTrade(
      await limitOrder(agent, market, { side: 'BUY', price: market.bestAsk, size: 10, postOnly: true }),
    );
    expect(refused).toMatchObject({
      success: false,
      status: 'rejected',
      errorCode: 'post_only_would_cross',
      fix: expect.stringContaining('best ask'),
    });
    const record = await agent.client.getOrder(refused.orderId);
    expect(record).toMatchObject({ status: 'rejected', fix: expect.stringContaining('best ask') });
    const me = await agent.client.getMe();
    expect(me.tradesCounted).toEqual({ placed: 4, filled: 1, open: 1, canceled: 1, givenBack: 1 });
    expect(me.tradesToday).toBe(3);
  });

  test('lastUpdatedAt changes with trading', async () => {
    const before = Date.parse((await trader.client.getMarket(market.id)).lastUpdatedAt);
    await new Promise((done) => setTimeout(done, 20));
    await trader.client.placeTrade(await buy(trader, 5));
    const after = Date.parse((await trader.client.getMarket(market.id)).lastUpdatedAt);
    expect(after).toBeGreaterThan(before);
  });
});

describe('invalid fields', () => {
  const fields = (body: { errors: { path: string; code: string }[] }) =>
    body.errors.map(({ path, code }) => `${path} ${code}`).sort();

  test('one with too many decimals is reported with the others', async () => {
    const settings = await post('/agents/settings', {
      maxTradesPerDay: -1,
      maxTradeAmount: 1.0000001,
      dailyLossLimit: 0.1234567,
    });
    expect(fields(settings.body)).toEqual([
      'dailyLossLimit too_many_decimals',
      'maxTradeAmount too_many_decimals',
      'maxTradesPerDay minimum',
    ]);
    const faucet = await call(service, 'POST', '/paper/faucet', {
      body: { address: '0x12', amount: 1.0000001 },
    });
    expect(fields(faucet.body)).toEqual(['address pattern', 'amount too_many_decimals']);
    const quote = await post('/venueb/agent/quote', {
      marketTicker: '',
      side: 'maybe',
      action: 'BUY',
      amount: 1.0000001,
      shares: 1,
      userPublicKey: 'x',
    });
    expect(quote.body.code).toBe('invalid_request');
    expect(fields(quote.body)).toEqual([
      'amount too_many_decimals',
      'marketTicker minLength',
      'shares shares_not_allowed',
      'side anyOf',
      'userPublicKey invalid_solana_address',
    ]);
  });

  test('the error message names the rule that the value breaks', async () => {
    const request = await restingOrder(trader, market);
    const messageOf = async (reasoning: unknown) =>
      (await post('/markets/trade', { ...request, reasoning })).body.errors[0].message;
    expect(await messageOf('x'.repeat(1001))).toBe('reasoning must have at most 1000 characters');
    expect(await messageOf('a\u0000b')).toContain('control characters other than line breaks and tabs');
    expect(await messageOf(5)).toBe('reasoning must be string or null');
    const settings = await post('/agents/settings', { stopLossPercent: 101, maxPositionValue: -1 });
    expect(settings.body.errors.map(({ message }: { message: string }) => message).sort()).toEqual([
      'maxPositionValue must be > 0',
      'stopLossPercent must be <= 100',
    ]);
  });

  test('line breaks and tabs in texts are kept', async () => {
    const text = 'first\n\tsecond\r\nthird';
    const { orderId } = await trader.client.placeTrade({
      ...(await restingOrder(trader, market, 33)),
      reasoning: text,
    });
    expect((await trader.client.getOrder(orderId)).reasoning).toBe(text);
    await trader.client.cancelOrder(orderId);
    const registered = await new BellwetherClient({ baseUrl: service.url }).registerAgent({
      name: 'N',
      description: text,
    });
    expect((await get('/agents/me', registered.apiKeyCode)).body.description).toBe(text);
    expect((await call(service, 'POST', '/agents/register', { body: { name: 'a\nb' } })).status).toBe(400);
  });
});

describe('identifiers', () => {
  test('hexadecimal ones are accepted in any case and returned in lower case', async () => {
    const upper = market.conditionId.toUpperCase();
    for (const path of [
      `/markets/${upper}`,
      `/markets/check?marketId=${upper}`,
      `/markets/context/${upper}`,
      `/markets/orders?marketConditionId=${upper}`,
      `/wallet/credentials/check?walletAddress=${trader.funder.toUpperCase()}`,
      `/markets/portfolio?user=${trader.funder.toUpperCase()}`,
    ])
      expect((await get(path)).status, path).toBe(200);
    expect((await get(`/markets/check?marketId=${upper}`)).body.exists).toBe(true);
    const request = await restingOrder(trader, market, 21);
    const placed = await post('/markets/trade', {
      ...request,
      marketConditionId: upper,
      walletAddress: trader.funder.toUpperCase(),
      order: { ...request.order, maker: trader.funder.toUpperCase(), signer: trader.funder.toUpperCase() },
    });
    expect(placed).toMatchObject({ status: 201, body: { walletAddress: trader.funder } });
    expect((await get(`/markets/orders?marketConditionId=${upper}&limit=1`)).body[0].orderId).toBe(
      placed.body.orderId,
    );
    expect((await get(`/markets/orders/${placed.body.orderId.toUpperCase()}`)).body.orderId).toBe(
      placed.body.orderId,
    );
    expect((await post('/markets/orders/cancel-market', { marketConditionId: upper })).body.canceled).toEqual(
      [placed.body.orderId],
    );
    const check = await get(`/wallet/credentials/check?address=${trader.funder.toUpperCase()}`);
    expect(check.body).toMatchObject({ hasCredentials: true, walletAddress: trader.funder });
    const faucet = await call(service, 'POST', '/paper/faucet', {
      body: { walletAddress: trader.funder.toUpperCase(), amount: 1 },
    });
    expect(faucet.body.address).toBe(trader.funder);
  });

  test('address and walletAddress are one field: both may be sent, and must agree', async () => {
    const other = Signer.generate().address;
    expect((await get(`/wallet/link/challenge?walletAddress=${other}`)).body.address).toBe(other);
    const twice = await get(`/wallet/link/challenge?walletAddress=${other}&address=${trader.funder}`);
    expect(twice).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'walletAddress', code: 'contradiction' }] },
    });
    expect(
      (await get(`/wallet/link/challenge?walletAddress=${other}&address=${other.toUpperCase()}`)).status,
    ).toBe(200);
    expect((await get('/wallet/link/challenge')).body.errors[0].message).toBe('address is required');
  });
});

describe('wallets', () => {
  test('unlinking without a body unlinks the wallet of the agent, then the only one, or lists several', async () => {
    const agent = await newTrader(service);
    const unlink = () => agent.post('/wallet/unlink');
    const [first, second] = [SolanaSigner.generate(), SolanaSigner.generate()];
    for (const solana of [first, second]) await linkSolanaWallet(agent.client, solana);
    expect((await unlink()).body).toMatchObject({
      success: true,
      message: expect.stringContaining(agent.funder),
    });
    const several = await unlink();
    expect(several).toMatchObject({ status: 400, body: { code: 'wallet_required' } });
    for (const { address } of [first, second]) expect(several.body.detail).toContain(address);
    await post('/wallet/unlink', { walletAddress: first.address }, agent.apiKey);
    expect((await unlink()).body).toMatchObject({
      success: true,
      message: expect.stringContaining(second.address),
    });
    expect(await unlink()).toMatchObject({ status: 404, body: { code: 'wallet_not_found' } });
  });

  test('a linked wallet that never traded has an empty list', async () => {
    const agent = await newAgent(service);
    const proved = SolanaSigner.generate();
    const positions = (user: string) => get(`/markets/current-positions?user=${user}`, agent.apiKey);
    await linkSolanaWallet(agent.client, proved);
    expect(await positions(proved.address)).toMatchObject({ status: 200, body: [] });
    const named = SolanaSigner.generate().address;
    await agent.client.updateSolAddress(named);
    expect(await positions(named)).toMatchObject({ status: 200, body: [] });
    await linkSignersWallet(agent);
    expect(await positions(agent.signer.address)).toMatchObject({ status: 200, body: [] });
  });

  test('insufficient balance names the wallet of the same key that has it, and the faucet', async () => {
    const agent = await newTrader(service);
    const safe = agent.signer.wallet(2);
    const short = () => marketBuy(agent, market, 11_000);
    const poor = await post('/markets/trade', await short(), agent.apiKey);
    expect(poor).toMatchObject({ status: 400, body: { code: 'insufficient_balance' } });
    expect(poor.body.fix).toContain(`POST /paper/faucet {"address": "${agent.funder}"`);
    expect(poor.body.fix).not.toContain(safe);
    await service.needs.venues.default.paper?.faucet?.(safe as never, 30_000_000_000n, 'a draw');
    const { fix } = (await post('/markets/trade', await short(), agent.apiKey)).body;
    expect(fix).toContain(`${safe} (signatureType 2) of the same key holds 30000; it is not registered`);
  });
});

describe('other answers of public clients', () => {
  test('the reset of settings and submitted skills have the fields that other clients read', async () => {
    const agent = await newAgent(service);
    const reset = await call(service, 'DELETE', '/markets/risk-settings', { key: agent.apiKey });
    expect(reset.body).toMatchObject({ success: true, message: expect.any(String), maxTradesPerDay: 50 });
    const skill = await post(
      '/agent/skill/submit-skill',
      { skillName: 'S', description: 'd', version: '1', howItWorks: 'h' },
      agent.apiKey,
    );
    expect(skill.body.id).toBe(skill.body.skillCode);
  });

  test('the OpenAPI document has every status and refusal', async () => {
    const { body } = await get('/openapi.json');
    const answer = body.paths['/markets/trade'].post.responses['201'].content['application/json'].schema;
    expect(answer.properties.errorCode.enum).toContain('fok_not_filled');
    expect(answer.properties.status.enum).toContain('rejected');
    const page = body.paths['/markets/orders/open'].get.parameters.map(({ name }: { name: string }) => name);
    expect(page).toEqual(expect.arrayContaining(['offset', 'cursor', 'limit', 'venue']));
  });
});
