/** Positions that owners redeem past the desk: closed as far as their tokens were redeemed, each token once. */
import type { Payout } from '@bellwether/contract/positions';
import { beforeAll, expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../../test/one-agent.ts';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { FillEvidence } from '../src/domain/evidence.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import type { RedemptionStore } from '../src/positions/redemption-store.ts';
import { createRedemptionStore } from '../src/positions/redemption-store.ts';
import { createEvidenceLog } from '../src/trading/outcomes.ts';

const M = 1_000_000n;
const VENUE = 'live';
const RESOLVED_AT = Date.UTC(2026, 5, 2);

let sql: Sql;
let store: RedemptionStore;
let worlds = 0;

beforeAll(async () => {
  sql = await openDeskDatabase();
  store = createRedemptionStore(sql);
});

interface World {
  readonly wallet: `0x${string}` & { readonly __brand?: never };
  readonly condition: string;
  readonly buy: (outcome: 'YES' | 'NO', size: bigint, cost: bigint) => Promise<void>;
  readonly redeemed: (outcome: 'YES' | 'NO', size: bigint, by?: RedemptionStore) => Promise<number>;
  readonly position: (outcome: 'YES' | 'NO') => Promise<{ size: bigint; realized: bigint } | undefined>;
}

/** A wallet and a market of its own at the live venue. */
async function newWorld(payout: Payout): Promise<World> {
  worlds += 1;
  const id = worlds;
  const wallet = `0x${String(id).padStart(40, '0')}` as const;
  const condition = `c${id}`;
  const evidence = createEvidenceLog(sql);
  let trades = 0;
  await evidence.record({
    ...NO_EVIDENCE,
    markets: [
      {
        conditionId: condition,
        marketId: `m${id}`,
        slug: `s${id}`,
        question: '?',
        outcomes: null,
        endDate: 0,
        venue: VENUE,
      },
    ],
  });
  await sql`update traded_markets set payout = ${payout}, resolved_at = ${new Date(RESOLVED_AT)}
    where condition_id = ${condition}`;
  const token = (outcome: string) => `${condition}-${outcome}`;
  return {
    wallet,
    condition,
    async buy(outcome, size, cost) {
      trades += 1;
      const fill: FillEvidence = {
        ...{
          wallet,
          orderId: `o${id}`,
          tradeId: trades,
          conditionId: condition,
          tokenId: token(outcome),
          outcome,
        },
        ...{ side: 'BUY', price: 5_000, size, cost, fee: 0n, liquidity: 'taker', matchKind: 'LIVE' },
        at: RESOLVED_AT - 10_000 + trades,
      };
      await evidence.record({ ...NO_EVIDENCE, fills: [fill] });
    },
    redeemed: (outcome, size, by = store) =>
      by.recordRedeemed([
        { wallet: wallet as never, tokenId: token(outcome), size, at: RESOLVED_AT + 60_000 },
      ]),
    async position(outcome) {
      const [row] = await sql<{ size: bigint; realized: bigint }[]>`
        select size, realized from positions where wallet = ${wallet} and token_id = ${token(outcome)}`;
      return row === undefined ? undefined : { ...row };
    },
  };
}

test('a redemption closes the position once, at what the market paid, recorded by anyone, any number of times', async () => {
  const world = await newWorld('YES');
  await world.buy('YES', 20n * M, 8n * M);
  const changed = await Promise.all(Array.from({ length: 6 }, () => world.redeemed('YES', 20n * M)));
  expect(changed.toSorted()).toEqual([0, 0, 0, 0, 0, 1]);
  expect(await world.position('YES')).toEqual({ size: 0n, realized: 12n * M });
  const fills = await sql`select price, size, cost, filled_at from fills
    where wallet = ${world.wallet} and match_kind = 'REDEEMED'`;
  expect(fills).toEqual([
    { price: 10_000, size: 20n * M, cost: 20n * M, filled_at: new Date(RESOLVED_AT + 60_000) },
  ]);
});

test('tokens that came past the desk are no gain, and are kept for fills that are reported later', async () => {
  const world = await newWorld('YES');
  await world.buy('YES', 20n * M, 8n * M);
  expect(await world.redeemed('YES', 30n * M)).toBe(1);
  expect(await world.position('YES')).toEqual({ size: 0n, realized: 12n * M });
  expect(await world.redeemed('YES', 30n * M)).toBe(0);
  await world.buy('YES', 4n * M, 1n * M);
  expect(await world.redeemed('YES', 30n * M)).toBe(1);
  expect(await world.position('YES')).toEqual({ size: 0n, realized: 15n * M });
  await world.buy('YES', 10n * M, 1n * M);
  // Six of the thirty are left.
  expect(await world.redeemed('YES', 30n * M)).toBe(1);
  expect((await world.position('YES'))?.size).toBe(4n * M);
});

test('a part closes a part, also when two replicas record it at once', async () => {
  const world = await newWorld('YES');
  await world.buy('YES', 20n * M, 8n * M);
  const changed = await Promise.all(Array.from({ length: 6 }, () => world.redeemed('YES', 5n * M)));
  expect(changed.reduce((sum, one) => sum + one)).toBe(1);
  expect(await world.position('YES')).toEqual({ size: 15n * M, realized: 3n * M });
  expect(await world.redeemed('YES', 12n * M)).toBe(1);
  expect(await world.position('YES')).toEqual({ size: 8n * M, realized: 7_200_000n });
});

test('of a draw each outcome pays half; what lost is burnt without another loss; before the outcome nothing counts', async () => {
  const half = await newWorld('HALF');
  await half.buy('YES', 20n * M, 8n * M);
  await half.buy('NO', 3n, 2n);
  expect(await half.redeemed('YES', 20n * M)).toBe(1);
  expect(await half.redeemed('NO', 3n)).toBe(1);
  expect(await half.position('YES')).toEqual({ size: 0n, realized: 2n * M });
  expect(await half.position('NO')).toEqual({ size: 0n, realized: -1n });

  const lost = await newWorld('NO');
  await lost.buy('YES', 20n * M, 8n * M);
  expect(await lost.position('YES')).toEqual({ size: 0n, realized: -8n * M });
  expect(await lost.redeemed('YES', 20n * M)).toBe(0);
  expect(await lost.position('YES')).toEqual({ size: 0n, realized: -8n * M });

  const open = await newWorld('YES');
  await sql`update traded_markets set payout = null where condition_id = ${open.condition}`;
  await open.buy('YES', 20n * M, 8n * M);
  expect(await open.redeemed('YES', 20n * M)).toBe(0);
  expect((await open.position('YES'))?.size).toBe(20n * M);
});

test('of a market that pays parts each outcome pays its own, rounded down, and its holders are due', async () => {
  const part = await newWorld('0.24');
  await part.buy('YES', 20n * M, 8n * M);
  await part.buy('NO', 3n, 2n);
  const due = await store.claimHolders(VENUE, { everyMs: 0, limit: 100 });
  expect(due.map(({ wallet }) => wallet)).toContain(part.wallet);
  expect(await store.worthless([part.condition])).toEqual([]);
  expect(await part.redeemed('YES', 20n * M)).toBe(1);
  expect(await part.redeemed('NO', 3n)).toBe(1);
  expect(await part.position('YES')).toEqual({ size: 0n, realized: -3_200_000n });
  expect(await part.position('NO')).toEqual({ size: 0n, realized: 0n });
});

test('an account is due while it holds what the market paid for, for one replica at a time, and again when it is made due', async () => {
  await sql`delete from positions`;
  const [winner, other] = [await newWorld('YES'), await newWorld('YES')];
  const loser = await newWorld('NO');
  for (const world of [winner, other, loser]) await world.buy('YES', 2n * M, M);
  const claim = (limit = 50) => store.claimHolders(VENUE, { everyMs: 60_000, limit });
  const claimed = (await Promise.all([claim(), claim(), claim()])).flat();
  expect(claimed.map(({ wallet }) => wallet).toSorted()).toEqual([winner.wallet, other.wallet].toSorted());
  expect(claimed.flatMap(({ conditionIds }) => conditionIds).toSorted()).toEqual(
    [winner.condition, other.condition].toSorted(),
  );
  expect(await claim()).toEqual([]);
  expect(await store.claimHolders('another venue', { everyMs: 0, limit: 50 })).toEqual([]);
  await store.makeDue(VENUE, [other.wallet as never]);
  expect(await claim()).toEqual([{ wallet: other.wallet, conditionIds: [other.condition] }]);
  await winner.redeemed('YES', 2n * M);
  await other.redeemed('YES', 2n * M);
  expect(await store.claimHolders(VENUE, { everyMs: 0, limit: 50 })).toEqual([]);
});
