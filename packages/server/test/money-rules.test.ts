/** Sums of money: budgets that come back, results of a day, costs of open orders and of sales. */
import type { Fill } from '@bellwether/contract/positions';
import { beforeAll, describe, expect, test } from 'vitest';
import { AGENT, NO_EVIDENCE, openDeskOfOneAgent } from '../../../test/one-agent.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { createIdempotencyStore, once, type Run } from '../src/platform/database/idempotency-store.ts';
import { createEvidenceLog } from '../src/trading/outcomes.ts';

const AT = '2026-06-01T12:00:00Z';
const DAY = '2026-06-01';

let sql: Sql;
beforeAll(async () => {
  sql = await openDeskOfOneAgent();
  await sql`insert into safeguards (agent_id, max_trades_per_day, max_trade_amount, daily_trade_amount_limit, updated_at,
    usage_day) values (${AGENT}, 1, 1, 1, now(), ${DAY})`;
});

describe('what an order of 10 shares for 5 gives back of its budget', () => {
  const OPEN = ['submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled', 'matched'];
  const ENDED = ['filled', 'partially_filled_closed', 'expired', 'market_resolved', 'settlement_failed'];

  const backOf = async (
    status: string,
    given: {
      readonly side?: string;
      readonly cost?: number;
      readonly filled?: number;
      readonly isUnanswered?: boolean;
    },
  ) => {
    const { side = 'BUY', cost = 0, filled = 0, isUnanswered = false } = given;
    const rows =
      await sql`select * from budget_back(${status}, ${isUnanswered}, false, ${side}, 5000000::bigint,
      ${cost}::bigint, 10000000::bigint, ${filled}::bigint)`;
    return rows.map(({ trades, amount }) => ({ trades, amount }));
  };

  test.each(OPEN)('%s: nothing, for what it spends is not final', async (status) => {
    expect(await backOf(status, { cost: 1_000_000, filled: 2_000_000 })).toEqual([]);
  });

  test.each(ENDED)('%s: of a BUY the collateral that it did not spend', async (status) => {
    expect(await backOf(status, { cost: 1_999_999, filled: 4_000_000 })).toEqual([
      { trades: 0, amount: 3_000_001n },
    ]);
    expect(await backOf(status, { cost: 5_000_000, filled: 10_000_000 })).toEqual([
      { trades: 0, amount: 0n },
    ]);
  });

  test.each(ENDED)(
    '%s: of a SELL the part of its amount that did not trade, rounded down',
    async (status) => {
      const sale = { side: 'SELL', cost: 1_500_000 };
      expect(await backOf(status, { ...sale, filled: 3_333_333 })).toEqual([
        { trades: 0, amount: 3_333_333n },
      ]);
      expect(await backOf(status, { ...sale, filled: 10_000_000 })).toEqual([{ trades: 0, amount: 0n }]);
    },
  );

  test('rejected, or canceled before an answer: the trade, too', async () => {
    expect(await backOf('rejected', {})).toEqual([{ trades: 1, amount: 5_000_000n }]);
    expect(await backOf('canceled', { isUnanswered: true })).toEqual([{ trades: 1, amount: 5_000_000n }]);
    expect(await backOf('canceled', {})).toEqual([{ trades: 0, amount: 5_000_000n }]);
  });
});

test('the result of a day counts its fees, and no other day', async () => {
  await sql`insert into daily_results (agent_id, day, realized, fees) values
    (${AGENT}, ${DAY}, -3000000, 250000), (${AGENT}, '2026-05-31', 7000000, 1)`;
  const [row] = await sql`select net from result_of_day(${AGENT}, ${DAY}::date)`;
  expect(row?.net).toBe(-3_250_000n);
});

