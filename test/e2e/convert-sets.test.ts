/** NO shares of one market of an event become YES shares of the others: at once, once, and judged like a BUY of one collateral a share. */
import type { Market } from '@bellwether/sdk';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { approve, ownerOf } from '../approving.ts';
import { expectBooksToAgree } from '../books.ts';
import {
  marketBuy,
  newAgent,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { micro } from '../world.ts';

let service: TestService;
let market: Market;
/** The other markets of its event. */
let others: readonly Market[];
/** The only market of its event. */
let lonely: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  const { client } = await newTrader(service);
  [market] = (await openMarkets(client, '0.01', true)) as [Market];
  const all = await client.listMarkets({ q: '*', limit: 500 });
  others = all.filter(({ eventId, id }) => eventId === market.eventId && id !== market.id);
  [lonely] = (await openMarkets(client)) as [Market];
});

let names = 0;
const of = (amount: number, on = market) => {
  names += 1;
  return { clientOrderId: `convert-${names}`, marketId: on.id, amount };
};
const raw = (trader: Pick<Trader, 'post'>, body: unknown) => trader.post('/markets/convert', body);
const cash = ({ funder }: Trader) => service.exchange.account(funder).available;
const shares = ({ funder }: Trader, { conditionId }: Market, outcome: 'YES' | 'NO') =>
  service.exchange.freeTokens(funder, conditionId, outcome);
const buyNo = async (trader: Trader, amount: number, on = market) =>
  trader.client.placeTrade(await marketBuy(trader, on, amount, { outcome: 'NO' }));

/** Has bought NO shares for 20 collateral. */
async function holder(signatureType?: 0 | 1 | 2 | 3): Promise<Trader> {
  const trader = await newTrader(service, signatureType);
  expect(await buyNo(trader, 20)).toMatchObject({ success: true });
  return trader;
}

test('as many YES shares of each other market come for NO shares, no collateral moves, and everything tells of it', async () => {
  const trader = await holder(3);
  const before = cash(trader);
  const held = shares(trader, market, 'NO');
  const answer = await trader.client.convertSets({ ...of(5), reasoning: 'The rest of the field is cheap.' });
  expect(answer).toMatchObject({ success: true, status: 'filled', amount: 5, walletAddress: trader.funder });
  expect(cash(trader)).toBe(before);
  expect(shares(trader, market, 'NO')).toBe(held - micro(5));
  expect(others.length).toBeGreaterThan(1);
  for (const other of others)
    expect([shares(trader, other, 'YES'), shares(trader, other, 'NO')]).toEqual([micro(5), 0n]);
  const positions = await trader.client.getCurrentPositions();
  const made = positions.filter(({ outcome }) => outcome === 'YES');
  expect(made.map(({ size }) => size)).toEqual(others.map(() => 5));
  // Together they cost what the NO shares were worth: one less the middle of YES.
  const middle = (Number(market.bestBid) + Number(market.bestAsk)) / 2;
  expect(made.reduce((sum, { avgPrice }) => sum + Number(avgPrice), 0)).toBeCloseTo(1 - middle, 2);
  expect(await trader.client.getOrder(answer.orderId)).toMatchObject({
    ...{ status: 'filled', side: 'BUY', outcome: 'BOTH', orderType: 'CONVERT', counted: 5 },
    journal: [{ event: 'recorded', checked: expect.anything() }, { event: 'filled_completely' }],
  });
  expect((await trader.client.getMe()).tradesToday).toBe(2);
  const fills = await trader.client.listFills({ limit: 20 });
  const moved = fills.filter(({ matchKind }) => matchKind === 'CONVERTED');
  expect(new Set(moved.map(({ marketId, outcome }) => `${outcome} ${marketId}`))).toEqual(
    new Set([`NO ${market.id}`, ...others.map(({ id }) => `YES ${id}`)]),
  );
  // The pairs that come of a second conversion can be merged: NO of two markets is collateral and the others.
  const [second] = others as [Market];
  await trader.client.splitSets(of(5, second));
  expect(await trader.client.convertSets(of(5, second))).toMatchObject({ success: true });
  expect(await trader.client.mergeSets(of(5))).toMatchObject({ success: true });
  expect(shares(trader, second, 'YES')).toBe(micro(10));
  await expectBooksToAgree(service, [trader]);
});

test('a stream tells of each position, with the reason', async () => {
  const trader = await holder();
  const ending = new AbortController();
  const moved: unknown[] = [];
  for await (const event of trader.client.events({ signal: ending.signal })) {
    if (event.type === 'ready') await trader.client.convertSets(of(2));
    if (event.type === 'balance') expect(event.data.reason).not.toBe('conversion');
    if (event.type !== 'position' || event.data.reason !== 'conversion') continue;
    moved.push([event.data.outcome, event.data.marketConditionId, event.data.marketId]);
    if (moved.length === others.length + 1) ending.abort();
  }
  expect(new Set(moved)).toEqual(
    new Set([
      ['NO', market.conditionId, market.id],
      ...others.map(({ conditionId, id }) => ['YES', conditionId, id]),
    ]),
  );
});

