/** Official clients at the CLOB door while its process dies, and at a replica that does not lead. */
import { OrderType, Side, type SignedOrder } from '@polymarket/clob-client';
import { expect, test } from 'vitest';
import { aMarket, call, newAgent, startTestService } from '../harness.ts';
import { agentOf, ask, clientOne, clientTwo, newOfficialWallet } from '../official-clients.ts';
import { dataFolder, kill, startProcess } from '../service-process.ts';

const WORKERS = 6;
const ANSWERED_AT_LEAST = 40;
const options = { tickSize: '0.01', negRisk: false } as const;

interface Sent {
  readonly order: SignedOrder;
  readonly type: OrderType;
  readonly orderId?: string;
}

test('orders posted at the door survive a kill, and posting all of them again executes none twice', async () => {
  const env = { PAPER_WORLD: 'off', RATE_LIMITS: 'off', LOG_LEVEL: 'silent' };
  const dataDir = dataFolder();
  const first = await startProcess({ dataDir, env, via: 'node' });
  const wallet = await newOfficialWallet(first);
  // Registering gives the wallet its paper money; the desk has no part in what follows.
  const agent = await agentOf(first, wallet);
  const tokenID = (await aMarket(agent.client, '0.01')).clobTokenIds[0]!;
  const clob = clientOne(first, wallet);
  const sent: Sent[] = [];
  let answered = 0;
  let isKilled = false;

  const worker = async (index: number): Promise<void> => {
    for (let turn = index; !isKilled; turn += 1) {
      const isMarket = turn % 2 === 0;
      const type = isMarket ? OrderType.FAK : OrderType.GTC;
      const order = isMarket
        ? await clob.createMarketOrder({ tokenID, side: Side.BUY, amount: 2, price: 0.99 }, options)
        : await clob.createOrder({ tokenID, side: Side.BUY, price: 0.01, size: 5 }, options);
      const place = sent.push({ order, type }) - 1;
      const { orderID } = await clob.postOrder(order, type);
      if (typeof orderID !== 'string') continue;
      sent[place] = { order, type, orderId: orderID };
      answered += 1;
      if (answered >= ANSWERED_AT_LEAST && !isKilled) {
        isKilled = true;
        kill(first.child.pid as number, 'SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)));
  await first.exit();

  const second = await startProcess({ dataDir, env, via: 'node' });
  const again = clientOne(second, wallet);
  const known = new Set<string>();
  for (const { order, type, orderId } of sent) {
    const answer = await again.postOrder(order, type);
    const duplicate = /^order (0x[0-9a-f]{64}) is invalid\. Duplicated\.$/.exec(answer.error ?? '')?.[1];
    if (orderId !== undefined) expect(duplicate).toBe(orderId);
    else expect(answer.success === true || duplicate !== undefined).toBe(true);
    known.add(duplicate ?? answer.orderID);
  }
  expect(known.size).toBe(sent.length);
  const [open, trades] = [await again.getOpenOrders(), await again.getTrades()];
  const takers = trades.map(({ taker_order_id }) => taker_order_id);
  expect(new Set(takers).size).toBe(takers.length);
  expect([...takers, ...open.map(({ id }) => id)].sort()).toEqual([...known].sort());
  const me = await call(second, 'GET', '/agents/me', { key: agent.apiKey });
  expect(me.body).toMatchObject({ tradesToday: 0, openOrderCount: 0 });
  kill(second.child.pid as number, 'SIGTERM');
  await second.exit();
});

test('a follower takes orders and cancels of both clients through the leader, and shows the signer its limits', async () => {
  const env = { PAPER_WORLD: 'off', RATE_LIMITS: 'on', RATE_LIMIT_DOOR_BURST: '10000' };
  const leader = await startTestService(env);
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = leader;
  const follower = await startTestService({ ...env, DATABASE_URL, MASTER_KEY });
  const { client } = await newAgent(leader);
  const tokenID = (await aMarket(client, '0.01')).clobTokenIds[0]!;
  const wallet = await newOfficialWallet(leader);
  const clob = clientOne(follower, wallet);
  const buy = { tokenID, side: Side.BUY, amount: 10 };
  const bought = await clob.createAndPostMarketOrder(buy, options);
  expect(bought).toMatchObject({ success: true, status: 'matched' });
  const bid = await clob.createOrder({ tokenID, side: Side.BUY, price: 0.01, size: 10 }, options);
  const posted = await Promise.all(
    [clob, clientOne(leader, wallet)].map((one) => one.postOrder(bid, OrderType.GTC)),
  );
  // Whichever came first, it is on the book once.
  expect(posted.filter(({ success }) => success === true)).toHaveLength(1);
  expect(await clob.getOpenOrders()).toHaveLength(1);
  expect(await clob.getTrades()).toMatchObject([{ taker_order_id: bought.orderID }]);
  expect((await clob.cancelAll()).canceled).toHaveLength(1);
  // The bucket is the leader's, whichever replica is asked.
  const { status, headers } = await ask(follower, wallet, 'POST', '/orders', JSON.stringify([{}]));
  expect(status).toBe(200);
  expect(Number(headers.get('poly-ratelimit-remaining'))).toBeLessThan(60);
  expect(headers.get('poly-ratelimit-tier')).toBe('Standard');

  const second = clientTwo(follower, await newOfficialWallet(leader));
  expect(await second.createAndPostMarketOrder(buy as never)).toMatchObject({
    success: true,
    transactionsHashes: [expect.stringMatching(/^0x/)],
  });
});
