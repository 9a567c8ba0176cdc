/** `capsBindExits`: the owner alone, by passkey, lets sales of what is held near the believed bid pass the caps that may stop them. */
import { buildLimitOrder, buildMarketOrder, type Market } from '@bellwether/sdk';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { claim, ownerOf } from '../approving.ts';
import { expectBooksToAgree } from '../books.ts';
import {
  limitOrder,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import type { Visitor } from '../passkey.ts';

let service: TestService;
let market: Market;
let owner: Visitor;
let trader: Trader;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  [market] = (await openMarkets((await newTrader(service)).client)) as [Market];
  owner = await ownerOf(service);
});

/** Holds YES for 60 collateral; then no SELL of more than one passes maxTradeAmount. */
beforeEach(async () => {
  trader = await newTrader(service);
  await claim(owner, trader);
  const { signer } = trader;
  const buy = { signer, market, outcome: 'YES', side: 'BUY', amount: 60, worstPrice: 0.99 } as const;
  expect(await trader.client.placeTrade(await buildMarketOrder(buy))).toMatchObject({ success: true });
  await trader.client.updateSettings({ maxTradeAmount: 1 });
});

const path = (of: Trader = trader) => `/owner/agents/${of.agentId}/exit-rule`;
interface Rule {
  readonly capsBindExits: boolean;
  readonly exitDistancePercent: number;
}
const PASS: Rule = { capsBindExits: false, exitDistancePercent: 10 };

async function answerTo(rule: Rule, by = owner, of = trader) {
  const { body } = await by.send('POST', `${path(of)}/passkey-options`, rule);
  return by.signature(body.challenge);
}
const setRule = async (rule: Rule, answered = rule, by = owner) =>
  by.send('POST', path(), { ...rule, ...(await answerTo(answered, by)) });

const bid = () => Number(service.exchange.book(market.conditionId, 'YES')?.bids[0]?.[0] ?? 0) / 10_000;
const toTick = (price: number) => Math.max(0.01, Math.round(price * 100) / 100);
async function sell(size: number, price: number) {
  const { signer } = trader;
  const body = await limitOrder({ signer }, market, { side: 'SELL', size, price: price.toFixed(2) });
  return (await trader.post('/markets/trade', body)).body;
}
const held = () => Number(service.exchange.freeTokens(trader.funder, market.conditionId, 'YES')) / 1e6;

test('by default caps bind exits, and the refusal says who can change that', async () => {
  expect(await trader.client.getSettings()).toMatchObject({ capsBindExits: true, exitDistancePercent: 10 });
  expect(await sell(20, bid())).toMatchObject({
    code: 'max_trade_amount_exceeded',
    fix: expect.stringContaining('capsBindExits'),
  });
});

