/** The positions that the leader of the paper exchange keeps: true while its term lasts, and forgotten with it. */
import type { Fill } from '@bellwether/contract/positions';
import { openTransaction, transact } from '@bellwether/durable';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { NO_EVIDENCE, openDeskOfOneAgent } from '../../../test/one-agent.ts';
import type { Evidence } from '../src/domain/evidence.ts';
import type { Sql, Tx } from '../src/platform/database/connection.ts';
import { lockPositions, PositionsInPlay } from '../src/positions/positions-in-play.ts';
import { recordEvidence, writeEvidence } from '../src/trading/outcomes.ts';

const AT = Date.UTC(2026, 5, 1, 12);

let sql: Sql;
let wallet = '';
let worlds = 0;
let orders = 0;

beforeAll(async () => {
  sql = await openDeskOfOneAgent();
});
beforeEach(() => {
  worlds += 1;
  wallet = `wallet ${worlds}`;
});

const fill = (side: Fill['side'], size: bigint, cost: bigint, more: Partial<Fill> = {}): Fill => {
  orders += 1;
  return {
    ...{ wallet, conditionId: `c ${wallet}`, tokenId: `t ${wallet}`, outcome: 'YES', orderId: `o ${orders}` },
    ...{ tradeId: orders, side, size, cost, fee: 0n, price: 5_000, liquidity: 'taker' },
    ...{ matchKind: 'COMPLEMENTARY', at: AT, ...more },
  };
};

/** Counts what is read through it. */
function counting(tx: Tx): { readonly tx: Tx; readonly reads: () => number } {
  let reads = 0;
  const counted = new Proxy(tx, {
    get(target, name) {
      if (name === 'unsafe') reads += 1;
      return Reflect.get(target, name, target);
    },
  });
  return { tx: counted, reads: () => reads };
}

/** One commit of a term. @returns how many reads it needed */
const commit = (
  positions: PositionsInPlay,
  term: bigint,
  evidence: Partial<Evidence>,
  fails = false,
): Promise<number> =>
  transact(sql, async (tx) => {
    const counted = counting(tx);
    const all = { ...NO_EVIDENCE, ...evidence };
    const folded = await positions.fold(counted.tx, term, all);
    if (fails) throw new Error('the commit fails');
    await Promise.all(writeEvidence(tx, all, folded));
    return counted.reads();
  });

const inDatabase = async () => {
  const [row] = await sql`select size, cost, realized from positions where wallet = ${wallet}`;
  return { ...row };
};

test('a position is read with its first sale, and never again in the term', async () => {
  const positions = new PositionsInPlay();
  expect(await commit(positions, 1n, { fills: [fill('BUY', 10n, 4n)] })).toBe(0);
  expect(await commit(positions, 1n, { fills: [fill('SELL', 5n, 4n)] })).toBe(1);
  expect(await commit(positions, 1n, { fills: [fill('BUY', 5n, 4n), fill('SELL', 5n, 4n)] })).toBe(0);
  expect(await commit(positions, 1n, { fills: [fill('SELL', 5n, 4n)] })).toBe(0);
  expect(await inDatabase()).toEqual({ size: 0n, cost: 0n, realized: 4n });
});

test('what a turn has read for its sales, its commit need not read again', async () => {
  const positions = new PositionsInPlay();
  await commit(positions, 1n, { fills: [fill('BUY', 10n, 4n)] });
  await positions.read(sql, 1n, [fill('SELL', 5n, 4n)]);
  expect(await commit(positions, 1n, { fills: [fill('SELL', 5n, 4n)] })).toBe(0);
});

test('another term reads anew what a leader between has written', async () => {
  const [first, between] = [new PositionsInPlay(), new PositionsInPlay()];
  await commit(first, 1n, { fills: [fill('BUY', 10n, 4n)] });
  await commit(first, 1n, { fills: [fill('SELL', 5n, 4n)] });
  await commit(between, 2n, { fills: [fill('BUY', 5n, 5n)] });
  expect(await commit(first, 3n, { fills: [fill('SELL', 10n, 10n)] })).toBe(1);
  expect(await inDatabase()).toEqual({ size: 0n, cost: 0n, realized: 2n + 3n });
});

