/**
 * The fold of positions, what the desk writes of it, and `oracle.sql`, which knows the same rules by other means: the same random
 * sequences, on a real PostgreSQL, and every row compared after each step.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fill, holdingKey, type Payout } from '@bellwether/contract/positions';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sql } from '../../packages/server/src/platform/database/connection.ts';
import { openDeskDatabase } from '../postgres.ts';
import { budget } from '../setup/budget.ts';
import {
  byFunctions,
  type Desk,
  IN_MEMORY,
  inDatabase,
  inMemory,
  inPlay,
  insertOrders,
  type NewOrder,
  NOW,
  newDesk,
  tokenOf,
  underLocks,
  walletOf,
} from './desks.ts';
import { Ledger } from './ledger.ts';

const HOUR_MS = 3_600_000;
const RUNS = Number(process.env.LEDGER_RUNS ?? budget(600));
const SEED = Number(process.env.LEDGER_SEED ?? 7);
/** Many wallets in one batch, each with its own sequence: more events in less time. */
const WALLETS = Number(process.env.LEDGER_WALLETS ?? budget(200));
/** Events of these wallets, at least; one sequence each, where none are asked for. */
const EVENTS = Number(process.env.LEDGER_EVENTS ?? 0);
const LIMIT_MS = EVENTS > 0 ? 7_200_000 : 600_000;

type Kind = 'live' | 'paper';

let sql: Sql;
let worlds = 0;

beforeAll(async () => {
  sql = await openDeskDatabase();
  await sql.unsafe(readFileSync(join(import.meta.dirname, 'oracle.sql'), 'utf8'));
});

const toldAct = fc.record({
  what: fc.constant('reported' as const),
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
  /** Of a live wallet: one leg of a split, merge or conversion, which the desk finds on the chain. */
  ofSet: fc.constantFrom(null, null, 'set' as const, 'conversion' as const),
  /** How long ago it happened, for a desk that hears of it late. */
  lateMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 5 * HOUR_MS })),
  /** How long after the act before; the clocks of two replicas differ by seconds. */
  gapMs: fc.oneof({ weight: 2, arbitrary: fc.constant(HOUR_MS) }, fc.integer({ min: 1, max: 12_000 })),
  /** Reported together with the one before. */
  joins: fc.boolean(),
});
const failed = fc.record({ what: fc.constant('failed' as const), which: fc.nat(40) });
const redeemed = fc.record({ what: fc.constant('redeemed' as const), share: fc.constantFrom(2n, 1n) });
const resolved = fc.record({
  what: fc.constant('resolved' as const),
  payout: fc.constantFrom<Payout>('YES', 'NO', 'HALF', '0.24', '0.333333'),
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

const liveKindOf = ({ ofSet, side }: Of<typeof toldAct>): string => {
  if (ofSet === null) return 'LIVE';
  return ofSet === 'conversion' ? 'CONVERTED' : side === 'BUY' ? 'SPLIT' : 'MERGED';
};

/** State of a wallet in the play. */
interface Playing {
  readonly nth: number;
  readonly acts: readonly Act[];
  /** Reported with the next one that does not join. */
  waiting: Fill[];
  payout: Payout | null;
  resolvedAt: number;
}

/** The same sequences, one for each wallet, at three desks: the rows of two in the database, and of the fold in memory. @returns events that were reported */
async function play(kind: Kind, sequences: readonly (readonly Act[])[], compareEvery = 1): Promise<number> {
  worlds += 1;
  const count = sequences.length;
  const oracle = await newDesk(sql, { name: `oracle ${worlds}`, nth: worlds * 4, count }, byFunctions);
  const present = await newDesk(
    sql,
    { name: `new ${worlds}`, nth: worlds * 4 + 2, count },
    kind === 'live' ? underLocks : inPlay,
  );
  const agentOf = new Map<string, string>();
  const ledger = new Ledger((orderId) => agentOf.get(orderId) ?? null);
  const playing = sequences.map(
    (acts, nth): Playing => ({ nth, acts, waiting: [], payout: null, resolvedAt: 0 }),
  );
  let events = 0;
  const onBoth = async (work: (desk: Desk) => Promise<void>): Promise<void> => {
    await work(oracle);
    await work(present);
  };
  const compare = async (): Promise<void> => {
    const [before, after] = [await inDatabase(sql, oracle), await inDatabase(sql, present)];
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
  /** A new fill waits for others that join it, and is reported with them. */
  const begin = async (
    reported: readonly (readonly [Playing, Of<typeof toldAct>])[],
    nth: number,
    at: number,
  ) => {
    // On paper nothing trades after the resolution, and what is sold is there.
    const open = reported.filter(([one]) => kind === 'live' || one.payout === null);
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
        matchKind: kind === 'live' ? liveKindOf(act) : 'COMPLEMENTARY',
        at: kind === 'paper' ? at : at - act.lateMs,
      });
      return { wallet: one.nth, agent: act.agent, name, side };
    });
    await onBoth((desk) => insertOrders(sql, desk, orders));
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
    const [first] = all('reported');
    at += first?.[1].gapMs ?? HOUR_MS;
    await begin(all('reported'), nth, at);
    await tell(turn.flatMap(([one, { what }]) => (what === 'reported' ? [] : [one])));
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

describe.each<Kind>(['live', 'paper'])('%s: fold, rows and the oracle agree', (kind) => {
  test(
    'on one wallet, after each act',
    async () => {
      await fc.assert(
        fc.asyncProperty(actsOf(kind), async (acts) => void (await play(kind, [acts]))),
        { numRuns: RUNS, seed: SEED, endOnFailure: false },
      );
    },
    LIMIT_MS,
  );

  test(
    'on many wallets that are reported together',
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
});

/** Removes what was compared: a long run would make every further one slower. */
async function forget(): Promise<void> {
  await sql`truncate orders, fills, positions, facts, daily_results, agent_results, traded_markets, budget_returns cascade`;
}

test('a purchase brought what was sold before, also where its replica’s clock is ahead', async () => {
  worlds += 1;
  const desk = await newDesk(sql, { name: 'ahead', nth: worlds * 4, count: 1 }, underLocks);
  const wallet = walletOf(desk.name, 0);
  const tell = async (name: string, side: Fill['side'], size: bigint, at: number): Promise<void> => {
    await insertOrders(sql, desk, [{ wallet: 0, agent: 0, name, side }]);
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
