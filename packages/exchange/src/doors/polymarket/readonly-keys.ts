/**
 * Read-only API keys: a UUID that its owner gives to programs that may see the account's orders, trades and balances and
 * change nothing. It travels in `POLY_READONLY_API_KEY` beside `POLY_ADDRESS`, without a signature. Like all keys it is
 * derived, and only its hash is stored.
 */
import { createHmac, type KeyObject } from 'node:crypto';
import type { Sql } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';
import { uuidFrom } from './key-uuid.ts';

export interface ReadonlyKeysOptions {
  readonly sql: Sql;
  readonly deriveKey: KeyObject;
  readonly hashKey: KeyObject;
}

/** Most keys of an address, revoked ones included: each is stored permanently. */
const MAX_KEYS = 100;

export class ReadonlyKeys {
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
      if (number >= MAX_KEYS) return null;
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
