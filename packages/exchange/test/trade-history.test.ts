/** The history of trades: what it says, that it is durable, that the journal never outruns it, and what it costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import { openPool } from '@bellwether/durable';
import { describe, expect, test } from 'vitest';
import { FailingTrades, HistoryProjector } from '../src/history/projector.ts';
import { tradeIdOf, tradeNumberOf } from '../src/history/trades.ts';
import type { JournalledExchange, NewOrder } from '../src/index.ts';
import {
  ALICE,
  cutJournal,
  marketBuy,
  orderId,
  restingBid,
  someTrading,
  stage,
  untilOpen,
} from './open-exchange-stage.ts';

const BOB = '0x0000000000000000000000000000000000000b0b';
const CAROL = '0x000000000000000000000000000000000000ca01';

/** Bids of Alice and Bob above the house's, and a SELL of Carol's that takes both. */
async function twoMakers(exchange: JournalledExchange, first = 1): Promise<NewOrder> {
  for (const account of [ALICE, BOB, CAROL])
    await exchange.execute({ kind: 'deposit', account, amount: 1_000n * MICRO });
  const resting = restingBid(exchange, first);
  const { conditionId } = resting;
  const limit = exchange.book(conditionId, 'YES', 1)!.bids[0]![0] + 100;
  expect(limit).toBeLessThan(exchange.book(conditionId, 'YES', 1)!.asks[0]![0]);
  await exchange.execute({ kind: 'place', order: { ...resting, limit, size: 5n * MICRO } });
  const bobs = { ...resting, orderId: orderId(first + 1), account: BOB, limit, size: 7n * MICRO };
  await exchange.execute({ kind: 'place', order: bobs });
  await exchange.execute({ kind: 'split', account: CAROL, conditionId, amount: 50n * MICRO });
  const sell: NewOrder = {
    ...resting,
    ...{
      orderId: orderId(first + 2),
      account: CAROL,
      side: 'SELL',
      limit,
      size: 10n * MICRO,
      timeInForce: 'FAK',
    },
  };
  await exchange.execute({ kind: 'place', order: sell });
  return sell;
}

