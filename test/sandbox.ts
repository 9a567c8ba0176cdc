/** Agents that trade on the sandbox inside a service, and balances read from the chain. */
import { SOLANA_PROGRAMS, type SolanaAddress, toBase58, USDC_MINT } from '@bellwether/protocol';
import {
  type BellwetherClient,
  type Market,
  type QuoteAsk,
  type QuotedOrderDetail,
  SolanaSigner,
} from '@bellwether/sdk';
import type { Sql } from '../packages/server/src/platform/database/connection.ts';
import { call, newAgent, type RawAnswer, type TestService, withTurns } from './harness.ts';

export interface SandboxTrader {
  readonly agentId: string;
  readonly apiKey: string;
  readonly client: BellwetherClient;
  readonly signer: SolanaSigner;
  readonly wallet: SolanaAddress;
  /** A quote by plain HTTP, for the agent's wallet unless `fields` name another or `null`. */
  quote(fields: Readonly<Record<string, unknown>>, headers?: Record<string, string>): Promise<RawAnswer>;
  submit(quoteId: string, signedTransaction: string): Promise<RawAnswer>;
  /** The order once it has ended. */
  ended(orderId: string): Promise<QuotedOrderDetail>;
  /** Quote, verify, sign, submit, wait for the end. */
  trade(ask: QuoteAsk): Promise<QuotedOrderDetail>;
  /** The usage of the daily caps. */
  usage(): Promise<{ readonly tradesToday: number }>;
}

/** An agent with caps too high to matter, and a Solana key that is not linked. */
export async function newSandboxTrader(
  service: Pick<TestService, 'url'> & Partial<Pick<TestService, 'runJob'>>,
): Promise<SandboxTrader> {
  const { agentId, apiKey, client } = await newAgent(service);
  await client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  const signer = SolanaSigner.generate();
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(service, 'POST', path, { key: apiKey, body, headers });
  const ended: SandboxTrader['ended'] = (orderId) =>
    withTurns(service, ['follow'], client.venueB.wait(orderId));
  return {
    agentId,
    apiKey,
    client,
    signer,
    wallet: signer.address,
    quote: ({ userPublicKey = signer.address, ...fields }, headers) =>
      post(
        '/venueb/agent/quote',
        { ...fields, ...(userPublicKey === null ? {} : { userPublicKey }) },
        headers,
      ),
    submit: (quoteId, signedTransaction) => post('/venueb/agent/submit', { quoteId, signedTransaction }),
    ended,
    async trade(ask) {
      const { orderId } = await client.venueB.trade({ ...ask, signer });
      return ended(orderId);
    },
    async usage() {
      const { tradesToday } = await client.getMe();
      return { tradesToday };
    },
  };
}

/** Open quoted markets with a price well inside the range, the last to end first. */
export async function sandboxMarkets(client: BellwetherClient, venue = 'kalshi'): Promise<Market[]> {
  const markets = await client.listMarkets({ q: '*', venue, limit: 500 });
  return markets
    .filter(
      ({ active, bestBid, bestAsk }) =>
        active && Number(bestBid) >= 0.25 && Number(bestAsk) <= 0.75 && Number(bestAsk) > 0,
    )
    .sort((a, b) => Date.parse(b.endDate) - Date.parse(a.endDate));
}

/** A market that does not end during a test. */
export async function aSandboxMarket(client: BellwetherClient): Promise<Market> {
  const [market] = await sandboxMarkets(client);
  if (market === undefined) throw new Error('the sandbox lists no such market');
  return market;
}

export interface TokenHolding {
  readonly owner: string;
  readonly mint: string;
  readonly amount: bigint;
}

const TOKEN_ACCOUNT_BYTES = 165;
const PROGRAMS: readonly string[] = [SOLANA_PROGRAMS.token, SOLANA_PROGRAMS.token2022];

/** Every token account of the chain as PostgreSQL has it: the mint, the owner and a 64-bit amount come first. */
export async function tokenAccounts(sql: Sql): Promise<TokenHolding[]> {
  const rows = await sql<{ data: Buffer }[]>`
    select data from sandbox_accounts
    where owner = any(${PROGRAMS as string[]}) and length(data) >= ${TOKEN_ACCOUNT_BYTES}`;
  return rows.map(({ data }) => ({
    mint: toBase58(data.subarray(0, 32)),
    owner: toBase58(data.subarray(32, 64)),
    amount: data.readBigUInt64LE(64),
  }));
}

const sumOf = (holdings: readonly TokenHolding[], mint: string): bigint =>
  holdings.filter((one) => one.mint === mint).reduce((sum, { amount }) => sum + amount, 0n);

/** All the USDC of the chain: created once, then constant. */
export const usdcOf = async (sql: Sql): Promise<bigint> => sumOf(await tokenAccounts(sql), USDC_MINT);