describe('is refused like a BUY of one collateral a share', () => {
  test.each([
    ['a pause', { tradingPaused: true }, 'trading_paused'],
    ['maxTradesPerDay', { maxTradesPerDay: 1 }, 'max_trades_per_day_exceeded'],
    ['maxTradeAmount', { maxTradeAmount: 9.999999 }, 'max_trade_amount_exceeded'],
    ['dailyTradeAmountLimit', { dailyTradeAmountLimit: 29.999999 }, 'daily_trade_amount_exceeded'],
    ['dailyLossLimit', { dailyLossLimit: 0.0001 }, 'daily_loss_limit_reached'],
    ['approvalAbove', { approvalAbove: 9.999999 }, 'approval_required'],
    // It makes positions in markets of which this limit says nothing together.
    ['maxPositionValue, at any limit', { maxPositionValue: 1_000_000 }, 'max_position_value_exceeded'],
  ])('by %s', async (_, settings, code) => {
    const trader = await holder();
    await trader.client.updateSettings(settings);
    const before = shares(trader, market, 'NO');
    const body = of(10);
    expect(await raw(trader, body)).toMatchObject({ status: 403, body: { code } });
    expect(shares(trader, market, 'NO')).toBe(before);
    await trader.client.updateSettings({
      ...{ tradingPaused: false, maxTradesPerDay: 50, maxTradeAmount: 10, dailyTradeAmountLimit: 30.1 },
      ...{ maxPositionValue: null, dailyLossLimit: null, approvalAbove: null },
    });
    expect(await raw(trader, body)).toMatchObject({ status: 200, body: { success: true } });
    await expectBooksToAgree(service, [trader]);
  });

  test('the same body passes once its owner has approved it, and only that', async () => {
    const trader = await holder();
    const owner = await ownerOf(service, trader);
    await trader.client.updateSettings({ approvalAbove: 4 });
    const body = of(5);
    const refused = await raw(trader, body);
    expect(refused.body).toMatchObject({ code: 'approval_required' });
    await approve(owner, refused.body.approvalId);
    expect(await raw(trader, { ...body, amount: 6 })).toMatchObject({ body: { code: 'approval_required' } });
    expect(await raw(trader, body)).toMatchObject({ status: 200, body: { success: true, amount: 5 } });
  });
});

describe('is refused, and says what to do,', () => {
  const refused = async (body: object, trader?: Trader) => (await raw(trader ?? (await holder()), body)).body;

  test('where one market alone has its event', async () => {
    const trader = await newTrader(service);
    await trader.client.splitSets(of(5, lonely));
    expect(await refused(of(5, lonely), trader)).toMatchObject({
      ...{ code: 'conversion_not_supported', status: 400 },
      fix: expect.stringContaining('negRisk'),
    });
  });

  test('for more NO shares than there are; those of open SELL orders are none', async () => {
    const trader = await holder();
    const free = Number(shares(trader, market, 'NO')) / 1e6;
    expect(await refused(of(Math.ceil(free) + 1), trader)).toMatchObject({
      code: 'insufficient_balance',
      detail: expect.stringContaining('NO shares'),
    });
  });

  test('for a misspelt field, and all that is wrong at once', async () => {
    const { code, errors } = await refused({ ...of(-1), amout: 5, clientOrderId: '' });
    expect(code).toBeDefined();
    expect(JSON.stringify(errors)).toMatch(/amout/);
    expect(JSON.stringify(errors)).toMatch(/clientOrderId/);
    expect(errors.length).toBeGreaterThanOrEqual(3);
  });

  test('for a wallet of another agent', async () => {
    const [trader, stranger] = [await holder(), await newAgent(service)];
    const body = { ...of(1), walletAddress: trader.funder };
    expect((await raw(stranger, body)).body).toMatchObject({ code: 'credentials_not_registered' });
  });
});

test('however often it is sent, it is done once; other terms under the name are refused', async () => {
  const trader = await holder();
  const before = shares(trader, market, 'NO');
  const body = of(1);
  const answers = await Promise.all(Array.from({ length: 8 }, () => raw(trader, body)));
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  expect(await raw(trader, body)).toMatchObject({ status: 200, body: { success: true } });
  expect(shares(trader, market, 'NO')).toBe(before - micro(1));
  expect(await raw(trader, { ...body, amount: 2 })).toMatchObject({
    ...{ status: 409, body: { code: 'client_order_id_already_used' } },
  });
  await expectBooksToAgree(service, [trader]);
});

const step = fc.record({
  kind: fc.constantFrom('BUY', 'split', 'merge', 'convert', 'convert'),
  at: fc.nat({ max: 2 }),
  amount: fc.integer({ min: 100, max: 900 }).map((cents) => cents / 100),
});

test.each([
  ['dailyTradeAmountLimit', 31.000001],
  ['maxTradesPerDay', 9],
])('%s holds for any mixture over the markets of the event', async (cap, limit) => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 25 }), async (steps) => {
      const trader = await newTrader(service);
      await trader.client.updateSettings({ [cap]: limit });
      let [trades, spent] = [0, 0n];
      for (const { kind, at, amount } of steps) {
        const on = [market, ...others][at] as Market;
        const cashBefore = cash(trader);
        const done = {
          BUY: () => buyNo(trader, amount, on),
          split: () => trader.client.splitSets(of(amount, on)),
          merge: () => trader.client.mergeSets(of(amount, on)),
          convert: () => trader.client.convertSets(of(amount, on)),
        }[kind as 'BUY'];
        const answer = await done().catch(({ code }) => ({ success: false, errorCode: code }));
        if (/exceeded/.test(answer.errorCode ?? '')) refused += 1;
        if (!answer.success || kind === 'merge') continue;
        trades += 1;
        const paid = cashBefore - cash(trader);
        spent += kind === 'BUY' && paid < micro(amount) ? paid : micro(amount);
        if (cap === 'maxTradesPerDay') expect(trades).toBeLessThanOrEqual(limit);
        else expect(spent).toBeLessThanOrEqual(micro(limit));
      }
      await expectBooksToAgree(service, [trader]);
    }),
    { numRuns: 3, endOnFailure: true },
  );
  expect(refused).toBeGreaterThan(0);
});
