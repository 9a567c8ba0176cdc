/**
 * The fold of positions, what the desk writes of it, and the database's functions of the release before, which know the same rules by
 * other means: the same random sequences, on a real PostgreSQL, and every row compared after each step.
 */
import { type Fill, holdingKey, type PastFill, type Payout } from '@bellwether/contract/positions';
import { transact } from '@bellwether/durable';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
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
/** Wallets that are told together, each with its own sequence: more events in less time. */
const WALLETS = Number(process.env.LEDGER_WALLETS ?? budget(200));
/** Of these wallets, at least; one sequence each, where none are asked for. */
const EVENTS = Number(process.env.LEDGER_EVENTS ?? 0);
const LIMIT_MS = EVENTS > 0 ? 7_200_000 : 180_000;

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

interface Gone extends Pick<PastFill, 'orderId' | 'tradeId'> {
  readonly wallet: string;
}
interface Resolved {
  readonly wallet: string;
  readonly payout: Payout;
}
interface Redeemed {
  readonly wallet: string;
  readonly size: bigint;
}

/** One of the ways in which events are recorded. Of one moment, each wallet has one. */
interface Record {
  tell(fills: readonly Fill[]): Promise<void>;
  takeBack(fills: readonly Gone[], at: number): Promise<void>;
  resolve(markets: readonly Resolved[], at: number): Promise<void>;
  redeemPast(tokens: readonly Redeemed[], at: number): Promise<void>;
}

/** Two agents trade on its wallets. */
interface Desk extends Record {
  readonly name: string;
  readonly agents: readonly [string, string];
}

/** As the release before records them. */
const byFunctions = (): Record => ({
  async tell(fills) {
    const rows = fills.map((fill) => ({
      ...{
        wallet: fill.wallet,
        order_id: fill.orderId,
        trade_id: fill.tradeId,
        condition_id: fill.conditionId,
      },
      ...{ token_id: fill.tokenId, outcome: fill.outcome, side: fill.side, price: fill.price },
      ...{ size: String(fill.size), cost: String(fill.cost), fee: String(fill.fee) },
      ...{ liquidity: fill.liquidity, match_kind: fill.matchKind, at: iso(fill.at) },
    }));
    await sql`select apply_fills(${sql.json(rows)}::jsonb)`;
  },
  async takeBack(fills, at) {
    const rows = fills.map(({ wallet, orderId, tradeId }) => ({
      ...{ wallet, order_id: orderId, trade_id: tradeId, at: iso(at) },
    }));
    await sql`select reverse_fills(${sql.json(rows)}::jsonb)`;
  },
  async resolve(markets, at) {
    const rows = markets.map(({ wallet, payout }) => ({
      ...{ condition_id: tokenOf(wallet).conditionId, payout, at: iso(at) },
    }));
    await sql`update traded_markets m set payout = t.payout, resolved_at = t.at
      from jsonb_to_recordset(${sql.json(rows)}) as t(condition_id text, payout text, at timestamptz)
      where m.condition_id = t.condition_id`;
    await sql`select close_lost(${sql.json(rows)}::jsonb)`;
  },
  async redeemPast(tokens, at) {
    const rows = tokens.map(({ wallet, size }) => ({
      ...{ wallet, token_id: tokenOf(wallet).tokenId, size: String(size), at: iso(at) },
    }));
    await sql`select close_redeemed(${sql.json(rows)}::jsonb)`;
  },
});

const resolutionsOf = (markets: readonly Resolved[], at: number): Evidence['resolutions'] =>
  markets.map(({ wallet, payout }) => ({ conditionId: tokenOf(wallet).conditionId, payout, at }));

/** As this release records what a live venue tells. */
const underLocks = (): Record => {
  const record = (evidence: Partial<Evidence>, reversals: Parameters<typeof recordEvidence>[2] = []) =>
    transact(sql, (tx) => recordEvidence(tx, { ...NO_EVIDENCE, ...evidence }, reversals));
  return {
    tell: (fills) => record({ fills }),
    takeBack: (fills, at) =>
      record(
        {},
        fills.map((fill) => ({ ...fill, tokenId: tokenOf(fill.wallet).tokenId, at })),
      ),
    resolve: (markets, at) => record({ resolutions: resolutionsOf(markets, at) }),
    redeemPast: async (tokens, at) =>
      void (await createRedemptionStore(sql).recordRedeemed(
        tokens.map(({ wallet, size }) => ({ ...tokenOf(wallet), size, at }) as never),
      )),
  };
};