test('what an open purchase can still cost is rounded up', async () => {
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares, money,
      filled, funder, wallet_address, fee_amount, request_id, created_at, status, first_answer, journal, reserved_day,
      reserved_amount, updated_at)
    select agent_id, 'open ' || n, user_id, 'v', 'm', 'open market', '?', 't', 'YES', 'signed', 0, 2, 'BUY', true, 'GTC',
      false, false, 3333, 3333, 3000000, 1000000, 1000000, 'w', 'w', 0, 'r', ${AT}::timestamptz, 'live', '{}', '[]', ${DAY},
      1000000, ${AT}::timestamptz from agents, generate_series(1, 3) as n`;
  const [row] = await sql`select value from position_value(${AGENT}, 'w', array['t'], 'open market')`;
  // Two thirds of a million micro-units each.
  expect(row?.value).toBe(3n * 666_667n);
});

describe('sales of a position', () => {
  const fill = (wallet: string, nth: number, side: 'BUY' | 'SELL', size: bigint, cost: bigint): Fill => ({
    ...{
      wallet,
      orderId: `${wallet} ${nth}`,
      tradeId: 0,
      conditionId: `c ${wallet}`,
      tokenId: `t ${wallet}`,
    },
    ...{ outcome: 'YES', side, price: 5000, size, cost, fee: 0n, liquidity: 'taker' },
    ...{ matchKind: 'COMPLEMENTARY', at: Date.parse(AT) },
  });
  const applied = async (wallet: string, fills: readonly Fill[], batches: readonly number[]) => {
    const log = createEvidenceLog(sql);
    let from = 0;
    for (const length of batches) {
      await log.record({ ...NO_EVIDENCE, fills: fills.slice(from, from + length) });
      from += length;
    }
    const [position] = await sql`select size, cost, realized from positions where wallet = ${wallet}`;
    const gains =
      await sql`select realized from fills where wallet = ${wallet} and side = 'SELL' order by order_id`;
    return { position: { ...position }, gains: gains.map(({ realized }) => realized) };
  };

  test.each([
    ['one by one', [1, 1, 1, 1]],
    ['in one batch', [4]],
  ])(
    '%s each take their share of its cost, rounded down, and the last one the rest',
    async (what, batches) => {
      const wallet = `seller ${what}`;
      const fills = [
        fill(wallet, 0, 'BUY', 3_000_000n, 1_000_000n),
        ...[1, 2, 3].map((nth) => fill(wallet, nth, 'SELL', 1_000_000n, 400_000n)),
      ];
      expect(await applied(wallet, fills, batches)).toEqual({
        // 1,000,000 is 333,333 and 333,333 and 333,334.
        gains: [66_667n, 66_667n, 66_666n],
        position: { size: 0n, cost: 0n, realized: 200_000n },
      });
    },
  );
});

describe('an Idempotency-Key', () => {
  const at = Date.parse(AT);
  const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const keyed = (key: string) => {
    const keys = createIdempotencyStore(sql);
    const begin = (body: Buffer, now = at) =>
      keys.begin('agent', 'trade', key, body, { at: now, isSecret: false });
    return {
      ...keys,
      begin,
      async run(now = at): Promise<Run> {
        const state = await begin(one, now);
        return state.kind === 'new' ? state.run : expect.fail(`${key} is ${state.kind}`);
      },
    };
  };
  /** An effect that has no identity of its own. */
  const makeOne = (name: string) =>
    once(sql, async (tx) => {
      const [row] = await tx`insert into inbound_webhooks (source, signature, body_hash, body, received_at)
        select 'made', ''::bytea, sha256(t.b), t.b, now()
        from (select convert_to(${name} || ' ' || count(*), 'UTF8') as b from inbound_webhooks) t
        returning convert_from(body, 'UTF8') as made`;
      return { made: row?.made as string };
    });
  const countOf = async (name: string) =>
    (await sql`select 1 from inbound_webhooks where convert_from(body, 'UTF8') like ${`${name} %`}`).length;

  test('has one request at work, whose first answer it keeps', async () => {
    const { begin, run, answer, release } = keyed('answered');
    const first = await run();
    expect(await begin(one)).toEqual({ kind: 'in_flight' });
    expect(await begin(one, at + 59_000)).toEqual({ kind: 'in_flight' });
    expect(await begin(other, at + 61_000)).toEqual({ kind: 'other_body' });
    // Its process is gone: the next request with it takes it over, once.
    const second = await run(at + 61_000);
    expect(await begin(one, at + 61_000)).toEqual({ kind: 'in_flight' });
    // The first one was not gone, but frozen.
    await release(first);
    await answer(first, 201, '{"id":0}');
    await answer(second, 201, '{"id":1}');
    const replay = { kind: 'replay', status: 201, body: '{"id":1}' };
    expect(await begin(one, at + 3_600_000)).toEqual(replay);
    expect(await begin(other, at + 3_600_000)).toEqual({ kind: 'other_body' });
    await release(second);
    expect(await begin(one, at + 3_600_000)).toEqual(replay);
  });

  test('of many that come at once lets one begin', async () => {
    const { begin } = keyed('many');
    const all = await Promise.all(Array.from({ length: 8 }, () => begin(one)));
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([...Array(7).fill('in_flight'), 'new']);
  });

  test('has one effect, also when the run that had it gave no answer', async () => {
    const { run, running, release } = keyed('lost');
    const made = await running(await run(), () => makeOne('lost'));
    // Of a run that ended with its process the lease runs out; one that failed ends it.
    for (const later of [61_000, 122_000, 122_001]) {
      const again = await run(at + later);
      expect(await running(again, () => makeOne('lost'))).toEqual(made);
      if (later > 61_000) await release(again);
    }
    expect(await countOf('lost')).toBe(1);
  });

  test('of a run that is not the last one has no effect', async () => {
    const { run, running } = keyed('frozen');
    const frozen = await run();
    const next = await run(at + 61_000);
    await expect(running(frozen, () => makeOne('frozen'))).rejects.toThrow('in flight');
    expect(await countOf('frozen')).toBe(0);
    await running(next, () => makeOne('frozen'));
    expect(await countOf('frozen')).toBe(1);
  });

  test('whose request was refused is free', async () => {
    const { begin, run, running, release } = keyed('refused');
    const refused = await run();
    await running(refused, () => once(sql, async () => null));
    await running(refused, () =>
      once(
        sql,
        async () => ['none'],
        () => false,
      ),
    );
    await release(refused);
    expect(await begin(other)).toMatchObject({ kind: 'new', run: { kept: null } });
  });
});
