/** One trade breaks the write of its group: the other trades are answered truthfully, and soon do not notice it. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  buildLimitOrder,
  buildMarketOrder,
  type Market,
  orderIdOf,
  type TradeRequest,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import {
  aMarket,
  call,
  newTrader,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { afterFile } from '../setup/clean-up.ts';

const POISON = 'poison';
const AGENTS = 8;
const POISON_EVERY_MS = 50;
/** Milliseconds of sending poison, on and on, before the others trade. */
const POISONED_MS = 1_500;

let leader: TestService;
let sql: Sql;
let market: Market;
let traders: readonly Trader[];
let attacker: Trader;

beforeAll(async () => {
  leader = await startTestService({ PAPER_WORLD: 'off' });
  sql = openPool(leader.databaseUrl, { max: 2 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  attacker = await newTrader(leader);
  market = await aMarket(attacker.client);
  traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(leader)));
  await sql.unsafe(`
    create function refuse_poison() returns trigger language plpgsql as $$
    begin
      raise exception 'poisoned';
    end $$;
    create trigger poison before insert on orders for each row when (new.source = '${POISON}')
      execute function refuse_poison()`);
});

interface Sent {
  readonly trader: Trader;
  readonly request: TradeRequest;
  readonly answer: RawAnswer;
}

const send = async (at: TestService, trader: Trader, request: TradeRequest): Promise<Sent> => ({
  trader,
  request,
  answer: await call(at, 'POST', '/markets/trade', { key: trader.apiKey, body: request }),
});
const poison = async (trader = attacker): Promise<TradeRequest> => ({
  ...(await restingOrder(trader, market)),
  source: POISON,
});
const sendAll = async (at: TestService): Promise<Sent[]> => {
  const requests = await Promise.all(traders.map((trader) => restingOrder(trader, market)));
  return Promise.all(traders.map((trader, i) => send(at, trader, requests[i] as TradeRequest)));
};
const isRecorded = async ({ request }: Sent): Promise<boolean> => {
  const orderId = orderIdOf(request);
  const [found] = await sql<{ desk: bigint; venue: bigint }[]>`select
    (select count(*) from orders where order_id = ${orderId}) as desk,
    (select count(*) from exchange_orders where order_id = ${orderId}) as venue`;
  expect(found?.desk).toBe(found?.venue);
  return Number(found?.desk) === 1;
};
const isOpen = () => expect.poll(() => leader.exchange.status, { interval: 20 }).toBe('open');

/** 201 says that the order exists, 503 that it does not. */
async function expectTruth(sent: readonly Sent[]): Promise<void> {
  await isOpen();
  for (const one of sent) {
    expect([201, 503]).toContain(one.answer.status);
    expect(await isRecorded(one)).toBe(one.answer.status === 201);
    const { trader, request } = one;
    const again = await send(leader, trader, request);
    expect(again.answer).toMatchObject({ status: 201, body: { success: true } });
    expect(await isRecorded(again)).toBe(true);
  }
  for (const { client, funder } of traders) {
    const orders = await client.listOpenOrders({ limit: 100 });
    expect(leader.exchange.openOrders(funder).length).toBe(orders.length);
    const { safeguards } = await client.getMarketContext(market.id);
    expect(safeguards.tradesToday.used).toBe(orders.length);
  }
}

/** Requests as extreme as requests can be. */
const extremes = async (): Promise<readonly TradeRequest[]> => {
  const common = { signer: attacker.signer, market, outcome: 'YES' } as const;
  const bought = await buildMarketOrder({ ...common, side: 'BUY', amount: 1, worstPrice: 0.95 });
  const until = (expiration: number) =>
    buildLimitOrder({ ...common, side: 'BUY', price: '0.01', size: 5, type: 'GTD', expiration });
  return [
    ...[1e9, 9.3e12, 9_007_199_254_740_991, 1e300].map((feeAmount) => ({ ...bought, feeAmount })),
    ...(await Promise.all(
      [4_102_444_800, 253_402_300_800, 8_640_000_000_001, 9_007_199_254_740_991].map(until),
    )),
    { ...bought, reasoning: 'a\u0000b' },
    { ...bought, source: '\ud800' },
    { ...bought, marketQuestion: '\u0000' },
    { ...bought, skillSlug: '{"a",\\}' },
  ] as TradeRequest[];
};

test('nothing that a request can contain breaks a commit', async () => {
  const { term } = leader.exchange;
  for (const request of await extremes()) {
    const { answer } = await send(leader, attacker, request);
    const { source, reasoning, order } = request;
    const { expiration } = order as { expiration: string };
    expect({ source, reasoning, expiration, answer: answer.body, is: answer.status < 500 }).toMatchObject({
      is: true,
    });
  }
  expect(leader.exchange.term).toBe(term);
});

describe('a trade that breaks the write of its group', () => {
  test('at the leader: the others get the answer that they had no effect, and succeed when they are sent again', async () => {
    const hopeful = await newTrader(leader);
    await hopeful.client.updateSettings({ maxTradesPerDay: 1 });
    const [first, second] = await Promise.all([poison(hopeful), restingOrder(hopeful, market)]);
    const [bad, own, sent] = await Promise.all([
      send(leader, hopeful, first),
      send(leader, hopeful, second),
      sendAll(leader),
    ]);
    expect(bad.answer.status).toBeGreaterThanOrEqual(500);
    expect(await isRecorded(bad)).toBe(false);
    // Not refused for the day's one trade, which the first one never was.
    expect([201, 503], JSON.stringify(own.answer.body)).toContain(own.answer.status);
    await expectTruth(sent);
  });

  test('again and again at the leader: soon the others do not notice it', async () => {
    let isOver = false;
    const poisoning = (async () => {
      while (!isOver) {
        const { answer } = await send(leader, attacker, await poison());
        expect(answer.status).toBeGreaterThanOrEqual(500);
        await sleep(POISON_EVERY_MS);
      }
    })();
    try {
      await sleep(POISONED_MS);
      const { term } = leader.exchange;
      const sent: Sent[] = [];
      for (let turn = 0; turn < 5; turn += 1) sent.push(...(await sendAll(leader)));
      expect(sent.map(({ answer }) => answer.status)).toEqual(sent.map(() => 201));
      expect(leader.exchange.term).toBe(term);
      await expectTruth(sent);
    } finally {
      isOver = true;
      await poisoning;
    }
  });

  test('at a follower: its group falls apart into single trades, and the others succeed at once', async () => {
    // Not earlier: it would take the lead while the leader reopens its journal.
    const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = leader;
    const follower = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL, MASTER_KEY });
    for (let turn = 0; turn < 3; turn += 1) {
      const bad = send(follower, attacker, await poison());
      const sent = await sendAll(follower);
      expect((await bad).answer.status).toBeGreaterThanOrEqual(500);
      expect(sent.map(({ answer }) => answer.status)).toEqual(sent.map(() => 201));
      await expectTruth(sent);
    }
  });
});
