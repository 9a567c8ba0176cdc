import { inspect } from 'node:util';
import type { Sql } from '@bellwether/durable';
import { asAddress, l2Signature } from '@bellwether/protocol';
import { beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import {
  AUTH_TOLERANCE_S,
  EXCHANGE_KEYS_SCHEMA,
  type VenueCredentials,
  VenueKeys,
} from '../src/doors/polymarket/venue-keys.ts';

const NOW_S = 1_780_000_000;
const secret = new Uint8Array(32).fill(3);
const alice = asAddress(`0x${'a'.repeat(40)}`);
const bob = asAddress(`0x${'b'.repeat(40)}`);

let sql: Sql;
let keys: VenueKeys;

beforeAll(async () => {
  sql = await openTestDatabase();
  // Twice: it must be idempotent.
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  keys = new VenueKeys({ sql, secret, now: () => NOW_S * 1000 });
});

test('keys follow from the secret, the address and the nonce alone', async () => {
  const created = await keys.create(alice, 0n);
  expect(created).toEqual({
    apiKey: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}=$/),
    passphrase: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(await keys.create(alice, 0n)).toBeNull();
  expect(await keys.derive(alice, 0n)).toEqual(created);
  expect(await new VenueKeys({ sql, secret }).derive(alice, 0n)).toEqual(created);
  expect(await new VenueKeys({ sql, secret: new Uint8Array(32) }).derive(alice, 0n)).not.toEqual(created);
  expect(await keys.derive(alice, 1n)).toBeNull();
  expect(await keys.derive(bob, 0n)).toBeNull();
  const largest = await keys.create(alice, 2n ** 63n - 1n);
  expect(await keys.derive(alice, 2n ** 63n - 1n)).toEqual(largest);
  await expect(keys.create(alice, 2n ** 63n)).rejects.toThrow(RangeError);
});

test('the first key of an address is the same until it is revoked, then the next', async () => {
  const carol = asAddress(`0x${'c'.repeat(40)}`);
  const [first, twin] = await Promise.all([keys.first(carol), keys.first(carol)]);
  expect(first).not.toBeNull();
  expect(twin).toEqual(first);
  expect(await keys.first(carol)).toEqual(first);
  await keys.revoke(first?.apiKey ?? '');
  const second = await keys.first(carol);
  expect(second?.apiKey).not.toBe(first?.apiKey);
  expect(await keys.first(carol)).toEqual(second);
});

test('one of twenty concurrent calls creates the key', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, () => keys.create(bob, 77n)));
  expect(created.filter((credentials) => credentials !== null)).toHaveLength(1);
});

test('nothing that authenticates is in the database or in a dump of the object', async () => {
  const created = (await keys.create(bob, 1n))!;
  const dump = inspect(await sql`select *, encode(key_hash, 'hex') as hash from exchange_api_keys`);
  const shown = inspect(keys, { depth: 10, showHidden: true }) + JSON.stringify(keys);
  for (const value of [
    created.apiKey,
    created.apiKey.replaceAll('-', ''),
    created.secret,
    created.passphrase,
  ]) {
    expect(dump).not.toContain(value);
    expect(shown).not.toContain(value);
  }
  expect(shown).not.toContain(Buffer.from(secret).toString('hex'));
});

test('verify requires all three values', async () => {
  const created = (await keys.create(bob, 2n))!;
  const other = (await keys.create(alice, 2n))!;
  expect(await keys.verify(created)).toEqual({ address: bob });
  for (const field of ['apiKey', 'secret', 'passphrase'] as const) {
    expect(await keys.verify({ ...created, [field]: other[field] }), field).toBeNull();
    expect(await keys.verify({ ...created, [field]: '' }), field).toBeNull();
    expect(await keys.verify({ ...created, [field]: `${created[field]} ` }), field).toBeNull();
  }
  expect(await keys.revoke(created.apiKey)).toBe(true);
  expect(await keys.revoke(created.apiKey)).toBe(false);
  expect(await keys.verify(created)).toBeNull();
  expect(await keys.derive(bob, 2n)).toBeNull();
  expect(await keys.create(bob, 2n)).toBeNull();
});

describe('L2', () => {
  let credentials: VenueCredentials;
  beforeAll(async () => {
    credentials = (await keys.create(bob, 3n))!;
  });

  const signed = (change: { time?: number; method?: string; path?: string; body?: string } = {}) => {
    const timestamp = String(change.time ?? NOW_S);
    const request = { timestamp, method: 'POST', path: '/order', body: '{"a":1}', ...change };
    return {
      poly_address: bob.toUpperCase().replace('0X', '0x'),
      poly_api_key: credentials.apiKey,
      poly_passphrase: credentials.passphrase,
      poly_timestamp: timestamp,
      poly_signature: l2Signature(credentials.secret, request),
    };
  };
  const authenticate = (headers: Record<string, string>) =>
    keys.authenticateL2(headers, { method: 'post', paths: ['/order'], body: '{"a":1}' });

  test('a signed request authenticates its account', async () => {
    const caller = { address: bob, apiKey: credentials.apiKey, nonce: 3n };
    expect(await authenticate(signed())).toEqual(caller);
    expect(await authenticate(signed({ time: NOW_S - AUTH_TOLERANCE_S }))).toEqual(caller);
    expect(await authenticate(signed({ time: NOW_S + AUTH_TOLERANCE_S }))).toEqual(caller);
  });

  test.each([
    ['stale', () => signed({ time: NOW_S - AUTH_TOLERANCE_S - 1 })],
    ['from the future', () => signed({ time: NOW_S + AUTH_TOLERANCE_S + 1 })],
    ['another method', () => signed({ method: 'DELETE' })],
    ['another path', () => signed({ path: '/orders' })],
    ['the query signed along', () => signed({ path: '/order?x=1' })],
    ['another body', () => signed({ body: '{"a":2}' })],
    ['another address', () => ({ ...signed(), poly_address: alice })],
    ['no address', () => ({ ...signed(), poly_address: '' })],
    ['another time than signed', () => ({ ...signed(), poly_timestamp: String(NOW_S + 1) })],
    ['no number as time', () => ({ ...signed(), poly_timestamp: 'now' })],
    ['another passphrase', () => ({ ...signed(), poly_passphrase: 'x' })],
    ['no signature', () => ({ ...signed(), poly_signature: '' })],
    ['SQL for a key', () => ({ ...signed(), poly_api_key: "' or 1=1 --" })],
  ])('%s is refused', async (_, headers) => {
    expect(await authenticate(headers())).toBeNull();
  });
});

test('a short secret is refused', () => {
  expect(() => new VenueKeys({ sql, secret: new Uint8Array(31) })).toThrow(RangeError);
});
