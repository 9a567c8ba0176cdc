/** The same refusal again and again: a growing Retry-After for the agent, an alert for its owner, and every attempt is judged. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  limitOrder,
  newTrader,
  openMarkets,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

let service: TestService;
let market: Market;
let other: Market;

beforeAll(async () => {
  service = await sharedTestService();
  [market, other] = (await openMarkets((await newTrader(service)).client)) as [Market, Market];
});

/** A trade of more than the agent may. */
async function tooLarge(trader: Trader, on = market) {
  const order = await limitOrder(trader, on, { side: 'BUY', size: 100, price: on.bestAsk as string });
  const response = await fetch(`${service.url}/markets/trade`, {
    method: 'POST',
    headers: { authorization: `Bearer ${trader.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const { code } = (await response.json()) as { code: string };
  return { status: response.status, code, wait: response.headers.get('retry-after') };
}

test('the tenth within a minute says how long to wait, and longer each time; status and code stay', async () => {
  const trader = await newTrader(service);
  const owner = await ownerOf(service, trader);
  await trader.client.updateSettings({ maxTradeAmount: 1 });
  const waits: (string | null)[] = [];
  for (let nth = 0; nth < 13; nth += 1) {
    const { status, code, wait } = await tooLarge(trader);
    expect([status, code]).toEqual([403, 'max_trade_amount_exceeded']);
    waits.push(wait);
  }
  expect(waits).toEqual([...Array(9).fill(null), '1', '2', '4', '8']);
  // Another market is another matter, and so is another agent.
  expect((await tooLarge(trader, other)).wait).toBeNull();

  const alerts = async () => {
    const home = (await owner.send('GET', '/owner/home')).body;
    return home.agents[0].alerts.map(({ code, marketId }: { code: string; marketId?: string }) => [
      code,
      marketId,
    ]);
  };
  await expect.poll(alerts).toContainEqual(['refused_repeatedly', market.conditionId]);
  const { riskAlerts } = await trader.client.getBriefing();
  expect(riskAlerts.find(({ code }) => code === 'refused_repeatedly')?.message).toMatch(
    /the same BUY 1[0-9] times within a minute \(max_trade_amount_exceeded\)/,
  );

  // It is judged all the same: what is allowed passes at once.
  await trader.client.updateSettings({ maxTradeAmount: 100 });
  expect((await tooLarge(trader)).status).toBe(201);
});
