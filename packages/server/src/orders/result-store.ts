/** The trades journal, results by strategy, and the leaderboard. */

import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { OrderKind, OrderStatus } from '../domain/lifecycle.ts';
import { ms, msOrNull, only, type Sql } from '../platform/database/connection.ts';
import type {
  AgentResultsRow,
  AgentsRow,
  OrdersRow,
  RefusalsRow,
  SkillsRow,
} from '../platform/database/rows.generated.ts';
import { PLACES, type Place } from '../platform/http/page.ts';

/** A result older than this many times `freshMs` is never returned. */
const STALE_TIMES = 2;

interface ResultStoreOptions {
  /** How many agents a leaderboard shows at most. */
  readonly entries: number;
  /** How long a leaderboard is returned from memory. */
  readonly freshMs: number;
}

export function createResultStore(sql: Sql, { entries, freshMs }: ResultStoreOptions) {
  const readStandings = async () => {
    const [rows, count] = await Promise.all([
      // Adds up one small row per agent and strategy; does not read orders or fills. Doubles are exact enough for the
      // ranking, at a third of the cost of exact sums, which follow for the few agents shown.
      sql<RankedAgent[]>`with best as (
            select agent_id from agent_results group by agent_id having max(trades) > 0
            order by sum((realized - fees)::float8) desc, agent_id limit ${entries}
          ), sums as (
            select agent_id, sum(realized - fees)::bigint as pnl, sum(trades)::int as trades, sum(wins)::int as wins,
              sum(losses)::int as losses, max(last_trade_at) as last_trade_at
            from best join agent_results using (agent_id) group by agent_id
          )
          select s.*, a.name, a.description, a.claimed_at, a.wallet_address, a.created_at,
            (select max(last_called_at) from api_keys k where k.agent_id = s.agent_id) as last_called_at
          from sums s join agents a using (agent_id) order by s.pnl desc, s.agent_id`,
      sql<{ total: number }[]>`select count(*)::int as total from agents`,
    ]);
    return { rows: rows.map(standingRow), totalAgents: only(count).total };
  };
  const standings = keepFresh(readStandings, freshMs);

  return {
    async attempts(
      agentId: string,
      {
        limit,
        offset,
        after,
        venue,
      }: {
        readonly limit: number;
        readonly offset: number;
        readonly after?: Place;
        readonly venue: string | null;
      },
    ): Promise<{ readonly attempts: readonly AttemptRow[]; readonly total: number }> {
      const reach = limit + offset;
      const whose = sql`agent_id = ${agentId} ${venue === null ? sql`` : sql`and venue = ${venue}`}`;
      // At one moment orders come before refused attempts.
      const ofOrder = after !== undefined && !PLACES.byNumber.test(after.id);
      const at = after === undefined ? null : new Date(after.at);
      const [orderBeyond, refusalBeyond] =
        after === undefined
          ? [sql``, sql``]
          : ofOrder
            ? [sql`and (created_at, order_id) < (${at}, ${after.id})`, sql`and refused_at <= ${at}`]
            : [sql`and created_at < ${at}`, sql`and (refused_at, slot) < (${at}, ${after.id}::integer)`];
      const [rows, count] = await Promise.all([
        sql<Attempt[]>`
          select t.*, (select k.skill_code from skills k where k.slug = t.skill_slug and k.review_status = 2
                       order by k.created_at limit 1) as skill_code
          from (
            (select created_at as at, order_id, condition_id, question, skill_slug, source, reasoning, venue, side,
                outcome, outcome_name, shares, money, wallet_address, status, kind, price, time_in_force, filled, cost, fees,
                error_code, null as detail, 0 as slot
              from orders where ${whose} ${orderBeyond} order by created_at desc, order_id desc limit ${reach})
            union all
            (select refused_at, null, condition_id, question, skill_slug, source, reasoning, venue, side, outcome,
                outcome_name(condition_id, outcome), shares, money, wallet_address, null, null, null, null, null, null, null, code, detail, slot
              from refusals where ${whose} ${refusalBeyond} order by refused_at desc, slot desc limit ${reach})
          ) t order by at desc, order_id desc nulls last, slot desc limit ${limit} offset ${offset}`,
        sql<{ total: number }[]>`select (select count(*) from orders where ${whose})::int
              + (select count(*) from refusals where ${whose})::int as total`,
      ]);
      return { attempts: rows.map(attemptRow), total: only(count).total };
    },

    async byStrategy(agentId: string): Promise<readonly StrategyRow[]> {
      const rows = await sql<AgentResultsRow[]>`
        select * from agent_results where agent_id = ${agentId} order by volume desc, trades desc, source, skill_slug`;
      return rows.map(strategyRow);
    },

    /** Agents that have traded, best first; at most as many as the leaderboard shows. A few seconds old at most. */
    standings,
  };
}

/**
 * Returns the last result and refreshes it in the background once it is older than `freshMs`: only the first caller waits,
 * and a caller after a long pause.
 */
