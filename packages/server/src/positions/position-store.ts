/** Positions from the fills, with the desk's records of their markets. */

import type { Micro } from '@bellwether/contract/decimals';
import type {
  ActingAgent,
  AddressFamily,
  PositionRow,
  VenueFilter,
  WalletAddress,
} from '../domain/records.ts';
import { type Fragment, msOrNull, only, type Sql } from '../platform/database/connection.ts';
import { type Answering, asRows, byShape, groupReads } from '../platform/database/grouped-reads.ts';
import type { PositionsRow, TradedMarketsRow } from '../platform/database/rows.generated.ts';
import { evmWallets, solanaWallets } from '../wallets/index.ts';

type PositionWithMarket = PositionsRow &
  (
    | Pick<TradedMarketsRow, 'market_id' | 'question' | 'outcomes' | 'end_date' | 'payout' | 'venue'>
    | { readonly market_id: null; readonly venue: null }
  );

type Results = Awaited<ReturnType<PositionStore['results']>>;

interface HeldQuestion {
  readonly caller: ActingAgent;
  readonly families: readonly AddressFamily[];
  readonly venues: VenueFilter;
}

type HeldRow = PositionWithMarket & Answering;

const LATEST_FIRST = 'updated_at desc, token_id';

export function createPositionStore(sql: Sql) {
  const columns = sql`p.*, m.venue, m.market_id, m.question, m.outcomes, m.end_date, m.payout`;
  /** A condition on the condition id of a table with the alias `of`. */
  const ofVenues = (of: Fragment, venues: VenueFilter): Fragment => {
    const ids = 'only' in venues ? venues.only : venues.except;
    const noted = sql`exists (select 1 from traded_markets v where v.condition_id = ${of}.condition_id
      and v.venue = any(${[...ids]}::text[]))`;
    if ('only' in venues) return sql`and ${noted}`;
    return ids.length === 0 ? sql`` : sql`and not ${noted}`;
  };
  const reader = { agentId: sql`q.agent_id`, userId: sql`q.user_id` };
  const walletsOf = { evm: evmWallets(sql, reader), solana: solanaWallets(sql, reader) };
  const heldByAgents = byShape(
    ({ families, venues }: HeldQuestion) => ({
      families: families.join('+'),
      filter: JSON.stringify(venues),
    }),
    ({ families, filter }) => {
      const reach = families
        .split('+')
        .map((family) => walletsOf[family as AddressFamily])
        .reduce((all, wallets) => sql`${all} union ${wallets}`);
      const wanted = ofVenues(sql`p`, JSON.parse(filter) as VenueFilter);
      return groupReads<HeldQuestion, HeldRow>(
        (questions) => sql<HeldRow[]>`
          select q.nth::integer as nth, h.*
          from ${asRows(
            sql,
            sql`${questions.map(({ caller }) => caller.agentId)}::uuid[],
              ${questions.map(({ caller }) => caller.userId)}::bigint[]`,
            'agent_id, user_id',
            questions.length,
          )}
          cross join lateral (select array(select x.address from (${reach}) x) as wallets offset 0) w
          cross join lateral (select ${columns} from positions p left join traded_markets m using (condition_id)
            where p.wallet = any(w.wallets) and p.is_held ${wanted} offset 0) h
          order by q.nth, h.${sql.unsafe(LATEST_FIRST)}`,
      );
    },
  );

  return {
    /** Held now, by all wallets within the agent's reach, of these address families. */
    async heldByAgent(
      caller: ActingAgent,
      families: readonly AddressFamily[],
      venues: VenueFilter,
    ): Promise<readonly PositionRow[]> {
      if (families.length === 0) return [];
      return (await heldByAgents({ caller, families, venues })).map(positionRow);
    },

    /** Held now, by any of the wallets. */
    async held(wallets: readonly WalletAddress[], venues: VenueFilter): Promise<readonly PositionRow[]> {
      const rows = await sql<PositionWithMarket[]>`
        select ${columns} from positions p left join traded_markets m using (condition_id)
        where wallet = any(${[...wallets]}::text[]) and is_held ${ofVenues(sql`p`, venues)}
        order by ${sql.unsafe(LATEST_FIRST)}`;
      return rows.map(positionRow);
    },

    /** Completely sold or redeemed, latest first. */
    async closed(
      wallets: readonly WalletAddress[],
      venues: VenueFilter,
      { limit, offset, market, title, sortBy, sortDirection }: ClosedPage,
    ): Promise<{ readonly rows: readonly PositionRow[]; readonly total: number }> {
      const sorted: Record<string, Fragment> = {
        realizedPnl: sql`p.realized`,
        percentPnl: sql`p.realized / nullif(p.bought_cost, 0)::float8`,
        initialValue: sql`p.bought_cost`,
        avgPrice: sql`p.bought_cost / nullif(p.bought_size, 0)::float8`,
        title: sql`m.question`,
        endDate: sql`m.end_date`,
      };
      const field = sorted[sortBy ?? ''];
      const direction = sortDirection === 'ASC' ? sql`asc nulls last` : sql`desc nulls last`;
      const from = sql`from positions p left join traded_markets m using (condition_id)
        where wallet = any(${[...wallets]}::text[]) and not is_held ${ofVenues(sql`p`, venues)}
        ${market === undefined ? sql`` : sql`and (condition_id = ${market} or m.market_id = ${market})`}
        ${title === undefined ? sql`` : sql`and position(lower(${title}) in lower(m.question)) > 0`}`;
      const [rows, count] = await Promise.all([
        sql<PositionWithMarket[]>`select ${columns} ${from}
          order by ${field === undefined ? sql`` : sql`${field} ${direction},`} closed_at desc, token_id
          limit ${limit} offset ${offset}`,
        sql<{ total: number }[]>`select count(*)::int as total ${from}`,
      ]);
      return { rows: rows.map(positionRow), total: only(count).total };
    },

    /** Realised P&L before fees, the fees, the number of closed positions and of those with a gain. */
    async results(
      wallets: readonly WalletAddress[],
      venues: VenueFilter,
    ): Promise<{ realized: Micro; fees: Micro; closed: number; won: number }> {
      const rows = await sql<Results[]>`
        select coalesce(sum(realized), 0)::bigint as realized, coalesce(sum(fees), 0)::bigint as fees,
          count(*) filter (where size = 0)::int as closed,
          count(*) filter (where size = 0 and realized > fees)::int as won
        from positions p where wallet = any(${[...wallets]}::text[]) ${ofVenues(sql`p`, venues)}`;
      return only(rows);
    },

    /** Realised P&L after fees of the fills since then. */
    async realizedSince(wallets: readonly WalletAddress[], venues: VenueFilter, at: number): Promise<Micro> {
      const rows = await sql<{ net: bigint }[]>`
        select coalesce(sum(realized - fee), 0)::bigint as net from fills f
        where wallet = any(${[...wallets]}::text[]) and filled_at >= ${new Date(at)} ${ofVenues(sql`f`, venues)}`;
      return only(rows).net;
    },
  };
}

const positionRow = (row: PositionWithMarket): PositionRow => ({
  wallet: row.wallet,
  venue: row.venue,
  conditionId: row.condition_id,
  tokenId: row.token_id,
  outcome: row.outcome,
  size: row.size,
  cost: row.cost,
  realized: row.realized,
  fees: row.fees,
  boughtSize: row.bought_size,
  boughtCost: row.bought_cost,
  closedAt: msOrNull(row.closed_at),
  market:
    row.market_id === null
      ? null
      : {
          marketId: row.market_id,
          question: row.question,
          outcomes: row.outcomes,
          endDate: row.end_date.getTime(),
          payout: row.payout,
        },
});

export interface ClosedPage {
  readonly limit: number;
  readonly offset: number;
  /** Condition id or market id. */
  readonly market?: string;
  /** A part of the title, case-insensitive. */
  readonly title?: string;
  /** Default: the time of closing. Fields that are the same for every closed position do not sort. */
  readonly sortBy?: string;
  readonly sortDirection?: 'ASC' | 'DESC';
}

export type PositionStore = ReturnType<typeof createPositionStore>;
