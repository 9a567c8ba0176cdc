/** Every way in and out of markets with ticks of 0.005 and 0.0025, on paper and at a live venue; and a tick that changes while something is held. */
import { randomUUID } from 'node:crypto';
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../cli-process.ts';
import { exitOrder, hold, passes } from '../exits.ts';
import {
  limitOrder,
  marketBuy,
  marketSell,
  newTrader,
  refusalOf,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { newLiveTrader, PROFILE, startLiveDesk, startVenue } from '../live-desk.ts';
import { connect, readyEnvironment } from '../mcp-client.ts';
import { movingClock } from '../world.ts';

let paper: TestService;
const clock = movingClock();
let agents: { readonly paper: Trader; readonly live: Trader };

beforeAll(async () => {
  paper = await startTestService({ PAPER_WORLD: 'off', PAPER_SEED: '27' }, { clock });
  const venue = await startVenue();
  const desk = await startLiveDesk(venue);
  agents = { paper: await newTrader(paper), live: await newLiveTrader(desk, venue) };
});

const marketOf = async ({ client }: Pick<Trader, 'client'>, tickSize: string): Promise<Market> => {
  const markets = await client.listMarkets({ q: '*', limit: 500 });
  return markets.find((one) => one.tickSize === tickSize && one.active)!;
};

/** The decimal text of so many ticks. */
const ticks = (count: number, tickSize: string) => String(Number((count * Number(tickSize)).toFixed(4)));

describe.each(['0.005', '0.0025'])('a tick of %s', (tickSize) => {
  test.each(['paper', 'live'] as const)('%s: orders are prepared, one by one and together', async (where) => {
    const trader = agents[where];
    const market = await marketOf(trader, tickSize);
    const cents = await marketOf(trader, '0.01');
    const profile = where === 'live' ? { timestamp: Date.now() } : {};
    const asked = ({ id }: Market, price: string) => ({
      ...{ marketId: id, outcome: 'YES', side: 'BUY', price: Number(price), size: 10 },
      ...{ clientOrderId: randomUUID(), ...profile },
    });
    const price = ticks(3, tickSize);
    const prepared = await trader.post('/markets/trade/prepare', asked(market, price));
    expect([prepared.status, prepared.body.code]).toEqual([200, undefined]);
    expect(prepared.body).toMatchObject({ tickSize, body: { tickSize, price: Number(price) } });
    const batch = await trader.post('/markets/batch-trade/prepare', {
      intents: [asked(cents, '0.01'), asked(market, price)],
    });
    expect(batch.body).toMatchObject({ succeeded: 2, failed: 0 });
    const off = await trader.post('/markets/trade/prepare', asked(market, '0.0101'));
    expect([off.status, off.body.code]).toEqual([400, 'price_off_tick_grid']);
    expect(off.body.detail).toContain(tickSize);
  });

  test.each(['paper', 'live'] as const)('%s: an agent enters, rests and leaves', async (where) => {
    const trader = agents[where];
    const market = await marketOf(trader, tickSize);
    const terms = where === 'live' ? ({ profile: PROFILE } as const) : {};
    const bought = await trader.client.placeTrade(
      await marketBuy(trader, market, 5, { ...terms, worstPrice: ticks(1 / Number(tickSize) - 1, tickSize) }),
    );
    expect(bought).toMatchObject({ success: true, status: 'matched' });
    const price = ticks(3, tickSize);
    const resting = { ...terms, side: 'BUY', price, size: 10 } as const;
    const order = await limitOrder(trader, market, resting);
    expect(order.tickSize).toBe(tickSize);
    const { orderId, status } = await trader.client.placeTrade(order);
    expect(status).toBe('live');
    const open = await trader.client.listOpenOrders({ marketConditionId: market.conditionId });
    expect(open).toMatchObject([{ orderId, price: Number(price) }]);
    const hinted = (hint: string) =>
      limitOrder(trader, market, resting).then((body) =>
        refusalOf(trader.client.placeTrade({ ...body, tickSize: hint, validateOnly: true })),
      );
    expect([await hinted(`${tickSize}0`), await hinted('0.01')]).toEqual(['nothing', 'tick_size_mismatch']);
    await trader.client.cancelOrder(orderId);
    const sold = await trader.client.placeTrade(
      await marketSell(trader, market, Math.floor(bought.filledSize), {
        ...terms,
        worstPrice: ticks(1, tickSize),
      }),
    );
    expect(sold).toMatchObject({ success: true, status: 'matched' });
  });

  test('the command line and a model enter and leave', async () => {
    const env = await readyEnvironment(paper.url);
    const { id } = await marketOf(agents.paper, tickSize);
    const bought = await cli(['buy', id, 'YES', '--amount', '5', '--yes', '--json'], env);
    expect(bought).toMatchObject({ code: 0, stderr: '' });
    const sold = await cli(['sell', id, 'YES', '--size', '1', '--yes', '--json'], env);
    expect(sold).toMatchObject({ code: 0, stderr: '' });
    const model = await connect(env, { transport: 'stdio', generation: '2026' });
    const terms = { market: id, outcome: 'YES' };
    const { costs } = await model.call('look_at_market', { market: id, amount: 2 });
    const { worstPrice } = costs.find(
      (row: { side: string; outcome: string }) => row.side === 'BUY' && row.outcome === 'YES',
    );
    expect(await model.call('place_order', { ...terms, side: 'BUY', worstPrice, amount: 2 })).toMatchObject({
      placed: true,
    });
    const exit = { ...terms, side: 'SELL', worstPrice: Number(tickSize), size: 1 };
    expect(await model.call('place_order', exit)).toMatchObject({ placed: true });
    await model.close();
  });
});

test('an exit that was left in ticks of a cent sells when ticks are finer', async () => {
  const trader = await newTrader(paper);
  const markets = await trader.client.listMarkets({ q: '*', limit: 500, order: 'createdAt' });
  // The 130th of the plan: its tick changes near an end, with this seed after a minute.
  const market = markets.toSorted((a, b) => Number(a.id) - Number(b.id))[129]!;
  expect(market.tickSize).toBe('0.01');
  await hold(trader, market, 20);
  const outcome = Number(market.bestBid) > 0.5 ? 'YES' : 'NO';
  const order = await exitOrder(trader, market, { outcome, worst: 0.9, type: 'FAK' });
  expect(order.tickSize).toBe('0.01');
  const at = new Date(clock.now() + 3_600_000).toISOString();
  const exit = await trader.client.leaveExit({ ...order, trigger: { kind: 'time', at } });
  const tickNow = () => paper.exchange.market(market.conditionId)?.tickSize;
  while (tickNow() === 100) {
    clock.advance(10_000);
    await paper.exchange.step();
  }
  expect(tickNow()).toBe(10);
  clock.moveTo(Date.parse(at));
  await passes(paper, clock, 1_000);
  expect(await trader.client.getExit(exit.exitId)).toMatchObject({ status: 'fired' });
  expect(await trader.client.getOrder(exit.orderId)).toMatchObject({ status: 'filled', filledSize: 10 });
});