/** As this release records what the paper exchange does, where it leads: positions stay in memory, until another term begins. */
function inPlay(): Record {
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
    resolve: (markets, at) => record({ resolutions: resolutionsOf(markets, at) }),
    takeBack: never,
    redeemPast: never,
  };
}

async function newDesk(name: string, nth: number, count: number, how: () => Record): Promise<Desk> {
  const agents = [agentId(nth), agentId(nth + 1)] as const;
  for (const agent of agents)
    await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
      insert into agents (agent_id, user_id, name, description, claim_code, created_at)
      select ${agent}::uuid, user_id, 'Agent', '', ${agent}, now() from o`;
  const conditions = Array.from(
    { length: count },
    (_, wallet) => tokenOf(walletOf(name, wallet)).conditionId,
  );
  await sql`insert into traded_markets (condition_id, market_id, slug, question, end_date, venue)
    select *, 'm1', 'm1', 'Why?', now(), 'live' from unnest(${conditions}::text[])`;
  return { name, agents, ...how() };
}

const agentId = (nth: number): string => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
/** Sorts among the ids of orders as those of the desks do. */
const IN_MEMORY = 'own';
const walletOf = (desk: string, nth: number): string => `${desk} w${String(nth).padStart(4, '0')}`;

interface NewOrder {
  readonly wallet: number;
  readonly agent: 0 | 1;
  readonly name: string;
  readonly side: string;
}

async function insertOrders({ name, agents }: Desk, orders: readonly NewOrder[]): Promise<void> {
  const rows = orders.map((order) => {
    const wallet = walletOf(name, order.wallet);
    const { conditionId, tokenId } = tokenOf(wallet);
    return {
      ...{ wallet, agent_id: agents[order.agent], order_id: `${wallet} ${order.name}`, side: order.side },
      ...{ condition_id: conditionId, token_id: tokenId },
    };
  });
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at)
    select agent_id, order_id, user_id, 'live', 'm1', condition_id, 'Why?', token_id, 'YES', 'signed', 0, 2,
      t.side, true, 'GTC', false, false, 5000, 5000, 1, 1, wallet, wallet, 0, 'r', ${new Date(NOW)}, 'submitting',
      '[]', ${new Date(NOW)}, 1, ${new Date(NOW)}
    from jsonb_to_recordset(${sql.json(rows)}) as t(wallet text, agent_id uuid, order_id text, side text,
      condition_id text, token_id text) join agents using (agent_id)`;
}

/** All rows of a desk, with its agents by number and its wallets without the desk's name. */
async function inDatabase({ name, agents }: Desk) {
  const ids = agents as readonly string[];
  const nth = (agent: string | null): number | null => (agent === null ? null : ids.indexOf(agent));
  const plain = (text: string): string => text.replaceAll(name, '');
  const [wallets, days] = [`${name} w%`, { from: '2026-01-01' }];
  const positions =
    await sql`select wallet, agent_id, size, cost, realized, fees, settled, bought_size, bought_cost, closed_at,
    updated_at from positions where wallet like ${wallets} order by wallet`;
  const fills = await sql`select wallet, order_id, trade_id, realized, counts_at, agent_id from fills
    where wallet like ${wallets}`;
  const results = await sql`select agent_id, volume, fees, realized, wins, losses from agent_results
    where agent_id = any(${ids}::uuid[]) order by 1`;
  const daily = await sql`select agent_id, day::text, realized, fees from daily_results
    where agent_id = any(${ids}::uuid[]) and day > ${days.from} and (realized <> 0 or fees <> 0) order by 1, 2`;
  // Which wallet of a batch comes first says nothing.
  const facts = await sql`select agent_id, kind, subject, at, payload::text as payload from facts
    where agent_id = any(${ids}::uuid[]) and kind <> 'resolution'
    order by substring(payload::text from ${`${name} w[0-9]+`}), seq`;
  return {
    positions: positions.map((row) => ({ ...row, wallet: plain(row.wallet), agent_id: nth(row.agent_id) })),
    fills: fills
      .map((row) => ({
        ...{ wallet: plain(row.wallet), orderId: plain(row.order_id), tradeId: Number(row.trade_id) },
        ...{ gain: row.realized, countsAt: row.counts_at?.getTime() ?? null, agent: nth(row.agent_id) },
      }))
      .sort(byName),
    results: results.map((row) => ({
      ...{ ...row, agent_id: nth(row.agent_id) },
      ...{ wins: Number(row.wins), losses: Number(row.losses) },
    })),
    days: daily.map((row) => ({ ...row, agent_id: nth(row.agent_id) })),
    facts: facts.map((row) => [
      ...[nth(row.agent_id), row.kind, plain(row.subject), row.at.getTime(), plain(row.payload)],
    ]),
  };
}