describe('a trade', () => {
  test('is one taker against all its makers, for each account that took part and on the public tape', async () => {
    const { open, clock } = await stage();
    const exchange = await open();
    const sell = await twoMakers(exchange);
    const { history } = exchange;
    const [taken, ...more] = await history.trades({ account: CAROL, limit: 10 });
    expect(more).toEqual([]);
    expect(taken).toMatchObject({
      at: clock.time,
      conditionId: sell.conditionId,
      market: { conditionId: sell.conditionId, tokenIds: exchange.market(sell.conditionId)!.tokenIds },
      taker: { orderId: sell.orderId, account: CAROL, outcome: 'YES', side: 'SELL' },
      matches: [
        { orderId: orderId(1), account: ALICE, size: 5n * MICRO },
        { orderId: orderId(2), account: BOB, size: 5n * MICRO },
      ],
    });
    for (const account of [ALICE, BOB]) expect(await history.trades({ account, limit: 10 })).toEqual([taken]);
    expect(await history.trades({ conditionId: sell.conditionId, limit: 1 })).toEqual([taken]);
    expect(taken!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await history.trade(taken!.id)).toEqual(taken);
    const record = await exchange.orderRecord(orderId(2));
    const matchIds = record!.events.flatMap((event) => (event.kind === 'fill' ? [event.matchId] : []));
    expect(matchIds).not.toEqual([taken!.number]);
    expect(await history.tradesOfMatches(matchIds)).toEqual([taken]);
    await exchange.close();
  });

  test('an id says its number to the world that made it, and nothing to another', () => {
    for (const number of [1, 2, 65_537, 2 ** 40]) {
      const id = tradeIdOf('seed', number);
      expect(tradeNumberOf('seed', id)).toBe(number);
      expect(tradeNumberOf('seed', id.toUpperCase())).toBe(number);
      expect(tradeNumberOf('other', id)).toBeUndefined();
      expect(tradeNumberOf('seed', `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`)).toBeUndefined();
    }
    for (const id of ['', 'x', '00000000-0000-4000-8000-000000000000', "' or 1=1 --"])
      expect(tradeNumberOf('seed', id)).toBeUndefined();
    expect(() => tradeIdOf('seed', 0)).toThrow(RangeError);
  });

  test('settles by time, with a hash from MINED on that stays the same', async () => {
    const { open, clock } = await stage();
    const first = await open({ settlement: { minedAfterMs: 2_000, confirmedAfterMs: 5_000 } });
    await twoMakers(first);
    const made = clock.time;
    const now = async (exchange: JournalledExchange) =>
      (await exchange.history.trades({ account: CAROL, limit: 1 }))[0]!.settlement;
    expect(await now(first)).toEqual({ status: 'MATCHED', since: made });
    clock.time = made + 1_999;
    expect((await now(first)).status).toBe('MATCHED');
    clock.time = made + 2_000;
    const mined = await now(first);
    expect(mined).toMatchObject({ status: 'MINED', since: made + 2_000 });
    expect(mined.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
    await first.close();
    const second = await open({ settlement: { minedAfterMs: 2_000, confirmedAfterMs: 5_000 } });
    clock.time = made + 5_000;
    expect(await now(second)).toEqual({ ...mined, status: 'CONFIRMED', since: made + 5_000 });
    await second.close();
  });
});

describe('a trade that fails', () => {
  const failing = { failingTrades: () => true, settlement: { minedAfterMs: 1_000, confirmedAfterMs: 3_000 } };
  const statusOf = async (exchange: JournalledExchange) =>
    (await exchange.history.trades({ account: CAROL, limit: 1 }))[0]!.settlement;
  const balances = (exchange: JournalledExchange) =>
    [ALICE, BOB, CAROL].map((account) => {
      const { available, held, tokens } = exchange.account(account);
      return { money: available + held, tokens: [...tokens] };
    });

  test('is retried, then really reversed for everyone, once, also over restarts and a whole replay', async () => {
    const { sql, open, clock } = await stage();
    const first = await open({ ...failing, prunesJournal: false });
    const sell = await twoMakers(first);
    const made = clock.time;
    const traded = balances(first);
    clock.time = made + 1_000;
    expect(await statusOf(first)).toEqual({ status: 'RETRYING', since: made + 1_000 });
    await first.close();
    // The choice was made at the match: another plan does not change it.
    const second = await open({ settlement: failing.settlement, prunesJournal: false });
    clock.time = made + 2_999;
    await second.reverseFailed();
    expect((await statusOf(second)).status).toBe('RETRYING');
    expect(balances(second)).toEqual(traded);
    clock.time = made + 3_000;
    await second.reverseFailed();
    await second.reverseFailed();
    const failed = await statusOf(second);
    expect(failed).toEqual({ status: 'FAILED', since: made + 3_000 });
    const [alice, bob, carol] = balances(second);
    const whole = 1_000n * MICRO;
    expect([alice, bob]).toEqual([
      { money: whole, tokens: [] },
      { money: whole, tokens: [] },
    ]);
    // As after her split, the fee included.
    expect(carol).toEqual({
      money: whole - 50n * MICRO,
      tokens: [[sell.conditionId, { yes: 50n * MICRO, no: 50n * MICRO, yesHeld: 0n, noHeld: 0n }]],
    });
    const hash = second.stateHash();
    await second.close();
    await sql`delete from exchange_snapshots`;
    for (const table of ['trades', 'account_trades', 'account_moves', 'traded_markets', 'history'])
      await sql.unsafe(`delete from exchange_${table}`);
    const third = await open({ settlement: failing.settlement });
    expect(third.stateHash()).toBe(hash);
    expect(await statusOf(third)).toEqual(failed);
    await third.close();
  });

  test('settles after all where somebody has spent what must be given back', async () => {
    const { open, clock } = await stage();
    const exchange = await open(failing);
    await twoMakers(exchange);
    const made = clock.time;
    const { conditionId } = restingBid(exchange, 1);
    const sold = {
      ...restingBid(exchange, 50),
      side: 'SELL' as const,
      limit: 100,
      timeInForce: 'FAK' as const,
    };
    const alices: NewOrder = { ...sold, size: exchange.freeTokens(ALICE, conditionId, 'YES') };
    await exchange.execute({ kind: 'place', order: alices });
    clock.time = made + 3_000;
    await exchange.reverseFailed();
    const [, first] = await exchange.history.trades({ account: ALICE, limit: 2 });
    expect(first!.settlement).toMatchObject({
      status: 'MINED',
      since: made + 3_000,
      transactionHash: expect.stringMatching(/^0x/),
    });
    clock.time = made + 5_000;
    const [, later] = await exchange.history.trades({ account: ALICE, limit: 2 });
    expect(later!.settlement).toMatchObject({ status: 'CONFIRMED', since: made + 5_000 });
    expect(later!.settlement.transactionHash).toBe(first!.settlement.transactionHash);
    await exchange.close();
  });

  test('never is one of the house among itself, nor of an account that is no wallet', async () => {
    const { open, clock } = await stage();
    const exchange = await open(failing);
    await exchange.execute({ kind: 'deposit', account: 'sandbox', amount: 100n * MICRO });
    await exchange.execute({ kind: 'place', order: { ...marketBuy(exchange, 1), account: 'sandbox' } });
    clock.time += 1_500;
    const tape = await exchange.history.trades({ limit: 1_000 });
    expect(new Set(tape.map(({ settlement }) => settlement.status))).toEqual(new Set(['MINED']));
    await exchange.close();
  });
});

describe('reads', () => {
  test('go by time, market, outcome, side and role, newest or oldest first, page by page', async () => {
    const { open, clock } = await stage();
    const exchange = await open();
    const { history } = exchange;
    const sell = await twoMakers(exchange);
    const start = clock.time;
    for (let i = 0; i < 7; i += 1) {
      clock.time += 1_000;
      await exchange.execute({ kind: 'place', order: marketBuy(exchange, 100 + i) });
    }
    const all = await history.trades({ account: ALICE, limit: 100 });
    expect(all).toHaveLength(8);
    expect(all.map(({ at }) => at)).toEqual([...all.map(({ at }) => at)].sort((a, b) => b - a));
    const pages = [];
    for (let last = all[0]; last !== undefined; ) {
      pages.push(last);
      [last] = await history.trades({ account: ALICE, limit: 1, after: last });
    }
    expect(pages).toEqual(all);
    const oldest = await history.trades({ account: ALICE, limit: 3, oldestFirst: true });
    expect(oldest).toEqual(all.toReversed().slice(0, 3));
    expect(await history.trades({ account: ALICE, limit: 9, oldestFirst: true, after: oldest[2]! })).toEqual(
      all.toReversed().slice(3),
    );
    const count = async (query: object) =>
      (await history.trades({ account: ALICE, limit: 100, ...query })).length;
    expect(await count({ since: start + 1_000 })).toBe(7);
    expect(await count({ until: start + 1_000 })).toBe(1);
    expect(await count({ role: 'maker' })).toBe(1);
    expect(await count({ role: 'taker', side: 'BUY', outcome: 'YES' })).toBe(7);
    expect(await count({ side: 'SELL' })).toBe(0);
    expect(await count({ conditionId: sell.conditionId })).toBe(8);
    const [other] = [...exchange.markets()].filter(({ conditionId }) => conditionId !== sell.conditionId);
    expect(await count({ conditionId: other!.conditionId })).toBe(0);
    expect(await count({ conditionId: '0x00' })).toBe(0);
    const tape = await history.trades({ conditionId: sell.conditionId, limit: 100 });
    expect(await history.trades({ conditionId: sell.conditionId, limit: 100, after: tape[0]! })).toEqual(
      tape.slice(1),
    );
    await exchange.close();
  });

  test('moves that are no trades are listed, the house’s are not', async () => {
    const { open, clock } = await stage();
    const exchange = await open();
    const { conditionId } = restingBid(exchange, 1);
    await exchange.execute({ kind: 'deposit', account: ALICE, amount: 20n * MICRO });
    clock.time += 1_000;
    await exchange.execute({ kind: 'split', account: ALICE, conditionId, amount: 5n * MICRO });
    await exchange.execute({ kind: 'merge', account: ALICE, conditionId, amount: 2n * MICRO });
    await exchange.step();
    const moves = await exchange.history.moves({ account: ALICE, limit: 10 });
    expect(moves).toMatchObject([
      { kind: 'merge', conditionId, yes: 2n * MICRO, no: 2n * MICRO, collateral: 2n * MICRO },
      { kind: 'split', conditionId, market: { conditionId } },
      { kind: 'deposit', collateral: 20n * MICRO },
    ]);
    expect(await exchange.history.moves({ account: ALICE, limit: 10, after: moves[1]! })).toEqual(
      moves.slice(2),
    );
    expect(await exchange.history.moves({ account: ALICE, kinds: ['split'], limit: 10 })).toHaveLength(1);
    expect(await exchange.history.moves({ account: 'house:sports', limit: 10 })).toEqual([]);
    await exchange.close();
  });

  test('trades of the house among itself are on the tape, without a row for its accounts', async () => {
    const { sql, open } = await stage();
    const exchange = await open();
    const tape = await exchange.history.trades({ limit: 1_000 });
    expect(tape.length).toBeGreaterThan(50);
    expect(tape.every(({ taker }) => taker.account.startsWith('house:'))).toBe(true);
    expect(await sql`select 1 from exchange_account_trades`).toHaveLength(0);
    await exchange.close();
  });
});

describe('behind the journal', () => {
  test('a trade is never lost: neither when the process ends before its row is written, nor twice', async () => {
    const { sql, open, clock } = await stage();
    const exchange = await open();
    await exchange.history.trades({ limit: 1 });
    await sql`alter table exchange_trades add constraint shut check (number < 0) not valid`;
    await someTrading(exchange, clock, 10);
    await expect(exchange.history.trades({ limit: 1 })).rejects.toThrow(/shut/);
    const [before] = await sql`select count(*)::int as count from exchange_trades where accounts <> '{}'`;
    expect(before?.count).toBe(0);
    await cutJournal(sql);
    while (exchange.status === 'open') await sleep(1);
    await untilOpen(exchange);
    await sql`alter table exchange_trades drop constraint shut`;
    const trades = await exchange.history.trades({ account: ALICE, limit: 100 });
    expect(trades.map(({ taker }) => taker.orderId).sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => orderId(1_000 + i)),
    );
    await exchange.close();
    const again = await open();
    expect(await again.history.trades({ account: ALICE, limit: 100 })).toMatchObject(
      trades.map(({ id, matches }) => ({ id, matches })),
    );
    await again.close();
  });

  test('no snapshot is written of what the history lacks, so the journal is not pruned beyond it', async () => {
    const { sql, open, clock } = await stage();
    const exchange = await open({ snapshotEveryCommands: 10 });
    await exchange.history.trades({ limit: 1 });
    await sql`alter table exchange_trades add constraint shut check (number < 0) not valid`;
    await someTrading(exchange, clock, 20);
    await sleep(500);
    const [position] = await sql`select seq from exchange_history`;
    const later = () => sql`select seq from exchange_snapshots where seq > ${String(position!.seq)}::bigint`;
    expect(await later()).toHaveLength(0);
    await sql`alter table exchange_trades drop constraint shut`;
    expect(await exchange.history.trades({ account: ALICE, limit: 100 })).toHaveLength(20);
    await exchange.close();
    expect((await later()).length).toBeGreaterThan(0);
  });

  test('a whole replay gives the same history', async () => {
    const { sql, open, clock } = await stage();
    const first = await open({ prunesJournal: false });
    await someTrading(first, clock);
    const tape = await first.history.trades({ limit: 1_000 });
    const mine = await first.history.trades({ account: ALICE, limit: 1_000 });
    const moves = await first.history.moves({ account: ALICE, limit: 1_000 });
    await first.close();
    await sql`delete from exchange_snapshots`;
    for (const table of ['trades', 'account_trades', 'account_moves', 'traded_markets', 'history'])
      await sql.unsafe(`delete from exchange_${table}`);
    const again = await open();
    expect(await again.history.trades({ limit: 1_000 })).toEqual(tape);
    expect(await again.history.trades({ account: ALICE, limit: 1_000 })).toEqual(mine);
    expect(await again.history.moves({ account: ALICE, limit: 1_000 })).toEqual(moves);
    await again.close();
  });

  test('what is too old is deleted: the house’s trades after two days, those of accounts after ninety', async () => {
    const { sql, open, clock } = await stage();
    const exchange = await open();
    await twoMakers(exchange);
    await exchange.history.trades({ limit: 1 });
    const projector = new HistoryProjector({
      sql,
      now: () => clock.time,
      failing: new FailingTrades(undefined),
      log: (message) => expect.fail(message),
    });
    const left = async () => {
      const [row] = await sql`select
        (select count(*)::int from exchange_trades where accounts = '{}') as house,
        (select count(*)::int from exchange_trades where accounts <> '{}') as trades,
        (select count(*)::int from exchange_account_trades) as parts,
        (select count(*)::int from exchange_account_moves) as moves,
        (select count(*)::int from exchange_traded_markets) as markets`;
      return { ...row };
    };
    const whole = await left();
    expect(whole).toMatchObject({ trades: 1, parts: 3, moves: 4 });
    await projector.prune();
    expect(await left()).toEqual(whole);
    clock.time += 3 * 86_400_000;
    await projector.prune();
    expect(await left()).toEqual({ ...whole, house: 0, markets: 1 });
    clock.time += 88 * 86_400_000;
    await projector.prune();
    expect(await left()).toEqual({ house: 0, trades: 0, parts: 0, moves: 0, markets: 0 });
    await exchange.close();
  });
});

test('no history is written while nothing is traded', async () => {
  const { url, open } = await stage();
  const texts: string[] = [];
  const counted = openPool(url, { onStatement: (_, text) => texts.push(text) });
  const exchange = await open({ sql: counted });
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 100_000_000n });
  await exchange.history.trades({ limit: 1 });
  texts.length = 0;
  await exchange.execute({ kind: 'place', order: restingBid(exchange, 1) });
  // Timers end in the order of their times: one that the order had begun would have ended before this one.
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(texts.filter((text) => /history|_trades|_moves/.test(text))).toEqual([]);
  await exchange.close();
  await counted.end({ timeout: 1 });
});
