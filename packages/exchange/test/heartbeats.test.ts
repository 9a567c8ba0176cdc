/** The dead-man switch of the CLOB door: keys that fall silent lose their orders, also after a restart. */
import { MICRO } from '@bellwether/contract/decimals';
import type { Sql } from '@bellwether/durable';
import { asAddress } from '@bellwether/protocol';
import { expect, test } from 'vitest';
import { Heartbeats } from '../src/doors/polymarket/account-routes.ts';
import { EXCHANGE_KEYS_SCHEMA, VenueKeys } from '../src/doors/polymarket/index.ts';
import type { JournalledExchange, NewOrder } from '../src/index.ts';
import { ALICE, restingBid, stage } from './open-exchange-stage.ts';

const SECRET = new Uint8Array(32).fill(7);

async function keyOf(sql: Sql, nonce: bigint) {
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  const keys = new VenueKeys({ sql, secret: SECRET });
  await keys.create(asAddress(ALICE), nonce);
  return { keys, key: { address: asAddress(ALICE), nonce, apiKey: keys.apiKeyOf(asAddress(ALICE), nonce) } };
}

const switchOf = (keys: VenueKeys, exchange: JournalledExchange, clock: { time: number }) =>
  new Heartbeats({
    keys,
    now: () => clock.time,
    exchange: () => exchange,
    onFault: (error) => {
      throw error;
    },
  });

const postedBy = (exchange: JournalledExchange, number: number, nonce: bigint): NewOrder => ({
  ...restingBid(exchange, number),
  posted: { key: { address: ALICE, nonce: nonce.toString() }, expiration: 0 },
});

const openIds = (exchange: JournalledExchange): string[] =>
  exchange.openOrders(ALICE).map(({ orderId }) => orderId);

test('a silent key loses its own orders and those of the desk, not those of another key', async () => {
  const { open, clock, sql } = await stage();
  const exchange = await open();
  const { keys, key } = await keyOf(sql, 3n);
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
  const [own, other, desk] = [postedBy(exchange, 1, 3n), postedBy(exchange, 2, 4n), restingBid(exchange, 3)];
  for (const order of [own, other, desk]) await exchange.execute({ kind: 'place', order });
  const heartbeats = switchOf(keys, exchange, clock);

  // Without a heartbeat there is no switch.
  clock.time += 60_000;
  await heartbeats.check();
  expect(openIds(exchange)).toHaveLength(3);

  const first = await heartbeats.beat(key, '');
  clock.time += 9_000;
  expect(await heartbeats.beat(key, 'another')).toEqual({ ok: false, id: first.id });
  const second = await heartbeats.beat(key, first.id);
  expect(second.ok).toBe(true);
  clock.time += 9_000;
  await heartbeats.check();
  expect(openIds(exchange)).toHaveLength(3);
  // A wrong id did not count as a sign of life.
  await heartbeats.beat(key, 'another');
  clock.time += 2_000;
  await heartbeats.check();
  expect(openIds(exchange)).toEqual([other.orderId]);

  // It happens once: what is placed later stays.
  const later = postedBy(exchange, 4, 3n);
  await exchange.execute({ kind: 'place', order: later });
  clock.time += 60_000;
  await heartbeats.check();
  expect(openIds(exchange)).toEqual([other.orderId, later.orderId].sort());
  await exchange.close();
});

test('a key that was silent over a restart of the exchange loses its orders after it', async () => {
  const { open, clock, sql } = await stage();
  const before = await open();
  const { keys, key } = await keyOf(sql, 3n);
  await before.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
  await before.execute({ kind: 'place', order: postedBy(before, 1, 3n) });
  const { id } = await switchOf(keys, before, clock).beat(key, '');
  await before.close();

  const after = await open();
  clock.time += 60_000;
  const heartbeats = switchOf(keys, after, clock);
  await heartbeats.check();
  expect(openIds(after)).toHaveLength(1);
  // It has the whole time again, and its last id is still the one that is expected.
  expect((await heartbeats.beat(key, id)).ok).toBe(true);
  clock.time += 11_000;
  await heartbeats.check();
  expect(openIds(after)).toEqual([]);
  expect(await keys.heartbeats.all()).toEqual([]);
  await after.close();
});
