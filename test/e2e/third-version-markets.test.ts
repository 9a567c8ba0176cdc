/** Markets of the venue's third contract version: listed by the doors, known to the desk, traded by neither. */
import { Side, type SignedOrder } from '@polymarket/clob-client-v2';
import { beforeAll, expect, test } from 'vitest';
import { call, newAgent, sharedTestService, type TestService } from '../harness.ts';
import { clientTwo, newOfficialWallet } from '../official-clients.ts';

let service: TestService;

beforeAll(async () => {
  service = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
});

const gamma = async (path: string) =>
  (await fetch(`${service.url}/paper/gamma${path}`)).json() as Promise<unknown>;

test('their ids are positions of the third contract, and both doors list them with their version', async () => {
  const listed = service.exchange.untradableMarkets;
  expect(listed.length).toBeGreaterThan(0);
  const clob = clientTwo(service, await newOfficialWallet(service));
  const pages = (await clob.getMarkets()).data as {
    condition_id: string;
    accepting_orders: boolean;
    closed: boolean;
  }[];
  for (const market of listed) {
    for (const [outcome, tokenId] of market.tokenIds.entries()) {
      const hex = BigInt(tokenId).toString(16).padStart(64, '0');
      // The kind of market on top, zeros in bits 40 to 103, the outcome at the end.
      expect([hex.slice(0, 2), hex.slice(38, 54), hex.slice(62)]).toEqual([
        '01',
        '0'.repeat(16),
        `0${outcome}`,
      ]);
      expect(`0x${hex.slice(0, 62)}00`).toBe(market.conditionId);
    }
    const { conditionId, tokenIds } = market;
    expect(pages).toContainEqual(
      expect.objectContaining({ condition_id: conditionId, accepting_orders: false, closed: false }),
    );
    expect(await clob.getClobMarketInfo(conditionId)).toMatchObject({ c: conditionId, v: 'v2', ao: false });
    expect(await gamma(`/markets?condition_ids=${conditionId}`)).toMatchObject([
      { conditionId, version: 'v2', active: true, closed: false, positionIds: [...tokenIds] },
    ]);
    expect(await clob.getOrderBook(tokenIds[0])).toMatchObject({ status: 404 });
  }
});

test('an order for one is refused: the version at the door, a code of its own at the desk', async () => {
  const [market] = service.exchange.untradableMarkets;
  const wallet = await newOfficialWallet(service);
  const clob = clientTwo(service, wallet);
  const [tokenID, other] = market!.tokenIds;
  const options = { tickSize: '0.01', negRisk: false } as const;
  const orders: SignedOrder[] = [];
  for (const version of [2, 3] as const)
    orders.push(
      await clob.createOrder({ tokenID, side: Side.BUY, price: 0.5, size: 10 }, { ...options, version }),
    );
  for (const order of orders)
    expect(await clob.postOrder(order)).toMatchObject({ error: 'order_version_mismatch', status: 400 });
  expect(service.exchange.openOrders(wallet.funder)).toEqual([]);

  const agent = await newAgent(service);
  expect(other).not.toBe(tokenID);
  const sent = await call(service, 'POST', '/markets/trade', {
    key: agent.apiKey,
    body: {
      marketConditionId: market!.conditionId,
      marketQuestion: market!.question,
      outcome: 'YES',
      orderSize: 10,
      price: 0.5,
      orderType: 'GTC',
      order: orders[0],
    },
  });
  expect([sent.status, sent.body.code]).toEqual([400, 'market_version_not_supported']);
  const found = await call(service, 'GET', `/markets/${market!.conditionId}`, { key: agent.apiKey });
  expect(found.body).toMatchObject({ conditionId: market!.conditionId, untradable: 'contract_version' });
});
