/** The end of a market with thousands of resting orders, on an exchange with its journal. */
import { MICRO } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import type { Entry, JournalledExchange, NewOrder } from '../src/index.ts';
import { orderId, stage } from './open-exchange-stage.ts';

const ACCOUNTS = 40;
const ORDERS = 2_400;
const account = (index: number): string => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const PAID = 5n * MICRO;

const bid = (exchange: JournalledExchange, conditionId: string, number: number): NewOrder => ({
  orderId: orderId(number),
  account: account(number % ACCOUNTS),
  conditionId,
  outcome: 'YES',
  side: 'BUY',
  limit: exchange.market(conditionId)!.tickSize,
  size: PAID,
  timeInForce: 'GTC',
  postOnly: true,
});

async function largeMarket(options: Parameters<Awaited<ReturnType<typeof stage>>['open']>[0] = {}) {
  const staged = await stage();
  const exchange = await staged.open(options);
  const entries: Entry[] = [];
  exchange.subscribe((batch) => entries.push(...batch));
  const [market] = [...exchange.markets()]
    .filter((one) => one.status === 'open')
    .sort((a, b) => a.endDate - b.endDate);
  for (let index = 0; index < ACCOUNTS; index += 1)
    await exchange.execute({ kind: 'deposit', account: account(index), amount: 1_000n * MICRO });
  await Promise.all(
    Array.from({ length: ORDERS }, (_, number) =>
      exchange.execute({ kind: 'place', order: bid(exchange, market!.conditionId, number) }, { isNew: true }),
    ),
  );
  const end = async (): Promise<void> => {
    staged.clock.time = market!.endDate;
    await exchange.step();
  };
  return { ...staged, exchange, entries, market: market!, end };
}

const endsIn = ({ events }: Entry): number =>
  events.filter((event) => event.kind === 'order_done' && event.reason === 'market_closed').length;

async function untilAllEnded(entries: readonly Entry[]): Promise<void> {
  const ended = () => entries.reduce((sum, entry) => sum + endsIn(entry), 0);
  await expect.poll(ended, { interval: 10 }).toBe(ORDERS);
}

test('its orders end in slices, and its accounts have their money at once', async () => {
  const { exchange, entries, market, end, open, sql } = await largeMarket();
  const held = exchange.account(account(0)).held;
  expect(held).toBeGreaterThan(0n);
  await end();
  expect(exchange.market(market.conditionId)).toMatchObject({ status: 'closed', liquidity: 0n });
  for (let index = 0; index < ACCOUNTS; index += 1) {
    expect(exchange.account(account(index))).toMatchObject({ available: 1_000n * MICRO, held: 0n });
    expect(exchange.openOrders(account(index))).toEqual([]);
  }
  expect(exchange.openOrder(orderId(7))).toBeUndefined();
  const next = [...exchange.markets()].find((one) => one.status === 'open' && one.tickSize === 100)!;
  const all = { ...bid(exchange, next.conditionId, ORDERS + 7), limit: 100, size: 99_000n * MICRO };
  expect(await exchange.execute({ kind: 'place', order: all })).toContainEqual(
    expect.objectContaining({ kind: 'order_accepted' }),
  );
  await untilAllEnded(entries);
  const slices = entries.map(endsIn).filter((count) => count > 0);
  expect(slices.length).toBeGreaterThan(3);
  // One account's own orders end with its command, in addition to a slice.
  expect(Math.max(...slices)).toBeLessThanOrEqual(500 + ORDERS / ACCOUNTS);
  const hash = exchange.stateHash();
  await exchange.close();
  await sql`delete from exchange_snapshots`;
  const again = await open();
  expect(again.stateHash()).toBe(hash);
  await again.close();
});

test('is resolved only when no order of it is left', async () => {
  const { exchange, entries, market, end, clock } = await largeMarket();
  await end();
  clock.time += 3_600_000;
  await exchange.step();
  expect(exchange.market(market.conditionId)?.status).toBe('closed');
  await untilAllEnded(entries);
  await exchange.step();
  expect(exchange.market(market.conditionId)?.status).toBe('resolved');
  await exchange.close();
});

test('an exchange that is closed between two slices goes on with the next one', async () => {
  const { exchange, entries, market, end, open, clock } = await largeMarket();
  await end();
  await exchange.close();
  const before = entries.reduce((sum, entry) => sum + endsIn(entry), 0);
  expect(before).toBeLessThan(ORDERS);
  const again = await open();
  expect(again.openOrders(account(3))).toEqual([]);
  expect(again.account(account(3))).toMatchObject({ available: 1_000n * MICRO, held: 0n });
  again.subscribe((batch) => entries.push(...batch));
  clock.time += 1_000;
  await again.step();
  await untilAllEnded(entries);
  clock.time += 3_600_000;
  await again.step();
  expect(again.market(market.conditionId)?.status).toBe('resolved');
  await again.close();
});
