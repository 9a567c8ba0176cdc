/** GET /markets/check and /markets/prices-history, against a slow obvious model of the stored ticks. */
import type { Market } from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { aMarket, call, newAgent, openMarkets, startTestService, type TestService } from '../harness.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** In the middle of a minute, so that buckets and ticks do not coincide by chance. */
const NOW = Math.floor(Date.now() / MINUTE) * MINUTE + 17_123;

let service: TestService;
let sql: Sql;
let key: string;
let market: Market;
let quiet: Market;

interface Tick {
  readonly at: number;
  readonly pips: number;
}
/** Eight days of ticks, with occasional gaps of hours. */
const TICKS: readonly Tick[] = (() => {
  const ticks: Tick[] = [];
  let at = NOW - 8 * DAY;
  let pips = 5_000;
  for (let i = 0; at < NOW - 2 * MINUTE; i += 1) {
    pips = Math.min(9_900, Math.max(100, pips + ((i * 7_919) % 5 < 2 ? -100 : 100) * (1 + (i % 3))));
    ticks.push({ at, pips });
    at += i % 40 === 39 ? 200 * MINUTE : MINUTE + ((i * 104_729) % 50) * 6_000;
  }
  return ticks;
})();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock: { now: () => NOW } });
  sql = openPool(service.databaseUrl, { max: 2 });
  const agent = await newAgent(service);
  key = agent.apiKey;
  const markets = await openMarkets(agent.client);
  [market, quiet] = markets as [Market, Market];
  await fill(market.clobTokenIds[0] as string, TICKS);
  await fill(quiet.clobTokenIds[0] as string, [{ at: NOW - 3 * DAY, pips: 4_200 }]);
});
afterAll(() => sql.end());

async function fill(tokenId: string, ticks: readonly Tick[]): Promise<void> {
  await sql`delete from exchange_prices where token_id = ${tokenId}`;
  await sql`insert into exchange_prices (token_id, at_ms, pips) select ${tokenId}, * from unnest(
    ${ticks.map(({ at }) => String(at))}::bigint[], ${ticks.map(({ pips }) => pips)}::integer[])`;
}

const ask = (query: Record<string, string | number>, token = market.clobTokenIds[0] as string) =>
  call(
    service,
    'GET',
    `/markets/prices-history?${new URLSearchParams({ market: token, ...query } as never)}`,
    {
      key,
    },
  );
const point = ({ at, pips }: Tick) => ({ t: Math.floor(at / 1000), p: pips / 10_000 });
const current = () => ({ t: Math.floor(NOW / 1000), p: market.yesPrice });

/** Last tick per bucket, the price at the beginning of the range, the current price in the last bucket. */
function model(from: number, to: number, minutes: number, options: { opens: boolean; live: boolean }) {
  const bucket = (at: number) => Math.floor(at / (minutes * MINUTE));
  const buckets = new Map<number, { t: number; p: number }>();
  const before = TICKS.filter(({ at }) => at < from).at(-1);
  if (options.opens && before !== undefined) buckets.set(bucket(from), point({ ...before, at: from }));
  for (const tick of TICKS) if (tick.at >= from && tick.at <= to) buckets.set(bucket(tick.at), point(tick));
  if (options.live) {
    buckets.delete(bucket(NOW));
    return [...buckets.values(), current()];
  }
  return [...buckets.values()];
}

