/** What is stored of markets: prices, thinned out with age, and the names of outcomes in what earlier releases stored. */

import { listsNoFirst } from '@bellwether/contract';
import { only, type Sql } from '../platform/database/connection.ts';
import type { UnnamedMarketsRow } from '../platform/database/rows.generated.ts';
import type { Venue, Venues } from '../venues/venue.ts';

const HOUR_MS = 3_600_000;
const MARKETS_PER_STATEMENT = 100;
/** More than an hour can have, so that every turn comes further. */
const PRICES_PER_MARKET = 2_000;

interface PriceRetention {
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

// Names the outcomes in what earlier releases stored: their records have no names, and say YES of the outcome that the venue lists first.
// Each market is read once more; until then it stays in the venue's order, here and in what is stored.

const MARKETS_PER_TURN = 200;

export type StoredNames = Awaited<ReturnType<typeof openStoredNames>>;

export async function openStoredNames(sql: Sql) {
  const read = async (): Promise<Set<string>> => {
    const rows = await sql<
      Pick<UnnamedMarketsRow, 'condition_id'>[]
    >`select condition_id from unnamed_markets`;
    return new Set(rows.map(({ condition_id }) => condition_id));
  };
  let unnamed = await read();
  /** Of these the venue has said that it does not list them now. */
  const missing = new Set<string>();

  /** Markets in which something is held first. A venue that has another name now is the first one. @throws VenueUnavailable */
  const nameAt = async (venue: Venue, venues: Venues): Promise<void> => {
    const known = venue === venues.default ? [...venues.keys()].filter((id) => id !== venue.id) : null;
    const rows = await sql<Pick<UnnamedMarketsRow, 'condition_id'>[]>`
      select u.condition_id from unnamed_markets u
      where (u.venue = ${venue.id} or u.venue <> all(${known}::text[])) and u.condition_id <> all(${[...missing]}::text[])
      order by exists (select from positions p where p.condition_id = u.condition_id and p.is_held) desc, u.condition_id
      limit ${MARKETS_PER_TURN}`;
    if (rows.length === 0) return;
    const found = await venue.markets.findAll(rows.map(({ condition_id }) => condition_id));
    const batch = found.map(({ conditionId, tokenIds: [first, second], outcomes: [yes, no] }) => {
      const inOrder = {
        condition_id: conditionId,
        yes_token: first,
        no_token: second,
        yes_name: yes,
        no_name: no,
      };
      // On paper a market stays as the exchange's journal has it.
      return venue.backend === 'live' && listsNoFirst([yes, no])
        ? { ...inOrder, yes_token: second, no_token: first, yes_name: no, no_name: yes }
        : inOrder;
    });
    await sql`select name_outcomes(${sql.json(batch)}::jsonb)`;
    const isNamed = new Set(found.map(({ conditionId }) => conditionId));
    for (const { condition_id } of rows) if (!isNamed.has(condition_id)) missing.add(condition_id);
  };

  return {
    isUnnamed: (conditionId: string): boolean => unnamed.has(conditionId),

    /** One turn. Another replica may have named some. @throws AggregateError of venues that do not answer, once the others have */
    async name(venues: Venues): Promise<void> {
      if (unnamed.size === 0) return;
      const turns = await Promise.allSettled([...venues.values()].map((venue) => nameAt(venue, venues)));
      unnamed = await read();
      const failures = turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : []));
      if (failures.length > 0) throw new AggregateError(failures, 'names of outcomes were not read');
    },
  };
}