describe('once the owner lets them pass', () => {
  beforeEach(async () => {
    expect(await setRule(PASS)).toMatchObject({ status: 200, body: { settings: PASS } });
  });

  test('a sale near the bid passes amount and number; a purchase passes neither', async () => {
    await trader.client.updateSettings({ maxTradesPerDay: 1 });
    expect(await sell(20, toTick(bid() * 0.95))).toMatchObject({ success: true });
    const { signer } = trader;
    const buy = { signer, market, outcome: 'YES', side: 'BUY', amount: 5, worstPrice: 0.99 } as const;
    await expect(trader.client.placeTrade(await buildMarketOrder(buy))).rejects.toMatchObject({
      code: 'max_trade_amount_exceeded',
    });
    const { safeguards } = await trader.client.getMarketContext(market.id);
    expect(safeguards).toMatchObject(PASS);
    await expectBooksToAgree(service, [trader]);
  });

  test('a sale far below the bid is refused, and the refusal says at which price it passes', async () => {
    expect(await sell(20, toTick(bid() * 0.8))).toMatchObject({
      code: 'max_trade_amount_exceeded',
      fix: expect.stringContaining('90 % of the best bid'),
    });
    expect(await setRule({ ...PASS, exitDistancePercent: 30 })).toMatchObject({ status: 200 });
    expect(await sell(20, toTick(bid() * 0.8))).toMatchObject({ success: true });
  });

  test('what is not held, or is promised by open SELLs, is not sold', async () => {
    const all = Math.floor(held());
    expect(await sell(all, 0.99)).toMatchObject({ success: true });
    expect((await sell(all, bid())).code).toBe('insufficient_balance');
  });

  test('the pause and approvalAbove hold', async () => {
    await trader.client.updateSettings({ approvalAbove: 2 });
    expect((await sell(20, bid())).code).toBe('approval_required');
    await trader.client.updateSettings({ approvalAbove: null, tradingPaused: true });
    expect((await sell(20, bid())).code).toBe('trading_paused');
  });

  test('preparing and checking say the same, and reserve nothing', async () => {
    const terms = { marketId: market.id, outcome: 'YES', side: 'SELL', size: 20 } as const;
    const checkOf = async (price: number) => {
      const intent = { clientOrderId: `at ${price}`, ...terms, price };
      const { checks } = await trader.client.prepareTrade(intent);
      return checks.find(({ code }) => code === 'max_trade_amount_exceeded');
    };
    expect(await checkOf(bid())).toMatchObject({ passed: true, applies: false });
    expect(await checkOf(toTick(bid() * 0.7))).toMatchObject({ passed: false, applies: true });
    const checked = async (price: number) => {
      const order = { signer: trader.signer, market, outcome: 'YES', side: 'SELL', size: 20 } as const;
      const body = { ...(await buildLimitOrder({ ...order, price: price.toFixed(2) })), validateOnly: true };
      return (await trader.post('/markets/trade', body)).status;
    };
    expect([await checked(bid()), await checked(toTick(bid() * 0.7))]).toEqual([200, 403]);
    expect((await trader.client.getMe()).tradesToday).toBe(1);
  });

  test('a crossed book has no bid that is believed: nothing is near it, and the context says so', async () => {
    const { markets } = service.needs.venues.default;
    const real = markets.book.bind(markets);
    // A stale ask, far below the bid that the sale would still be near to.
    const stale = [[1_000, 1_000_000n] as const];
    const seen = vi.spyOn(markets, 'book').mockImplementation(async (...asked) => {
      const book = await real(...asked);
      return book === null ? null : { ...book, asks: stale };
    });
    const terms = { marketId: market.id, outcome: 'YES', side: 'SELL', size: 20, price: bid() } as const;
    const { checks } = await trader.client.prepareTrade({ clientOrderId: 'in a crossed book', ...terms });
    const { warnings } = await trader.client.getMarketContext(market.id);
    seen.mockRestore();
    expect(checks.find(({ code }) => code === 'max_trade_amount_exceeded')).toMatchObject({ passed: false });
    expect(warnings.map(({ code }) => code)).toContain('crossed_book');
  });

  test('switched on again, caps bind', async () => {
    expect(await setRule({ ...PASS, capsBindExits: true })).toMatchObject({ status: 200 });
    expect((await sell(20, bid())).code).toBe('max_trade_amount_exceeded');
  });
});

describe('nobody else changes it', () => {
  test('not the agent: it is no setting of its key', async () => {
    await expect(trader.client.updateSettings(PASS as never)).rejects.toMatchObject({ status: 400 });
    expect((await trader.client.getSettings()).capsBindExits).toBe(true);
  });

  test('not the session alone, nor a passkey’s answer for other values or another agent', async () => {
    expect((await owner.send('POST', path(), PASS)).status).toBe(400);
    expect((await setRule(PASS, { ...PASS, exitDistancePercent: 1 })).body.code).toBe(
      'passkey_challenge_expired',
    );
    const other = await newTrader(service);
    await claim(owner, other);
    const answer = await answerTo(PASS, owner, other);
    expect((await owner.send('POST', path(), { ...PASS, ...answer })).body.code).toBe(
      'passkey_challenge_expired',
    );
    expect((await trader.client.getSettings()).capsBindExits).toBe(true);
  });

  test('not another owner', async () => {
    const bob = await ownerOf(service);
    expect((await bob.send('POST', `${path()}/passkey-options`, PASS)).status).toBe(404);
    const answer = await answerTo(PASS);
    expect((await bob.send('POST', path(), { ...PASS, ...answer })).status).toBe(404);
  });

  test.each([0, 51, 10.5, '10'])('a distance of %j is refused', async (exitDistancePercent) => {
    const rule = { capsBindExits: false, exitDistancePercent };
    expect((await owner.send('POST', `${path()}/passkey-options`, rule)).status).toBe(400);
  });
});
