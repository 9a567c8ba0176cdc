/** The CLOB door at a replica that does not lead, and the structs that no official client makes. */
import { buildLimitOrder, type Market, type SignatureType, Signer } from '@bellwether/sdk';
import { OrderType, Side } from '@polymarket/clob-client';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { newAgent, openMarkets, startTestService, type TestService } from '../harness.ts';
import { clientOne, clientTwo, newOfficialWallet } from '../official-clients.ts';

let leader: TestService;
let follower: TestService;
let market: Market;

beforeAll(async () => {
  leader = await startTestService({ PAPER_WORLD: 'off', RATE_LIMITS: 'on', RATE_LIMIT_DOOR_BURST: '10000' });
  follower = await startTestService({
    PAPER_WORLD: 'off',
    RATE_LIMITS: 'on',
    RATE_LIMIT_DOOR_BURST: '10000',
    DATABASE_URL: leader.databaseUrl,
    MASTER_KEY: leader.masterKey,
  });
  const { client } = await newAgent(leader);
  market = (await openMarkets(client, '0.01'))[0]!;
});

describe('a follower', () => {
  test('takes orders and cancels through the leader, and shows the signer its limits', async () => {
    const wallet = await newOfficialWallet(leader);
    const clob = clientOne(follower, wallet);
    const tokenID = market.clobTokenIds[0]!;
    const options = { tickSize: '0.01', negRisk: false } as const;
    const bought = await clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options);
    expect(bought).toMatchObject({ success: true, status: 'matched' });
    const bid = await clob.createOrder({ tokenID, side: Side.BUY, price: 0.01, size: 10 }, options);
    const [here, there] = await Promise.all([
      clob.postOrder(bid, OrderType.GTC),
      clientOne(leader, wallet).postOrder(bid, OrderType.GTC),
    ]);
    // Whichever came first, it is on the book once.
    expect([here, there].filter(({ success }) => success === true)).toHaveLength(1);
    expect(await clob.getOpenOrders()).toHaveLength(1);
    expect(await clob.getTrades()).toMatchObject([{ taker_order_id: bought.orderID }]);
    expect((await clob.cancelAll()).canceled).toHaveLength(1);
    // The bucket is the leader's, whichever replica is asked.
    const { l2Signature } = await import('@bellwether/protocol');
    const timestamp = String(Math.floor(Date.now() / 1000));
    const body = JSON.stringify([{}]);
    const { key, secret, passphrase } = wallet.creds;
    const answer = await fetch(`${follower.url}/paper/clob/orders`, {
      method: 'POST',
      body,
      headers: {
        poly_address: wallet.eoa,
        poly_api_key: key,
        poly_passphrase: passphrase,
        poly_timestamp: timestamp,
        poly_signature: l2Signature(secret, { timestamp, method: 'POST', path: '/orders', body }),
      },
    });
    expect(answer.status).toBe(200);
    expect(Number(answer.headers.get('poly-ratelimit-remaining'))).toBeLessThan(60);
    expect(answer.headers.get('poly-ratelimit-tier')).toBe('Standard');
  });

  test('serves a client of the second generation', async () => {
    const clob = clientTwo(follower, await newOfficialWallet(leader));
    const tokenID = market.clobTokenIds[0]!;
    expect(await clob.createAndPostMarketOrder({ tokenID, side: 'BUY' as never, amount: 10 })).toMatchObject({
      success: true,
      transactionsHashes: [expect.stringMatching(/^0x/)],
    });
  });
});

describe('the 12-field struct under the contract of version 2', () => {
  test.each([0, 1, 2, 3] as const)(
    'signature type %d, signed by its owner',
    async (signatureType: SignatureType) => {
      const key = generatePrivateKey();
      const wallet = await newOfficialWallet(leader, signatureType, key);
      const signer = Signer.fromPrivateKey(key, { use: 'paper' });
      const request = await buildLimitOrder({
        ...{ signer, signatureType, market, outcome: 'YES', side: 'BUY', price: 0.01, size: 10 },
      });
      const clob = clientOne(leader, wallet);
      const { order } = request;
      // The client sends the side as text and the salt as a number.
      const posted = await clob.postOrder(
        { ...order, side: 0, salt: String(order.salt) } as never,
        OrderType.GTC,
      );
      expect(posted).toMatchObject({ success: true, status: 'live' });
      expect(await clob.getOpenOrders()).toMatchObject([
        { id: posted.orderID, maker_address: wallet.funder },
      ]);
      expect(await clob.cancelOrder({ orderID: posted.orderID })).toMatchObject({
        canceled: [posted.orderID],
      });
    },
  );
});
