/** The pure ledger against the desk's SQL on a real PostgreSQL: the same random sequences, and every row compared after each step. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../packages/server/src/adapters/postgres/connection.ts';
import { migrate } from '../../packages/server/src/adapters/postgres/migrate.ts';
import { openTestDatabase } from '../postgres.ts';
import { budget } from '../setup/budget.ts';
import type { Fill } from './fold.ts';
import { Ledger } from './ledger.ts';

const NOW = Date.UTC(2026, 5, 1, 20);
const HOUR_MS = 3_600_000;
const RUNS = Number(process.env.LEDGER_RUNS ?? budget(600));
const SEED = Number(process.env.LEDGER_SEED ?? 7);
const MATCH_KIND = { live: 'LIVE', paper: 'COMPLEMENTARY', redeemed: 'REDEEMED' } as const;

let sql: Sql;
let worlds = 0;

beforeAll(async () => {
  sql = await openTestDatabase();
  await migrate(sql);
});

/** Two agents of one wallet. */
async function newAgents(): Promise<readonly [string, string]> {
  const made = [1, 2].map((nth) => `00000000-0000-4000-8000-${String(worlds * 2 + nth).padStart(12, '0')}`);
  worlds += 1;
  for (const agent of made)
    await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
      insert into agents (agent_id, user_id, name, description, claim_code, created_at)
      select ${agent}::uuid, user_id, 'Agent', '', ${agent}, now() from o`;
  return made as [string, string];
}

async function insertOrder(wallet: string, agent: string, orderId: string, side: string): Promise<void> {
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at)
    select ${agent}, ${orderId}, user_id, 'live', 'm1', 'c1', 'Why?', ${`token of ${wallet}`}, 'YES', 'signed', 0, 2,
      ${side}, true, 'GTC', false, false, 5000, 5000, 1, 1, ${wallet}, ${wallet}, 0, 'r', ${new Date(NOW)}, 'submitting',
      '[]', ${new Date(NOW)}, 1, ${new Date(NOW)} from agents where agent_id = ${agent}`;
}

const rowOf = (wallet: string, { orderId, tradeId, side, size, cost, fee, kind, at }: Fill) => ({
  ...{
    wallet,
    order_id: orderId,
    trade_id: String(tradeId),
    condition_id: 'c1',
    token_id: `token of ${wallet}`,
  },
  ...{ outcome: 'YES', side, price: 5_000, size: String(size), cost: String(cost), fee: String(fee) },
  ...{ liquidity: 'taker', match_kind: MATCH_KIND[kind], at: new Date(at).toISOString() },
});

async function inDatabase(wallet: string, agents: readonly string[]) {
  const [position] =
    await sql`select agent_id, size, cost, realized, fees, settled, bought_size, bought_cost, closed_at
    from positions where wallet = ${wallet}`;
  const fills =
    await sql`select order_id, trade_id, realized from fills where wallet = ${wallet} order by 1, 2`;
  const results = await sql`select agent_id, volume, fees, realized, wins, losses from agent_results
    where agent_id = any(${agents as string[]}::uuid[]) order by 1`;
  const days = await sql`select agent_id, day::text, realized, fees from daily_results
    where agent_id = any(${agents as string[]}::uuid[]) and (realized <> 0 or fees <> 0) order by 1, 2`;
  return {
    position: position === undefined ? null : { ...position },
    fills: fills.map((row) => [row.order_id, BigInt(row.trade_id), row.realized]),
    results: results.map((row) => ({ ...row, wins: Number(row.wins), losses: Number(row.losses) })),
    days: days.map((row) => ({ ...row })),
  };
}

function inModel(ledger: Ledger, wallet: string) {
  const entry = ledger.entries.get(wallet);
  const by = <T extends readonly [string, ...unknown[]]>(a: T, b: T) => (a[0] < b[0] ? -1 : 1);
  const { position: p } = entry ?? {};
  return {
    position:
      entry === undefined || p === undefined
        ? null
        : {
            ...{ agent_id: entry.agent, size: p.size, cost: p.cost, realized: p.realized, fees: p.fees },
            ...{ settled: p.settled, bought_size: p.boughtSize, bought_cost: p.boughtCost },
            closed_at: p.closedAt === null ? null : new Date(p.closedAt),
          },
    fills: [...(entry?.gains ?? [])]
      .map(([fill, gain]) => [fill.orderId, fill.tradeId, gain] as const)
      .sort((a, b) => by(a, b) || Number(a[1] - b[1])),
    results: [...ledger.results].sort(by).map(([agent_id, all]) => ({ agent_id, ...all })),
    days: [...ledger.days]
      .filter(([, { realized, fees }]) => realized !== 0n || fees !== 0n)
      .map(([key, day]) => {
        const [agent_id, number] = key.split(' ') as [string, string];
        return { agent_id, day: new Date(Number(number) * 86_400_000).toISOString().slice(0, 10), ...day };
      })
      .sort((a, b) => (a.agent_id + a.day < b.agent_id + b.day ? -1 : 1)),
  };
}

