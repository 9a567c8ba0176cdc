/** A desk on live markets is killed: what it took of the live book, and who waits where, is still so. */
import { expect, test } from 'vitest';
import { aMarket, call, limitOrder, newTrader } from '../harness.ts';
import { startVenue } from '../live-desk.ts';
import { liveEnvironment } from '../live-environment.ts';
import { dataFolder, kill, startProcess, waitFor } from '../service-process.ts';

test('killed and started again, it goes on with the live market', async () => {
  const venue = await startVenue();
  const {
    VENUE_A_BACKEND: _,
    VENUE_A_ORDER_PROFILE: __,
    VENUE_A_DOUBT_S: ___,
    ...urls
  } = liveEnvironment(venue.url);
  const env = { ...urls, PAPER_DOORS: 'clob', PAPER_MARKETS: 'live', RATE_LIMITS: 'off' };
  const dataDir = dataFolder();
  const first = await startProcess({ dataDir, env });
  const trader = await newTrader(first);
  const market = await aMarket(trader.client);
  const there = venue.exchange.book(market.conditionId, 'YES')!;
  const [ask, offered] = there.asks[0]!;
  const [bid, ahead] = there.bids[0]!;
  const order = (price: number, type: 'GTC' | 'FAK') =>
    limitOrder(trader, market, { side: 'BUY', price: price / 10_000, size: 20, type });
  const taken = await trader.client.placeTrade(await order(ask, 'FAK'));
  const waiting = await trader.client.placeTrade(await order(bid, 'GTC'));
  expect([taken.success, waiting.success]).toEqual([true, true]);
  kill(first.child.pid as number, 'SIGKILL');
  await waitFor(() => first.child.exitCode !== null || first.child.signalCode !== null, 10_000);

  const second = await startProcess({ dataDir, env, port: first.port });
  const read = async (path: string) => (await call(second, 'GET', path, { key: trader.apiKey })).body;
  const book = await read(`/markets/orderbook/${market.clobTokenIds[0]}`);
  expect(Number(book.asks[0].size)).toBeCloseTo(Number(offered) / 1e6 - 20, 5);
  expect(Number(book.bids[0].size)).toBeCloseTo(Number(ahead) / 1e6 + 20, 5);
  expect(await read(`/markets/orders/${waiting.orderId}`)).toMatchObject({ status: 'live' });
  const [position] = await read('/markets/current-positions');
  expect(Number(position.size)).toBeCloseTo(20, 5);

  // A live seller takes the whole level: now it is the paper order's turn.
  const seller = `0x${'bb'.repeat(20)}`;
  const { conditionId } = market;
  await venue.exchange.execute({ kind: 'deposit', account: seller, amount: 10_000_000_000n });
  await venue.exchange.execute({ kind: 'split', account: seller, conditionId, amount: 2n * ahead });
  await venue.exchange.execute({
    kind: 'place',
    order: {
      ...{ orderId: `0x${'cd'.repeat(32)}`, account: seller, conditionId, outcome: 'YES', side: 'SELL' },
      ...{ limit: 100, size: 2n * ahead, timeInForce: 'FAK', postOnly: false },
    } as const,
  });
  await expect
    .poll(() => read(`/markets/orders/${waiting.orderId}`), { timeout: 30_000 })
    .toMatchObject({ status: 'filled' });
});
