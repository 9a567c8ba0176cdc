/** A service that recovers signers on other threads takes and refuses the orders that one without them does. */
import { buildLimitOrder, type Market, orderIdOf, Signer, type TradeRequest } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { aMarket, call, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';

let service: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', RECOVERY_THREADS: '1' });
  trader = await newTrader(service);
  market = await aMarket(trader.client);
});

const resting = (signer = trader.signer, version: 1 | 2 = 2): Promise<TradeRequest> =>
  buildLimitOrder({ signer, market, outcome: 'YES', side: 'BUY', price: '0.05', size: 5, version });
const send = (body: unknown) => call(service, 'POST', '/markets/trade', { key: trader.apiKey, body });

test('many at once, each under its own id', async () => {
  const requests = await Promise.all(Array.from({ length: 20 }, () => resting()));
  const answers = await Promise.all(requests.map(send));
  expect(answers.map(({ status, body }) => [status, body.orderId])).toEqual(
    requests.map((request) => [201, orderIdOf(request)]),
  );
});

test('an order of version 1 that does not say so needs a second recovery', async () => {
  const { orderVersion: _, ...request } = await resting(trader.signer, 1);
  const { status, body } = await send(request);
  expect({ status, orderVersion: body.orderVersion }).toEqual({ status: 201, orderVersion: 1 });
});

test('a stranger’s signature is refused with its diagnosis', async () => {
  const stranger = Signer.fromPrivateKey(`0x${'11'.repeat(32)}`);
  const [mine, theirs] = await Promise.all([resting(), resting(stranger)]);
  const { status, body } = await send({
    ...mine,
    order: { ...mine.order, signature: theirs.order.signature },
  });
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_order_payload' });
  expect(body.diagnosis).toMatchObject({ check: 'signer', expected: trader.signer.address.toLowerCase() });
});

test('what is no signature is refused', async () => {
  const mine = await resting();
  const { status, body } = await send({
    ...mine,
    order: { ...mine.order, signature: `0x${'00'.repeat(65)}` },
  });
  expect({ status, check: body.diagnosis?.check }).toEqual({ status: 400, check: 'signature_form' });
});
