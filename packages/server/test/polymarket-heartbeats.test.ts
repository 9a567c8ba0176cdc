/** The venue's heartbeat: which keys get it, by whom, and what becomes of its ids. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Address } from '@bellwether/protocol';
import { expect, test } from 'vitest';
import { startHeartbeats } from '../src/venues/polymarket/heartbeats.ts';
import { createKeyring } from '../src/venues/polymarket/order-client.ts';
import { createHeartbeatLog, createHeartbeatStore } from '../src/wallets/index.ts';
import { type Reply, type Stage, startStage, type VenueRequest } from './live-orders-stage.ts';

const BEAT_MS = 100;
const WALLET = `0x${'11'.repeat(20)}` as Address;

const isBeat = ({ method, path }: VenueRequest): boolean => method === 'POST' && path === '/v1/heartbeats';
const beats = ({ asked }: Stage): string[] =>
  asked.filter(isBeat).map(({ body }) => JSON.parse(body).heartbeat_id);

/** A venue that keeps one id, as the wire reference says. */
function venueOf(stage: Stage) {
  const venue = { id: '', nth: 0, fault: null as null | 'hang' | 'reset' | Reply };
  stage.answer = (asked) => {
    if (!isBeat(asked)) return undefined;
    const given = JSON.parse(asked.body).heartbeat_id;
    if (given !== venue.id)
      return { status: 400, body: { error_msg: 'Invalid Heartbeat ID', heartbeat_id: venue.id } };
    venue.nth += 1;
    venue.id = `id-${venue.nth}`;
    const { fault } = venue;
    venue.fault = null;
    return fault ?? { body: { heartbeat_id: venue.id } };
  };
  return venue;
}

const userOf = async ({ sql }: Stage): Promise<bigint> =>
  (await sql`select user_id from credentials where wallet_address = ${WALLET}`)[0]?.user_id;

async function switchOn(stage: Stage, isOn = true): Promise<void> {
  const store = createHeartbeatStore(stage.sql);
  expect(await store.set(await userOf(stage), WALLET, isOn, Date.now())).toBe(true);
}

const counts = ({ orders }: Stage) => {
  const { heartbeat_keys, heartbeats_failed } = orders.counts();
  return { heartbeat_keys, heartbeats_failed };
};

test('is sent for no key whose owner has not asked for it, and no lease is written', async () => {
  const stage = await startStage({ beatMs: BEAT_MS });
  venueOf(stage);
  await pause(500);
  expect(beats(stage)).toEqual([]);
  expect(await stage.sql`select * from heartbeat_senders`).toEqual([]);
});

test('begins with no id, goes on with the last one, and ends when the owner switches it off', async () => {
  const stage = await startStage({ beatMs: BEAT_MS });
  venueOf(stage);
  await switchOn(stage);
  await expect.poll(() => beats(stage).slice(0, 3)).toEqual(['', 'id-1', 'id-2']);
  await switchOn(stage, false);
  await expect.poll(() => counts(stage).heartbeat_keys).toBe(0);
  const ended = beats(stage).length;
  await pause(5 * BEAT_MS);
  expect(beats(stage).length).toBe(ended);
});

test('takes over the id that the venue waits for, at once', async () => {
  const stage = await startStage({ beatMs: BEAT_MS });
  const venue = venueOf(stage);
  venue.id = 'of-before';
  await switchOn(stage);
  await expect.poll(() => beats(stage).slice(0, 3)).toEqual(['', 'of-before', 'id-1']);
  expect(counts(stage).heartbeats_failed).toBe(0);
});

test.each<['hang' | 'reset' | Reply]>([
  ['reset'],
  ['hang'],
  [{ status: 502, body: 'Bad gateway' }],
  [{ status: 401, body: { error: 'Unauthorized/Invalid api key' } }],
  [{ body: {} }],
])('goes on after %j in place of an answer', async (fault) => {
  const stage = await startStage({ beatMs: BEAT_MS });
  const venue = venueOf(stage);
  venue.fault = fault;
  await switchOn(stage);
  // The venue had taken the first; the second names the id of before, and is put right.
  await expect.poll(() => beats(stage).slice(0, 4), { timeout: 10_000 }).toEqual(['', '', 'id-1', 'id-2']);
  expect(counts(stage)).toEqual({ heartbeat_keys: 1, heartbeats_failed: 1 });
  expect(stage.logged.filter((line) => line.includes('did not take a heartbeat'))).toHaveLength(1);
});

