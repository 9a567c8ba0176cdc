/** Paper orders in a live queue, and live outcomes: the live side is another exchange behind its doors, over TCP. */
import { MICRO } from '@bellwether/contract/decimals';
import { migrateExchange, type NewOrder, openExchange } from '@bellwether/exchange';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { createPooledSend } from '../../packages/server/src/platform/outbound/http.ts';
import {
  createLivePaperMarkets,
  startLiveMirror,
} from '../../packages/server/src/venues/paper/live-mirror.ts';
import { liveFeed } from '../../packages/server/src/venues/polymarket/live-on-paper.ts';
import { createPublicMarkets } from '../../packages/server/src/venues/polymarket/public-markets.ts';
import type { TestService } from '../harness.ts';
import { startVenue } from '../live-desk.ts';
import { createTestDatabase } from '../postgres.ts';
import { afterFile } from '../setup/clean-up.ts';

const ANN = '0x00000000000000000000000000000000000000aa';
const SELLER = '0x00000000000000000000000000000000000000bb';
const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 20 });

let venue: TestService;
let offsetMs = 0;
let paper: Awaited<ReturnType<typeof openPaper>>;
let orders = 0;

async function openPaper(url: string) {
  const sql = openPool(await createTestDatabase());
  await migrateExchange(sql);
  const exchange = await openExchange({ sql, seed: 'live', markets: 'live', autoStep: false });
  const pool = createPooledSend();
  const log = { warn: () => {}, info: () => {} };
  const open = createPublicMarkets({
    name: 'the venue',
    urls: {
      clob: `${url}/paper/clob`,
      gamma: `${url}/paper/gamma`,
      data: `${url}/paper/data`,
      site: url,
      relayer: url,
      sockets: `${url.replace(/^http/, 'ws')}/paper/ws`,
    },
    send: pool.send,
    clock: { now: Date.now },
    log,
    times: { marketLifeMs: 100, askAgainMs: 100 },
  });
  const feed = liveFeed(open.markets, open.books);
  const mirror = await startLiveMirror({ exchange, feed, log, times: { flushMs: 20, tendMs: 200 } });
  afterFile('services', async () => {
    await mirror.stop();
    await open.books.close();
    pool.close();
    await exchange.close();
    await sql.end({ timeout: 1 });
    return true;
  });
  await exchange.execute({ kind: 'deposit', account: ANN, amount: 100_000n * MICRO });
  return {
    exchange,
    mirror,
    open,
    markets: createLivePaperMarkets({ exchange, live: open.markets, mirror }),
  };
}

beforeAll(async () => {
  venue = await startVenue({}, { clock: { now: () => Date.now() + offsetMs } });
  await venue.exchange.execute({ kind: 'deposit', account: SELLER, amount: 1_000_000n * MICRO });
  paper = await openPaper(venue.url);
});

/** Open markets with a book well inside, that end late; each is used once. */
const fresh = (() => {
  let nth = 0;
  return () => {
    const found = [...venue.exchange.markets()].filter(
      ({ status, tickSize, bestBid = 0, bestAsk = 10_000, endDate }) =>
        status === 'open' &&
        tickSize === 100 &&
        bestBid >= 3_000 &&
        bestAsk <= 7_000 &&
        endDate > Date.now() + 864e5,
    );
    return found[nth++]!;
  };
})();
const orderFor = (conditionId: string, changes: Partial<NewOrder>): NewOrder => {
  orders += 1;
  return {
    orderId: `0x${orders.toString(16).padStart(64, '0')}`,
    account: ANN,
    conditionId,
    outcome: 'YES',
    side: 'BUY',
    limit: 5_000,
    size: 10n * MICRO,
    timeInForce: 'GTC',
    postOnly: false,
    ...changes,
  };
};
const place = async (order: NewOrder) => {
  await paper.mirror.ready(order.conditionId);
  return paper.exchange.execute({ kind: 'place', order });
};
/** Somebody at the venue sells at once. */
async function sellThere(conditionId: string, limit: number, size: bigint): Promise<void> {
  await venue.exchange.execute({ kind: 'split', account: SELLER, conditionId, amount: size });
  const order = { side: 'SELL', account: SELLER, limit, size, timeInForce: 'FAK' } as const;
  await venue.exchange.execute({ kind: 'place', order: orderFor(conditionId, order) });
}

