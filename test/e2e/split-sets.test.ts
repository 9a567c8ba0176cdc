/** Collateral is split into full sets: at once, once, and judged like a BUY of the same collateral. */
import { linkSignersWallet, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { approve, claim, decline, ownerOf } from '../approving.ts';
import { expectBooksToAgree } from '../books.ts';
import {
  marketBuy,
  marketSell,
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
let other: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  [market, other] = (await openMarkets((await newTrader(service)).client)) as [Market, Market];
});

let names = 0;
const name = (): string => {
  names += 1;
  return `split-${names}`;
};
const of = (amount: number, on = market) => ({ clientOrderId: name(), marketId: on.id, amount });
const raw = (trader: Pick<Trader, 'post'>, body: unknown) => trader.post('/markets/split', body);
const cash = ({ funder }: Trader) => service.exchange.account(funder).available;
const buy = async (trader: Trader, amount: number, on = market) =>
  trader.client.placeTrade(await marketBuy(trader, on, amount));

test('collateral becomes pairs, at the price of the book, and everything tells of it', async () => {
  const trader = await newTrader(service, 3);
  const before = cash(trader);
  const body = { ...of(10), source: 'sdk:making', reasoning: 'Both sides are quoted from these.' };
  const split = await trader.client.splitSets(body);
  expect(split).toMatchObject({ success: true, status: 'filled', amount: 10, walletAddress: trader.funder });
  expect(before - cash(trader)).toBe(micro(10));
  const held = await trader.client.getCurrentPositions();
  expect(held.map(({ outcome, size }) => [outcome, size]).sort()).toEqual([
    ['NO', 10],
    ['YES', 10],
  ]);
  const middle = (Number(market.bestBid) + Number(market.bestAsk)) / 2;
  const yes = held.find(({ outcome }) => outcome === 'YES');
  expect(yes?.avgPrice).toBeCloseTo(middle, 3);
  expect(await trader.client.getOrder(split.orderId)).toMatchObject({
    ...{ status: 'filled', side: 'BUY', outcome: 'BOTH', orderType: 'SPLIT', counted: 10 },
    journal: [{ event: 'recorded', checked: expect.anything() }, { event: 'filled_completely' }],
  });
  expect((await trader.client.getMe()).tradesToday).toBe(1);
  const { safeguards } = await trader.client.getMarketContext(market.id);
  expect(safeguards.dailyTradeAmount.used).toBe(10);
  expect(safeguards.positionValue.used).toBe(10);
  const results = await trader.client.listTradesByStrategy();
  expect(results).toMatchObject([{ source: 'sdk:making', trades: 1, volume: 0, realizedPnl: 0 }]);
  await expectBooksToAgree(service, [trader]);
});

describe('is refused like a BUY of that collateral', () => {
  test.each([
    ['a pause', { tradingPaused: true }, 'trading_paused'],
    ['maxTradesPerDay', { maxTradesPerDay: 1 }, 'max_trades_per_day_exceeded'],
    ['maxTradeAmount', { maxTradeAmount: 9.999999 }, 'max_trade_amount_exceeded'],
    ['dailyTradeAmountLimit', { dailyTradeAmountLimit: 14.999999 }, 'daily_trade_amount_exceeded'],
    ['maxPositionValue', { maxPositionValue: 14.999999 }, 'max_position_value_exceeded'],
    ['dailyLossLimit', { dailyLossLimit: 0.0001 }, 'daily_loss_limit_reached'],
    ['approvalAbove', { approvalAbove: 9.999999 }, 'approval_required'],
  ])('by %s', async (_, settings, code) => {
    const trader = await newTrader(service);
    // Its fee is a loss already.
    await buy(trader, 5);
    await trader.client.updateSettings(settings);
    await expect(buy(trader, 10)).rejects.toMatchObject({ code });
    const before = cash(trader);
    const body = of(10);
    expect(await raw(trader, body)).toMatchObject({ status: 403, body: { code } });
    expect(cash(trader)).toBe(before);
    const { trades } = await trader.client.listAgentTrades({ limit: 1 });
    expect(trades[0]).toMatchObject({
      status: 'denied',
      errorCode: code,
      direction: 'BOTH',
      actionType: 'BUY',
    });
    // Nothing is recorded under the name, which is free.
    await trader.client.updateSettings({
      ...{ tradingPaused: false, maxTradesPerDay: 2, maxTradeAmount: 10, dailyTradeAmountLimit: 15 },
      ...{ maxPositionValue: 15, dailyLossLimit: null, approvalAbove: null },
    });
    expect(await raw(trader, body)).toMatchObject({ status: 200, body: { success: true } });
    await expectBooksToAgree(service, [trader]);
  });

  test('but not by maxOpenOrders: it never waits', async () => {
    const trader = await newTrader(service);
    await trader.client.updateSettings({ maxOpenOrders: 0 });
    await expect(buy(trader, 5)).rejects.toMatchObject({ code: 'max_open_orders_exceeded' });
    expect(await raw(trader, of(5))).toMatchObject({ status: 200, body: { success: true } });
  });
});

