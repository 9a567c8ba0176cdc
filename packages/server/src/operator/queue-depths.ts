/** How much waits in the database to be done. Each is counted on a partial index, and no further than to a bound. */

import type { Sql } from '../platform/database/connection.ts';

const COUNTED_TO = 10_000;

export const createQueueDepths = (sql: Sql) => ({
  /** By the name of the queue. */
  async read(): Promise<Readonly<Record<string, number>>> {
    const rows = await sql<{ queue: string; depth: number }[]>`
      select 'webhooks' as queue, count(*)::int as depth
        from (select from webhook_deliveries where status = 'pending' limit ${COUNTED_TO}) t
      union all select 'quoted orders', count(*)::int
        from (select from chain_orders where stage <> 'done' limit ${COUNTED_TO}) t
      union all select 'fee charges', count(*)::int
        from (select from fee_charges where status in ('signed', 'unknown', 'broadcast') limit ${COUNTED_TO}) t
      union all select 'redemptions', count(*)::int
        from (select from redemption_requests limit ${COUNTED_TO}) t`;
    return Object.fromEntries(rows.map(({ queue, depth }) => [queue, depth]));
  },
});