test('is sent by one replica, and by the next one once that has gone', async () => {
  const stage = await startStage({ beatMs: BEAT_MS });
  venueOf(stage);
  await switchOn(stage);
  await expect.poll(() => beats(stage).length).toBeGreaterThan(1);
  const other = createHeartbeatLog(stage.sql, 'live');
  expect(await other.lease('another', 1_000)).toEqual([]);
  await stage.orders.stop();
  expect(await other.lease('another', 1_000)).toEqual([WALLET]);
  const ended = beats(stage).length;
  await pause(5 * BEAT_MS);
  expect(beats(stage).length).toBe(ended);
});

test('is not sent by a replica whose lease was over before its database answered', async () => {
  const sent: string[] = [];
  const key = {
    secrets: { apiKey: 'k', secret: 'c2VjcmV0', passphrase: 'p' },
    ...{ eoa: WALLET, signatureType: 0 as const },
  };
  let answersAfterMs = 0;
  const heartbeats = startHeartbeats({
    log: {
      venue: 'live',
      async lease() {
        await pause(answersAfterMs);
        return [WALLET];
      },
      release: async () => {},
    },
    client: {
      async beat(_, id) {
        sent.push(id);
        const reply = { status: 200, value: { heartbeat_id: 'next' }, text: '' };
        const limits = { remaining: null, reset: null, tier: null, retryAfterMs: null };
        return { kind: 'answered', reply: { ...reply, limits } };
      },
    },
    keyring: createKeyring({
      log: { wallet: async () => ({}) as never, account: async () => null },
      open: () => key,
      now: Date.now,
    }),
    ...{ holder: 'slow', logger: { info() {}, warn() {} } },
    times: { tickMs: 20, leaseMs: 200, beatMs: 50 },
  });
  await expect.poll(() => sent.length).toBeGreaterThan(1);
  answersAfterMs = 300;
  await pause(400);
  const before = sent.length;
  await pause(800);
  expect(sent.length).toBe(before);
  await heartbeats.stop();
});

test('one key of two wallets has one heartbeat', async () => {
  const stage = await startStage({ beatMs: BEAT_MS });
  const venue = venueOf(stage);
  const sibling = `0x${'12'.repeat(20)}` as Address;
  await stage.sql`insert into credentials select ${sibling}, user_id, eoa, ${sibling}, 1, '', key_id, sealed, registered_at
    from credentials where wallet_address = ${WALLET}`;
  await createHeartbeatStore(stage.sql).set(await userOf(stage), sibling, true, Date.now());
  await switchOn(stage);
  await expect.poll(() => venue.nth).toBeGreaterThan(4);
  // Two senders would answer each other's ids.
  expect(beats(stage)).toEqual(beats(stage).map((_, nth) => (nth === 0 ? '' : `id-${nth}`)));
  expect(counts(stage)).toEqual({ heartbeat_keys: 1, heartbeats_failed: 0 });
});

test('ends with the credentials of the wallet, and is no word of its next owner', async () => {
  const stage = await startStage({ beatMs: BEAT_MS });
  venueOf(stage);
  await switchOn(stage);
  const log = createHeartbeatLog(stage.sql, 'elsewhere');
  expect(await log.lease('other', 1_000)).toEqual([WALLET]);
  const [next] = await stage.sql`insert into owners (created_at) values (now()) returning user_id`;
  await stage.sql`update credentials set user_id = ${next?.user_id} where wallet_address = ${WALLET}`;
  expect(await log.lease('other', 1_000)).toEqual([]);
  await stage.sql`delete from credentials where wallet_address = ${WALLET}`;
  expect(await stage.sql`select * from wallet_heartbeats`).toEqual([]);
});
