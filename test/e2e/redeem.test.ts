/** Redemption pays exactly once, nothing for losing tokens; no safeguard denies it, and it can be automatic. */
import { buildMarketOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import {
  marketBuy,
  newAgent,
  newTrader,
  startTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { endingMarkets, type ManualClock, manualClock, micro, resolveMarket } from '../world.ts';

let service: TestService;
let clock: ManualClock;
let markets: Market[];
/** Registered before time moves: the venue requires recent time stamps. */
let traders: Trader[];

beforeAll(async () => {
  clock = manualClock();
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  traders = [];
  for (let i = 0; i < 11; i += 1) traders.push(await newTrader(service, (i % 4) as 0 | 1 | 2 | 3));
  markets = await endingMarkets(traders[0] as Trader);
});

const next = (): Trader => traders.pop() as Trader;
/** Still open at any time of the test. */
const nextMarket = (): Market => {
  for (;;) {
    const market = markets.shift();
    if (market === undefined) throw new Error('no market is left');
    if (service.exchange.market(market.conditionId)?.status === 'open') return market;
  }
};
const buy = async (trader: Trader, market: Market, outcome: 'YES' | 'NO', amount = 20): Promise<number> => {
  const { signer, signatureType } = trader;
  const request = await marketBuy({ signer, signatureType }, market, amount, { outcome });
  const { success, filledSize } = await trader.client.placeTrade({ ...request, source: `test:${outcome}` });
  expect(success).toBe(true);
  return filledSize;
};
const other = (outcome: string) => (outcome === 'YES' ? 'NO' : 'YES');
const cash = (trader: Trader): bigint => service.exchange.account(trader.funder).available;

describe('on request', () => {
  test('fifty concurrent calls pay once', async () => {
    const trader = next();
    const market = nextMarket();
    const shares = { YES: await buy(trader, market, 'YES'), NO: await buy(trader, market, 'NO') };
    await expect(trader.client.redeemPosition({ marketId: market.id })).rejects.toMatchObject({
      code: 'market_not_resolved',
      status: 400,
    });
    const payout = (await resolveMarket(service, clock, market.conditionId)) as 'YES' | 'NO';
    const before = cash(trader);
    const ids = [market.id, market.conditionId, market.slug, market.clobTokenIds[0] as string];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        trader.client.redeemPosition({ marketId: ids[i % ids.length] as string }),
      ),
    );
    const paid = answers.filter(({ status }) => status === 'redeemed');
    expect(paid.length).toBe(1);
    expect(paid[0]).toMatchObject({
      success: true,
      redeemedAmount: shares[payout],
      txHash: null,
      wallets: [{ walletAddress: trader.funder, yes: shares.YES, no: shares.NO }],
    });
    for (const answer of answers.filter(({ status }) => status !== 'redeemed'))
      expect(answer).toMatchObject({ status: 'nothing_to_redeem', redeemedAmount: 0, success: true });
    expect(cash(trader) - before).toBe(micro(shares[payout]));
  });

  test('a resolution closes losing positions: their loss counts today, and nothing is redeemable', async () => {
    const trader = next();
    const market = nextMarket();
    const shares = { YES: await buy(trader, market, 'YES'), NO: await buy(trader, market, 'NO') };
    const before = await service.needs.agents.settings(trader.agentId);
    const lost = other(await resolveMarket(service, clock, market.conditionId)) as 'YES' | 'NO';
    const closed = async (outcome: string) =>
      (await trader.client.getClosedPositions()).find(
        (position) => position.conditionId === market.conditionId && position.outcome === outcome,
      );
    expect(await closed(lost)).toMatchObject({
      size: 0,
      currentPrice: 0,
      percentPnl: -100,
      realizedPnl: -20,
      redeemable: false,
    });
    expect(await trader.client.getCurrentPositions()).toMatchObject([
      { outcome: other(lost), redeemable: true },
    ]);
    const after = await service.needs.agents.settings(trader.agentId);
    // Time may have passed midnight since the purchases: then their fees are another day's.
    expect([before.realizedToday - 20_000_000n, -20_000_000n]).toContain(after.realizedToday);
    expect((await trader.client.getMe()).winRate).toBe(0);
    const strategies = await trader.client.listTradesByStrategy();
    expect(strategies.find(({ source }) => source === `test:${lost}`)).toMatchObject({ realizedPnl: -20 });
    const { entries } = await trader.client.getLeaderboard({ limit: 100 });
    expect(entries.find(({ name }) => name === 'Test agent')).toBeDefined();
    await trader.client.updateSettings({ dailyLossLimit: 15 });
    await expect(buy(trader, nextMarket(), 'YES')).rejects.toMatchObject({
      code: 'daily_loss_limit_reached',
    });
    // Only held tokens count: the other outcome has no effect.
    for (const [who, side] of [
      [next(), 'YES'],
      [trader, lost],
    ] as const)
      await expect(who.client.redeemPosition({ marketId: market.id, side })).resolves.toMatchObject({
        status: 'nothing_to_redeem',
      });
    const answer = await trader.client.redeemPosition({ marketId: market.id });
    expect(answer).toMatchObject({ status: 'redeemed', redeemedAmount: shares[other(lost) as 'YES' | 'NO'] });
    expect((await closed(other(lost)))?.realizedPnl).toBeCloseTo(answer.redeemedAmount - 20, 6);
    // Redeeming also burns the losing tokens, and records nothing twice.
    expect((await closed(lost))?.realizedPnl).toBe(-20);
  });

  test('no safeguard denies it; the loss counts toward the daily loss limit', async () => {
    const trader = next();
    const market = nextMarket();
    const outcome = 'YES';
    await buy(trader, market, outcome);
    await buy(trader, market, other(outcome) as 'NO');
    await resolveMarket(service, clock, market.conditionId);
    const fees = (await trader.client.getPortfolio()).fees;
    await trader.client.updateSettings({ tradingPaused: true, maxTradesPerDay: 0, dailyLossLimit: 0.01 });
    const { redeemedAmount, status } = await trader.client.redeemPosition({ marketId: market.id });
    expect(status).toBe('redeemed');
    const result = redeemedAmount - 40;
    const { safeguards } = await trader.client.getMarketContext(nextMarket().id);
    // Time may have passed midnight since the purchases: then their fees are another day's.
    expect([Math.max(0, -result).toFixed(6), Math.max(0, -(result - fees)).toFixed(6)]).toContain(
      safeguards.dailyLoss.used.toFixed(6),
    );
  });

  test('the result belongs to the agent that asked for the redemption', async () => {
    const trader = next();
    const market = nextMarket();
    await buy(trader, market, 'YES');
    await buy(trader, market, 'NO');
    const helper = await newAgent(service, 'Helper');
    // Two agents of one owner, as after a claim; before the helper's first call, so that no cache has the old owner.
    const sql = openPool(service.databaseUrl, { max: 1 });
    await sql`update agents set user_id = (select user_id from agents where agent_id = ${trader.agentId})
      where agent_id = ${helper.agentId}`;
    await sql`insert into agent_wallets (agent_id, address, signer, is_own, granted, since)
      select ${helper.agentId}::uuid, address, signer, false, true, now() from agent_wallets
      where agent_id = ${trader.agentId}`;
    await sql.end();
    await resolveMarket(service, clock, market.conditionId);
    const before = await trader.client.listTradesByStrategy();
    // The helper has no wallet of its own and never traded this market: the owner has granted it the wallet.
    const answer = await helper.client.redeemPosition({ marketId: market.id, walletAddress: trader.funder });
    expect(answer.status).toBe('redeemed');
    expect(await trader.client.listTradesByStrategy()).toEqual(before);
    const [only] = await helper.client.listTradesByStrategy();
    expect(only).toMatchObject({ source: null, skillSlug: null, trades: 0, volume: 0, fees: 0 });
    expect(micro(only?.realizedPnl ?? 0)).toBe(micro(answer.redeemedAmount) - 20_000_000n);
  });

  test('an unknown market, and one without a position', async () => {
    const trader = next();
    await expect(trader.client.redeemPosition({ marketId: 'nothing-like-this' })).rejects.toMatchObject({
      code: 'market_not_found',
      status: 404,
    });
    expect(await trader.post('/markets/redeem', { marketId: '1', walletAddress: '0x12' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });
});

describe('automatic', () => {
  test('for agents that enabled it, per wallet, credited to the agent that traded', async () => {
    const [on, off] = [next(), next()];
    const market = nextMarket();
    await on.client.updateSettings({ autoRedeemEnabled: true });
    const shares = { YES: await buy(on, market, 'YES'), NO: await buy(on, market, 'NO') };
    for (const outcome of ['YES', 'NO'] as const) await buy(off, market, outcome);
    const before = cash(on);
    const payout = (await resolveMarket(service, clock, market.conditionId)) as 'YES' | 'NO';
    await service.runJob('redeem');
    expect(cash(on) - before).toBe(micro(shares[payout]));
    expect(await on.client.getCurrentPositions()).toEqual([]);
    const strategies = await on.client.listTradesByStrategy();
    expect(strategies.find(({ source }) => source === `test:${other(payout)}`)?.realizedPnl).toBe(-20);
    // An agent without the setting keeps the tokens until it is enabled.
    expect(await off.client.getCurrentPositions()).toMatchObject([{ redeemable: true }]);
    await off.client.updateSettings({ autoRedeemEnabled: true });
    await service.runJob('redeem');
    expect(await off.client.getCurrentPositions()).toEqual([]);
  });
});

test('at a high PAPER_SPEED the world resolves markets within seconds', async () => {
  const fast = await startTestService({ PAPER_SPEED: '2000' });
  const trader = await newTrader(fast);
  await trader.client.updateSettings({ autoRedeemEnabled: true });
  const listed = await trader.client.listMarkets({ q: '*', limit: 500 });
  const soon = listed
    .filter((market) => {
      const left = Date.parse(market.endDate) - Date.now();
      return left > 1_500 && left < 60_000 && Number(market.bestBid) > 0.1 && Number(market.bestAsk) < 0.9;
    })
    .sort((a, b) => Date.parse(a.endDate) - Date.parse(b.endDate));
  let bought: Market | undefined;
  for (const market of soon.filter(({ tickSize }) => tickSize === '0.01').slice(0, 5)) {
    const { signer, signatureType } = trader;
    const terms = { signer, signatureType, market, outcome: 'YES', side: 'BUY', amount: 20 } as const;
    const answer = await trader.client
      .placeTrade(await buildMarketOrder({ ...terms, worstPrice: 0.99 }))
      .catch(() => null);
    if (answer?.success === true) bought = market;
    if (bought !== undefined) break;
  }
  const conditionId = bought?.conditionId;
  expect(conditionId).toBeDefined();
  const closed = async () =>
    (await trader.client.getClosedPositions()).some((position) => position.conditionId === conditionId);
  await withTurns(fast, ['redeem'], expect.poll(closed, { timeout: 50_000, interval: 500 }).toBe(true));
});
