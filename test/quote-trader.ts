/** Agents that trade on the fake quote venue, through plain HTTP. */

import { createFakeWallet, type FakeWallet } from './fake-quote-venue.ts';
import { call, newAgent, type RawAnswer, type TestService } from './harness.ts';

export interface TraderB {
  readonly agentId: string;
  readonly apiKey: string;
  readonly client: Awaited<ReturnType<typeof newAgent>>['client'];
  readonly wallet: FakeWallet;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<RawAnswer>;
  get(path: string): Promise<RawAnswer>;
  /** For the first test market by default. */
  quote(fields?: Record<string, unknown>): Promise<RawAnswer['body']>;
  /** Signed by the agent's wallet. */
  submit(quote: RawAnswer['body'], fields?: Record<string, unknown>): Promise<RawAnswer>;
  /** Quote, sign, submit. */
  trade(fields?: Record<string, unknown>): Promise<RawAnswer['body']>;
  order(orderId: string): Promise<RawAnswer['body']>;
  /** The current usage of the caps. */
  usage(): Promise<{ trades: number; amount: number }>;
}

/** Buys for ten at 0.60: sixteen contracts. */
export const BUY_TEN = { marketTicker: 'KXTEST-1', side: 'YES', action: 'BUY', amount: 10 };

/** An agent with caps too high to matter and its own Solana key. */
export async function newQuoteTrader(service: TestService): Promise<TraderB> {
  const { agentId, apiKey, client } = await newAgent(service);
  const wallet = createFakeWallet();
  await client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(service, 'POST', path, { key: apiKey, body, headers });
  const get = (path: string) => call(service, 'GET', path, { key: apiKey });
  const must = ({ status, body }: RawAnswer) => {
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  const quote: TraderB['quote'] = async (fields = {}) =>
    must(
      await post('/venueb/agent/quote', {
        ...('action' in fields ? { marketTicker: 'KXTEST-1', side: 'YES' } : BUY_TEN),
        userPublicKey: wallet.address,
        ...fields,
      }),
    );
  const submit: TraderB['submit'] = (quoted, fields = {}) =>
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
    trade: async ({ reasoning, ...fields } = {}) =>
      must(await submit(await quote(fields), reasoning === undefined ? {} : { reasoning })),
    order: async (orderId) => must(await get(`/venueb/agent/orders/${orderId}`)),
    async usage() {
      const { usage } = await service.needs.agents.settings(agentId);
      return { trades: usage.trades, amount: Number(usage.amount) / 1e6 };
    },
  };
}
