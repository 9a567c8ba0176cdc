/** Others hold an agent's lock, or the lock of an order's id: other agents' trades go on, the locked one waits its turn. */
import { type Market, orderIdOf, type TradeRequest } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { expectBooksToAgree, ordersOf } from '../books.ts';
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

/** Number of the connections that a replica has for its trades. */
const POOL = 6;
const SHORT_DEADLINE_MS = 1_200;

let leader: TestService;
let follower: TestService;
/** Its clients do not wait for long. */
let hasty: TestService;
let sql: Sql;
let market: Market;

beforeAll(async () => {
  leader = await startTestService({ PAPER_WORLD: 'off', DATABASE_POOL: String(POOL) });
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = leader;
  const same = { PAPER_WORLD: 'off', DATABASE_POOL: String(POOL), DATABASE_URL, MASTER_KEY };
  follower = await startTestService(same);
  hasty = await startTestService({ ...same, REQUEST_DEADLINE_MS: String(SHORT_DEADLINE_MS) });
  sql = openPool(DATABASE_URL, { max: 4 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  market = await aMarket((await newTrader(leader)).client);
});

/** Holds locks in a session of the test. @returns what releases them */
async function hold(...statements: readonly string[]): Promise<() => Promise<void>> {
  const session = await sql.session();
  await session.unsafe('begin');
  for (const statement of statements) await session.unsafe(statement);
  return async () => {
    await session.unsafe('rollback');
    session.end();
  };
}
const agentLock = ({ agentId }: Trader) =>
  `select 1 from safeguards where agent_id = '${agentId}' for update`;
const idLock = (orderId: string) => `select pg_advisory_xact_lock(hashtextextended('${orderId}', 0))`;

const send = (at: TestService, trader: Trader, body: TradeRequest): Promise<RawAnswer> =>
  call(at, 'POST', '/markets/trade', { key: trader.apiKey, body });
const newTraders = (count: number) => Promise.all(Array.from({ length: count }, () => newTrader(leader)));

/** Some trades of each, one after another, while others hold what they do not need. */
async function expectToTrade(at: TestService, traders: readonly Trader[]): Promise<void> {
  await Promise.all(
    traders.map(async (trader) => {
      for (let turn = 0; turn < 4; turn += 1)
        expect(await send(at, trader, await restingOrder(trader, market))).toMatchObject({ status: 201 });
    }),
  );
}

const settledOf = (answers: readonly Promise<RawAnswer>[]): (() => number) => {
  let count = 0;
  for (const answer of answers) void answer.then(() => (count += 1));
  return () => count;
};

const replicas = [
  ['the leader', () => leader],
  ['a follower', () => follower],
] as const;

describe.each(replicas)('at %s', (_, at) => {
  test('an agent whose row is locked waits; the others do not, and it succeeds in the end', async () => {
    const [locked, ...others] = (await newTraders(5)) as [Trader, ...Trader[]];
    const release = await hold(agentLock(locked));
    const requests = await Promise.all(Array.from({ length: 20 }, () => restingOrder(locked, market)));
    const waiting = requests.map((request) => send(at(), locked, request));
    const settled = settledOf(waiting);
    await expectToTrade(at(), others);
    expect(settled()).toBe(0);
    await release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(requests.map(() => 201));
    await expectBooksToAgree(leader, [locked, ...others]);
  });

  test('more locked agents than the replica has connections do not stop the others', async () => {
    const traders = await newTraders(POOL + 6);
    const locked = traders.slice(0, POOL + 3);
    const others = traders.slice(POOL + 3);
    const release = await hold(...locked.map(agentLock));
    const requests = await Promise.all(locked.map((trader) => restingOrder(trader, market)));
    const waiting = locked.map((trader, i) => send(at(), trader, requests[i] as TradeRequest));
    const settled = settledOf(waiting);
    await expectToTrade(at(), others);
    expect(settled()).toBe(0);
    await release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(locked.map(() => 201));
    await expectBooksToAgree(leader, traders);
  });

  test('an order whose id is locked waits; other orders of its agent and of others do not', async () => {
    const [one, ...others] = (await newTraders(3)) as [Trader, ...Trader[]];
    const request = await restingOrder(one, market);
    const release = await hold(idLock(orderIdOf(request)));
    const waiting = send(at(), one, request);
    const settled = settledOf([waiting]);
    await expectToTrade(at(), others);
    expect(settled()).toBe(0);
    await release();
    expect(await waiting).toMatchObject({ status: 201, body: { success: true } });
    await expectBooksToAgree(leader, [one, ...others]);
  });
});

describe('a locked trade whose deadline passes', () => {
  test.each([
    ['its agent is locked', (trader: Trader, _: string) => agentLock(trader)],
    ['its id is locked', (_: Trader, orderId: string) => idLock(orderId)],
  ])('%s: it is refused, has no effect later, and can be sent again', async (_, lockOf) => {
    const [locked, other] = (await newTraders(2)) as [Trader, Trader];
    const request = await restingOrder(locked, market);
    const release = await hold(lockOf(locked, orderIdOf(request)));
    const answer = await send(hasty, locked, request);
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    await release();
    // The lock that it waited for is free now, and the line goes on.
    await expectToTrade(hasty, [other]);
    expect(await send(follower, locked, await restingOrder(locked, market))).toMatchObject({ status: 201 });
    expect((await ordersOf(leader, locked.agentId)).length).toBe(1);
    const [first, second] = await Promise.all([send(leader, locked, request), send(hasty, locked, request)]);
    expect([first.status, second.status].sort()).toEqual(
      first.status === second.status ? [201, 201] : [201, 409],
    );
    expect((await ordersOf(leader, locked.agentId)).length).toBe(2);
    await expectBooksToAgree(leader, [locked, other]);
  });
});
