/** Positions as the fills made them. */
import type { PositionStore } from '../../ports/stores.ts';
import type { Sql } from './connection.ts';
import type { Row } from './rows.ts';

export function createPositionStore(sql: Sql): PositionStore {
  return {
    async held(wallets) {
      const rows = await sql`
        select * from positions where wallet = any(${[...wallets]}::text[]) and size > 0 order by updated_at desc, token_id`;
      return rows.map((row: Row) => ({
        wallet: row.wallet,
        conditionId: row.condition_id,
        tokenId: row.token_id,
        outcome: row.outcome,
        size: row.size,
        cost: row.cost,
        realized: row.realized,
        fees: row.fees,
      }));
    },

    async results(wallets) {
      const [row] = await sql`
        select coalesce(sum(realized), 0)::bigint as realized, coalesce(sum(fees), 0)::bigint as fees,
          count(*) filter (where size = 0)::int as closed,
          count(*) filter (where size = 0 and realized > fees)::int as won
        from positions where wallet = any(${[...wallets]}::text[])`;
      return { realized: row?.realized, fees: row?.fees, closed: row?.closed, won: row?.won };
    },
  };
}
