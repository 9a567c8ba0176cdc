import type { Sql } from '../platform/database/connection.ts';
import { replicaPattern } from '../platform/database/replica-watch.ts';
import type { ExchangeLeaderRow } from '../platform/database/rows.generated.ts';
import { msOrNull, only } from '../platform/database/rows.ts';

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
export interface OperatorFacts {
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
