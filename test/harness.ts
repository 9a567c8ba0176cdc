/** A real service in this process on a database of its own, and agents that trade on it through the SDK. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BellwetherApiError,
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  type LimitOrder,
  type Market,
  type MarketOrder,
  type SignatureType,
  Signer,
} from '@bellwether/sdk';
import { expect, vi } from 'vitest';
import { LEASE } from '../packages/durable/src/term.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { type Overrides, type Service, startService } from '../packages/server/src/service.ts';
import type { VenueDeclaration } from '../packages/server/src/venues/configured.ts';
import { createDeskDatabase, createLastingDeskDatabase } from './postgres.ts';
import { WIDE_OPEN } from './service-process.ts';
import { LONG_LEASE } from './setup/budget.ts';
import { afterFile } from './setup/clean-up.ts';

export interface TestService extends Service {
  /** This process leads, unless a test has started several. */
  readonly exchange: NonNullable<Service['exchange']>;
  readonly sandbox: NonNullable<Service['sandbox']>;
  readonly url: string;
  readonly databaseUrl: string;
  readonly masterKey: string;
}

/** Rate limits are off, bounds are wide and the log is silent unless the environment says otherwise. */
export async function startTestService(
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
  registry?: readonly VenueDeclaration[],
): Promise<TestService> {
  const databaseUrl = environment.DATABASE_URL ?? (await createDeskDatabase());
  const service = await launch({ ...environment, DATABASE_URL: databaseUrl }, overrides, registry);
  afterFile('services', service.stop);
  return service;
}

/**
 * For a test that calls the exchange of its own process itself, and does not wait for a lease as requests do: a busy
 * machine must not end that lease. All of `npm test` has such leases (`test/setup/long-leases.ts`).
 */
export function longLeases(): void {
  Object.assign(LEASE, LONG_LEASE);
  afterFile('databases', () => Object.assign(LEASE, LEASE_OF_SUITE));
}
const LEASE_OF_SUITE = { ...LEASE };

interface Shared {
  readonly service: Promise<TestService>;
  /** How many have used it so far. */
  files: number;
}
const shared = new Map<string, Shared>();

/** First market of this file among the plain ones: each file on a shared desk begins with books that no other has taken from. */
let firstMarket = 0;
const MARKETS_OF_A_FILE = 2;

/**
 * The desk that files of one worker share, since a start costs more than most files: for those that bring their own
 * agents and wallets, move no clock and count nothing that belongs to all. Its world stands still, so what a file takes
 * from a book is missing for the next one: `openMarkets` begins elsewhere. It ends with the worker's process.
 */
export async function sharedTestService(
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const key = JSON.stringify(environment);
  const entry = shared.get(key) ?? { service: startLasting(environment), files: 0 };
  shared.set(key, entry);
  firstMarket = MARKETS_OF_A_FILE * entry.files;
  entry.files += 1;
  afterFile('services', () => {
    firstMarket = 0;
  });
  const service = await entry.service;
  // A file that kept the processor has kept its lease from being renewed: it leads again in a moment.
  await vi.waitFor(
    async () => {
      const { body } = await call(service, 'GET', '/readyz');
      expect(body.venues.map(({ status }: { status: string }) => status)).toEqual(['ready', 'ready']);
    },
    { interval: 20, timeout: 60_000 },
  );
  return service;
}

const startLasting = async (environment: Readonly<Record<string, string>>): Promise<TestService> =>
  launch({ PAPER_WORLD: 'off', ...environment, DATABASE_URL: await createLastingDeskDatabase() }, {});

async function launch(
  environment: Readonly<Record<string, string>> & { readonly DATABASE_URL: string },
  overrides: Overrides,
  registry?: readonly VenueDeclaration[],
): Promise<TestService> {
  const { DATABASE_URL: databaseUrl } = environment;
  const masterKey = environment.MASTER_KEY ?? randomBytes(32).toString('hex');
  const settings = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
    ...WIDE_OPEN,
    ...environment,
    MASTER_KEY: masterKey,
  };
  const config = readConfig(settings, registry);
  const service = await startService(config, { jobs: 'by hand', ...overrides });
  return {
    ...service,
    exchange: service.exchange as TestService['exchange'],
    sandbox: service.sandbox as TestService['sandbox'],
    url: service.address + config.basePath,
    databaseUrl,
    masterKey,
  };
}

/**
 * For a client, or a look, that waits for what jobs do: they take turns until it has its answer. The jobs of a process
 * run by themselves.
 */
export async function withTurns<T>(
  service: Partial<Pick<TestService, 'runJob'>>,
  jobs: readonly string[],
  waiting: PromiseLike<T>,
): Promise<T> {
  let isOver = false;
  const answer = (async () => waiting)().finally(() => {
    isOver = true;
  });
  // Should a job fail, that is what the test reports.
  answer.catch(() => {});
  if (service.runJob !== undefined)
    while (!isOver) {
      for (const job of jobs) await service.runJob(job);
      await Promise.race([answer.catch(() => {}), sleep(20)]);
    }
  return answer;
}

/**
 * Lets a service record orders first and send them to their venue afterwards, as a replica does that does not lead: so a
 * test can stand between the two.
 *
 * @param recorded runs between the two
 */
export function recordFirst(
  { needs: { ledger } }: TestService,
  recorded: () => Promise<unknown> = () => Promise.resolve(),
): { readonly end: () => void } {
  const { admit } = ledger;
  const spy = vi.spyOn(ledger, 'admit').mockImplementation(async ({ toVenue: _, ...admission }) => {
    const answer = await admit(admission);
    await recorded();
    return answer;
  });
  return { end: () => spy.mockRestore() };
}