test('what a failed commit has folded is forgotten with the term that it ends', async () => {
  const positions = new PositionsInPlay();
  await commit(positions, 1n, { fills: [fill('BUY', 10n, 4n)] });
  await commit(positions, 1n, { fills: [fill('SELL', 1n, 1n)] });
  await expect(commit(positions, 1n, { fills: [fill('SELL', 9n, 9n)] }, true)).rejects.toThrow(
    'the commit fails',
  );
  await commit(positions, 2n, { fills: [fill('SELL', 9n, 9n)] });
  expect(await inDatabase()).toEqual({ size: 0n, cost: 0n, realized: 6n });
});

test('what was read in a term that ended meanwhile is not kept', async () => {
  const positions = new PositionsInPlay();
  await commit(positions, 1n, { fills: [fill('BUY', 10n, 4n)] });
  const late = expect(positions.read(sql, 1n, [fill('SELL', 5n, 4n)])).rejects.toThrow('another term');
  await positions.read(sql, 2n, [fill('SELL', 5n, 4n, { tokenId: 'another' })]);
  await late;
  // Nor does who comes late take from the present term what it knows.
  await expect(commit(positions, 1n, { fills: [fill('SELL', 5n, 4n)] })).rejects.toThrow('another term');
});

test('a resolution closes what is held, known or not, together with what its commit bought', async () => {
  const positions = new PositionsInPlay();
  await commit(positions, 1n, { fills: [fill('BUY', 10n, 4n)] });
  const resolutions = [{ conditionId: `c ${wallet}`, payout: 'NO', at: AT + 1 }] as const;
  await commit(positions, 1n, { fills: [fill('BUY', 10n, 5n)], resolutions });
  expect(await inDatabase()).toEqual({ size: 0n, cost: 0n, realized: -9n });
  const [lost] = await sql`select size, cost from fills where wallet = ${wallet} and match_kind = 'LOST'`;
  expect({ ...lost }).toEqual({ size: 20n, cost: 0n });
});

test('a sale of more than is held is no commit', async () => {
  const positions = new PositionsInPlay();
  await commit(positions, 1n, { fills: [fill('BUY', 10n, 4n)] });
  await expect(commit(positions, 1n, { fills: [fill('SELL', 11n, 4n)] })).rejects.toThrow(RangeError);
  expect(await inDatabase()).toEqual({ size: 10n, cost: 4n, realized: 0n });
});

const evidence = (...fills: readonly Fill[]): Evidence => ({ ...NO_EVIDENCE, fills });
const chain = (side: Fill['side'], size: bigint, cost: bigint, at: number) =>
  fill(side, size, cost, { matchKind: 'LIVE', at });

test.each([
  ['of a position that is there', true],
  ['of a position that the first of them begins', false],
])(
  'where no term protects them, two transactions that tell fills %s count one after the other',
  async (_, isThere) => {
    const bought = chain('BUY', 10n, 3n, AT - 60_000);
    if (isThere) await transact(sql, (tx) => recordEvidence(tx, evidence(bought)));
    const reported = [...(isThere ? [] : [bought]), chain('SELL', 5n, 5n, AT)];
    const first = openTransaction(sql);
    await lockPositions(first.tx, reported, []);
    let isDone = false;
    const second = transact(sql, (tx) => recordEvidence(tx, evidence(chain('SELL', 5n, 5n, AT + 1)))).then(
      () => {
        isDone = true;
      },
    );
    await expect.poll(async () => isDone || (await isWaitingForALock())).toBe(true);
    expect(isDone).toBe(false);
    await recordEvidence(first.tx, evidence(...reported));
    await first.commit();
    await second;
    expect(await inDatabase()).toEqual({ size: 0n, cost: 0n, realized: 7n });
  },
);

test('a purchase that waits for a later sale to be recorded counts before it', async () => {
  await transact(sql, (tx) => recordEvidence(tx, evidence(chain('BUY', 10n, 10n, AT))));
  const first = openTransaction(sql);
  const sale = chain('SELL', 5n, 10n, AT + 2);
  await lockPositions(first.tx, [sale], []);
  let isDone = false;
  const second = transact(sql, (tx) => recordEvidence(tx, evidence(chain('BUY', 10n, 20n, AT + 1)))).then(
    () => {
      isDone = true;
    },
  );
  await expect.poll(async () => isDone || (await isWaitingForALock())).toBe(true);
  await recordEvidence(first.tx, evidence(sale));
  await first.commit();
  await second;
  // Five of twenty shares for 30, which brought 10.
  expect(await inDatabase()).toEqual({ size: 15n, cost: 23n, realized: 3n });
});

const isWaitingForALock = async (): Promise<boolean> => {
  const waiting =
    await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return waiting.length > 0;
};
