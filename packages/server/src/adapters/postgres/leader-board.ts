/** The address of the replica that leads the paper exchange, for the replicas that follow. */
import type { Sql } from './connection.ts';
import type { ExchangeLeaderRow } from './rows.generated.ts';

export const createLeaderBoard = (sql: Sql, replicaId: string) => ({
  async publish(url: string): Promise<void> {
    await sql`
      insert into exchange_leader (replica_id, url, since) values (${replicaId}, ${url}, now())
      on conflict (one) do update set replica_id = excluded.replica_id, url = excluded.url, since = excluded.since`;
  },
  async find(): Promise<{ readonly url: string; readonly mine: boolean } | null> {
    const [row] = await sql<
      Pick<ExchangeLeaderRow, 'replica_id' | 'url'>[]
    >`select replica_id, url from exchange_leader`;
    return row === undefined ? null : { url: row.url, mine: row.replica_id === replicaId };
  },
});
