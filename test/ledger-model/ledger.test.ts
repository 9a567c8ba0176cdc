/**
 * The fold of positions, what the desk writes of it, and the database's functions of the release before, which know the same rules by
 * other means: the same random sequences, on a real PostgreSQL, and every row compared after each step.
 */
import { type Fill, holdingKey, type PastFill, type Payout } from '@bellwether/contract/positions';
import { transact } from '@bellwether/durable';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../packages/server/src/adapters/postgres/connection.ts';
import { recordEvidence, writeEvidence } from '../../packages/server/src/adapters/postgres/evidence.ts';
import { migrate } from '../../packages/server/src/adapters/postgres/migrate.ts';
import { PositionsInPlay } from '../../packages/server/src/adapters/postgres/positions-in-play.ts';
import { createRedemptionStore } from '../../packages/server/src/adapters/postgres/redemption-store.ts';
import type { Evidence } from '../../packages/server/src/ports/evidence.ts';
import { NO_EVIDENCE } from '../../packages/server/test/no-evidence.ts';
import { openTestDatabase } from '../postgres.ts';
import { budget } from '../setup/budget.ts';
import { Ledger } from './ledger.ts';

const NOW = Date.UTC(2026, 5, 1, 20);
const HOUR_MS = 3_600_000;
const RUNS = Number(process.env.LEDGER_RUNS ?? budget(600));
const SEED = Number(process.env.LEDGER_SEED ?? 7);

type Kind = 'live' | 'paper';

let sql: Sql;
let worlds = 0;

beforeAll(async () => {
  sql = await openTestDatabase();
  await migrate(sql);
});

const iso = (at: number): string => new Date(at).toISOString();
const tokenOf = (wallet: string) => ({
  wallet,
  conditionId: `market of ${wallet}`,
  tokenId: `token of ${wallet}`,
  outcome: 'YES' as const,
});
const agentIds = (first: number): readonly [string, string] => [agentId(first), agentId(first + 1)];
const agentId = (nth: number): string => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;

/** A wallet that two agents trade, and one of the ways in which its fills are recorded. */
interface Desk {
  readonly wallet: string;
  readonly agents: readonly [string, string];
  tell(fills: readonly Fill[]): Promise<void>;
  takeBack(fill: PastFill, at: number): Promise<void>;
  resolve(payout: Payout, at: number): Promise<void>;
  redeemPast(size: bigint, at: number): Promise<void>;
}

type Record = Pick<Desk, 'tell' | 'takeBack' | 'resolve' | 'redeemPast'>;

/** As the release before records them. */
const byFunctions = (wallet: string): Record => ({
  async tell(fills) {
    const rows = fills.map((fill) => ({
      ...{ wallet, order_id: fill.orderId, trade_id: fill.tradeId, condition_id: fill.conditionId },
      ...{ token_id: fill.tokenId, outcome: fill.outcome, side: fill.side, price: fill.price },
      ...{ size: String(fill.size), cost: String(fill.cost), fee: String(fill.fee) },
      ...{ liquidity: fill.liquidity, match_kind: fill.matchKind, at: iso(fill.at) },
    }));
    await sql`select apply_fills(${sql.json(rows)}::jsonb)`;
  },
  async takeBack({ orderId, tradeId }, at) {
    const rows = [{ wallet, order_id: orderId, trade_id: tradeId, at: iso(at) }];
    await sql`select reverse_fills(${sql.json(rows)}::jsonb)`;
  },
  async resolve(payout, at) {
    const { conditionId } = tokenOf(wallet);
    await sql`update traded_markets set payout = ${payout}, resolved_at = ${new Date(at)} where condition_id = ${conditionId}`;
    await sql`select close_lost(${sql.json([{ condition_id: conditionId, payout, at: iso(at) }])}::jsonb)`;
  },
  async redeemPast(size, at) {
    const { tokenId } = tokenOf(wallet);
    const rows = [{ wallet, token_id: tokenId, size: String(size), at: iso(at) }];
    await sql`select close_redeemed(${sql.json(rows)}::jsonb)`;
  },
});

/** As this release records what a live venue tells. */
const underLocks = (wallet: string): Record => {
  const record = (evidence: Partial<Evidence>, reversals: Parameters<typeof recordEvidence>[2] = []) =>
    transact(sql, (tx) => recordEvidence(tx, { ...NO_EVIDENCE, ...evidence }, reversals));
  const token = tokenOf(wallet);
  return {
    tell: (fills) => record({ fills }),
    takeBack: ({ orderId, tradeId }, at) =>
      record({}, [{ wallet, tokenId: token.tokenId, orderId, tradeId, at }]),
    resolve: (payout, at) => record({ resolutions: [{ conditionId: token.conditionId, payout, at }] }),
    redeemPast: async (size, at) =>
      void (await createRedemptionStore(sql).recordRedeemed([{ ...token, size, at } as never])),
  };
};

