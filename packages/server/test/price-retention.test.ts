/** Old prices are thinned out to the last one of each hour; a history by the hour or coarser shows the same as before. */
import { createPriceHistory, migrateExchange } from '@bellwether/exchange';
import { beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import { createPriceRetention } from '../src/markets/price-retention.ts';
import type { Sql } from '../src/platform/database/connection.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START = Date.UTC(2026, 9, 1);
/** In the middle of an hour, which stays whole. */
const BEFORE = START + 50 * HOUR_MS + 30 * MINUTE_MS;
const END = START + 60 * HOUR_MS;
const MARKETS = 130;

let sql: Sql;

/** A price a minute in two markets, the second one quiet at times; markets without prices around them. */
beforeAll(async () => {
  sql = await openTestDatabase();
  await migrateExchange(sql);
  await sql`insert into exchange_tokens (no_token_id, yes_token_id)
    select 'no' || n, 'yes' || n from generate_series(1, ${MARKETS}::int) n`;
  await sql`insert into exchange_prices (token_id, at_ms, pips)
    select 'yes7', ${START}::bigint + n * ${MINUTE_MS}::int + 5, 4000 + n % 100 from generate_series(0, 60 * 60 - 1) n
    union all
    select 'yes99', ${START}::bigint + n * ${MINUTE_MS}::int, 5000 + n % 10 from generate_series(0, 60 * 60 - 1) n
    where n / 60 % 3 = 0`;
});

const times = async (tokenId: string): Promise<number[]> => {
  const rows = await sql<{ at_ms: bigint }[]>`
    select at_ms from exchange_prices where token_id = ${tokenId} order by at_ms`;
  return rows.map((row) => Number(row.at_ms) - START);
};

const byHours = (hours: number) =>
  createPriceHistory(sql).read({
    ...{ tokenId: 'yes7', from: START, to: END, bucketMs: hours * HOUR_MS, limit: 1_000 },
  });

test('thinning keeps the first price, the last one of each old hour, and every later one', async () => {
  const retention = createPriceRetention(sql);
  const shown = [await byHours(1), await byHours(3)];
  const young = (await times('yes7')).filter((at) => at >= 50 * HOUR_MS);
  // More prices than one turn takes of a market.
  await retention.thin(BEFORE);
  await retention.thin(BEFORE);
  expect(await times('yes7')).toEqual([
    5,
    ...Array.from({ length: 50 }, (_, hour) => hour * HOUR_MS + 59 * MINUTE_MS + 5),
    ...young,
  ]);
  const quiet = await times('yes99');
  expect(quiet.filter((at) => at < 50 * HOUR_MS)).toHaveLength(1 + 17);
  expect([await byHours(1), await byHours(3)]).toEqual(shown);
  expect((await createPriceHistory(sql).locate('no7'))?.first).toBe(START + 5);
});

test('thinning again later goes on where it ended', async () => {
  const retention = createPriceRetention(sql);
  await retention.thin(BEFORE);
  const before = await times('yes7');
  await retention.thin(BEFORE);
  expect(await times('yes7')).toEqual(before);
  await retention.thin(BEFORE + 2 * HOUR_MS);
  expect((await times('yes7')).filter((at) => at >= 50 * HOUR_MS && at < 52 * HOUR_MS)).toHaveLength(2);
});
