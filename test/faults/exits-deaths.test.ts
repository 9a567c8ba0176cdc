/**
 * A guarded exit has one effect, whoever dies meanwhile: the replica that keeps the paper exchange is killed or frozen at different
 * moments around the one at which it sends an exit. The agent is not asked: it has nothing to do after it has left it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { exitOrder, hold, pushBidTo } from '../exits.ts';
import { newTrader, openMarkets, type Trader } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';

let env: Readonly<Record<string, string>>;
let markets: Market[];
let place = 0;
/** The first one leads. */
const replicas: ServiceProcess[] = [];

const start = () => startProcess({ env });
beforeAll(async () => {
  env = {
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    ...{ LOG_LEVEL: 'fatal', PAPER_WORLD: 'off', RATE_LIMITS: 'off' },
  };
  replicas.push(await start(), await start());
  markets = await openMarkets((await newTrader(replicas[1] as ServiceProcess)).client);
});

const tick = (price: number) => Math.round(price * 100) / 100;

/** An agent that has left a stop with the follower, and is not heard of again. */
async function leaveStop(at: ServiceProcess) {
  const market = markets[place] as Market;
  place += 1;
  const trader = await newTrader(at);
  await trader.client.updateSettings({ maxTradeAmount: 100_000, dailyTradeAmountLimit: 1_000_000 });
  await hold(trader, market, 30);
  const { bids } = await trader.client.getOrderBook(market.clobTokenIds[0] as string);
  const stop = tick(Number(bids[0]?.price) - 0.03);
  const order = await exitOrder(trader, market, { worst: tick(stop * 0.95) });
  const trigger = { kind: 'price_at_or_below', price: stop } as const;
  const { exitId, orderId } = await trader.client.leaveExit({ ...order, trigger });
  return { market, trader, exitId, orderId, stop };
}

/** Asked at another replica: the one of before may be dead. */
const clientAt = ({ url }: ServiceProcess, { apiKey }: Trader) =>
  new BellwetherClient({ baseUrl: url, apiKey });
const quietly = async <T>(ask: () => Promise<T>): Promise<T | null> => ask().catch(() => null);

async function expectOneSale(at: ServiceProcess, left: Awaited<ReturnType<typeof leaveStop>>): Promise<void> {
  const client = clientAt(at, left.trader);
  await expect
    .poll(async () => (await quietly(() => client.getExit(left.exitId)))?.status, {
      timeout: 120_000,
      interval: 200,
    })
    .toBe('fired');
  const orders = await client.listOrders({ limit: 100 });
  expect(orders.filter(({ side, orderType }) => side === 'SELL' && orderType !== 'MERGE')).toMatchObject([
    { orderId: left.orderId, filledSize: 10 },
  ]);
  const positions = await client.getCurrentPositions({ market: left.market.conditionId });
  expect(positions.find(({ outcome }) => outcome === 'YES')?.size).toBe(20);
  const told = async () => (await client.getBriefing()).exitChanges.map(({ type }) => type);
  await expect.poll(told, { timeout: 30_000 }).toEqual(['exit.filled', 'exit.sent']);
}

/** Milliseconds from the moment at which the trigger begins to hold. It is sent about two seconds later. */
const MOMENTS = [0, 1_500, 2_000, 2_100, 2_300, 2_600, 3_000];

test.each(MOMENTS)(
  'the leader is killed %i ms after the price was reached',
  { timeout: 300_000 },
  async (moment) => {
    const [leader, follower] = replicas as [ServiceProcess, ServiceProcess];
    const left = await leaveStop(follower);
    await pushBidTo(follower, { market: left.market, price: left.stop });
    await sleep(moment);
    kill(leader.child.pid as number, 'SIGKILL');
    replicas.shift();
    await expectOneSale(follower, left);
    replicas.push(await start());
  },
);

test.each([1_000, 2_100])(
  'the leader is frozen %i ms after the price was reached, and comes back',
  { timeout: 300_000 },
  async (moment) => {
    const [leader, follower] = replicas as [ServiceProcess, ServiceProcess];
    const left = await leaveStop(follower);
    await pushBidTo(follower, { market: left.market, price: left.stop });
    await sleep(moment);
    kill(leader.child.pid as number, 'SIGSTOP');
    await expectOneSale(follower, left);
    kill(leader.child.pid as number, 'SIGCONT');
    await sleep(3_000);
    await expectOneSale(follower, left);
    replicas.reverse();
  },
);

test('all of them are killed, and one is started again', { timeout: 300_000 }, async () => {
  const left = await leaveStop(replicas[1] as ServiceProcess);
  await pushBidTo(replicas[1] as ServiceProcess, { market: left.market, price: left.stop });
  await sleep(2_000);
  for (const { child } of replicas) kill(child.pid as number, 'SIGKILL');
  await expectOneSale(await start(), left);
});
