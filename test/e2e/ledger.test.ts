/** The desk's positions, balances and P&L against the exchange's own ledger, to the micro-unit, after a random session. */
import { asAddress } from '@bellwether/protocol';
import { buildLimitOrder, buildMarketOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import {
  archiveMarket,
  endingMarkets,
  type ManualClock,
  manualClock,
  micro,
  resolveMarket,
} from '../world.ts';

const SEED = 20_261_121;
const ACTIONS = 260;
const START = 10_000_000_000n;

/** mulberry32 */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

let service: TestService;
let clock: ManualClock;
let traders: Trader[];
let markets: Market[];
const done = { buys: 0, sells: 0, rests: 0, cancels: 0, splits: 0, merges: 0, makerFills: 0 };

beforeAll(async () => {
  clock = manualClock();
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  traders = [];
  for (const type of [0, 1, 2, 3] as const) traders.push(await newTrader(service, type));
  markets = (await endingMarkets(traders[0] as Trader)).slice(0, 4);
});

const sides = ['YES', 'NO'] as const;
type Side = (typeof sides)[number];

function held(trader: Trader, market: Market, outcome: Side): number {
  const tokens = service.exchange.account(trader.funder).tokens.get(market.conditionId);
  return Number((outcome === 'YES' ? tokens?.yes : tokens?.no) ?? 0n) / 1e6;
}

async function act(random: () => number): Promise<void> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const trader = pick(traders);
  const market = pick(markets);
  const outcome = pick(sides);
  const { signer, signatureType, client, funder } = trader;
  const common = { signer, signatureType, market, outcome };
  const roll = random();
  const live = service.exchange.market(market.conditionId);
  const bid = outcome === 'YES' ? (live?.bestBid ?? 3_000) : 10_000 - (live?.bestAsk ?? 7_000);
  if (roll < 0.35) {
    const amount = 2 + Math.floor(random() * 3_000) / 100;
    const request = await buildMarketOrder({ ...common, side: 'BUY', amount, worstPrice: 0.99 });
    if ((await client.placeTrade(request)).success) done.buys += 1;
  } else if (roll < 0.55) {
    const shares = Math.floor(held(trader, market, outcome) * random() * 100) / 100;
    if (shares < 1) return;
    const request = await buildMarketOrder({ ...common, side: 'SELL', shares, worstPrice: 0.01 });
    if ((await client.placeTrade(request)).success) done.sells += 1;
  } else if (roll < 0.72) {
    // At or above the house's best bid: the next seller matches it.
    const price = (Math.max(100, Math.floor(bid / 100) * 100) / 10_000).toFixed(2);
    const size = 5 + Math.floor(random() * 2_000) / 100;
    const request = await buildLimitOrder({ ...common, side: 'BUY', price, size });
    if ((await client.placeTrade(request)).success) done.rests += 1;
  } else if (roll < 0.82) {
    const size = Math.floor(held(trader, market, outcome) * 50) / 100;
    if (size < 5) return;
    const price = Math.min(0.99, Math.floor(bid / 100) / 100 + 0.02).toFixed(2);
    const request = await buildLimitOrder({ ...common, side: 'SELL', price, size });
    if ((await client.placeTrade(request)).success) done.rests += 1;
  } else if (roll < 0.9) {
    const [order] = await client.listOpenOrders({ limit: 1 });
    if (order === undefined) return;
    done.cancels += (await client.cancelOrder(order.orderId)).canceled.length;
  } else if (roll < 0.94) {
    const { conditionId } = market;
    await service.exchange.execute({ kind: 'split', account: funder, conditionId, amount: 7_000_001n });
    done.splits += 1;
  } else if (roll < 0.97) {
    const amount = micro(Math.min(held(trader, market, 'YES'), held(trader, market, 'NO')) / 2);
    if (amount === 0n) return;
    await service.exchange.execute({
      kind: 'merge',
      account: funder,
      conditionId: market.conditionId,
      amount,
    });
    done.merges += 1;
  } else {
    clock.advance(1_000);
    await service.exchange.step();
  }
}

const EVERYWHERE = { except: [] };

