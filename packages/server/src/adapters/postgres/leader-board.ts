/** The address of the replica that leads the paper exchange, for the replicas that follow. */
import type { Sql } from './connection.ts';
import { countOtherReplicas } from './replica-watch.ts';
import type { ExchangeLeaderRow } from './rows.generated.ts';

const CHANNEL = 'bellwether_lead';

export const createLeaderBoard = (sql: Sql, replicaId: string) => ({
  async publish(url: string): Promise<void> {
    await sql`
      insert into exchange_leader (replica_id, url, since) values (${replicaId}, ${url}, now())
      on conflict (one) do update set replica_id = excluded.replica_id, url = excluded.url, since = excluded.since`;
  },
  async find(): Promise<{ readonly url: string; readonly replica: string; readonly mine: boolean } | null> {
    const [row] = await sql<
      Pick<ExchangeLeaderRow, 'replica_id' | 'url'>[]
    >`select replica_id, url from exchange_leader`;
    return row === undefined
      ? null
      : { url: row.url, replica: row.replica_id, mine: row.replica_id === replicaId };
  },
  /** Whether somebody else could take the lead. */
  isAlone: async (): Promise<boolean> => (await countOtherReplicas(sql, replicaId)) === 0,
  /** Tells the others at once; without it they find out within half a second. */
  announceFree: (): Promise<void> => sql.notify(CHANNEL, replicaId),
  /** @returns ends the listening */
  async onFree(listener: () => void): Promise<() => Promise<void>> {
    const { unlisten } = await sql.listen(CHANNEL, (sender) => {
      if (sender !== replicaId) listener();
    });
    return unlisten;
  },
});
