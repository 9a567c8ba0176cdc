/** The process is killed while an official client posts orders: what was answered is there, and nothing happened twice. */
import { ClobClient, OrderType, Side, type SignedOrder } from '@polymarket/clob-client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { call, newAgent, openMarkets } from '../harness.ts';
import { clientOne, doorOf, walletClientOf } from '../official-clients.ts';
import { dataFolder, kill, startProcess } from '../service-process.ts';

const WORKERS = 6;
const ANSWERED_AT_LEAST = 40;

interface Sent {
  readonly order: SignedOrder;
  readonly type: OrderType;
  readonly orderId?: string;
}

test('orders posted at the door survive a kill, and posting all of them again executes none twice', async () => {
  const env = { PAPER_WORLD: 'off', RATE_LIMITS: 'off', LOG_LEVEL: 'silent' };
  const dataDir = dataFolder();
  const first = await startProcess({ dataDir, env, via: 'node' });
  const agent = await newAgent(first);
  const [market] = await openMarkets(agent.client, '0.01');
  const tokenID = market!.clobTokenIds[0]!;
  const key = generatePrivateKey();
  const eoa = privateKeyToAccount(key).address.toLowerCase();
  const creds = await new ClobClient(doorOf(first), 137, walletClientOf(key)).createOrDeriveApiKey();
  const wallet = { key, eoa, funder: eoa, creds };
  // Registering gives the wallet its paper money; the desk has no part in what follows.
  await agent.client.registerCredentials({
    ...{ walletAddress: eoa, apiKey: creds.key, apiSecret: creds.secret, apiPassphrase: creds.passphrase },
  });
  const clob = clientOne(first, wallet);
  const options = { tickSize: '0.01', negRisk: false } as const;
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