/** As this release records what the paper exchange does, where it leads: positions stay in memory, until another term begins. */
function inPlay(wallet: string): Record {
  const positions = new PositionsInPlay();
  let commits = 0;
  const record = (evidence: Partial<Evidence>) =>
    transact(sql, async (tx) => {
      commits += 1;
      const term = BigInt(Math.floor(commits / 5));
      const all = { ...NO_EVIDENCE, ...evidence };
      const folded = await positions.fold(tx, term, all);
      await Promise.all(writeEvidence(tx, all, folded));
    });
  const never = (): never => {
    throw new Error('the paper exchange does not');
  };
  return {
    tell: (fills) => record({ fills }),
    resolve: (payout, at) =>
      record({ resolutions: [{ conditionId: tokenOf(wallet).conditionId, payout, at }] }),
    takeBack: never,
    redeemPast: never,
  };
}

async function newDesk(name: string, first: number, how: (wallet: string) => Record): Promise<Desk> {
  const agents = agentIds(first);
  const wallet = `${name} ${worlds}`;
  for (const agent of agents)
    await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
      insert into agents (agent_id, user_id, name, description, claim_code, created_at)
      select ${agent}::uuid, user_id, 'Agent', '', ${agent}, now() from o`;
  await sql`insert into traded_markets (condition_id, market_id, slug, question, end_date, venue)
    values (${tokenOf(wallet).conditionId}, 'm1', 'm1', 'Why?', now(), 'live')`;
  return { wallet, agents, ...how(wallet) };
}

async function insertOrder(
  { wallet, agents }: Desk,
  agent: 0 | 1,
  orderId: string,
  side: string,
): Promise<void> {
  const { conditionId, tokenId } = tokenOf(wallet);
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at)
    select ${agents[agent]}, ${`${wallet} ${orderId}`}, user_id, 'live', 'm1', ${conditionId}, 'Why?', ${tokenId}, 'YES', 'signed', 0, 2,
      ${side}, true, 'GTC', false, false, 5000, 5000, 1, 1, ${wallet}, ${wallet}, 0, 'r', ${new Date(NOW)}, 'submitting',
      '[]', ${new Date(NOW)}, 1, ${new Date(NOW)} from agents where agent_id = ${agents[agent]}`;
}

const byName = (a: readonly [string, number, ...unknown[]], b: readonly [string, number, ...unknown[]]) =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1];

/** All rows of a desk, with its agents by number and its orders without the wallet's name. */
async function inDatabase({ wallet, agents }: Desk) {
  const ids = agents as readonly string[];
  const nth = (agent: string | null): number | null => (agent === null ? null : ids.indexOf(agent));
  const plain = (text: string): string => text.replaceAll(wallet, '').trim();
  const [position] =
    await sql`select agent_id, size, cost, realized, fees, settled, bought_size, bought_cost, closed_at, updated_at
    from positions where wallet = ${wallet}`;
  const fills =
    await sql`select order_id, trade_id, realized, counts_at, agent_id from fills where wallet = ${wallet}`;
  const results = await sql`select agent_id, volume, fees, realized, wins, losses from agent_results
    where agent_id = any(${ids}::uuid[]) order by 1`;
  const days = await sql`select agent_id, day::text, realized, fees from daily_results
    where agent_id = any(${ids}::uuid[]) and (realized <> 0 or fees <> 0) order by 1, 2`;
  const facts = await sql`select agent_id, kind, subject, at, payload::text as payload from facts
    where agent_id = any(${ids}::uuid[]) and kind <> 'resolution' order by seq`;
  return {
    position:
      position === undefined
        ? null
        : { ...position, updated_at: position.updated_at as Date, agent_id: nth(position.agent_id) },
    fills: fills
      .map(
        (row) =>
          [
            ...([plain(row.order_id), Number(row.trade_id), row.realized] as const),
            ...([row.counts_at?.getTime() ?? null, nth(row.agent_id)] as const),
          ] as const,
      )
      .sort(byName),
    results: results.map((row) => ({
      ...row,
      agent_id: nth(row.agent_id),
      wins: Number(row.wins),
      losses: Number(row.losses),
    })),
    days: days.map((row) => ({ ...row, agent_id: nth(row.agent_id) })),
    facts: facts.map((row) => [
      nth(row.agent_id),
      row.kind,
      plain(row.subject),
      row.at.getTime(),
      plain(row.payload),
    ]),
  };
}

