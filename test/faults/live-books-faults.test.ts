/** Live books from a venue whose sockets repeat, swap, lose and freeze, and whose CLOB fails at times: they end up true. */
import { expect, test, vi } from 'vitest';
import { Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { VenueUnavailable } from '../../packages/server/src/domain/unavailable.ts';
import { createPooledSend } from '../../packages/server/src/platform/outbound/http.ts';
import { createLiveBooks } from '../../packages/server/src/venues/polymarket/books.ts';
import { createVenueHttp } from '../../packages/server/src/venues/polymarket/http.ts';
import type { TestService } from '../harness.ts';
import { startVenue } from '../live-desk.ts';
import { afterFile } from '../setup/clean-up.ts';

const MAKER = `0x${'aa'.repeat(20)}`;
const ROUNDS = 250;

/** Orders of one account come and go, and cross the house's, on a few markets. */
async function trade({ exchange }: TestService, conditionIds: readonly string[]): Promise<void> {
  await exchange.execute({ kind: 'deposit', account: MAKER, amount: 1_000_000_000_000n });
  for (let nth = 0; nth < ROUNDS; nth++) {
    const conditionId = conditionIds[nth % conditionIds.length]!;
    const orderId = `0x${(nth + 1).toString(16).padStart(64, '0')}`;
    await exchange.execute({
      kind: 'place',
      order: {
        ...{ orderId, account: MAKER, conditionId, outcome: nth % 3 === 0 ? 'NO' : 'YES', side: 'BUY' },
        ...{ limit: 100 * (5 + ((nth * 7) % 90)), size: 10_000_000n, timeInForce: 'GTC', postOnly: false },
      } as const,
    });
    if (nth % 4 === 0) {
      const open = exchange.openOrders(MAKER).map((order) => order.orderId);
      await exchange.execute({ kind: 'cancel', account: MAKER, orderIds: open.slice(0, 2) });
    }
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}

test('after everything, each book is the venue’s', async () => {
  const faults = new Faults(Date.now);
  const venue = await startVenue({}, { faults });
  const pool = createPooledSend();
  const said: string[] = [];
  const log = { warn: () => {}, info: (context: object) => said.push(JSON.stringify(context)) };
  const clob = createVenueHttp({
    service: 'the CLOB',
    baseUrl: `${venue.url}/paper/clob`,
    send: pool.send,
    clock: { now: Date.now },
    log,
  });
  const books = createLiveBooks({
    clob,
    socketUrl: `${venue.url.replace(/^http/, 'ws')}/paper/ws/market`,
    log,
    times: { compareEveryMs: 50, graceMs: 100, heardWithinMs: 1_000, confirmedWithinMs: 5_000 },
    socketTimes: {
      connectMs: 1_000,
      pingEveryMs: 100,
      staleMs: 1_000,
      firstBackoffMs: 10,
      maxBackoffMs: 100,
    },
  });
  afterFile('services', async () => {
    await books.close();
    pool.close();
    return true;
  });
  const markets = [...venue.exchange.markets()].filter(({ status }) => status === 'open').slice(0, 4);
  const tokens = markets.map(({ tokenIds }) => tokenIds[0]);
  await Promise.all(tokens.map((token) => books.book(token)));
  faults.set({
    duplicatesShare: 0.1,
    reorderedShare: 0.1,
    gapsShare: 0.1,
    frozenSocketsShare: 0.2,
    droppedSocketsShare: 0.2,
    unavailableShare: 0.1,
  });
  const trading = trade(
    venue,
    markets.map(({ conditionId }) => conditionId),
  );
  let isTrading = true;
  const readers = tokens.map(async (token) => {
    while (isTrading) {
      // Either a book, or the honest word that there is none.
      const book = await books.book(token).catch((error: unknown) => error);
      if (book instanceof Error) expect(book).toBeInstanceOf(VenueUnavailable);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
  await trading;
  isTrading = false;
  await Promise.all(readers);
  faults.set({
    duplicatesShare: 0,
    reorderedShare: 0,
    gapsShare: 0,
    frozenSocketsShare: 0,
    droppedSocketsShare: 0,
    unavailableShare: 0,
  });
  for (const { conditionId, tokenIds } of markets)
    await vi.waitFor(
      () => {
        const known = books.known(tokenIds[0]);
        const { bids, asks } = venue.exchange.book(conditionId, 'YES')!;
        expect(known?.view({ conditionId }, 'YES', 1_000)).toMatchObject({ bids, asks });
      },
      { timeout: 30_000, interval: 20 },
    );
  // The faults were met: some books were doubted on the way.
  expect(said.some((text) => text.includes('reason'))).toBe(true);
});
