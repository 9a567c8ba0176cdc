/** Which keys have a dead-man switch, durably. */
import type { Sql } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';

type StoredHeartbeatKey = { readonly address: Address; readonly nonce: bigint };

export class StoredHeartbeats {
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
