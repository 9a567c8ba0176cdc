/** Agents with money and shares, and the orders that they sign before the measurement. */
import { createRequire } from 'node:module';
import {
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  type Market,
  Signer,
  type TradeRequest,
} from '@bellwether/sdk';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { httpText } from './load.ts';

/** Collateral for each agent, so that no order is refused for lack of it. */
const PAPER_MONEY = 1_000_000;
/** Collateral spent on each market beforehand: what the SELL orders sell. */
const STAKE = 10;
const MARKETS = 20;
/** Agents prepared at a time. */
const AT_ONCE = 32;
const HOURS_AHEAD = 12;
const REST_SHARES = 5;
const BUY_COLLATERAL = 1;
const SELL_SHARES = 1;

/** Settings of the measured service: limits that would only stop the load. */
export const ENVIRONMENT = {
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'warn',
  PAPER_FAUCET_PER_DAY: '1000000000',
};

/** A service with agents that can trade. */
export interface Desk {
  /** Client of an agent that only reads. */
  readonly visitor: BellwetherClient;
  readonly visitorKey: string;
  readonly markets: readonly Market[];
  readonly agents: readonly BenchAgent[];
}

export interface BenchAgent {
  readonly apiKey: string;
  readonly signer: Signer;
  readonly client: BellwetherClient;
}

interface NativeSecp256k1 {
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
}

/** Signs natively: tens of thousands of orders are signed before a run, and in JavaScript that takes a minute. */
function fastSigner(): Signer {
  const native: NativeSecp256k1 = createRequire(import.meta.url)('secp256k1/bindings');
  const key = generatePrivateKey();
  const secret = Buffer.from(key.slice(2), 'hex');
  const account: Parameters<typeof Signer.fromAccount>[0] = {
    ...privateKeyToAccount(key),
    sign: async ({ hash }) => {
      const { signature, recid } = native.ecdsaSign(Buffer.from(hash.slice(2), 'hex'), secret);
      return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
    },
  };
  return Signer.fromAccount(account, { use: 'paper' });
}

/** Agents with wallets, money and shares in some markets; their caps are off, and every check still runs. */
export async function openDesk(url: string, agents: number): Promise<Desk> {
  const { apiKeyCode } = await new BellwetherClient({ baseUrl: url }).registerAgent({ name: 'Visitor' });
  const visitor = new BellwetherClient({ baseUrl: url, apiKey: apiKeyCode });
  const markets = (await liquidMarkets(visitor)).slice(0, MARKETS);
  if (markets.length < MARKETS) throw new Error('the world has too few liquid markets');
  return { visitor, visitorKey: apiKeyCode, markets, agents: await newAgents(url, agents, markets) };
}

export async function newAgents(
  url: string,
  count: number,
  markets: readonly Market[],
): Promise<BenchAgent[]> {
  const agents: BenchAgent[] = [];
  let next = 0;
  const prepare = async () => {
    for (let index = next++; index < count; index = next++)
      agents[index] = await newAgent(url, index, markets);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, prepare));
  return agents;
}

async function newAgent(url: string, index: number, markets: readonly Market[]): Promise<BenchAgent> {
  const { apiKeyCode } = await new BellwetherClient({ baseUrl: url }).registerAgent({
    name: `Bench ${index}`,
  });
  const client = new BellwetherClient({ baseUrl: url, apiKey: apiKeyCode });
  const signer = fastSigner();
  const credentials = await createVenueCredentials({ clobUrl: `${url}/paper/clob`, signer });
  await client.registerCredentials(credentialRequest(signer, credentials, 0));
  await client.faucet({ address: signer.address, amount: PAPER_MONEY });
  await client.updateSettings({
    tradeLimitEnabled: false,
    maxTradesPerDay: 5_000,
    maxTradeAmount: 1_000_000,
    dailyTradeAmountLimit: 10_000_000,
  });
  const agent = { apiKey: apiKeyCode, signer, client };
  for (const market of markets) await client.placeTrade(await buy(agent, market, STAKE));
  return agent;
}

/** Markets open for hours, with a book well inside the price range. */
async function liquidMarkets(client: BellwetherClient): Promise<Market[]> {
  const markets = await client.listMarkets({ q: '*', limit: 500 });
  return markets.filter(
    ({ tickSize, bestBid, bestAsk, endDate }) =>
      tickSize === '0.01' &&
      Number(bestBid) >= 0.2 &&
      Number(bestAsk) <= 0.8 &&
      Date.parse(endDate) > Date.now() + HOURS_AHEAD * 3_600_000,
  );
}

const buy = ({ signer }: BenchAgent, market: Market, amount: number) =>
  buildMarketOrder({ signer, market, outcome: 'YES', side: 'BUY', amount, worstPrice: 0.98 });

/** Two orders that rest far from the market, one that buys from the house and one that sells to it. */
function orderOf(turn: number, agent: BenchAgent, market: Market): Promise<TradeRequest> {
  const common = { signer: agent.signer, market, outcome: 'YES' } as const;
  switch (turn % 4) {
    case 0:
      return buy(agent, market, BUY_COLLATERAL);
    case 1:
      return buildMarketOrder({ ...common, side: 'SELL', shares: SELL_SHARES, worstPrice: 0.02 });
    default:
      return buildLimitOrder({ ...common, side: 'BUY', price: '0.01', size: REST_SHARES, postOnly: true });
  }
}

/** Whole requests. Orders of all kinds in turn, one after the other through the agents, spread over the markets. */
export async function requestsOf(
  { agents, markets }: Pick<Desk, 'agents' | 'markets'>,
  count: number,
): Promise<string[]> {
  const requests: string[] = [];
  for (let index = 0; index < count; index++) {
    const agent = agents[index % agents.length] as BenchAgent;
    const turn = Math.floor(index / agents.length);
    // Each group of four stays on one market, so that the agent sells there what it bought there.
    const market = markets[(Math.floor(turn / 4) + (index % agents.length)) % markets.length] as Market;
    const body = JSON.stringify(await orderOf(turn, agent, market));
    requests.push(httpText('POST', '/markets/trade', agent.apiKey, body));
  }
  return requests;
}
