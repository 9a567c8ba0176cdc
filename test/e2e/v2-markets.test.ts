/** Markets of the venue's Protocol V2 on paper: how the doors show them, and trades through the desk and through the doors. */
import {
  exchangeDomain,
  exchangeDomains,
  orderDigest,
  orderStructHash,
  shortConditionId,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import {
  type BellwetherClient,
  buildMarketOrder,
  checkOrder,
  type MarketTerms,
  orderIdOf,
  type Signer,
  signPrepared,
  type TradeIntent,
  verifyPrepared,
} from '@bellwether/sdk';
import { type AssetType, Side, type SignedOrder } from '@polymarket/clob-client-v2';
import { beforeAll, describe, expect, test } from 'vitest';
import { limitOrder, newTrader, sharedTestService, type TestService, type Trader } from '../harness.ts';
import { clientTwo, newOfficialWallet } from '../official-clients.ts';

let service: TestService;

beforeAll(async () => {
  service = await sharedTestService();
});

const ofV2 = () =>
  [...service.exchange.markets()].filter(({ version, status }) => version === 'v2' && status === 'open');
const plain = () => ofV2().find(({ negRisk }) => !negRisk)!;
const get = async (path: string) => {
  const answer = await fetch(`${service.url}/paper${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: the answers of many routes
  return { status: answer.status, body: (await answer.json()) as any };
};

describe('the doors', () => {
  test('the catalogue has 62 digits, position ids and a resolution status of its own', async () => {
    const listed = ofV2();
    expect(listed).toHaveLength(8);
    for (const market of listed) {
      const { conditionId, tokenIds } = market;
      const short = shortConditionId(conditionId);
      for (const width of [conditionId, short]) {
        const { body } = await get(`/gamma/markets?condition_ids=${width}`);
        expect(body).toMatchObject([
          {
            ...{ conditionId: short, version: 'v2', clobTokenIds: null, positionIds: [...tokenIds] },
            ...{ resolutionStatus: 'active', active: true, closed: false, acceptingOrders: true },
          },
        ]);
        expect(body[0]).not.toHaveProperty('umaResolutionStatus');
      }
    }
    const others = listed.map(async ({ id }) => (await get(`/gamma/markets/${id}`)).body.negRiskOther);
    expect((await Promise.all(others)).filter(Boolean)).toHaveLength(1);
  });

  test('the CLOB and the data API have 64, and refuse 62', async () => {
    const { conditionId, tokenIds } = plain();
    const short = shortConditionId(conditionId);
    expect((await get(`/clob/clob-markets/${conditionId}`)).body).toMatchObject({
      ...{ v: 'v2', c: conditionId, mos: 5, mts: 0.01, ao: true },
      t: [{ t: tokenIds[0] }, { t: tokenIds[1] }],
    });
    expect((await get(`/clob/clob-markets/${short}`)).status).toBe(404);
    const { body: book } = await get(`/clob/book?token_id=${tokenIds[0]}`);
    expect(book).toMatchObject({
      version: 'v2',
      market: conditionId,
      asset_id: tokenIds[0],
      neg_risk: false,
    });
    const old = [...service.exchange.markets()].find(({ version }) => version === 'v1')!;
    expect((await get(`/clob/book?token_id=${old.tokenIds[0]}`)).body).not.toHaveProperty('version');
    expect((await get(`/data/v2/resolutions?condition=${conditionId}`)).body.data).toEqual([
      { condition_id: conditionId, status: 'active', market_type: 'BINARY' },
    ]);
    expect((await get(`/data/v2/resolutions?condition=${short}`)).status).toBe(400);
  });

  test('the venue’s own client trades; an order signed for the other contract is refused by name', async () => {
    const { tokenIds } = plain();
    const wallet = await newOfficialWallet(service);
    const clob = clientTwo(service, wallet);
    const order = { tokenID: tokenIds[0], side: Side.BUY, price: 0.01, size: 10 };
    const options = { tickSize: '0.01', negRisk: false } as const;
    const signed = (version: 2 | 3): Promise<SignedOrder> => clob.createOrder(order, { ...options, version });
    expect(await clob.postOrder(await signed(2))).toMatchObject({
      ...{ error: 'order_version_mismatch', status: 400 },
    });
    expect(await clob.postOrder(await signed(3))).toMatchObject({ success: true, status: 'live' });
    const [old] = [...service.exchange.markets()].filter(
      ({ version, status }) => version === 'v1' && status === 'open',
    );
    const wrong = await clob.createOrder(
      { ...order, tokenID: old!.tokenIds[0], price: 0.5 },
      { ...options, negRisk: old!.negRisk, version: 3 },
    );
    expect(await clob.postOrder(wrong)).toMatchObject({ error: 'order_version_mismatch' });
    const shown = await clob.getBalanceAllowance({
      ...{ asset_type: 'CONDITIONAL-V2' as AssetType, token_id: tokenIds[0] },
    });
    expect(Object.keys(shown.allowances)).toContain('0xe3333700ca9d93003f00f0f71f8515005f6c00aa');
  });
});

describe('the desk', () => {
  let agent: Trader;
  let client: BellwetherClient;
  let signer: Signer;
  let market: Awaited<ReturnType<BellwetherClient['getMarket']>>;

  beforeAll(async () => {
    agent = await newTrader(service);
    ({ client, signer } = agent);
    market = await client.getMarket(plain().conditionId);
  });

  const worst = { side: 'BUY', outcome: 'YES', worstPrice: 0.99, amount: 5 } as const;

  test('shows its version, found by either width', async () => {
    expect(market).toMatchObject({ version: 'v2', active: true });
    for (const name of [shortConditionId(market.conditionId), market.clobTokenIds[1]!])
      expect((await client.listMarkets({ q: name }))[0]?.conditionId).toBe(market.conditionId);
    const found = await client.getMarket(shortConditionId(market.conditionId));
    expect(found.conditionId).toBe(market.conditionId);
  });

  test('takes an order of the SDK, and says that it was for ExchangeV3', async () => {
    const body = await buildMarketOrder({ signer, market: market as MarketTerms, ...worst });
    expect(checkOrder(body)).toMatchObject({ isSound: true, orderId: orderIdOf(body) });
    // The 31 bytes are the same market, before any limit or lock.
    const sent = { ...body, marketConditionId: shortConditionId(body.marketConditionId) };
    const checked = await client.placeTrade({ ...sent, validateOnly: true });
    expect(checked).toMatchObject({ orderVersion: 2, exchangeVersion: 3, orderId: orderIdOf(body) });
    const placed = await client.placeTrade(sent);
    expect(placed).toMatchObject({
      success: true,
      orderVersion: 2,
      exchangeVersion: 3,
      collateralSymbol: 'pUSD',
    });
    expect(placed.filledSize).toBeGreaterThan(0);
    expect(await client.placeTrade(body)).toEqual(placed);
    const order = await client.getOrder(placed.orderId);
    expect(order).toMatchObject({
      orderVersion: 2,
      exchangeVersion: 3,
      marketConditionId: market.conditionId,
    });
    const positions = await agent.get(
      `/markets/current-positions?market=${shortConditionId(market.conditionId)}`,
    );
    expect(JSON.stringify(positions.body)).toContain(market.conditionId);
  });

  test('rests and cancels an order by either width', async () => {
    const body = await limitOrder({ signer }, market as MarketTerms, {
      side: 'BUY',
      outcome: 'NO',
      price: 0.01,
      size: 10,
    });
    const placed = await client.placeTrade(body);
    expect(placed).toMatchObject({ status: 'live', exchangeVersion: 3 });
    const short = shortConditionId(market.conditionId);
    const open = await agent.get(`/markets/orders/open?marketConditionId=${short}`);
    expect(JSON.stringify(open.body)).toContain(placed.orderId);
    const gone = await agent.post('/markets/orders/cancel-market', { marketConditionId: short });
    expect(JSON.stringify(gone.body)).toContain(placed.orderId);
  });

  test('prepares an order that the SDK verifies, with its version and contract pinned', async () => {
    const intent: TradeIntent = {
      ...{ clientOrderId: 'v2-prepared', marketId: shortConditionId(market.conditionId), outcome: 'YES' },
      ...{
        side: 'BUY',
        worstPrice: 0.99,
        amount: 5,
        walletAddress: signer.address,
        timestamp: 1_780_449_126_930,
      },
    };
    const prepared = await client.prepareTrade(intent);
    expect(prepared).toMatchObject({
      ...{ orderVersion: 2, exchangeVersion: 3 },
      verifyingContract: '0xe3333700ca9d93003f00f0f71f8515005f6c00aa',
    });
    const pins = { agentId: agent.agentId, signer, market };
    for (const lie of [{ exchangeVersion: undefined }, { verifyingContract: `0x${'1'.repeat(40)}` }])
      expect(() => verifyPrepared({ ...prepared, ...lie } as never, intent, pins)).toThrow(/Do not sign/);
    expect(() => verifyPrepared(prepared, intent, { ...pins, market: { ...market, version: 'v1' } })).toThrow(
      /version v1/,
    );
    const placed = await client.placeTrade(
      await signPrepared(verifyPrepared(prepared, intent, pins), signer),
    );
    expect(placed).toMatchObject({ success: true, orderId: prepared.orderId, exchangeVersion: 3 });
  });

  test('refuses an intent without a timestamp, or of version 1, with both faults at once', async () => {
    const refused = await agent.post('/markets/trade/prepare', {
      clientOrderId: 'x',
      marketId: market.id,
      ...worst,
      walletAddress: signer.address,
      orderVersion: 1,
    });
    expect(refused.status).toBe(400);
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'orderVersion',
      'timestamp',
    ]);
  });

  test('explains an order that is signed for the V2 exchange', async () => {
    const body = await buildMarketOrder({ signer, market: market as MarketTerms, ...worst });
    const { order } = body;
    const fields = {
      ...{ salt: BigInt(order.salt), maker: signer.address, signer: signer.address, taker: ZERO_ADDRESS },
      ...{ tokenId: BigInt(order.tokenId), makerAmount: BigInt(order.makerAmount) },
      ...({ takerAmount: BigInt(order.takerAmount), side: 0, signatureType: 0 } as const),
      ...{ expiration: 0n, nonce: 0n, feeRateBps: 0n },
    };
    const { separator } = exchangeDomain(exchangeDomains(), 2, false);
    const signature = await signer.signDigest(orderDigest(separator, orderStructHash(fields)));
    const { status, body: refusal } = await agent.post('/markets/trade', {
      ...body,
      order: { ...order, signature },
    });
    expect([status, refusal.code]).toEqual([400, 'invalid_order_payload']);
    expect(refusal.fix).toContain('signed for the V2 exchange; this market trades on V3');
  });

  test('shows worked digests for ExchangeV3', async () => {
    const { body } = await agent.get('/venues/polymarket/signing');
    const { examples, domains, structs } = body.orders;
    expect(examples.filter((one: { exchangeVersion?: number }) => one.exchangeVersion === 3)).toHaveLength(4);
    expect(examples.find((one: { exchangeVersion?: number }) => one.exchangeVersion === 3)).toMatchObject({
      digest: '0x011b6e55b7e6fd7f37d020b1062f9e152c0ea5c33652590a6a2594a4f7addc0c',
    });
    expect(domains.at(-1)).toMatchObject({ orderVersion: 2, exchangeVersion: 3, negRisk: null });
    expect(structs.at(-1)).toMatchObject({ orderVersions: [2], exchangeVersion: 3 });
  });
});