async function compare(trader: Trader): Promise<void> {
  const account = service.exchange.account(trader.funder);
  const wallets = [asAddress(trader.funder)];
  const [rows, results] = await Promise.all([
    service.needs.positions.held(wallets, EVERYWHERE),
    service.needs.positions.results(wallets, EVERYWHERE),
  ]);
  const ledger = new Map<string, bigint>();
  for (const [conditionId, { yes, no, yesHeld, noHeld }] of account.tokens) {
    // Tokens that a resolution made worthless are not a position, although they are not burned yet.
    const payout = (await service.needs.venues.default.markets.find(conditionId))?.payout;
    if (yes + yesHeld > 0n && payout !== 'NO') ledger.set(`${conditionId} YES`, yes + yesHeld);
    if (no + noHeld > 0n && payout !== 'YES') ledger.set(`${conditionId} NO`, no + noHeld);
  }
  const desk = rows.map(({ conditionId, outcome, size }) => [`${conditionId} ${outcome}`, size] as const);
  expect(new Map(desk)).toEqual(ledger);

  const cash = account.available + account.held;
  const cost = rows.reduce((sum, row) => sum + row.cost, 0n);
  expect(START - cost + results.realized - results.fees).toBe(cash);

  // The same over HTTP, where every figure is a JSON number of whole micro-units.
  const [portfolio, positions, orders] = await Promise.all([
    trader.client.getPortfolio(),
    trader.client.getCurrentPositions(),
    trader.client.listOpenOrders({ limit: 100 }),
  ]);
  expect(micro(portfolio.balance)).toBe(cash);
  const value = positions.reduce((sum, position) => sum + micro(position.currentValue), 0n);
  expect(micro(portfolio.pnlTotal)).toBe(cash + value - START);
  expect(micro(portfolio.realizedPnl) - micro(portfolio.fees)).toBe(results.realized - results.fees);
  for (const position of positions) {
    expect(micro(position.unrealizedPnl)).toBe(micro(position.currentValue) - micro(position.initialValue));
    expect(micro(position.size)).toBe(ledger.get(`${position.conditionId} ${position.outcome}`));
  }
  expect(new Set(orders.map(({ orderId }) => orderId))).toEqual(
    new Set(service.exchange.openOrders(trader.funder).map(({ orderId }) => orderId)),
  );
}