test('the owner approves one split with its wallet; another one asks again, and a declined one stays declined', async () => {
  const owner = await ownerOf(service);
  const trader = await newTrader(service);
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: 5 });
  const body = of(8);
  const asked = await raw(trader, body);
  expect(asked).toMatchObject({ status: 403, body: { code: 'approval_required' } });
  const { approvalId } = asked.body;
  expect((await owner.send('GET', `/owner/approvals/${approvalId}`)).body).toMatchObject({
    ...{ outcome: 'BOTH', side: 'BUY', orderType: 'SPLIT', price: 1, orderSize: 8, amount: 8, book: null },
    walletAddress: trader.funder,
  });
  expect((await approve(owner, approvalId)).status).toBe(200);
  expect(await raw(trader, { ...body, amount: 9 })).toMatchObject({
    ...{ status: 403, body: { code: 'approval_required' } },
  });
  const made = await raw(trader, body);
  expect(made).toMatchObject({ status: 200, body: { success: true, amount: 8 } });
  expect((await raw(trader, body)).body).toEqual(made.body);
  expect((await trader.client.getApproval(approvalId)).status).toBe('used');
  const unwanted = of(6);
  const waiting = await raw(trader, unwanted);
  await decline(owner, waiting.body.approvalId);
  expect(await raw(trader, unwanted)).toMatchObject({
    ...{ status: 403, body: { code: 'approval_required', detail: 'The owner declined this order.' } },
  });
});

test('what a former owner locked and paused binds the wallet at its next agent, and no merge', async () => {
  const agent = await newTrader(service);
  await buy(agent, 5);
  const owner = await ownerOf(service, agent);
  const locks = {
    maxTradeAmount: { limit: 6, locked: true },
    dailyTradeAmountLimit: { limit: 20, locked: true },
  };
  const path = `/owner/agents/${agent.agentId}`;
  expect((await owner.send('POST', `${path}/safeguards`, locks)).status).toBe(200);
  const next = { ...agent, ...(await newAgent(service)), signer: agent.signer };
  await linkSignersWallet({ client: next.client, signer: agent.signer, signatureType: 0 });
  expect(await raw(next, of(7))).toMatchObject({ body: { code: 'max_trade_amount_exceeded' } });
  for (const amount of [6, 6]) expect(await raw(next, of(amount))).toMatchObject({ status: 200 });
  // Both agents' days are used up: it is one budget for the wallet.
  expect(await raw(next, of(6))).toMatchObject({ body: { code: 'daily_trade_amount_exceeded' } });
  // The pause is set while the wallet is the owner's again.
  await linkSignersWallet({ client: agent.client, signer: agent.signer, signatureType: 0 });
  await owner.send('POST', `${path}/pause`, { paused: true });
  await linkSignersWallet({ client: next.client, signer: agent.signer, signatureType: 0 });
  expect(await raw(next, of(1))).toMatchObject({ body: { code: 'trading_paused' } });
  expect(await next.client.mergeSets(of(12))).toMatchObject({ success: true, amount: 12 });
});

test('one half sold leaves no room: what went in and has not come back is the position', async () => {
  const trader = await newTrader(service);
  await trader.client.updateSettings({ maxPositionValue: 20 });
  await trader.client.splitSets(of(20, other));
  await trader.client.placeTrade(await marketSell(trader, other, 20, { outcome: 'NO' }));
  const spent = 10_000 - Number(cash(trader)) / 1e6;
  const { fees } = await trader.client.getPortfolio();
  const { safeguards } = await trader.client.getMarketContext(other.id);
  expect(safeguards.positionValue.used).toBeCloseTo(spent - fees, 4);
  const room = 20 - safeguards.positionValue.used;
  await expect(trader.client.splitSets(of(Math.ceil(room * 100 + 1) / 100, other))).rejects.toMatchObject({
    code: 'max_position_value_exceeded',
  });
  // Selling it again at once brings no gain that could make up for losses.
  expect(safeguards.dailyLoss.used).toBeGreaterThanOrEqual(0);
  const [{ realizedPnl } = { realizedPnl: 0 }] = await trader.client.getClosedPositions();
  expect(realizedPnl).toBeLessThanOrEqual(0);
});

test('without the collateral it says what there is; without a wallet, which field is missing', async () => {
  const trader = await newTrader(service);
  const refused = await raw(trader, of(10_001));
  expect(refused).toMatchObject({ status: 400, body: { code: 'insufficient_balance' } });
  expect(refused.body.detail).toContain('10000 is available');
  expect(await raw(await newAgent(service), of(1))).toMatchObject({
    status: 403,
    body: { code: 'credentials_not_registered', fix: expect.stringContaining('nonce') },
  });
});
