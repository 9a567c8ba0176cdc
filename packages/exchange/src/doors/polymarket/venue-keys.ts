/**
 * The exchange's own API keys of accounts: key, secret and passphrase belong to (address, nonce) and are derived from
 * one secret of the exchange. So the database contains no credential: it stores a keyed hash to find the address by,
 * and whether the key is revoked.
 *
 * A revoked (address, nonce) stays revoked: derivation would give the same values again, and a leaked key must not
 * become valid again. The account uses another nonce.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Sql } from '@bellwether/durable';
import { type Address, parseAddress, toBase64Url, verifyL2Signature } from '@bellwether/protocol';

/** Idempotent. */
export const EXCHANGE_KEYS_SCHEMA = `
create table if not exists exchange_api_keys (
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  nonce bigint not null check (nonce >= 0),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  unique (address, nonce)
);
comment on table exchange_api_keys is
  'Venue API keys of the paper exchange. Keys, secrets and passphrases are derived, never stored.';
create table if not exists exchange_readonly_keys (
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  number integer not null check (number >= 0),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  unique (address, number)
);
create table if not exists exchange_heartbeats (
  address text not null,
  nonce bigint not null,
  heartbeat_id text not null,
  primary key (address, nonce)
);
create table if not exists exchange_dropped_notifications (
  address text not null,
  id bigint not null,
  primary key (address, id)
);
comment on table exchange_dropped_notifications is
  'Notifications that an account does not want to see again; kept as long as the notifications are.';
comment on table exchange_heartbeats is
  'API keys whose orders are cancelled when their heartbeats end.';
`;

export interface VenueCredentials {
  /** A UUID. */
  readonly apiKey: string;
  /** 32 bytes as base64url with padding. */
  readonly secret: string;
  /** 32 bytes as hex. */
  readonly passphrase: string;
}

export interface AuthenticatedKey {
  readonly address: Address;
  readonly apiKey: string;
  readonly nonce: bigint;
}

/** Nonces are kept as a signed 64-bit integer. */
export const MAX_KEY_NONCE = 2n ** 63n - 1n;
const MIN_SECRET_BYTES = 32;
/** Nonces that are tried for a key that is not revoked. */
const MOST_REVOKED = 100n;

interface KeyRow {
  readonly address: string;
  readonly nonce: string;
}

export class VenueKeys {
  readonly #sql: Sql;
  readonly #deriveKey: KeyObject;
  readonly #hashKey: KeyObject;
  readonly #now: () => number;
  readonly readonlyKeys: ReadonlyKeys;
  readonly heartbeats: StoredHeartbeats;
  readonly notifications: DroppedNotifications;