type Row = { readonly wallet: string; readonly orderId: string; readonly tradeId: number };
const byName = (a: Row, b: Row): number =>
  compareText(a.wallet, b.wallet) || compareText(a.orderId, b.orderId) || a.tradeId - b.tradeId;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same of the fold in memory. */
function inMemory(ledger: Ledger, count: number) {
  const plain = (text: string): string => text.replaceAll(IN_MEMORY, '');
  const tokens = Array.from({ length: count }, (_, nth) => tokenOf(walletOf(IN_MEMORY, nth)));
  const traded = tokens.filter((token) => ledger.fills(token).length > 0);
  return {
    positions: traded.map((token) => {
      const p = ledger.position(token);
      const owner = ledger.trader(token);
      return {
        ...{
          wallet: plain(token.wallet),
          agent_id: owner === null ? null : Number(owner),
          size: p.size,
          cost: p.cost,
        },
        ...{ realized: p.realized, fees: p.fees, settled: p.settled },
        ...{ bought_size: p.boughtSize, bought_cost: p.boughtCost },
        closed_at: p.closedAt === null ? null : new Date(p.closedAt),
      };
    }),
    fills: traded
      .flatMap((token) =>
        ledger.fills(token).map(({ orderId, tradeId, gain, countsAt }) => ({
          ...{ wallet: plain(token.wallet), orderId: plain(orderId), tradeId, gain, countsAt },
        })),
      )
      .sort(byName),
    results: [...ledger.results]
      .sort(([a], [b]) => compareText(a, b))
      .map(([agent, all]) => ({ agent_id: Number(agent), ...all })),
    days: [...ledger.days]
      .filter(([, { realized, fees }]) => realized !== 0n || fees !== 0n)
      .map(([key, day]) => {
        const [agent, number] = key.split(' ') as [string, string];
        return { agent_id: Number(agent), day: iso(Number(number) * 86_400_000).slice(0, 10), ...day };
      })
      .sort((a, b) => compareText(`${a.agent_id}${a.day}`, `${b.agent_id}${b.day}`)),
  };
}

