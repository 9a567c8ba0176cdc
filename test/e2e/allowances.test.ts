/** Allowances by contract: enforced by the doors on paper where a plan says so, and what a live desk's agent reads of them. */
import {
  OLDER_NEG_RISK_ADAPTER,
  olderAdapterApprovalCall,
  POLYGON_EXCHANGES,
  toChecksumAddress,
} from '@bellwether/protocol';
import { checkWallet, type Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { aMarket, type TestService, type Trader } from '../harness.ts';
import { liveOrder, newLiveTrader, startLiveDesk, startVenue } from '../live-desk.ts';

const MOST = (2n ** 256n - 1n).toString();
const faults = new Faults(Date.now);
let venue: TestService;
let desk: TestService;
let trader: Trader;
let ordinary: Market;
let exclusive: Market;

beforeAll(async () => {
  venue = await startVenue({}, { faults });
  desk = await startLiveDesk(venue);
  trader = await newLiveTrader(desk, venue, 3);
  ordinary = await aMarket(trader.client);
  exclusive = await aMarket(trader.client, '0.01', true);
});

const buy = async (market: Market) =>
  trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'BUY', price: market.tickSize, size: 20 }),
  );
const look = async (market: Market) => {
  const { findings } = await checkWallet({
    clobUrl: `${venue.url}/paper/clob`,
    wallet: trader.signer.wallet(3),
    signer: trader.signer,
    tokenId: market.clobTokenIds[0]!,
  });
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
};

test('without a plan a newcomer needs no approval, and the doctor finds none missing', async () => {
  for (const market of [ordinary, exclusive]) expect(await buy(market)).toMatchObject({ success: true });
  expect((await look(exclusive))['older adapter']).toMatchObject({ state: 'good' });
  expect((await look(ordinary))['older adapter']).toBeUndefined();
});

test('a BUY in a neg-risk market asks for the older adapter; its refusal names it, and consent', async () => {
  const { v2, v2NegRisk, v3 } = POLYGON_EXCHANGES;
  faults.set({ allowances: { [v2]: MOST, [toChecksumAddress(v2NegRisk)]: MOST, [v3]: MOST } });
  expect(await buy(ordinary)).toMatchObject({ success: true });
  const refused = await buy(exclusive);
  expect(refused).toMatchObject({ success: false, errorCode: 'allowance_missing' });
  expect(refused.errorMessage).toContain(
    `the allowance is not enough -> spender: ${toChecksumAddress(OLDER_NEG_RISK_ADAPTER)}, allowance: 0`,
  );
  const needed = BigInt(Math.round(Number(exclusive.tickSize) * 20 * 1e6));
  expect(refused.errorMessage).toContain(olderAdapterApprovalCall(needed).data);
  expect(refused.errorMessage).toContain('express consent');
  expect(refused.fix).toContain('Adding funds changes nothing');
  expect((await look(exclusive))['older adapter']).toMatchObject({
    state: 'wrong',
    nextStep: expect.stringContaining('express consent'),
  });
  expect((await look(exclusive)).allowance).toMatchObject({ state: 'good' });
  // Once it is given, the same trade passes.
  faults.set({ allowances: { [v2NegRisk]: MOST, [OLDER_NEG_RISK_ADAPTER]: needed.toString() } });
  expect(await buy(exclusive)).toMatchObject({ success: true });
});

test('an allowance below the amount of the order is not enough', async () => {
  faults.set({ allowances: { [POLYGON_EXCHANGES.v2]: '1' } });
  const refused = await buy(ordinary);
  expect(refused).toMatchObject({ success: false, errorCode: 'allowance_missing' });
  expect(refused.errorMessage).toContain(`spender: ${toChecksumAddress(POLYGON_EXCHANGES.v2)}, allowance: 1`);
  faults.set({});
  expect(await buy(ordinary)).toMatchObject({ success: true });
});

test.each([
  [{ allowances: { exchange: '1' } }, 'by the address of a contract'],
  [{ allowances: { [POLYGON_EXCHANGES.v2]: 1 } }, 'a text of whole base units'],
  [{ allowances: ['0x'] }, 'allowances is an object'],
])('a plan that says %j is refused by name', (plan, words) => {
  expect(() => faults.set(plan as never)).toThrow(words);
});