describe('a resting paper order', () => {
  test('waits behind what the live level has, and is then filled by live trades at its own price', async () => {
    const { conditionId } = fresh();
    const [price, ahead] = venue.exchange.book(conditionId, 'YES')!.bids[0]!;
    const order = orderFor(conditionId, { limit: price });
    await place(order);
    await until(() =>
      expect(paper.open.books.known(venue.exchange.market(conditionId)!.tokenIds[0])).not.toBeNull(),
    );
    // A third of the queue goes; more would have the venue's maker quote anew.
    await sellThere(conditionId, price, ahead / 3n);
    await until(() =>
      expect(paper.exchange.book(conditionId, 'YES')?.bids[0]?.[1]).toBe(ahead - ahead / 3n + order.size),
    );
    expect(paper.exchange.openOrder(order.orderId)?.filled).toBe(0n);
    await sellThere(conditionId, 100, ahead);
    await until(() => expect(paper.exchange.openOrder(order.orderId)).toBeUndefined());
    const record = await paper.exchange.orderRecord(order.orderId);
    expect(record?.events).toContainEqual(
      expect.objectContaining({ kind: 'fill', liquidity: 'maker', price, fee: 0n }),
    );
  });

  test('keeps its place while the socket is away', async () => {
    const { conditionId, tokenIds } = fresh();
    const [price, ahead] = venue.exchange.book(conditionId, 'YES')!.bids[0]!;
    const order = orderFor(conditionId, { limit: price });
    await place(order);
    await until(() => expect(paper.open.books.known(tokenIds[0])).not.toBeNull());
    const before = paper.exchange.book(conditionId, 'YES')!.bids[0];
    expect(before).toEqual([price, ahead + order.size]);
    await paper.exchange.mirror([{ kind: 'pause', conditionId }]);
    const refused = await paper.exchange.execute({
      kind: 'place',
      order: orderFor(conditionId, { limit: price }),
    });
    expect(refused[0]).toMatchObject({ kind: 'order_rejected', reason: 'market_closed' });
    await paper.exchange.mirror([
      { kind: 'levels', conditionId, levels: [['bid', price, ahead]], isWhole: true },
    ]);
    expect(paper.exchange.book(conditionId, 'YES')!.bids[0]).toEqual(before);
  });
});

test('a live outcome of parts pays the parts, at the doors too', async () => {
  const { conditionId } = fresh();
  const limit = venue.exchange.book(conditionId, 'YES')!.asks[0]![0];
  await place(orderFor(conditionId, { limit, size: 20n * MICRO, timeInForce: 'FAK' }));
  await paper.exchange.mirror([{ kind: 'resolve', conditionId, payout: '0.24' }]);
  const before = paper.exchange.available(ANN);
  await paper.exchange.execute({ kind: 'redeem', account: ANN, conditionId });
  expect(paper.exchange.available(ANN) - before).toBe(4_800_000n);
  expect(await paper.markets.find(conditionId)).toMatchObject({ status: 'resolved', payout: '0.24' });
});

test('a live outcome pays the paper position, and the market is resolved here only then', async () => {
  const soon = [...venue.exchange.markets()]
    .filter(({ status, bestAsk }) => status === 'open' && bestAsk !== undefined)
    .sort((a, b) => a.endDate - b.endDate)[0]!;
  const { conditionId } = soon;
  const limit = venue.exchange.book(conditionId, 'YES')!.asks[0]![0];
  const bought = await place(orderFor(conditionId, { limit, size: 20n * MICRO, timeInForce: 'FAK' }));
  expect(bought).toContainEqual(expect.objectContaining({ kind: 'fill', liquidity: 'taker' }));
  const resting = orderFor(conditionId, { limit: venue.exchange.book(conditionId, 'YES')!.bids[0]![0] });
  await place(resting);
  offsetMs = soon.endDate - Date.now() + 1_000;
  await venue.exchange.step();
  offsetMs += 120_000;
  await venue.exchange.step();
  await until(async () => {
    await venue.exchange.step();
    expect(venue.exchange.market(conditionId)?.status).toBe('resolved');
  });
  await until(() => expect(paper.exchange.market(conditionId)?.status).toBe('resolved'));
  const { payout } = venue.exchange.market(conditionId)!;
  expect(paper.exchange.market(conditionId)?.payout).toBe(payout);
  expect(paper.exchange.openOrder(resting.orderId)).toBeUndefined();
  expect(await paper.markets.find(conditionId)).toMatchObject({ status: 'resolved', payout });
  const before = paper.exchange.available(ANN);
  await paper.exchange.execute({ kind: 'redeem', account: ANN, conditionId });
  expect(paper.exchange.available(ANN) - before).toBe(payout === 'YES' ? 20n * MICRO : 0n);
});