const told = fc.record({
  what: fc.constant('told' as const),
  agent: fc.constantFrom(0, 1),
  side: fc.constantFrom('BUY' as const, 'BUY' as const, 'SELL' as const),
  // A micro-share, dust, and round lots.
  size: fc.oneof(
    fc.constant(1n),
    fc.bigInt(1n, 30n),
    fc.bigInt(1n, 20n).map((lots) => lots * 1_000_000n),
  ),
  pips: fc.bigInt(1n, 9_999n),
  fee: fc.oneof(fc.constant(0n), fc.bigInt(0n, 40_000n)),
  /** How long ago it happened, for a desk that hears of it late. */
  lateMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 5 * HOUR_MS })),
  /** How long after the act before; the clocks of two replicas differ by seconds. */
  gapMs: fc.oneof({ weight: 2, arbitrary: fc.constant(HOUR_MS) }, fc.integer({ min: 1, max: 12_000 })),
  /** Told together with the one before. */
  joins: fc.boolean(),
});
const failed = fc.record({ what: fc.constant('failed' as const), which: fc.nat(40) });
const redeemed = fc.record({ what: fc.constant('redeemed' as const), share: fc.constantFrom(2n, 1n) });

type Act = typeof told extends fc.Arbitrary<infer A> ? A : never;
type Failed = typeof failed extends fc.Arbitrary<infer A> ? A : never;
type Redeemed = typeof redeemed extends fc.Arbitrary<infer A> ? A : never;

async function play(kind: 'live' | 'paper', acts: readonly (Act | Failed | Redeemed)[]): Promise<void> {
  const agents = await newAgents();
  const wallet = `wallet ${worlds}`;
  const ledger = new Ledger();
  let waiting: Fill[] = [];
  const compare = async (): Promise<void> =>
    expect(await inDatabase(wallet, agents)).toEqual(inModel(ledger, wallet));
  const tell = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const rows = waiting.map((fill) => rowOf(wallet, fill));
    ledger.apply(wallet, waiting);
    waiting = [];
    await sql`select apply_fills(${sql.json(rows as never)}::jsonb)`;
    await compare();
  };
  let at = NOW;
  for (const [nth, act] of acts.entries()) {
    at += act.what === 'told' ? act.gapMs : HOUR_MS;
    const held = (): bigint =>
      waiting.reduce(
        (sum, one) => sum + (one.side === 'BUY' ? one.size : -one.size),
        ledger.position(wallet).size,
      );
    if (act.what === 'told') {
      // On paper what is sold is there.
      const side = kind === 'paper' && held() < act.size ? 'BUY' : act.side;
      const orderId = `${wallet} ${String(nth).padStart(3, '0')}`;
      await insertOrder(wallet, agents[act.agent] as string, orderId, side);
      if (!act.joins) await tell();
      waiting.push({
        ...{ orderId, tradeId: BigInt(nth), agent: agents[act.agent] as string, side, kind, size: act.size },
        ...{
          cost: (act.size * act.pips) / 10_000n,
          fee: act.fee,
          at: kind === 'paper' ? at : at - act.lateMs,
        },
      });
      continue;
    }
    await tell();
    if (act.what === 'failed' && kind === 'live') {
      const fills = ledger.fills(wallet);
      const gone = fills[act.which % Math.max(1, fills.length)];
      if (gone === undefined) continue;
      ledger.reverse(wallet, new Set([gone]));
      const row = {
        wallet,
        order_id: gone.orderId,
        trade_id: String(gone.tradeId),
        at: new Date(at).toISOString(),
      };
      await sql`select reverse_fills(${sql.json([row] as never)}::jsonb)`;
    } else if (act.what === 'redeemed' && kind === 'paper') {
      const size = held() / act.share;
      if (size === 0n) continue;
      waiting.push({
        ...{ orderId: `redeemed:${nth}`, tradeId: BigInt(nth), agent: null, side: 'SELL', kind: 'redeemed' },
        ...{ size, cost: size, fee: 0n, at },
      });
      await tell();
    }
    await compare();
  }
  await tell();
}

test.each(['live', 'paper'] as const)('%s: SQL and model agree on every row', async (kind) => {
  const acts = fc.array(
    fc.oneof({ weight: 6, arbitrary: told }, { weight: 2, arbitrary: kind === 'live' ? failed : redeemed }),
    { minLength: 4, maxLength: 22, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(acts, (some) => play(kind, some)),
    { numRuns: RUNS, seed: SEED, endOnFailure: false },
  );
});

test('a purchase brought what was sold before, also where its replica’s clock is ahead', async () => {
  const [agent] = await newAgents();
  const wallet = `wallet ${worlds}`;
  const tell = async (orderId: string, side: Fill['side'], size: bigint, at: number): Promise<void> => {
    await insertOrder(wallet, agent, orderId, side);
    const fill = {
      orderId,
      tradeId: 1n,
      agent,
      side,
      kind: 'live',
      size,
      cost: size / 2n,
      fee: 0n,
      at,
    } as const;
    await sql`select apply_fills(${sql.json([rowOf(wallet, fill)] as never)}::jsonb)`;
  };
  const held = async (): Promise<bigint> =>
    (await sql`select size from positions where wallet = ${wallet}`)[0]?.size as bigint;
  await tell('known', 'BUY', 10_000_000n, NOW);
  await tell('sale', 'SELL', 25_000_000n, NOW + 1_000);
  await tell('ahead', 'BUY', 20_000_000n, NOW + 3_000);
  expect(await held()).toBe(5_000_000n);
  // Sold past the desk, as far as clocks can tell.
  await tell('sale of others', 'SELL', 7_000_000n, NOW + 4_000);
  expect(await held()).toBe(0n);
  await tell('later', 'BUY', 6_000_000n, NOW + 60_000);
  expect(await held()).toBe(6_000_000n);
});