function keepFresh<T>(read: () => Promise<T>, freshMs: number): () => Promise<T> {
  let known: { readonly at: number; readonly value: T } | undefined;
  let reading: Promise<T> | undefined;
  return async () => {
    const age = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.at;
    if (age > freshMs) {
      reading ??= read()
        .then((value) => {
          known = { at: performance.now(), value };
          return value;
        })
        .finally(() => {
          reading = undefined;
        });
      if (known === undefined || age > freshMs * STALE_TIMES) return reading;
      reading.catch(() => {});
    }
    return (known as { readonly value: T }).value;
  };
}

/** An order, or an attempt that was refused. */
type Attempt = Pick<
  RefusalsRow,
  | 'condition_id'
  | 'question'
  | 'skill_slug'
  | 'source'
  | 'reasoning'
  | 'venue'
  | 'side'
  | 'outcome'
  | 'shares'
  | 'money'
  | 'wallet_address'
> & {
  readonly outcome_name: string | null;
  readonly at: Date;
  readonly slot: number;
  readonly skill_code: SkillsRow['skill_code'] | null;
  readonly error_code: OrdersRow['error_code'];
  readonly detail: RefusalsRow['detail'] | null;
} & (
    | Pick<OrdersRow, 'order_id' | 'kind' | 'status' | 'price' | 'time_in_force' | 'filled' | 'cost' | 'fees'>
    | { readonly order_id: null; readonly kind: null; readonly status: null }
  );

type RankedAgent = Pick<
  AgentsRow,
  'agent_id' | 'name' | 'description' | 'claimed_at' | 'wallet_address' | 'created_at'
> & {
  readonly pnl: bigint;
  readonly trades: number;
  readonly wins: number;
  readonly losses: number;
  readonly last_called_at: Date;
  readonly last_trade_at: Date | null;
};

const attemptRow = (row: Attempt): AttemptRow => ({
  at: ms(row.at),
  slot: row.slot,
  conditionId: row.condition_id,
  question: row.question,
  outcomeName: row.outcome_name,
  skillCode: row.skill_code,
  skillSlug: row.skill_slug,
  source: row.source,
  reasoning: row.reasoning,
  venue: row.venue,
  side: row.side,
  outcome: row.outcome,
  shares: row.shares,
  money: row.money,
  walletAddress: row.wallet_address,
  placed:
    row.kind === null
      ? null
      : {
          orderId: row.order_id,
          kind: row.kind,
          status: row.status,
          price: row.price,
          timeInForce: row.time_in_force,
          filled: row.filled,
          cost: row.cost,
          fees: row.fees,
        },
  errorCode: row.error_code,
  detail: row.detail,
});

const strategyRow = (row: AgentResultsRow): StrategyRow => ({
  source: row.source === '' ? null : row.source,
  skillSlug: row.skill_slug === '' ? null : row.skill_slug,
  trades: Number(row.trades),
  volume: row.volume,
  fees: row.fees,
  realized: row.realized,
});

const standingRow = (row: RankedAgent): StandingRow => ({
  agentId: row.agent_id,
  name: row.name,
  description: row.description,
  claimed: row.claimed_at !== null,
  walletAddress: row.wallet_address,
  createdAt: ms(row.created_at),
  lastCalledAt: ms(row.last_called_at),
  lastTradeAt: msOrNull(row.last_trade_at),
  pnl: row.pnl,
  trades: row.trades,
  wins: row.wins,
  losses: row.losses,
});

/** An order, or an attempt that the desk refused. */
export interface AttemptRow {
  readonly at: number;
  /** Sorts refused attempts of one moment. */
  readonly slot: number;
  readonly conditionId: string;
  readonly question: string;
  readonly outcomeName: string | null;
  readonly skillCode: string | null;
  readonly skillSlug: string | null;
  readonly source: string | null;
  readonly reasoning: string | null;
  readonly venue: string;
  readonly side: string;
  readonly outcome: string;
  readonly shares: Micro;
  readonly money: Micro;
  readonly walletAddress: string;
  /** `null`: the desk refused it. */
  readonly placed: {
    readonly orderId: string;
    readonly kind: OrderKind;
    readonly status: OrderStatus;
    readonly price: Pips;
    readonly timeInForce: string;
    readonly filled: Micro;
    readonly cost: Micro;
    readonly fees: Micro;
  } | null;
  readonly errorCode: string | null;
  readonly detail: string | null;
}

interface StrategyRow {
  readonly source: string | null;
  readonly skillSlug: string | null;
  readonly trades: number;
  readonly volume: Micro;
  readonly fees: Micro;
  readonly realized: Micro;
}

export interface StandingRow {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly claimed: boolean;
  readonly walletAddress: Address | null;
  readonly createdAt: number;
  readonly lastCalledAt: number;
  readonly lastTradeAt: number | null;
  /** Realised, after fees. */
  readonly pnl: Micro;
  readonly trades: number;
  readonly wins: number;
  readonly losses: number;
}

export type ResultStore = ReturnType<typeof createResultStore>;
