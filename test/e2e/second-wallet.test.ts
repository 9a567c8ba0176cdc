/** Every read covers all wallets within reach, also a second one, and `user` filters. */
import { createVenueCredentials, credentialRequest, type Market, Signer } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  marketBuy,
  newTrader,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { newQuoteTrader } from '../quote-trader.ts';

let service: TestService;
let trader: Trader;
let market: Market;
/** Registered later, and therefore the agent's current wallet. */
let second: string;

const get = async (path: string) => {
  const { status, body } = await trader.get(path);
  expect([path, status]).toEqual([path, 200]);
  return body;
};

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [createFakeQuoteVenue()] });
  trader = await newTrader(service, 2);
  market = await aMarket(trader.client);
  await trader.client.placeTrade(await marketBuy(trader, market, 40, { signatureType: 2 }));
  // The house's spread alone causes a bigger loss.
  await trader.client.updateSettings({ riskControlEnabled: true, stopLossPercent: 1, maxPositionValue: 45 });
  const other = Signer.generate();
  const keys = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: other });
  ({ walletAddress: second } = await trader.client.registerCredentials(credentialRequest(other, keys, 0)));
  expect((await trader.client.getMe()).walletAddress).toBe(second.toLowerCase());
});

test('counts and positions cover it', async () => {
  expect(await get('/agents/me')).toMatchObject({ currentPositionCount: 1 });
  expect(await get('/markets/current-positions')).toMatchObject([{ walletAddress: trader.funder }]);
  expect((await get('/markets/positions/expiring?hours=8000')).total).toBe(1);
  expect(await get(`/markets/current-positions?user=${second}`)).toEqual([]);
  expect(await get(`/markets/current-positions?user=${trader.funder}`)).toHaveLength(1);
});

test('the portfolio sums both wallets', async () => {
  const [all, one, two] = [
    await get('/markets/portfolio'),
    await get(`/markets/portfolio?user=${trader.funder}`),
    await get(`/markets/portfolio?user=${second}`),
  ];
  expect([all.positionsCount, one.positionsCount, two.positionsCount]).toEqual([1, 1, 0]);
  expect(all.balance).toBeCloseTo(one.balance + two.balance, 6);
});

test('the briefing counts it, and raises the stop-loss alert', async () => {
  const briefing = await get('/markets/briefing');
  expect(briefing.venues.polymarket).toMatchObject({ currentPositionsCount: 1 });
  expect(briefing.venues.polymarket.balance).toBeCloseTo((await get('/markets/portfolio')).balance, 6);
  const codes = briefing.riskAlerts.map(({ code }: { code: string }) => code);
  expect(codes).toContain('stop_loss_reached');
  const narrowed = await get(`/markets/briefing?user=${second}`);
  expect(narrowed.venues.polymarket).toMatchObject({ currentPositionsCount: 0, walletAddress: second });
});

test('the context shows the position, and the figures that would deny a trade', async () => {
  const context = await get(`/markets/context/${market.id}?side=BUY&size=20`);
  expect(context.positions).toMatchObject([{ walletAddress: trader.funder }]);
  const { used, limit, left } = context.safeguards.positionValue;
  expect([Math.round(used), limit, Math.round(left)]).toEqual([40, 45, 5]);
  const order = await marketBuy(trader, market, 20, { signatureType: 2 });
  await expect(trader.client.placeTrade(order)).rejects.toMatchObject({
    code: 'max_position_value_exceeded',
    context: { used, limit },
  });
  expect(context.warnings).toContainEqual(expect.objectContaining({ code: 'max_position_value_exceeded' }));
});

test('the same for Solana wallets', async () => {
  const agent = await newQuoteTrader(service);
  await agent.trade();
  const wallet = agent.wallet.address;
  await agent.client.updateSolAddress('4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T');
  const portfolio = await agent.get(`/markets/portfolio?user=${wallet}`);
  expect(portfolio.status).toBe(200);
  const briefing = await agent.get('/markets/briefing');
  expect(briefing.body.venues.kalshi.balance).toBeGreaterThanOrEqual(portfolio.body.balance);
});