export interface Trader {
  readonly client: BellwetherClient;
  readonly apiKey: string;
  readonly agentId: string;
  readonly signer: Signer;
  readonly signatureType: SignatureType;
  /** The account that pays for the orders. */
  readonly funder: string;
  /** Requests with its key, without the SDK. */
  get(path: string, headers?: Record<string, string>): Promise<RawAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<RawAnswer>;
}

/** A registered agent; without a wallet yet. */
export async function newAgent(
  service: Pick<TestService, 'url'>,
  name = 'Test agent',
): Promise<Omit<Trader, 'funder' | 'signatureType'>> {
  const { agentId, apiKeyCode: key } = await new BellwetherClient({ baseUrl: service.url }).registerAgent({
    name,
  });
  return {
    client: new BellwetherClient({ baseUrl: service.url, apiKey: key }),
    ...{ apiKey: key, agentId, signer: Signer.generate() },
    get: (path, headers = {}) => call(service, 'GET', path, { key, headers }),
    post: (path, body, headers = {}) => call(service, 'POST', path, { key, body, headers }),
  };
}

/** An agent whose wallet is registered and credited, with daily caps too high to matter. */
export async function newTrader(
  service: Pick<TestService, 'url'>,
  signatureType: SignatureType = 0,
  name?: string,
): Promise<Trader> {
  const agent = await newAgent(service, name);
  const credentials = await createVenueCredentials({
    clobUrl: `${service.url}/paper/clob`,
    signer: agent.signer,
  });
  const request = credentialRequest(agent.signer, credentials, signatureType);
  const { walletAddress } = await agent.client.registerCredentials(request);
  await agent.client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  return { ...agent, signatureType, funder: walletAddress.toLowerCase() };
}

/** Open markets of Protocol V1 with a book well inside the price range, in an order that is stable within a file. */
export async function openMarkets(
  client: BellwetherClient,
  tickSize = '0.01',
  negRisk = false,
): Promise<Market[]> {
  const markets = await client.listMarkets({ q: '*', limit: 500 });
  const open = markets
    .filter(
      (market) =>
        market.tickSize === tickSize &&
        market.negRisk === negRisk &&
        market.version !== 'v2' &&
        Number(market.bestBid) >= 0.2 &&
        Number(market.bestAsk) <= 0.8 &&
        Date.parse(market.endDate) > Date.now() + 6 * 3_600_000,
    )
    .sort((a, b) => Number(a.id) - Number(b.id));
  const first = firstMarket % Math.max(1, open.length);
  return [...open.slice(first), ...open.slice(0, first)];
}

export async function aMarket(
  client: BellwetherClient,
  tickSize?: string,
  negRisk?: boolean,
): Promise<Market> {
  const [market] = await openMarkets(client, tickSize, negRisk);
  if (market === undefined) throw new Error('the world has no such market');
  return market;
}

type Signing = Pick<Trader, 'signer'> & Partial<Pick<Trader, 'signatureType'>>;
/** What the helpers below fill in, if it is not given. */
type Terms<T extends MarketOrder | LimitOrder, Given extends keyof T> = Omit<T, 'signer' | 'market' | Given> &
  Partial<Pick<T, Given>>;
const common = ({ signer, signatureType = 0 }: Signing, market: MarketOrder['market']) =>
  ({ signer, signatureType, market, outcome: 'YES' }) as const;

/** A FAK BUY of YES for an amount of collateral, at nearly any price unless its terms say otherwise. */
export const marketBuy = (
  trader: Signing,
  market: MarketOrder['market'],
  amount: number | string,
  terms: Terms<MarketOrder, 'outcome' | 'worstPrice' | 'side'> = {},
) => buildMarketOrder({ ...common(trader, market), amount, worstPrice: 0.99, ...terms, side: 'BUY' });

/** A FAK SELL of YES shares, at nearly any price unless its terms say otherwise. */
export const marketSell = (
  trader: Signing,
  market: MarketOrder['market'],
  shares: number | string,
  terms: Terms<MarketOrder, 'outcome' | 'worstPrice' | 'side'> = {},
) => buildMarketOrder({ ...common(trader, market), shares, worstPrice: 0.01, ...terms, side: 'SELL' });

/** A GTC order for YES, unless its terms say otherwise. */
export const limitOrder = (
  trader: Signing,
  market: MarketOrder['market'],
  terms: Terms<LimitOrder, 'outcome'>,
) => buildLimitOrder({ ...common(trader, market), ...terms });

/** A BUY far below the market: it rests. */
export const restingOrder = (trader: Trader, market: Market, size = 10) =>
  limitOrder(trader, market, { side: 'BUY', price: market.tickSize, size });

export interface RawAnswer {
  /** Method and path of the request. */
  readonly method: string;
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/** A request without the SDK. A string body is sent unchanged. */
export async function call(
  service: { readonly url: string },
  method: string,
  path: string,
  options: { readonly key?: string; readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<RawAnswer> {
  const { key, body, headers } = options;
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  // A stream stays open: its headers are the answer.
  const isStream = /event-stream/.test(response.headers.get('content-type') ?? '');
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    method,
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

/** The code with which the service refuses; `nothing` where it does not. */
export const refusalOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (error instanceof BellwetherApiError ? (error.code ?? '') : String(error)),
  );
