/** The same signed order, sent to several replicas and by several agents at the same moment, has one effect. */
import { linkSignersWallet, type Market, orderIdOf, type TradeRequest } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { expectBooksToAgree, ordersOf } from '../books.ts';
import {
  aMarket,
  call,
  marketBuy,
  newAgent,
  newTrader,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

const TWINS = 6;
const ROUNDS = 12;

let leader: TestService;
let follower: TestService;
let market: Market;

beforeAll(async () => {
  leader = await startTestService({ PAPER_WORLD: 'off' });
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = leader;
  follower = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL, MASTER_KEY });
  market = await aMarket((await newTrader(leader)).client);
});

const send = (at: TestService, { apiKey }: Pick<Trader, 'apiKey'>, body: TradeRequest): Promise<RawAnswer> =>
  call(at, 'POST', '/markets/trade', { key: apiKey, body });
const at = (turn: number): TestService => (turn % 2 === 0 ? leader : follower);

/** One effect: callers that were answered with it got the same answer; the others learned that it is being placed. */
function expectOneAnswer(answers: readonly RawAnswer[]): RawAnswer['body'] {
  const placed = answers.filter(({ status }) => status === 201);
  expect(placed.length).toBeGreaterThan(0);
  for (const { body } of placed) expect(body).toEqual(placed[0]?.body);
  for (const { status, body } of answers.filter((one) => one.status !== 201))
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'idempotency_in_flight' });
  return placed[0]?.body;
}

test('twins at leader and follower: one order, one answer', async () => {
  const traders = await Promise.all(Array.from({ length: 4 }, () => newTrader(leader)));
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(
      traders.map(async (trader, i) => {
        const request = await ((round + i) % 3 === 0
          ? marketBuy(trader, market, 2)
          : restingOrder(trader, market));
        const answers = await Promise.all(
          Array.from({ length: TWINS }, (_, turn) => send(at(turn + round), trader, request)),
        );
        const body = expectOneAnswer(answers);
        expect(body.orderId).toBe(orderIdOf(request));
        expect((await send(at(round), trader, request)).body).toEqual(body);
      }),
    );
  }
  for (const { agentId } of traders) expect((await ordersOf(leader, agentId)).length).toBe(ROUNDS);
  await expectBooksToAgree(leader, traders);
});

test('two agents of one owner with one signed order: one of them has it, the other learns it', async () => {
  const first = await newTrader(leader);
  const second = { ...(await newAgent(leader)), signer: first.signer };
  const owner = await ownerOf(leader, first, second);
  const grant = await owner.send('POST', `/owner/agents/${second.agentId}/wallets`, {
    walletAddress: first.funder,
    granted: true,
  });
  expect(grant.status, JSON.stringify(grant.body)).toBe(200);
  for (let round = 0; round < ROUNDS; round += 1) {
    const request = await (round % 2 === 0 ? marketBuy(first, market, 2) : restingOrder(first, market));
    const answers = await Promise.all(
      Array.from({ length: TWINS }, (_, turn) =>
        send(at(round + (turn >> 1)), turn % 2 === 0 ? first : second, request),
      ),
    );
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    const rows = (await Promise.all([first, second].map(({ agentId }) => ordersOf(leader, agentId)))).flat();
    expect(rows.filter(({ orderId }) => orderId === orderIdOf(request)).length).toBe(1);
    const holder = rows.find(({ orderId }) => orderId === orderIdOf(request))?.agentId;
    for (const { status, body } of answers) {
      if (status === 201) expect(body.aiAgentId).toBe(holder);
      else expect([409, 400, 403]).toContain(status);
    }
  }
  const rows = (await Promise.all([first, second].map(({ agentId }) => ordersOf(leader, agentId)))).flat();
  expect(rows.length).toBe(ROUNDS);
  const spent = rows.reduce((sum, { cost, fees }) => sum + cost + fees, 0n);
  const { available, held } = leader.exchange.account(first.funder);
  expect(10_000_000_000n - spent).toBe(available + held);
});

test('a wallet that moved to another owner, with an order that the former one placed: refused at every replica', async () => {
  const former = await newTrader(leader);
  const requests = await Promise.all([marketBuy(former, market, 2), restingOrder(former, market)]);
  for (const request of requests) expect((await send(leader, former, request)).status).toBe(201);
  const present = { ...(await newAgent(leader)), signer: former.signer };
  expect((await linkSignersWallet({ client: present.client, signer: former.signer })).moved).toEqual([
    former.funder,
  ]);
  const { term } = leader.exchange;
  const { available } = leader.exchange.account(former.funder);
  for (const request of requests) {
    for (const service of [leader, follower])
      expect(await send(service, present, request)).toMatchObject({
        status: 409,
        body: { code: 'order_already_placed' },
      });
  }
  // The venue never saw them a second time.
  expect(leader.exchange.term).toBe(term);
  expect(leader.exchange.account(former.funder).available).toBe(available);
  expect((await ordersOf(leader, present.agentId)).length).toBe(0);
  const own = { ...former, ...present };
  expect(await send(leader, own, await restingOrder(own, market))).toMatchObject({ status: 201 });
});
