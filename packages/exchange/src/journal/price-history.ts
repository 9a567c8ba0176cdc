/**
 * Price histories from the exchange's own ticks. A read costs one primary-key lookup per point of the answer, regardless
 * of the number of ticks between them: from the newest tick it jumps to the newest one before that tick's bucket, and so
 * on, until the range or the limit ends.
 */
import type { Sql } from '@bellwether/durable';
import type { PriceHistory, PricePoint } from '../paper-exchange.ts';

/** A row of exchange_prices. */
interface Tick {
  readonly at_ms: bigint;
  readonly pips: number;
}

const point = (row: Tick): PricePoint => ({ at: Number(row.at_ms), price: row.pips });

export function createPriceHistory(sql: Sql): PriceHistory {
  return {
    async locate(tokenId) {
      const [row] = await sql<{ token_id: string; first: bigint | null }[]>`
        with asked as (
          select coalesce((select yes_token_id from exchange_tokens where no_token_id = ${tokenId}), ${tokenId}) as token_id
        )
        select token_id, (select min(at_ms) from exchange_prices p where p.token_id = asked.token_id) as first
        from asked`;
      if (row === undefined || row.first === null) return null;
      return { yesTokenId: row.token_id, mirrored: row.token_id !== tokenId, first: Number(row.first) };
    },

    async read({ tokenId, from, to, bucketMs, limit }) {
      const rows = await sql<Tick[]>`
        with recursive points as (
          (select at_ms, pips from exchange_prices
            where token_id = ${tokenId} and at_ms between ${from}::bigint and ${to}::bigint
            order by at_ms desc limit 1)
          union all
          select earlier.at_ms, earlier.pips from points cross join lateral (
            select at_ms, pips from exchange_prices
            where token_id = ${tokenId} and at_ms >= ${from}::bigint
              and at_ms < points.at_ms - points.at_ms % ${bucketMs}::bigint
            order by at_ms desc limit 1) earlier
        )
        (select at_ms, pips from points limit ${limit + 1}::int)
        union all
        (select at_ms, pips from exchange_prices
          where token_id = ${tokenId} and at_ms < ${from}::bigint order by at_ms desc limit 1)`;
      const all = rows.map(point);
      const last = all.at(-1);
      const before = last !== undefined && last.at < from ? last : null;
      return { before, points: (before === null ? all : all.slice(0, -1)).reverse() };
    },
  };
}
