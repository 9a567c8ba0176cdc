/** A service, its agents and helpers that send invalid requests, for the tests of error codes. */
import type { ErrorCode } from '@bellwether/contract';
import { parseTransactionBytes, toBase64 } from '@bellwether/protocol';
import { createVenueCredentials, type Market, type Signer, SolanaSigner } from '@bellwether/sdk';
import { beforeAll } from 'vitest';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  call,
  marketBuy,
  newTrader,
  openMarkets,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { BUY_TEN, newQuoteTrader, type TraderB } from '../quote-trader.ts';

export let service: TestService;
export let limited: TestService;
export let trader: Trader;
export let stranger: Trader;
export let market: Market;
export let other: Market;
export let negRisk: Market;
/** Trades on a fake quote venue. */
export let onChain: TraderB;
export const quoteVenue = createFakeQuoteVenue();

export type Case = readonly [code: ErrorCode, why: string, run: () => Promise<RawAnswer>];

export const post = (
  path: string,
  body: unknown,
  key = trader.apiKey,
  headers: Record<string, string> = {},
) => call(service, 'POST', path, { key, body, headers });
export const get = (path: string, key = trader.apiKey) => call(service, 'GET', path, { key });
export const trade = (body: unknown, key = trader.apiKey) => post('/markets/trade', body, key);

export const A_WALLET = SolanaSigner.generate().address;
export const fee = (body: unknown, key = trader.apiKey) => post('/venueb/agent/charge-fee', body, key);

/** A valid resting order with changes; changes inside the signed order invalidate its signature. */
export const changed = async (fields: object, ofOrder: object = {}): Promise<RawAnswer> => {
  const request = await restingOrder(trader, market);
  return trade({ ...request, ...fields, order: { ...request.order, ...ofOrder } });
};

/** An agent with its own safeguards and wallet. */
export const limitedTrader = async (
  settings: Parameters<Trader['client']['updateSettings']>[0],
): Promise<Trader> => {
  const agent = await newTrader(service);
  await agent.client.updateSettings(settings);
  return agent;
};

export const buy = (agent: Trader, amount: number) => marketBuy(agent, market, amount);

const credentials = (agent: { signer: Signer }) =>
  createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: agent.signer });
export const credentialBody = async (agent: { signer: Signer }, fields: Record<string, unknown> = {}) => ({
  walletAddress: agent.signer.address,
  ...(await credentials(agent)),
  ...fields,
});

export const quoting = (fields: Record<string, unknown>) =>
  onChain.post('/venueb/agent/quote', { ...BUY_TEN, ...fields });
/** A quote's signed transaction with one byte of it changed. */
export const changedSubmit = async (
  byte: number,
  change: (before: number) => number = (before) => before ^ 1,
) => {
  const quote = await onChain.quote();
  const wire = parseTransactionBytes(onChain.wallet.sign(quote.unsignedTransaction));
  const at = byte < 0 ? wire.length + byte : byte;
  wire[at] = change(wire[at] as number);
  return onChain.submit(quote, { signedTransaction: toBase64(wire) });
};

/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [quoteVenue] });
    limited = await startTestService({
      PAPER_WORLD: 'off',
      RATE_LIMITS: 'on',
      RATE_LIMIT_READ_PER_SECOND: '1',
      RATE_LIMIT_READ_BURST: '2',
    });
    trader = await newTrader(service);
    stranger = await newTrader(service);
    onChain = await newQuoteTrader(service);
    [market, other] = (await openMarkets(trader.client)) as [Market, Market];
    negRisk = await aMarket(trader.client, '0.01', true);
  });
}
