/**
 * Past prices. At the live venue: what is asked, what is kept, and how points become buckets. At the paper venue old prices are
 * thinned out to the last one of each hour, and a history by the hour or coarser shows the same as before.
 */
import { createPriceHistory, migrateExchange } from '@bellwether/exchange';
import { beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { createPriceRetention } from '../src/markets/store.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { createLivePriceHistory } from '../src/venues/polymarket/price-history.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('at the live venue', () => {
  const DAY = 24 * HOUR;
  const NOW = 29_000_000 * MINUTE + 17_123;
  const TOKEN = '7'.repeat(77);

  interface Point {
    readonly t: number;
    readonly p: unknown;
  }

  function stage(history: readonly Point[] | Error) {
    const asked: Record<string, unknown>[] = [];
    const prices = createLivePriceHistory({
      clock: { now: () => NOW },
      clob: {
        async read(call, check) {
          asked.push({ path: call.path, ...call.query });
          if (history instanceof Error) throw history;
          return check({ history });
        },
      },
    });
    const read = (from: number, to: number, minutes: number, limit = 100) =>
      prices.read({ tokenId: TOKEN, from, to, bucketMs: minutes * MINUTE, limit });
    return { asked, prices, read };
  }

  const at = (minutesAgo: number, p: unknown = 0.5): Point => ({
    t: Math.floor((NOW - minutesAgo * MINUTE) / 1_000),
    p,
  });

  test('the last price of each bucket, oldest first, and the one that held before the range', async () => {
    const { read } = stage([
      at(1, 0.52),
      at(90, 0.4),
      at(75, '0.41'),
      at(12, 0.5),
      at(11, 0.51),
      at(2, 'none'),
      at(-5, 0.9),
    ]);
    const { before, points } = await read(NOW - 60 * MINUTE, NOW, 10);
    expect(before?.price).toBe(4_100);
    expect(points.map(({ price }) => price)).toEqual([5_100, 5_200]);
    const { points: some } = await read(NOW - 100 * MINUTE, NOW, 1, 2);
    // One more than the limit says that there are more.
    expect(some).toHaveLength(3);
  });

  test('questions of one minute are one question, and many readers share it', async () => {
    const { asked, read } = stage([at(1)]);
    await Promise.all(Array.from({ length: 20 }, (_, i) => read(NOW - 60 * MINUTE - i, NOW - i, 5)));
    expect(asked).toEqual([
      {
        path: '/prices-history',
        market: TOKEN,
        startTs: (29_000_000 - 60) * 60 - 86_400,
        endTs: 29_000_001 * 60,
        fidelity: 5,
      },
    ]);
    await read(NOW - 60 * MINUTE, NOW, 15);
    expect(asked).toHaveLength(2);
  });

  test('a span beyond fifteen days is asked for as an interval that covers it', async () => {
    const { asked, read } = stage([]);
    await read(NOW - 20 * DAY, NOW, 5);
    await read(NOW - 29 * DAY, NOW - DAY, 180);
    await read(NOW - 90 * DAY, NOW, 180);
    await read(0, NOW, 1_440);
    await read(NOW - 15 * DAY + 2 * MINUTE, NOW, 60);
    expect(asked.map(({ interval, fidelity }) => [interval, fidelity])).toEqual([
      ['1m', 10],
      ['1m', 180],
      ['max', 180],
      ['max', 1_440],
      [undefined, 60],
    ]);
    const { startTs, endTs } = asked.at(-1) as { startTs: number; endTs: number };
    expect((endTs - startTs) * 1_000).toBeLessThanOrEqual(15 * DAY);
  });

  test('the first price says where a history begins; a token without prices has none, and a text that is no token is not asked for', async () => {
    const { prices } = stage([at(5_000), at(10)]);
    expect(await prices.locate(TOKEN)).toEqual({
      yesTokenId: TOKEN,
      mirrored: false,
      first: Math.floor((NOW - 5_000 * MINUTE) / 1_000) * 1_000,
    });
    const none = stage([]);
    expect(await none.prices.locate(TOKEN)).toBeNull();
    expect(await none.prices.locate('../etc')).toBeNull();
    expect(none.asked).toHaveLength(1);
  });

  test('a venue that does not answer is not remembered', async () => {
    const { asked, read } = stage(new VenueUnavailable('no'));
    await expect(read(NOW - DAY, NOW, 5)).rejects.toBeInstanceOf(VenueUnavailable);
    await expect(read(NOW - DAY, NOW, 5)).rejects.toBeInstanceOf(VenueUnavailable);
    expect(asked).toHaveLength(2);
  });
});

describe('of the paper venue', () => {
  const START = Date.UTC(2026, 9, 1);
  /** In the middle of an hour, which stays whole. */
  const BEFORE = START + 50 * HOUR + 30 * MINUTE;
  const END = START + 60 * HOUR;
  const MARKETS = 130;

  let sql: Sql;

  /** A price a minute in two markets, the second one quiet at times; markets without prices around them. */
  beforeAll(async () => {
    sql = await openTestDatabase();
    await migrateExchange(sql);
    await sql`insert into exchange_tokens (no_token_id, yes_token_id)
    select 'no' || n, 'yes' || n from generate_series(1, ${MARKETS}::int) n`;
    await sql`insert into exchange_prices (token_id, at_ms, pips)
    select 'yes7', ${START}::bigint + n * ${MINUTE}::int + 5, 4000 + n % 100 from generate_series(0, 60 * 60 - 1) n
    union all
    select 'yes99', ${START}::bigint + n * ${MINUTE}::int, 5000 + n % 10 from generate_series(0, 60 * 60 - 1) n
    where n / 60 % 3 = 0`;
  });

  const times = async (tokenId: string): Promise<number[]> => {
    const rows = await sql<{ at_ms: bigint }[]>`
    select at_ms from exchange_prices where token_id = ${tokenId} order by at_ms`;
    return rows.map((row) => Number(row.at_ms) - START);
  };

  const byHours = (hours: number) =>
    createPriceHistory(sql).read({
      ...{ tokenId: 'yes7', from: START, to: END, bucketMs: hours * HOUR, limit: 1_000 },
    });

  test('thinning keeps the first price, the last one of each old hour, and every later one', async () => {
    const retention = createPriceRetention(sql);
    const shown = [await byHours(1), await byHours(3)];
    const young = (await times('yes7')).filter((at) => at >= 50 * HOUR);
    // More prices than one turn takes of a market.
    await retention.thin(BEFORE);
    await retention.thin(BEFORE);
    expect(await times('yes7')).toEqual([
      5,
      ...Array.from({ length: 50 }, (_, hour) => hour * HOUR + 59 * MINUTE + 5),
      ...young,
    ]);
    const quiet = await times('yes99');
    expect(quiet.filter((at) => at < 50 * HOUR)).toHaveLength(1 + 17);
    expect([await byHours(1), await byHours(3)]).toEqual(shown);
    expect((await createPriceHistory(sql).locate('no7'))?.first).toBe(START + 5);
  });

  test('thinning again later goes on where it ended', async () => {
    const retention = createPriceRetention(sql);
    await retention.thin(BEFORE);
    const before = await times('yes7');
    await retention.thin(BEFORE);
    expect(await times('yes7')).toEqual(before);
    await retention.thin(BEFORE + 2 * HOUR);
    expect((await times('yes7')).filter((at) => at >= 50 * HOUR && at < 52 * HOUR)).toHaveLength(2);
  });
});
