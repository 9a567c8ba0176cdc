/**
 * Thins out old prices: of each hour the last one stays, which is what a history by the hour or coarser shows, and the
 * first price of all, where a market's history begins. A market's row in exchange_tokens says up to when that is done.
 */
import type { Sql } from '../platform/database/connection.ts';
import { only } from '../platform/database/rows.ts';

const HOUR_MS = 3_600_000;
const MARKETS_PER_STATEMENT = 100;
/** More than an hour can have, so that every turn comes further. */
const PRICES_PER_MARKET = 2_000;

export interface PriceRetention {
  /** Keeps the last price of each hour before `before` (epoch milliseconds), and the first price of each market. */
  thin(before: number): Promise<void>;
}

interface RetentionTurn {
  readonly last: string | null;
  readonly markets: number;
}

export const createPriceRetention = (sql: Sql): PriceRetention => ({
  async thin(before) {
    const until = before - (before % HOUR_MS);
    for (let after = ''; ; ) {
      // Rows of prices never change, so they can be deleted by their place in the table.
      const turn = only(
        await sql<RetentionTurn[]>`
          with markets as (
            select no_token_id, yes_token_id, thinned_ms from exchange_tokens
            where no_token_id > ${after} order by no_token_id limit ${MARKETS_PER_STATEMENT}::int
          ), old as materialized (
            select m.no_token_id, p.place, p.at_ms, m.thinned_ms = 0 and row_number() over market = 1 as is_first,
              lead(p.at_ms) over market / ${HOUR_MS}::int = p.at_ms / ${HOUR_MS}::int as is_followed
            from markets m cross join lateral (
              select ctid as place, at_ms from exchange_prices
              where token_id = m.yes_token_id and at_ms >= m.thinned_ms and at_ms < ${until}::bigint
              order by at_ms limit ${PRICES_PER_MARKET}::int) p
            window market as (partition by m.no_token_id order by p.at_ms)
          ), deleted as (
            delete from exchange_prices
            where ctid = any(array(select place from old where is_followed and not is_first))
          ), done as (
            update exchange_tokens t
            set thinned_ms = case when d.count < ${PRICES_PER_MARKET}::int then ${until}::bigint
              else d.newest - d.newest % ${HOUR_MS}::int end
            from (select no_token_id, count(*) as count, max(at_ms) as newest from old group by 1) d
            where t.no_token_id = d.no_token_id
          )
          select max(no_token_id) as last, count(*)::int as markets from markets`,
      );
      if (turn.last === null || turn.markets < MARKETS_PER_STATEMENT) return;
      after = turn.last;
    }
  },
});
