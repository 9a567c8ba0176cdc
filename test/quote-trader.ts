/** A desk with the fake quote venue, and agents that trade there through plain HTTP. */
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect } from 'vitest';
import { createFakeQuoteVenue, createFakeWallet } from './fake-quote-venue.ts';
import {
  call,
  newAgent,
  type RawAnswer,
  startTestService,
  type TestService,
  type Trader,
} from './harness.ts';

/** Buys for ten at 0.60: sixteen contracts. */
export const BUY_TEN = { marketTicker: 'KXTEST-1', side: 'YES', action: 'BUY', amount: 10 };
/** Its fill: 0.4 of the ten stay over. */
export const SIXTEEN = { inAmount: 9_600_000n, outAmount: 16_000_000n, fee: 0n };

export async function startQuotingDesk(clock: { now(): number } = { now: Date.now }) {
  const venue = createFakeQuoteVenue(clock.now);
  const service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [venue], clock });
  return { service, venue };
}

const ajv = formats.default(new Ajv({ strict: false }));
export function expectShape(schema: object, value: unknown): void {
  const isValid = ajv.compile(schema);
  expect(isValid(value), JSON.stringify(isValid.errors)).toBe(true);
}

export type TraderB = Awaited<ReturnType<typeof newQuoteTrader>>;

/** An agent with caps too high to matter and its own Solana key. */
export async function newQuoteTrader(
  service: TestService,
  agent?: Pick<Trader, 'agentId' | 'apiKey' | 'client'>,
) {
  const { agentId, apiKey, client } = agent ?? (await newAgent(service));
  const wallet = createFakeWallet();
  await client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  type Fields = Record<string, unknown>;
  type Body = RawAnswer['body'];
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(service, 'POST', path, { key: apiKey, body, headers });
  const get = (path: string) => call(service, 'GET', path, { key: apiKey });
  const must = ({ status, body }: RawAnswer): Body => {
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  /** For the first test market by default. */
  const quote = async (fields: Fields = {}): Promise<Body> =>
    must(
      await post('/venueb/agent/quote', {
        ...('action' in fields ? { marketTicker: 'KXTEST-1', side: 'YES' } : BUY_TEN),
        userPublicKey: wallet.address,
        ...fields,
      }),
    );
  /** Signed by the agent's wallet. */
  const submit = (quoted: Body, fields: Fields = {}): Promise<RawAnswer> =>
    post('/venueb/agent/submit', {
      quoteId: quoted.quoteId,
      ...fields,
      signedTransaction: fields.signedTransaction ?? wallet.sign(quoted.unsignedTransaction),
    });
  return {
    agentId,
    apiKey,
    client,
    wallet,
    post,
    get,
    quote,
    submit,
    /** Quote, sign, submit. */
    trade: async ({ reasoning, ...fields }: Fields = {}): Promise<Body> =>
      must(await submit(await quote(fields), reasoning === undefined ? {} : { reasoning })),
    order: async (orderId: string): Promise<Body> => must(await get(`/venueb/agent/orders/${orderId}`)),
    cancel: async (which: Fields): Promise<Body> => (await post('/venueb/agent/cancel', which)).body,
    /** The current usage of the caps. */
    async usage() {
      const { usage } = await service.needs.agents.settings(agentId);
      return { trades: usage.trades, amount: Number(usage.amount) / 1e6 };
    },
  };
}
