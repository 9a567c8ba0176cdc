/** Quotes without a transaction: every code, caused by the real sandbox and read over HTTP by an agent. */
import { QUOTE_ERRORS } from '@bellwether/contract';
import type { Market } from '@bellwether/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestService, type TestService } from '../harness.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';
import { movingClock } from '../world.ts';

const COUNTRY = 'x-country';
const BREAKER_REST_MS = 5_001;
const clock = movingClock();
let service: TestService;
let trader: SandboxTrader;
let market: Market;
const seen = new Set<string>();

beforeAll(async () => {
  service = await startTestService(
    { PAPER_WORLD: 'off', TRUST_PROXY: 'on', VENUE_B_COUNTRY_HEADER: COUNTRY },
    { clock },
  );
  trader = await newSandboxTrader(service);
  market = await aSandboxMarket(trader.client);
});
beforeEach(() => {
  Object.assign(service.sandbox.venue.switches, {
    maintenance: 'off',
    kyc: 'off',
    verifiedWallets: new Set(),
    geoblock: 'off',
    outage: 'off',
  });
});
afterAll(() => {
  expect([...seen].sort()).toEqual(Object.keys(QUOTE_ERRORS).sort());
});

const BUY = { side: 'YES', action: 'BUY', amount: 10 };
const SELL = { side: 'YES', action: 'SELL', shares: 1, amount: undefined };

async function ask(fields: Readonly<Record<string, unknown>> = {}, headers?: Record<string, string>) {
  const { status, body } = await trader.quote({ marketTicker: market.id, ...BUY, ...fields }, headers);
  expect(status).toBe(200);
  return body;
}

/** Requests an unavailable quote; without a transaction it cannot be submitted either. */
async function refused(code: string, fields = {}, headers?: Record<string, string>) {
  const body = await ask(fields, headers);
  expect(body).toMatchObject({
    quoteErrorCode: code,
    quoteErrorMessage: expect.any(String),
    kycRequired: code === 'kyc_required',
    geoblocked: code === 'geoblocked',
    expiresAt: expect.any(Number),
  });
  expect(body).not.toHaveProperty('unsignedTransaction');
  const submitted = await trader.submit(body.quoteId, 'AAAA');
  expect(submitted).toMatchObject({ status: 400, body: { code: 'quote_not_executable' } });
  seen.add(code);
  return body;
}

const expectTraded = async () => expect(await ask()).toHaveProperty('unsignedTransaction');

test('market_not_found', async () => {
  await refused('market_not_found', { marketTicker: 'KXNONE-1-1' });
  await expectTraded();
});

test('amount_too_small: contracts are whole', async () => {
  await refused('amount_too_small', { amount: 0.01 });
  await refused('amount_too_small', { ...SELL, shares: 0.5 });
});

test('fraction_of_contract: a sale is never rounded without a word', async () => {
  await refused('fraction_of_contract', { ...SELL, shares: 2.7 });
});

test('insufficient_balance: money and contracts', async () => {
  await refused('insufficient_balance', { amount: 10_001 });
  await refused('insufficient_balance', SELL);
});

test('route_not_found: not enough buyers', async () => {
  await refused('route_not_found', { ...SELL, shares: 1e9, userPublicKey: null });
});

test('price_impact_too_high: an order too large for a cheap book', async () => {
  const markets = await trader.client.listMarkets({ q: '*', venue: 'kalshi', limit: 500 });
  const cheapest = markets
    .filter(({ active, bestAsk }) => active && Number(bestAsk) > 0)
    .sort((a, b) => Number(a.bestAsk) - Number(b.bestAsk))
    .slice(0, 10);
  for (const { id } of cheapest) {
    const body = await ask({ marketTicker: id, amount: 1e8, userPublicKey: null });
    if (body.quoteErrorCode !== 'price_impact_too_high') continue;
    await refused('price_impact_too_high', { marketTicker: id, amount: 1e8, userPublicKey: null });
    return;
  }
  throw new Error('no book of the world is thin in proportion');
});

test('kyc_required: for buyers, until the wallet is verified', async () => {
  service.sandbox.venue.switches.kyc = 'required';
  const { quoteErrorMessage } = await refused('kyc_required');
  expect(quoteErrorMessage).toContain(`wallet=${trader.wallet}`);
  service.sandbox.venue.switches.verifiedWallets = new Set([trader.wallet]);
  await expectTraded();
});

test('geoblocked: by the venue itself', async () => {
  service.sandbox.venue.switches.geoblock = 'on';
  await refused('geoblocked');
});

test('geoblocked: by the country in the proxy’s header, for a BUY and not for a SELL', async () => {
  await refused('geoblocked', {}, { [COUNTRY]: 'US' });
  await refused('geoblocked', {}, { [COUNTRY]: 'gb' });
  expect(await ask({}, { [COUNTRY]: 'DE' })).toHaveProperty('unsignedTransaction');
  const bought = await trader.trade({ ticker: market.id, side: 'YES', action: 'BUY', amount: 10 });
  expect(bought.status).toBe('filled');
  expect(await ask(SELL, { [COUNTRY]: 'US' })).toMatchObject({
    geoblocked: false,
    unsignedTransaction: expect.any(String),
  });
});

test('venue_maintenance', async () => {
  service.sandbox.venue.switches.maintenance = 'on';
  await refused('venue_maintenance');
});

test('market_closed: past its end', async () => {
  const markets = await trader.client.listMarkets({ q: '*', venue: 'kalshi', limit: 500 });
  const [first] = markets
    .filter(({ active }) => active)
    .sort((a, b) => Date.parse(a.endDate) - Date.parse(b.endDate)) as [Market];
  const listed = await service.sandbox.venue.catalog.byTicker(first.id);
  const isOpen = () => service.exchange.market(listed?.conditionId as string)?.status === 'open';
  for (let i = 0; i < 10 && isOpen(); i += 1) {
    clock.moveTo(Date.parse(first.endDate) + 1);
    await service.exchange.step();
    clock.advance(1_000);
  }
  await refused('market_closed', { marketTicker: first.id });
});

test('venue_unavailable: until the venue answers again', async () => {
  service.sandbox.venue.switches.outage = 'on';
  for (let i = 0; i < 3; i += 1) await refused('venue_unavailable');
  service.sandbox.venue.switches.outage = 'off';
  clock.advance(BREAKER_REST_MS);
  await expectTraded();
});