function inMemory(ledger: Ledger, wallet: string, lastAt: number) {
  const token = tokenOf(wallet);
  const fills = ledger.fills(token);
  const p = ledger.position(token);
  const owner = ledger.trader(token);
  const by = <T extends readonly [string, ...unknown[]]>(a: T, b: T) => (a[0] < b[0] ? -1 : 1);
  return {
    position:
      fills.length === 0
        ? null
        : {
            ...{ agent_id: owner === null ? null : Number(owner), size: p.size, cost: p.cost },
            ...{ realized: p.realized, fees: p.fees, settled: p.settled },
            ...{ bought_size: p.boughtSize, bought_cost: p.boughtCost },
            ...{ closed_at: p.closedAt === null ? null : new Date(p.closedAt), updated_at: new Date(lastAt) },
          },
    fills: fills
      .map(
        ({ orderId, tradeId, gain, countsAt }) =>
          [orderId.replaceAll(wallet, '').trim(), tradeId, gain, countsAt] as const,
      )
      .sort(byName),
    results: [...ledger.results].sort(by).map(([agent, all]) => ({ agent_id: Number(agent), ...all })),
    days: [...ledger.days]
      .filter(([, { realized, fees }]) => realized !== 0n || fees !== 0n)
      .map(([key, day]) => {
        const [agent, number] = key.split(' ') as [string, string];
        return { agent_id: Number(agent), day: iso(Number(number) * 86_400_000).slice(0, 10), ...day };
      })
      .sort((a, b) => (`${a.agent_id}${a.day}` < `${b.agent_id}${b.day}` ? -1 : 1)),
  };
}