describe('a random session', () => {
  test('positions, balances and the sum of P&L equal the exchange’s ledger', async () => {
    const random = chance(SEED);
    for (let i = 0; i < ACTIONS; i += 1) await act(random);
    for (const trader of traders) {
      for (const order of await trader.client.listOrders({ limit: 100 })) {
        const { fills } = await trader.client.getOrder(order.orderId);
        done.makerFills += fills.filter(({ liquidity }) => liquidity === 'maker').length;
      }
    }
    for (const [kind, count] of Object.entries(done))
      expect({ kind, some: count > 0 }).toEqual({ kind, some: true });
    for (const trader of traders) await compare(trader);
  });

  test('and still after resolutions and redemptions', async () => {
    const [first, second] = markets as [Market, Market];
    for (const market of [first, second]) await resolveMarket(service, clock, market.conditionId);
    for (const trader of traders) await compare(trader);
    const [zero, one] = traders as [Trader, Trader];
    let resolvedOrders = 0;
    for (const trader of [zero, one]) {
      const before = service.exchange.account(trader.funder).available;
      const answer = await trader.client.redeemPosition({ marketId: first.id });
      const paid = service.exchange.account(trader.funder).available - before;
      expect(micro(answer.redeemedAmount)).toBe(paid);
      const rest = (await trader.client.getCurrentPositions()).filter(
        ({ conditionId }) => conditionId === first.conditionId,
      );
      expect(rest).toEqual([]);
    }
    for (const trader of traders) await compare(trader);
    for (const { client, funder } of traders) {
      const ended = await client.listOrders({ marketConditionId: first.conditionId, limit: 100 });
      expect(ended.filter(({ remainingSize }) => remainingSize > 0)).toEqual([]);
      for (const order of await client.listOrders({ orderStatus: 4, limit: 100 })) {
        resolvedOrders += 1;
        expect([first.conditionId, second.conditionId]).toContain(order.marketConditionId);
        expect(order.status).toBe('market_resolved');
        const { journal } = await client.getOrder(order.orderId);
        expect(journal.at(-1)).toMatchObject({ event: 'market_resolved', status: 'market_resolved' });
      }
      const { held } = service.exchange.account(funder);
      const open = service.exchange.openOrders(funder);
      if (open.length === 0) expect(held).toBe(0n);
    }
    expect(resolvedOrders).toBeGreaterThan(0);
  });

  test('a market that the exchange has forgotten stays in closed positions and history', async () => {
    const [first] = markets as [Market];
    for (const trader of traders) await trader.client.redeemPosition({ marketId: first.id });
    const closedOfFirst = async () =>
      (await traders[0]?.client.getClosedPositions({ limit: 100 }))?.filter(
        ({ conditionId }) => conditionId === first.conditionId,
      );
    const before = await closedOfFirst();
    await archiveMarket(service, clock, first.conditionId);
    for (const trader of traders) {
      const closed = (await trader.client.getClosedPositions({ limit: 100 })).filter(
        ({ conditionId }) => conditionId === first.conditionId,
      );
      expect(closed.length).toBeGreaterThan(0);
      for (const position of closed) {
        expect(position).toMatchObject({ title: first.question, marketId: first.id, size: 0 });
        expect(Date.parse(position.endDate)).toBe(Date.parse(first.endDate));
        expect([0, 1]).toContain(position.currentPrice);
      }
      await compare(trader);
    }
    expect(await closedOfFirst()).toEqual(before);
    expect(await traders[0]?.client.redeemPosition({ marketId: first.id })).toMatchObject({
      status: 'nothing_to_redeem',
      redeemedAmount: 0,
      conditionId: first.conditionId,
    });
  });

  test('the last redemption and the archive may share one batch of the journal', async () => {
    const [, second] = markets as [Market, Market];
    const [last, ...others] = traders as [Trader, ...Trader[]];
    for (const trader of others) await trader.client.redeemPosition({ marketId: second.id });
    const { conditionId } = second;
    const tokens = service.exchange.account(last.funder).tokens.get(conditionId);
    expect((tokens?.yes ?? 0n) + (tokens?.no ?? 0n)).toBeGreaterThan(0n);
    // Both are applied in one turn of the event loop, so one transaction contains both.
    for (let i = 0; i < 40 && service.exchange.market(conditionId) !== undefined; i += 1) {
      clock.advance(25 * 3_600_000);
      await Promise.all([
        service.exchange.execute({ kind: 'redeem', account: last.funder, conditionId }),
        service.exchange.step(),
      ]);
    }
    expect(service.exchange.market(conditionId)).toBeUndefined();
    expect(service.exchange.status).toBe('open');
    await compare(last);
    const closed = await last.client.getClosedPositions({ limit: 100 });
    expect(closed.some((position) => position.conditionId === conditionId)).toBe(true);
  });

  test('each wallet has its own answer, visible only to its owner', async () => {
    const [zero, one] = traders as [Trader, Trader];
    const [, second] = markets as [Market, Market];
    const own = await zero.client.getWalletPositions(zero.funder);
    const listed = await zero.client.getCurrentPositions();
    expect(own).toMatchObject({
      walletAddress: zero.funder,
      positionCount: listed.length,
      positions: listed,
    });
    for (const read of [
      () => zero.client.getWalletPositions(one.funder),
      () => zero.client.getClosedPositions({ user: one.funder }),
      () => zero.client.getPortfolio({ user: one.funder }),
      () => zero.client.getExpiringPositions({ user: one.funder }),
      () => zero.client.redeemPosition({ marketId: second.id, walletAddress: one.funder }),
    ])
      await expect(read()).rejects.toMatchObject({ code: 'wallet_not_found' });
  });

  test('expiring positions are filtered by hours', async () => {
    const [zero] = traders as [Trader];
    const positions = await zero.client.getCurrentPositions();
    const far = await zero.client.getExpiringPositions({ hours: 8760 });
    expect(far.total).toBe(positions.filter(({ redeemable }) => !redeemable).length);
    const ends = far.positions.map(({ resolutionTimestamp }) => Date.parse(resolutionTimestamp));
    expect(ends).toEqual([...ends].sort((a, b) => a - b));
    expect(await zero.client.getExpiringPositions({ hours: 0.000001 })).toMatchObject({ hours: 0.000001 });
  });
});
