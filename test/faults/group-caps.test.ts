/**
 * One agent with many trades at once, in groups at the leader, at a follower, and at both: no cap is passed by one trade
 * or one micro-unit, with orders that fill, that rest, and that the venue refuses.
 */
import { buildLimitOrder, buildMarketOrder, type Market, type TradeRequest } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { isTerminal } from '../../packages/server/src/domain/lifecycle.ts';
import type { OrderRow } from '../../packages/server/src/domain/records.ts';
import { ownerOf } from '../approving.ts';
import { expectBooksToAgree, ordersOf } from '../books.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  type RawAnswer,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { micro } from '../world.ts';

const AT_ONCE = 64;
/** Shares of a resting order: 0.01 a share. */
const REST_SHARES = 50;
const SPEND = 2;

let leader: TestService;
let follower: TestService;
let market: Market;

beforeAll(async () => {
  leader = await startTestService({ PAPER_WORLD: 'off' });
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = leader;
  follower = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL, MASTER_KEY });
  market = await aMarket((await newTrader(leader)).client);
});

/** A third is filled at once, a third rests, a third is refused by the venue. */
function orderOf(turn: number, { signer }: Pick<Trader, 'signer'>): Promise<TradeRequest> {
  const common = { signer, market, outcome: 'YES', side: 'BUY' } as const;
  if (turn % 3 === 0) return buildMarketOrder({ ...common, amount: SPEND, worstPrice: 0.95 });
  const rests = turn % 3 === 1;
  return buildLimitOrder({
    ...common,
    price: rests ? '0.01' : '0.98',
    size: rests ? REST_SHARES : 5,
    postOnly: true,
  });
}

type Place = (turn: number) => TestService;
const PLACES: readonly (readonly [string, Place])[] = [
  ['the leader', () => leader],
  ['a follower', () => follower],
  ['both at once', (turn) => (turn % 2 === 0 ? leader : follower)],
];

async function flood(at: Place, agent: Pick<Trader, 'apiKey' | 'signer'>): Promise<RawAnswer[]> {
  const requests = await Promise.all(Array.from({ length: AT_ONCE }, (_, turn) => orderOf(turn, agent)));
  return Promise.all(
    requests.map((body, turn) =>
      call(at((turn / 3) | 0), 'POST', '/markets/trade', { key: agent.apiKey, body }),
    ),
  );
}

/** One resting order after another until one is refused: what came back can be used again. */
async function useUp(at: Place, agent: Pick<Trader, 'apiKey' | 'signer'>): Promise<RawAnswer> {
  for (let turn = 0; ; turn += 1) {
    const body = await orderOf(1, agent);
    const answer = await call(at(turn), 'POST', '/markets/trade', { key: agent.apiKey, body });
    if (answer.status !== 201 || turn === AT_ONCE) return answer;
  }
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
const taken = (orders: readonly OrderRow[]) => orders.filter(({ status }) => status !== 'rejected');
/** Use of the day's amount, and of the position: all orders are BUYs. */
const stake = (orders: readonly OrderRow[]): bigint =>
  sum(taken(orders).map(({ status, cost, money }) => (isTerminal(status) ? cost : money)));
const openOf = (orders: readonly OrderRow[]) => orders.filter(({ status }) => !isTerminal(status));

interface Cap {
  readonly settings: Readonly<Record<string, number>>;
  readonly code: string;
  /** The amount that the orders take of it, in its own unit. */
  readonly used: (orders: readonly OrderRow[]) => bigint;
  readonly limit: bigint;
  /** The amount that a resting order takes of it; `null`: it is a limit of each order. */
  readonly step: bigint | null;
}

const CAPS: readonly Cap[] = [
  {
    settings: { maxTradesPerDay: 7 },
    code: 'max_trades_per_day_exceeded',
    used: (orders) => BigInt(taken(orders).length),
    limit: 7n,
    step: 1n,
  },
  {
    settings: { dailyTradeAmountLimit: 15.000001 },
    code: 'daily_trade_amount_exceeded',
    used: stake,
    limit: 15_000_001n,
    step: 500_000n,
  },
  {
    settings: { maxPositionValue: 11.000001 },
    code: 'max_position_value_exceeded',
    used: stake,
    limit: 11_000_001n,
    step: 500_000n,
  },
  {
    settings: { maxOpenOrders: 5 },
    code: 'max_open_orders_exceeded',
    used: (orders) => BigInt(openOf(orders).length),
    limit: 5n,
    step: 1n,
  },
  {
    settings: { maxTradeAmount: 1.999999 },
    code: 'max_trade_amount_exceeded',
    used: (orders) => orders.reduce((most, { money }) => (money > most ? money : most), 0n),
    limit: 1_999_999n,
    step: null,
  },
];

describe.each(PLACES)('64 trades of an agent at once, at %s', (_, at) => {
  test.each(CAPS)('$settings is not passed', async ({ settings, code, used, limit, step }) => {
    const agent = await newTrader(leader);
    await agent.client.updateSettings(settings);
    const answers = await flood(at, agent);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThan(0);
    expect([...new Set(refused.map(({ status, body }) => `${status} ${body.code}`))]).toEqual([
      `403 ${code}`,
    ]);
    const before = await ordersOf(leader, agent.agentId);
    expect(before.length).toBe(AT_ONCE - refused.length);
    expect(used(before)).toBeLessThanOrEqual(limit);
    if (step !== null) {
      // A cap that refuses too much would not be passed either. What the venue refused has come back.
      expect(await useUp(at, agent)).toMatchObject({ status: 403, body: { code } });
      const after = used(await ordersOf(leader, agent.agentId));
      expect(after).toBeLessThanOrEqual(limit);
      expect(after + step).toBeGreaterThan(limit);
    }
    for (const { body } of answers.filter(({ status }) => status === 201))
      expect(before.find(({ orderId }) => orderId === body.orderId)?.first?.success).toBe(body.success);
    await expectBooksToAgree(leader, [agent]);
  });
});

test('two agents of one owner share a wallet: each keeps to its own caps, at both replicas', async () => {
  const first = await newTrader(leader);
  const second = { ...(await newAgent(leader)), signer: first.signer };
  const owner = await ownerOf(leader, first, second);
  const grant = { walletAddress: first.funder, granted: true };
  expect((await owner.send('POST', `/owner/agents/${second.agentId}/wallets`, grant)).status).toBe(200);
  await first.client.updateSettings({ maxTradesPerDay: 9 });
  await second.client.updateSettings({ maxTradesPerDay: 4 });
  const both: Place = (turn) => (turn % 2 === 0 ? leader : follower);
  await Promise.all([flood(both, first), flood(both, second)]);
  for (const agent of [first, second]) expect((await useUp(both, agent)).status).toBe(403);
  const [one, two] = (await Promise.all([first, second].map(({ agentId }) => ordersOf(leader, agentId)))) as [
    OrderRow[],
    OrderRow[],
  ];
  expect([taken(one).length, taken(two).length]).toEqual([9, 4]);
  const { available, held } = leader.exchange.account(first.funder);
  const spent = sum([...one, ...two].map(({ cost, fees }) => cost + fees));
  expect(micro(10_000) - spent).toBe(available + held);
  const open = [...openOf(one), ...openOf(two)].map(({ orderId }) => orderId);
  expect(new Set(leader.exchange.openOrders(first.funder).map(({ orderId }) => orderId))).toEqual(
    new Set(open),
  );
});