const told = fc.record({
  what: fc.constant('told' as const),
  agent: fc.constantFrom(0 as const, 1 as const),
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
const resolved = fc.record({
  what: fc.constant('resolved' as const),
  payout: fc.constantFrom('YES' as const, 'NO' as const, 'HALF' as const),
});
const redeemedPast = fc.record({
  what: fc.constant('redeemed past' as const),
  size: fc.bigInt(1n, 20_000_000n),
});

type Of<T> = T extends fc.Arbitrary<infer A> ? A : never;
type Act =
  | Of<typeof told>
  | Of<typeof failed>
  | Of<typeof redeemed>
  | Of<typeof resolved>
  | Of<typeof redeemedPast>;

async function play(kind: Kind, acts: readonly Act[]): Promise<void> {
  worlds += 1;
  const old = await newDesk('old', worlds * 4, byFunctions);
  const present = await newDesk('new', worlds * 4 + 2, kind === 'live' ? underLocks : inPlay);
  const wallet = 'memory';
  const agentOf = new Map<string, string>();
  const ledger = new Ledger((orderId) => agentOf.get(orderId) ?? null);
  const token = tokenOf(wallet);
  let waiting: Fill[] = [];
  let payout: Payout | null = null;
  let resolvedAt = 0;
  const onBoth = async (work: (desk: Desk) => Promise<void>): Promise<void> => {
    await work(old);
    await work(present);
  };
  const compare = async (): Promise<void> => {
    const [before, after] = [await inDatabase(old), await inDatabase(present)];
    expect(after).toEqual(before);
    const { facts: _, fills, ...rows } = after;
    const plainFills = fills.map(([orderId, tradeId, gain, countsAt]) => [orderId, tradeId, gain, countsAt]);
    const at = after.position?.updated_at.getTime() ?? 0;
    expect({ ...rows, fills: plainFills }).toEqual(inMemory(ledger, wallet, at));
  };
  /** The same fill of another wallet. */
  const own = <F extends { readonly orderId: string }>(fill: F, desk: Desk): F => ({
    ...fill,
    ...tokenOf(desk.wallet),
    orderId: fill.orderId
      .replace('memory', desk.wallet)
      .replace(`lost:market of ${wallet}`, `lost:${tokenOf(desk.wallet).conditionId}`),
  });
  const tell = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const fills = waiting;
    waiting = [];
    await onBoth((desk) => desk.tell(fills.map((fill) => own(fill, desk))));
    ledger.take({ kind: 'fills', fills });
    if (kind === 'live' && payout !== null)
      ledger.take({ kind: 'resolution', conditionId: token.conditionId, payout, at: resolvedAt });
    await compare();
  };
  let at = NOW;
  for (const [nth, act] of acts.entries()) {
    at += act.what === 'told' ? act.gapMs : HOUR_MS;
    const held = (): bigint =>
      waiting.reduce(
        (sum, one) => sum + (one.side === 'BUY' ? one.size : -one.size),
        ledger.position(token).size,
      );
    if (act.what === 'told') {
      // On paper nothing trades after the resolution, and what is sold is there.
      if (kind === 'paper' && payout !== null) continue;
      const side = kind === 'paper' && held() < act.size ? 'BUY' : act.side;
      const orderId = String(nth).padStart(3, '0');
      await onBoth((desk) => insertOrder(desk, act.agent, orderId, side));
      agentOf.set(`${wallet} ${orderId}`, String(act.agent));
      if (!act.joins) await tell();
      waiting.push({
        ...token,
        ...{ orderId: `${wallet} ${orderId}`, tradeId: nth, side, price: 5_000, size: act.size },
        ...{ cost: (act.size * act.pips) / 10_000n, fee: act.fee, liquidity: 'taker' },
        ...{
          matchKind: kind === 'live' ? 'LIVE' : 'COMPLEMENTARY',
          at: kind === 'paper' ? at : at - act.lateMs,
        },
      });
      continue;
    }
    await tell();
    if (act.what === 'failed' && kind === 'live') {
      const fills = ledger.fills(token).filter(({ matchKind }) => matchKind === 'LIVE');
      const gone = fills[act.which % Math.max(1, fills.length)];
      if (gone === undefined) continue;
      ledger.take({ kind: 'reversal', key: holdingKey(token), fills: [gone], at });
      await onBoth((desk) => desk.takeBack(own(gone, desk), at));
    } else if (act.what === 'redeemed' && kind === 'paper') {
      const size = held() / act.share;
      if (size === 0n) continue;
      waiting.push({
        ...token,
        ...{ orderId: `redeemed:${nth}`, tradeId: nth, side: 'SELL', price: 10_000, size, cost: size },
        ...{ fee: 0n, liquidity: 'taker', matchKind: 'REDEEMED', at },
      });
      await tell();
    } else if (act.what === 'resolved' && payout === null) {
      payout = act.payout;
      resolvedAt = at;
      const resolution = { payout, at } as const;
      ledger.take({ kind: 'resolution', conditionId: token.conditionId, ...resolution });
      await onBoth((desk) => desk.resolve(resolution.payout, at));
    } else if (act.what === 'redeemed past' && kind === 'live' && payout !== null) {
      const { size } = act;
      ledger.take({ kind: 'redemption', key: holdingKey(token), size, payout, at });
      await onBoth((desk) => desk.redeemPast(size, at));
    }
    await compare();
  }
  await tell();
}

test.each<Kind>(['live', 'paper'])(
  '%s: the fold, what is written of it, and the functions of the release before agree on every row',
  async (kind) => {
    const rest =
      kind === 'live'
        ? [
            { weight: 4, arbitrary: failed },
            { weight: 1, arbitrary: resolved },
            { weight: 1, arbitrary: redeemedPast },
          ]
        : [
            { weight: 4, arbitrary: redeemed },
            { weight: 1, arbitrary: resolved },
          ];
    const acts = fc.array(fc.oneof({ weight: 14, arbitrary: told }, ...rest), {
      ...{ minLength: 4, maxLength: 22, size: 'max' },
    });
    await fc.assert(
      fc.asyncProperty(acts, (some) => play(kind, some)),
      { numRuns: RUNS, seed: SEED, endOnFailure: false },
    );
  },
);

test('a purchase brought what was sold before, also where its replica’s clock is ahead', async () => {
  worlds += 1;
  const desk = await newDesk('ahead', worlds * 4, underLocks);
  const tell = async (name: string, side: Fill['side'], size: bigint, at: number): Promise<void> => {
    await insertOrder(desk, 0, name, side);
    await desk.tell([
      {
        ...tokenOf(desk.wallet),
        ...{
          orderId: `${desk.wallet} ${name}`,
          tradeId: 1,
          side,
          price: 5_000,
          size,
          cost: size / 2n,
          fee: 0n,
        },
        ...{ liquidity: 'taker', matchKind: 'LIVE', at },
      },
    ]);
  };
  const held = async (): Promise<bigint> =>
    (await sql`select size from positions where wallet = ${desk.wallet}`)[0]?.size as bigint;
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
