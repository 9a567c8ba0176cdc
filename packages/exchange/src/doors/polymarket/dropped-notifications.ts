/** Which notifications an account does not want to see again. */
import type { Sql } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';

export class DroppedNotifications {
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