  /**
   * @param options.secret at least 32 random bytes; another secret changes every key.
   * @param options.now epoch milliseconds, to check the age of requests.
   */
  constructor(options: { readonly sql: Sql; readonly secret: Uint8Array; readonly now?: () => number }) {
    if (options.secret.length < MIN_SECRET_BYTES)
      throw new RangeError(`the exchange's key secret needs at least ${MIN_SECRET_BYTES} bytes`);
    this.#sql = options.sql;
    const secret = createSecretKey(options.secret);
    this.#deriveKey = createSecretKey(hmac(secret, 'bellwether exchange api keys v1: derive'));
    this.#hashKey = createSecretKey(hmac(secret, 'bellwether exchange api keys v1: hash'));
    this.#now = options.now ?? Date.now;
    const { sql } = options;
    this.heartbeats = new StoredHeartbeats(sql);
    this.notifications = new DroppedNotifications(sql);
    this.readonlyKeys = new ReadonlyKeys({ sql, deriveKey: this.#deriveKey, hashKey: this.#hashKey });
  }

  /** A new key, or `null` when this (address, nonce) has or had one. */
  async create(address: Address, nonce: bigint): Promise<VenueCredentials | null> {
    const credentials = this.#credentials(address, nonce);
    const created = await this.#sql`
      insert into exchange_api_keys (key_hash, address, nonce)
      values (${this.#hash(credentials.apiKey)}, ${address}, ${nonce.toString()})
      on conflict do nothing
      returning 1`;
    return created.length === 1 ? credentials : null;
  }

  /** The key that was created before, or `null` when none exists or it is revoked. */
  async derive(address: Address, nonce: bigint): Promise<VenueCredentials | null> {
    const found = await this.#sql`
      select 1 from exchange_api_keys
      where address = ${address} and nonce = ${nonce.toString()} and revoked_at is null`;
    return found.length === 1 ? this.#credentials(address, nonce) : null;
  }

  /**
   * The first key of an address that is not revoked, made when there is none: for a caller that proved the address in
   * another way than by the venue's protocol.
   * @returns `null` when the first {@link MOST_REVOKED} are revoked
   */
  async first(address: Address): Promise<VenueCredentials | null> {
    for (let nonce = 0n; nonce < MOST_REVOKED; nonce += 1n) {
      // A twin may have created it meanwhile.
      const found =
        (await this.derive(address, nonce)) ??
        (await this.create(address, nonce)) ??
        (await this.derive(address, nonce));
      if (found !== null) return found;
    }
    return null;
  }

  /** The API key (not its secrets) of an address and nonce. */
  apiKeyOf(address: Address, nonce: bigint): string {
    return this.#credentials(address, nonce).apiKey;
  }

  /** API keys (not secrets) of the account that are not revoked, oldest first. */
  async list(address: Address): Promise<readonly string[]> {
    const rows = await this.#sql<{ nonce: string }[]>`
      select nonce::text from exchange_api_keys
      where address = ${address} and revoked_at is null
      order by created_at, nonce`;
    return rows.map((row) => this.#credentials(address, BigInt(row.nonce)).apiKey);
  }

  /** @returns whether an active key was revoked. Every replica refuses it from the next request on. */
  async revoke(apiKey: string): Promise<boolean> {
    const revoked = await this.#sql`
      update exchange_api_keys set revoked_at = now()
      where key_hash = ${this.#hash(apiKey)} and revoked_at is null
      returning 1`;
    return revoked.length === 1;
  }

  /** The key's address, when all three values belong together and the key is not revoked. In constant time. */
  async verify(credentials: VenueCredentials): Promise<{ readonly address: Address } | null> {
    const found = await this.#find(credentials.apiKey);
    if (found === null) return null;
    const secretFits = sameText(credentials.secret, found.credentials.secret);
    const passphraseFits = sameText(credentials.passphrase, found.credentials.passphrase);
    return secretFits && passphraseFits ? { address: found.address } : null;
  }

  /**
   * Verifies a signed request (POLY_ADDRESS, POLY_API_KEY, POLY_PASSPHRASE, POLY_TIMESTAMP, POLY_SIGNATURE).
   * @param signed `paths`: any of which the client may have signed, without host and query; `body`: the exact text
   *   received, '' for none.
   */
  async authenticateL2(
    headers: AuthHeaders,
    {
      method,
      paths,
      body,
    }: { readonly method: string; readonly paths: readonly string[]; readonly body: string },
  ): Promise<AuthenticatedKey | null> {
    const address = parseAddress(headerText(headers, 'poly_address'));
    const timestamp = headerText(headers, 'poly_timestamp');
    if (address === null || !isFresh(timestamp, this.#now())) return null;
    const apiKey = headerText(headers, 'poly_api_key');
    const found = await this.#find(apiKey);
    if (found === null || found.address !== address) return null;
    const passphraseFits = sameText(headerText(headers, 'poly_passphrase'), found.credentials.passphrase);
    const signature = headerText(headers, 'poly_signature');
    const signed = paths.map((path) =>
      verifyL2Signature(
        found.credentials.secret,
        { timestamp, method: method.toUpperCase(), path, body },
        signature,
      ),
    );
    return passphraseFits && signed.includes(true) ? { address, apiKey, nonce: found.nonce } : null;
  }

  /** The same of a builder's headers, which name no address: POLY_BUILDER_API_KEY, _PASSPHRASE, _TIMESTAMP, _SIGNATURE. */
  async authenticateBuilder(
    headers: AuthHeaders,
    signed: Parameters<VenueKeys['authenticateL2']>[1],
  ): Promise<AuthenticatedKey | null> {
    const apiKey = headerText(headers, 'poly_builder_api_key');
    const found = await this.#find(apiKey);
    if (found === null) return null;
    return this.authenticateL2(
      {
        poly_address: found.address,
        poly_api_key: apiKey,
        poly_passphrase: headerText(headers, 'poly_builder_passphrase'),
        poly_timestamp: headerText(headers, 'poly_builder_timestamp'),
        poly_signature: headerText(headers, 'poly_builder_signature'),
      },
      signed,
    );
  }

  async #find(apiKey: string): Promise<{
    readonly address: Address;
    readonly nonce: bigint;
    readonly credentials: VenueCredentials;
  } | null> {
    // A text that is not a UUID cannot be a key; without this check, floods of such requests would reach the database.
    if (!UUID.test(apiKey)) return null;
    const [row] = await this.#sql<KeyRow[]>`
      select address, nonce::text from exchange_api_keys
      where key_hash = ${this.#hash(apiKey)} and revoked_at is null`;
    if (row === undefined) return null;
    const address = row.address as Address;
    const nonce = BigInt(row.nonce);
    return { address, nonce, credentials: this.#credentials(address, nonce) };
  }

  #hash(apiKey: string): Buffer {
    return hmac(this.#hashKey, apiKey);
  }

  #credentials(address: Address, nonce: bigint): VenueCredentials {
    if (nonce < 0n || nonce > MAX_KEY_NONCE) throw new RangeError('a key nonce is between 0 and 2^63−1');
    const part = (name: string): Buffer => hmac(this.#deriveKey, `${name}|${address}|${nonce}`);
    return {
      apiKey: uuidFrom(part('key')),
      secret: toBase64Url(part('secret')),
      passphrase: part('passphrase').toString('hex'),
    };
  }
}

/** Given as bytes, a key would be prepared again for every text. */
const hmac = (key: KeyObject, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Compares hashes of the texts, so that not even their length shows in the time taken. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hmac(COMPARE_KEY, a), hmac(COMPARE_KEY, b));
}
const COMPARE_KEY = createSecretKey(Buffer.from('bellwether compare'));

// Read-only API keys: a UUID that its owner gives to programs that may see the account's orders, trades and balances and
// change nothing. It travels in `POLY_READONLY_API_KEY` beside `POLY_ADDRESS`, without a signature. Like all keys it is
// derived, and only its hash is stored.

interface ReadonlyKeysOptions {
  readonly sql: Sql;
  readonly deriveKey: KeyObject;
  readonly hashKey: KeyObject;
}

/** Most keys of an address, revoked ones included: each is stored permanently. */
const MAX_READONLY_KEYS = 100;

class ReadonlyKeys {
  readonly #options: ReadonlyKeysOptions;

  constructor(options: ReadonlyKeysOptions) {
    this.#options = options;
  }

  /** @returns `null` when the address has as many as it may have */
  async create(address: Address): Promise<string | null> {
    const { sql } = this.#options;
    for (;;) {
      const [row] = await sql`
        select count(*)::int as used from exchange_readonly_keys where address = ${address}`;
      const number = Number(row?.used ?? 0);
      if (number >= MAX_READONLY_KEYS) return null;
      const key = this.#keyOf(address, number);
      const made = await sql`
        insert into exchange_readonly_keys (key_hash, address, number)
        values (${this.#hash(key)}, ${address}, ${number}) on conflict do nothing returning 1`;
      // Otherwise another request took the number.
      if (made.length === 1) return key;
    }
  }

  /** Oldest first. */
  async list(address: Address): Promise<readonly string[]> {
    const rows = await this.#options.sql<{ number: number }[]>`
      select number from exchange_readonly_keys
      where address = ${address} and revoked_at is null order by number`;
    return rows.map(({ number }) => this.#keyOf(address, Number(number)));
  }

  /** @returns whether it was a key of this address */
  async revoke(address: Address, key: string): Promise<boolean> {
    const revoked = await this.#options.sql`
      update exchange_readonly_keys set revoked_at = now()
      where key_hash = ${this.#hash(key)} and address = ${address} and revoked_at is null returning 1`;
    return revoked.length === 1;
  }

  async isOf(address: Address, key: string): Promise<boolean> {
    const found = await this.#options.sql`
      select 1 from exchange_readonly_keys
      where key_hash = ${this.#hash(key)} and address = ${address} and revoked_at is null`;
    return found.length === 1;
  }

  #hash(key: string): Buffer {
    return createHmac('sha256', this.#options.hashKey).update(`readonly|${key}`).digest();
  }

  #keyOf(address: Address, number: number): string {
    return uuidFrom(
      createHmac('sha256', this.#options.deriveKey).update(`readonly|${address}|${number}`).digest(),
    );
  }
}

// Which keys have a dead-man switch, durably.

type StoredHeartbeatKey = { readonly address: Address; readonly nonce: bigint };

class StoredHeartbeats {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async set({ address, nonce }: StoredHeartbeatKey, id: string): Promise<void> {
    await this.#sql`
      insert into exchange_heartbeats (address, nonce, heartbeat_id) values (${address}, ${nonce.toString()}, ${id})
      on conflict (address, nonce) do update set heartbeat_id = excluded.heartbeat_id`;
  }

  /** Unless a later heartbeat came. */
  async end({ address, nonce }: StoredHeartbeatKey, id: string): Promise<void> {
    await this.#sql`
      delete from exchange_heartbeats
      where address = ${address} and nonce = ${nonce.toString()} and heartbeat_id = ${id}`;
  }

  async all(): Promise<readonly { readonly key: StoredHeartbeatKey; readonly id: string }[]> {
    const rows = await this.#sql<{ address: string; nonce: string; heartbeat_id: string }[]>`
      select address, nonce::text, heartbeat_id from exchange_heartbeats`;
    return rows.map((row) => ({
      key: { address: row.address as Address, nonce: BigInt(row.nonce) },
      id: row.heartbeat_id,
    }));
  }
}

// Which notifications an account does not want to see again.

class DroppedNotifications {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async of(address: Address): Promise<ReadonlySet<number>> {
    const rows = await this.#sql<{ id: string }[]>`
      select id::text from exchange_dropped_notifications where address = ${address}`;
    return new Set(rows.map(({ id }) => Number(id)));
  }

  /** @param oldest of the notifications that are shown: what is older is forgotten */
  async drop(address: Address, ids: readonly number[], oldest: number): Promise<void> {
    await this.#sql`
      with forgotten as (
        delete from exchange_dropped_notifications where address = ${address} and id < ${String(oldest)}::bigint
      )
      insert into exchange_dropped_notifications (address, id)
      select ${address}, id from unnest(${ids.map(String)}::bigint[]) as t (id)
      on conflict do nothing`;
  }
}

// API keys have the form of a UUID.

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A version 8 UUID (custom bits) of the first 16 bytes. */
function uuidFrom(bytes: Uint8Array): string {
  const id = Buffer.from(bytes.subarray(0, 16));
  id[6] = (id[6]! & 0x0f) | 0x80;
  id[8] = (id[8]! & 0x3f) | 0x80;
  const hex = id.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

// The venue's POLY_* headers. Node delivers them in lower case.

export type AuthHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Most difference between a signed request's clock and ours, either way. The venue does not document its limit; five
 * minutes tolerates ordinary clocks and bounds how long a captured request can be replayed.
 */
export const AUTH_TOLERANCE_S = 300;

const SECONDS = /^[0-9]{1,12}$/;

/** The header's text, '' when it is missing or was sent more than once. */
export function headerText(headers: AuthHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Whether the decimal epoch seconds are within the tolerance. */
export const isFresh = (timestamp: string, nowMs: number): boolean =>
  SECONDS.test(timestamp) && Math.abs(Number(timestamp) - nowMs / 1000) <= AUTH_TOLERANCE_S;
