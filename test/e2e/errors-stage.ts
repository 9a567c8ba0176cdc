/** A service, its agents and helpers that send invalid requests, for the tests of error codes. */
import type { ErrorCode } from '@bellwether/contract';
import { createVenueCredentials, type Market, type Signer } from '@bellwether/sdk';
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
export let trader: Trader;
export let stranger: Trader;
export let market: Market;
export let other: Market;
export let negRisk: Market;
/** Trades on a fake quote venue. */
export let onChain: TraderB;
export const quoteVenue = createFakeQuoteVenue();

export type Case = readonly [code: ErrorCode, why: string, run: () => Promise<RawAnswer>];

/** Takes the refusal, which must have the code that is followed. */
type Refused = (answer: RawAnswer) => RawAnswer;
/** Is refused, does what the `fix` says, and answers what came of it. */
export type Followed = (refused: Refused) => Promise<RawAnswer>;

/** The nth route that a text names, with what stands for its parameters. */
export function routeIn(text: string, params: Readonly<Record<string, string>> = {}, nth = 0) {
  const [, method = '', path = ''] =
    [...text.matchAll(/\b(GET|POST|DELETE) (\/[\w{}/.-]*[\w}])/g)][nth] ?? [];
  return [method, path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')] as const;
}

export const post = (
  path: string,
  body: unknown,
  key = trader.apiKey,
  headers: Record<string, string> = {},
) => call(service, 'POST', path, { key, body, headers });
export const get = (path: string, key = trader.apiKey) => call(service, 'GET', path, { key });
export const trade = (body: unknown, key = trader.apiKey) => post('/markets/trade', body, key);

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
/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [quoteVenue] });
    trader = await newTrader(service);
    stranger = await newTrader(service);
    onChain = await newQuoteTrader(service);
    [market, other] = (await openMarkets(trader.client)) as [Market, Market];
    negRisk = await aMarket(trader.client, '0.01', true);
  });
}
