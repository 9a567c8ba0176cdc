/** The address of the replica that leads the paper exchange, for the replicas that follow. */
import type { Sql } from './connection.ts';
import { countOtherReplicas } from './replica-watch.ts';
import type { ExchangeLeaderRow } from './rows.generated.ts';

const CHANNEL = 'bellwether_lead';

/**
 * `leaving`: the leader will give the lead away in a moment. `prepared`: a replica has loaded what it needs to lead.
 * `free`: no replica leads; without it the others find out within a quarter of a second.
 */
const NEWS = ['leaving', 'prepared', 'free'] as const;
type LeadNews = (typeof NEWS)[number];
const isNews = (text: string | undefined): text is LeadNews => NEWS.some((news) => news === text);

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
  /** Tells the others at once. */
  announce: (news: LeadNews): Promise<void> => sql.notify(CHANNEL, `${news} ${replicaId}`),
  /** Calls back with what others announce. @returns ends the listening */
  onNews: (listener: (news: LeadNews) => void): Promise<() => void> =>
    sql.listen(CHANNEL, (text) => {
      const [news, sender] = text.split(' ');
      if (sender !== replicaId && isNews(news)) listener(news);
    }),
});