describe('price history', () => {
  test.each([
    ['1h', 60 * MINUTE, 1],
    ['6h', 360 * MINUTE, 1],
    ['1d', DAY, 5],
    ['1w', 7 * DAY, 30],
    ['1m', 30 * DAY, 180],
  ])('%s at its own fidelity', async (interval, span, fidelity) => {
    const { status, body } = await ask({ interval });
    expect(status).toBe(200);
    expect(body.history.length).toBeGreaterThan(10);
    expect(body.history).toEqual(model(NOW - span, NOW, fidelity, { opens: true, live: true }));
  });

  test.each(['1h', '6h', '1d', '1w', '1m', 'max', 'all'])('%s at every fidelity', async (interval) => {
    const spans = { '1h': 1 / 24, '6h': 0.25, '1d': 1, '1w': 7, '1m': 30, max: 100, all: 100 } as const;
    const from = NOW - spans[interval as keyof typeof spans] * DAY;
    for (const fidelity of [1, 2, 7, 60, 1_440, 43_200]) {
      const { body } = await ask({ interval, fidelity });
      expect(body.history, `${interval} ${fidelity}`).toEqual(
        model(from, NOW, fidelity, { opens: true, live: true }),
      );
    }
  });

  test('a past range: from its opening price to its last tick, without later ticks', async () => {
    const from = Math.floor((NOW - 5 * DAY) / 1000);
    const to = Math.floor((NOW - 4 * DAY) / 1000);
    const { body } = await ask({ startTs: from, endTs: to, fidelity: 10 });
    expect(body.history).toEqual(model(from * 1000, to * 1000 + 999, 10, { opens: true, live: false }));
    expect(body.history[0].t).toBe(from);
    const open = await ask({ startTs: from, fidelity: 60 });
    expect(open.body.history).toEqual(model(from * 1000, NOW, 60, { opens: true, live: true }));
    const beginning = await ask({ endTs: to, fidelity: 60 });
    expect(beginning.body.history).toEqual(model(0, to * 1000 + 999, 60, { opens: false, live: false }));
  });

  test('other ranges get a suitable fidelity: at most 500 points', async () => {
    for (const query of [{ interval: 'max' }, { startTs: Math.floor((NOW - 8 * DAY) / 1000) }]) {
      const { body } = await ask(query as never);
      expect(body.history.length).toBeGreaterThan(50);
      expect(body.history.length).toBeLessThanOrEqual(502);
    }
  });

  test('NO mirrors YES', async () => {
    const yes = await ask({ interval: '1w' });
    const no = await ask({ interval: '1w' }, market.clobTokenIds[1]);
    expect(no.body.history.length).toBe(yes.body.history.length);
    for (const [index, { t, p }] of no.body.history.entries()) {
      expect(t).toBe(yes.body.history[index].t);
      expect(Math.round((p + yes.body.history[index].p) * 10_000)).toBe(10_000);
    }
  });

  test('a market without ticks in the range has the earlier price and the current one', async () => {
    const { body } = await ask({ interval: '1d' }, quiet.clobTokenIds[0]);
    expect(body.history).toEqual([
      { t: Math.floor((NOW - DAY) / 1000), p: 0.42 },
      { t: Math.floor(NOW / 1000), p: quiet.yesPrice },
    ]);
  });

  test('ranges without data are empty', async () => {
    const before = Math.floor((NOW - 20 * DAY) / 1000);
    expect((await ask({ startTs: before, endTs: before + 3_600 })).body).toEqual({ history: [] });
    const ahead = Math.floor((NOW + DAY) / 1000);
    expect((await ask({ startTs: ahead, endTs: ahead + 3_600 })).body).toEqual({ history: [] });
  });

  test('an archived market still has both histories', async () => {
    const [yes, no] = ['77001', '77002'];
    await fill(yes as string, [
      { at: NOW - 2 * DAY, pips: 6_000 },
      { at: NOW - DAY, pips: 9_000 },
    ]);
    await sql`insert into exchange_tokens (no_token_id, yes_token_id) values (${no as string}, ${yes as string})`;
    const prices = async (token?: string) =>
      (await ask({ interval: 'max' }, token)).body.history.map(({ p }: { p: number }) => p);
    expect(await prices(yes)).toEqual([0.6, 0.9]);
    expect(await prices(no)).toEqual([0.4, 0.1]);
  });

  test('the exchange writes ticks and mirrored tokens', async () => {
    const [row] = await sql`select count(distinct p.token_id)::int as prices,
      (select count(*)::int from exchange_tokens where yes_token_id <> '77001') as tokens from exchange_prices p`;
    expect(row?.tokens).toBeGreaterThan(100);
    expect(row?.prices).toBeGreaterThanOrEqual(row?.tokens);
  });

  test.each([
    [{ interval: '1d', startTs: 5 }, 400, 'contradictory_filter'],
    [{ interval: '1d', endTs: 5 }, 400, 'contradictory_filter'],
    [{ startTs: 10, endTs: 5 }, 400, 'contradictory_filter'],
    [{}, 400, 'invalid_request'],
    [{ interval: '2d' }, 400, 'invalid_request'],
    [{ interval: '1d', fidelity: 0 }, 400, 'invalid_request'],
    [{ interval: '1d', fidelity: 1.5 }, 400, 'invalid_request'],
    [{ startTs: -1 }, 400, 'invalid_request'],
    [{ startTs: 'yesterday' }, 400, 'invalid_request'],
    [{ interval: '1d', venue: 'nowhere' }, 400, 'unknown_venue'],
    [{ interval: '1d', market: '123456' }, 404, 'market_not_found'],
  ])('%j is refused', async (query, status, code) => {
    const answer = await ask(query as never);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });

  test('a condition id is not a token: the refusal names the tokens', async () => {
    const { status, body } = await ask({ interval: '1d' }, market.conditionId);
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'market_not_found' });
    for (const token of market.clobTokenIds) expect(body.detail).toContain(token);
  });

  test('more points than the limit are refused with a suitable fidelity', async () => {
    const token = '88001';
    await sql`insert into exchange_prices select ${token}, ${NOW}::bigint - i * 60000, 5000 + i % 50
      from generate_series(0, 10050) as i`;
    const refused = await ask({ interval: 'max', fidelity: 1 }, token);
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 400,
      code: 'history_too_fine',
    });
    const fitting = /fidelity of (\d+) fits/.exec(refused.body.detail)?.[1] as string;
    expect((await ask({ interval: 'max', fidelity: fitting }, token)).body.history.length).toBeLessThan(
      10_001,
    );
  });
});

describe('check', () => {
  test('every identifier of a market is accepted; an unknown one is reported', async () => {
    const exists = async (id: string) =>
      (await call(service, 'GET', `/markets/check?marketId=${encodeURIComponent(id)}`, { key })).body;
    for (const id of [market.id, market.conditionId, market.slug, ...market.clobTokenIds])
      expect(await exists(id)).toEqual({ exists: true });
    expect(await exists('nothing-like-this')).toEqual({ exists: false });
    const { status, body } = await call(service, 'GET', '/markets/check', { key });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
  });

  test('the SDK gives the same result', async () => {
    const { client } = await newAgent(service);
    expect(await client.checkMarket(market.id)).toEqual({ exists: true });
    const { history } = await client.getPricesHistory({
      market: market.clobTokenIds[0] as string,
      interval: '1h',
    });
    expect(history.at(-1)).toEqual(current());
    expect((await aMarket(client)).id).toBe(market.id);
  });
});
