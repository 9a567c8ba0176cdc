/**
 * Mid prices: which are recorded (those that moved by a tick, at most one a minute per market), and the histories that
 * are read from them.
 */

import type { Sql } from '@bellwether/durable';
import type { ConditionId, EngineEvent } from '../engine/commands.ts';
import type { PriceHistory, PricePoint } from '../paper-exchange.ts';
import type { World } from '../world/world.ts';
import type { PriceTick } from './commits.ts';

const LEAST_INTERVAL_MS = 60_000;

export class PriceTicks {
  readonly #world: World;
  /** Last recorded: twice the mid price, so that it is an integer. */
  readonly #last = new Map<ConditionId, { readonly doubled: number; readonly at: number }>();
  /** Markets whose price may have moved since they were last looked at: of thousands few have. */
  readonly #touched: Set<ConditionId>;

  constructor(world: World) {
    this.#world = world;
    this.#touched = new Set(world.catalogue.conditionIds());
  }

  /** Must receive every event of the engine. */
  observe(events: readonly EngineEvent[]): void {
    for (const event of events) if ('conditionId' in event) this.#touched.add(event.conditionId);
  }

  collect(at: number): PriceTick[] {
    const ticks: PriceTick[] = [];
    for (const conditionId of this.#touched) {
      const last = this.#last.get(conditionId);
      // It stays, to be looked at when its minute is over.
      if (last !== undefined && at - last.at < LEAST_INTERVAL_MS) continue;
      this.#touched.delete(conditionId);
      const mid = this.#world.mid(conditionId);
      if (mid === undefined) {
        if (this.#world.catalogue.life(conditionId)?.status !== 'open') this.#last.delete(conditionId);
        continue;
      }
      const { market, doubled } = mid;
      if (last !== undefined && Math.abs(doubled - last.doubled) < 2 * market.tickSize) continue;
      this.#last.set(conditionId, { doubled, at });
      const [tokenId, noTokenId] = market.tokenIds;
      ticks.push({
        tokenId,
        at,
        pips: Math.floor(doubled / 2),
        ...(last === undefined ? { noTokenId } : {}),
      });
    }
    return ticks;
  }
}

// Price histories from the exchange's own ticks. A read costs one primary-key lookup per point of the answer, regardless
// of the number of ticks between them: from the newest tick it jumps to the newest one before that tick's bucket, and so
// on, until the range or the limit ends.

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