const toldAct = fc.record({
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
  | Of<typeof toldAct>
  | Of<typeof failed>
  | Of<typeof redeemed>
  | Of<typeof resolved>
  | Of<typeof redeemedPast>;

/** What a wallet of the play is at. */
interface Playing {
  readonly nth: number;
  readonly acts: readonly Act[];
  /** Told with the next one that does not join. */
  waiting: Fill[];
  payout: Payout | null;
  resolvedAt: number;
}

/** The same sequences, one for each wallet, at three desks: rows of two databases and of the fold in memory. @returns events that were told */
async function play(kind: Kind, sequences: readonly (readonly Act[])[], compareEvery = 1): Promise<number> {
  worlds += 1;
  const count = sequences.length;
  const old = await newDesk(`old ${worlds}`, worlds * 4, count, byFunctions);
  const present = await newDesk(
    `new ${worlds}`,
    worlds * 4 + 2,
    count,
    kind === 'live' ? underLocks : inPlay,
  );
  const agentOf = new Map<string, string>();
  const ledger = new Ledger((orderId) => agentOf.get(orderId) ?? null);
  const playing = sequences.map(
    (acts, nth): Playing => ({ nth, acts, waiting: [], payout: null, resolvedAt: 0 }),
  );
  let events = 0;
  const onBoth = async (work: (desk: Desk) => Promise<void>): Promise<void> => {
    await work(old);
    await work(present);
  };
  const compare = async (): Promise<void> => {
    const [before, after] = [await inDatabase(old), await inDatabase(present)];
    expect(after).toEqual(before);
    const { facts: _, ...rows } = after;
    expect({
      ...rows,
      positions: rows.positions.map((row) => ({ ...row, updated_at: undefined })),
      fills: rows.fills.map((row) => ({ ...row, agent: undefined })),
    }).toEqual(inMemory(ledger, count));
  };
  const token = ({ nth }: Playing) => tokenOf(walletOf(IN_MEMORY, nth));
  /** The same of a desk's wallet. */
  const own = (text: string, desk: Desk): string => text.replaceAll(`${IN_MEMORY} w`, `${desk.name} w`);
  const ownFill = (fill: Fill, desk: Desk): Fill => ({
    ...fill,
    ...tokenOf(own(fill.wallet, desk)),
    orderId: own(fill.orderId, desk),
  });
  const held = (one: Playing): bigint =>
    one.waiting.reduce(
      (sum, { side, size }) => sum + (side === 'BUY' ? size : -size),
      ledger.position(token(one)).size,
    );
  const tell = async (some: readonly Playing[]): Promise<void> => {
    const fills = some.flatMap(({ waiting }) => waiting);
    if (fills.length === 0) return;
    await onBoth((desk) => desk.tell(fills.map((fill) => ownFill(fill, desk))));
    events += fills.length;
    ledger.take({ kind: 'fills', fills });
    for (const one of some) {
      if (kind === 'live' && one.payout !== null && one.waiting.length > 0)
        ledger.take({
          kind: 'resolution',
          ...{ conditionId: token(one).conditionId, payout: one.payout, at: one.resolvedAt },
        });
      one.waiting = [];
    }
  };
  /** One that is told is not told yet: it waits for others that join it. */
  const begin = async (
    told: readonly (readonly [Playing, Of<typeof toldAct>])[],
    nth: number,
    at: number,
  ) => {
    // On paper nothing trades after the resolution, and what is sold is there.
    const open = told.filter(([one]) => kind === 'live' || one.payout === null);
    await tell(open.flatMap(([one, { joins }]) => (joins ? [] : [one])));
    const name = String(nth).padStart(3, '0');
    const orders = open.map(([one, act]): NewOrder => {
      const side = kind === 'paper' && held(one) < act.size ? 'BUY' : act.side;
      const { wallet } = token(one);
      agentOf.set(`${wallet} ${name}`, String(act.agent));
      one.waiting.push({
        ...token(one),
        ...{ orderId: `${wallet} ${name}`, tradeId: nth, side, price: 5_000, size: act.size },
        ...{ cost: (act.size * act.pips) / 10_000n, fee: act.fee, liquidity: 'taker' },
        matchKind: kind === 'live' ? 'LIVE' : 'COMPLEMENTARY',
        at: kind === 'paper' ? at : at - act.lateMs,
      });
      return { wallet: one.nth, agent: act.agent, name, side };
    });
    await onBoth((desk) => insertOrders(desk, orders));
  };
  const takeBack = async (some: readonly (readonly [Playing, Of<typeof failed>])[], at: number) => {
    const gone = some.flatMap(([one, { which }]) => {
      const fills = ledger.fills(token(one)).filter(({ matchKind }) => matchKind === 'LIVE');
      const fill = fills[which % Math.max(1, fills.length)];
      return kind === 'paper' || fill === undefined ? [] : [{ ...fill, wallet: token(one).wallet }];
    });
    if (gone.length === 0) return;
    events += gone.length;
    for (const fill of gone)
      ledger.take({ kind: 'reversal', key: holdingKey(tokenOf(fill.wallet)), fills: [fill], at });
    await onBoth((desk) =>
      desk.takeBack(
        gone.map(({ wallet, orderId, tradeId }) => ({
          ...{ wallet: own(wallet, desk), orderId: own(orderId, desk), tradeId },
        })),
        at,
      ),
    );
  };
  const redeem = async (
    some: readonly (readonly [Playing, Of<typeof redeemed>])[],
    nth: number,
    at: number,
  ) => {
    for (const [one, { share }] of some) {
      const size = held(one) / share;
      if (kind === 'live' || size === 0n) continue;
      one.waiting.push({
        ...token(one),
        ...{
          orderId: `redeemed:${nth}${token(one).wallet}`,
          tradeId: nth,
          side: 'SELL',
          price: 10_000,
          size,
          cost: size,
        },
        ...{ fee: 0n, liquidity: 'taker', matchKind: 'REDEEMED', at },
      });
    }
    await tell(some.map(([one]) => one));
  };
  const resolve = async (some: readonly (readonly [Playing, Of<typeof resolved>])[], at: number) => {
    const markets = some.flatMap(([one, { payout }]) => {
      if (one.payout !== null) return [];
      one.payout = payout;
      one.resolvedAt = at;
      ledger.take({ kind: 'resolution', conditionId: token(one).conditionId, payout, at });
      return [{ wallet: token(one).wallet, payout }];
    });
    if (markets.length === 0) return;
    events += markets.length;
    await onBoth((desk) =>
      desk.resolve(
        markets.map((market) => ({ ...market, wallet: own(market.wallet, desk) })),
        at,
      ),
    );
  };
  const redeemPast = async (some: readonly (readonly [Playing, Of<typeof redeemedPast>])[], at: number) => {
    const tokens = some.flatMap(([one, { size }]) => {
      if (kind === 'paper' || one.payout === null) return [];
      ledger.take({ kind: 'redemption', key: holdingKey(token(one)), size, payout: one.payout, at });
      return [{ wallet: token(one).wallet, size }];
    });
    if (tokens.length === 0) return;
    events += tokens.length;
    await onBoth((desk) =>
      desk.redeemPast(
        tokens.map(({ wallet, size }) => ({ wallet: own(wallet, desk), size })),
        at,
      ),
    );
  };

  const longest = Math.max(...sequences.map(({ length }) => length));
  let at = NOW;
  for (let nth = 0; nth < longest; nth += 1) {
    const turn = playing.flatMap((one) => {
      const act = one.acts[nth];
      return act === undefined ? [] : [[one, act] as const];
    });
    const all = <W extends Act['what']>(what: W) =>
      turn.filter((pair): pair is readonly [Playing, Extract<Act, { what: W }>] => pair[1].what === what);
    const [first] = all('told');
    at += first?.[1].gapMs ?? HOUR_MS;
    await begin(all('told'), nth, at);
    await tell(turn.flatMap(([one, { what }]) => (what === 'told' ? [] : [one])));
    await takeBack(all('failed'), at);
    await redeem(all('redeemed'), nth, at);
    await resolve(all('resolved'), at);
    await redeemPast(all('redeemed past'), at);
    if (nth % compareEvery === 0) await compare();
  }
  await tell(playing);
  await compare();
  return events;
}

const actsOf = (kind: Kind): fc.Arbitrary<readonly Act[]> => {
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
  return fc.array(fc.oneof({ weight: 14, arbitrary: toldAct }, ...rest), {
    ...{ minLength: 4, maxLength: 22, size: 'max' },
  });
};

describe.each<Kind>(['live', 'paper'])(
  '%s: fold, rows and the functions of the release before agree',
  (kind) => {
    test('on one wallet, after each act', async () => {
      await fc.assert(
        fc.asyncProperty(actsOf(kind), async (acts) => void (await play(kind, [acts]))),
        { numRuns: RUNS, seed: SEED, endOnFailure: false },
      );
    });

    test(
      'on many wallets that are told together',
      async () => {
        let events = 0;
        for (let round = 0; round === 0 || events < EVENTS; round += 1) {
          const sequences = fc.sample(actsOf(kind), { numRuns: WALLETS, seed: SEED + round });
          events += await play(kind, sequences, EVENTS > 0 ? 11 : 1);
          await forget();
        }
        if (EVENTS > 0) process.stdout.write(`${kind}: ${events} events\n`);
      },
      LIMIT_MS,
    );
  },
);

/** What was compared: a long run would make every further one slower. */
async function forget(): Promise<void> {
  await sql`truncate orders, fills, positions, facts, daily_results, agent_results, traded_markets, budget_returns cascade`;
}

test('a purchase brought what was sold before, also where its replica’s clock is ahead', async () => {
  worlds += 1;
  const desk = await newDesk('ahead', worlds * 4, 1, underLocks);
  const wallet = walletOf(desk.name, 0);
  const tell = async (name: string, side: Fill['side'], size: bigint, at: number): Promise<void> => {
    await insertOrders(desk, [{ wallet: 0, agent: 0, name, side }]);
    await desk.tell([
      {
        ...tokenOf(wallet),
        ...{
          orderId: `${wallet} ${name}`,
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
