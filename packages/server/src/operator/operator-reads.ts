/** What the operator is shown of the database: which replicas live, and how much waits in it to be done. */
import { msOrNull, only, type Sql } from '../platform/database/connection.ts';
import { replicaPattern } from '../platform/database/replica-watch.ts';
import type { ExchangeLeaderRow } from '../platform/database/rows.generated.ts';

type Facts = Omit<OperatorFacts, 'leader' | 'oldestInDoubtAt'> & {
  readonly oldestInDoubtAt: Date | null;
};

export const createOperatorReads = (sql: Sql) => ({
  /** @param doubtBefore orders without an answer that were created before are in doubt */
  async facts(doubtBefore: Readonly<Record<'signed' | 'quoted', number>>): Promise<OperatorFacts> {
    const [facts, leaders] = await Promise.all([
      sql<Facts[]>`
        select d.*, q.*,
          (select count(distinct split_part(application_name, ' ', 2))::int from pg_stat_activity
            where datname = current_database() and application_name like ${replicaPattern}) as replicas
        from (
          select count(*)::int as "inDoubt", min(created_at) as "oldestInDoubtAt" from orders
          where status in ('submitting', 'unknown') and created_at < case kind
            when 'quoted' then ${new Date(doubtBefore.quoted)}::timestamptz
            else ${new Date(doubtBefore.signed)}::timestamptz end
        ) d, (
          select (select count(*)::int from webhook_deliveries where status = 'pending') as "webhookDeliveries",
            (select count(*)::int from webhook_endpoints where not enabled) as "webhooksDisabled",
            (select count(*)::int from traded_markets where payout is not null and swept_at is null) as "marketsToRedeem",
            (select count(*)::int from skills where review_status = 1) as "skillsToReview",
            (select count(*)::int from venue_trades where aside_state = 'held') as "tradesKeptAside"
        ) q`,
      sql<Pick<ExchangeLeaderRow, 'replica_id' | 'since'>[]>`select replica_id, since from exchange_leader`,
    ]);
    const { oldestInDoubtAt, ...rest } = only(facts);
    const [leader] = leaders;
    return {
      ...rest,
      oldestInDoubtAt: msOrNull(oldestInDoubtAt),
      leader: leader === undefined ? null : { replicaId: leader.replica_id, since: leader.since.getTime() },
    };
  },
});

/** Facts for an operator about all replicas at once. */
interface OperatorFacts {
  readonly replicas: number;
  readonly leader: { readonly replicaId: string; readonly since: number } | null;
  readonly inDoubt: number;
  /** When the oldest order in doubt was created. */
  readonly oldestInDoubtAt: number | null;
  /** Trades of live venues that count nothing until they are explained. */
  readonly tradesKeptAside: number;
  readonly webhookDeliveries: number;
  readonly webhooksDisabled: number;
  readonly marketsToRedeem: number;
  readonly skillsToReview: number;
}

export type OperatorReads = ReturnType<typeof createOperatorReads>;

// How much waits in the database to be done. Each is counted on a partial index, and no further than to a bound.

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
