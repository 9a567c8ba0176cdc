/**
 * A desk that is connected to a live venue: the venue is another service of this process, whose doors speak the venue's
 * protocol over TCP. Money is the paper exchange's; the desk cannot tell.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { SANDBOX_PATHS } from '@bellwether/sandbox';
import {
  buildLimitOrder,
  createVenueCredentials,
  credentialRequest,
  type Market,
  type SignatureType,
} from '@bellwether/sdk';
import { WebSocket, WebSocketServer } from 'ws';
import { openPool, type Sql } from '../packages/server/src/platform/database/connection.ts';
import type { Overrides } from '../packages/server/src/service.ts';
import { ASSET_ID, startFireblocks, VAULT_ID } from '../packages/server/test/fireblocks-server.ts';
import { call, longLeases, newAgent, startTestService, type TestService, type Trader } from './harness.ts';
import { liveEnvironment } from './live-environment.ts';
import { afterFile, temporaryFolder } from './setup/clean-up.ts';
import { listening } from './stand-in.ts';

export const PROFILE = 'polymarket';
const FUNDS = 1_000_000_000n;

/** The venue: nothing trades there by itself. */
export function startVenue(
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
): Promise<TestService> {
  longLeases();
  return startTestService(
    { VENUE_A_ORDER_PROFILE: PROFILE, PAPER_WORLD: 'off', PAPER_DOORS: 'clob', ...environment },
    overrides,
  );
}

/** What a venue says in place of an answer; `cut`: nothing, and the connection ends. Its orders are those of the venue behind it. */
export type VenueWords =
  | 'cut'
  // It does what it was asked for, and its answer is lost.
  | 'lost'
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

/**
 * The venue, its sockets included, but for what it says otherwise.
 * @param alter takes every object of an answer, those inside it first
 * @param inPlace says something in place of the venue, which then never hears of the request unless its answer alone is lost
 */
export async function alteredVenue(
  venue: string,
  alter: (record: Record<string, unknown>) => Record<string, unknown>,
  inPlace: (method: string, path: string) => VenueWords | null = () => null,
): Promise<string> {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    if (typeof value !== 'object' || value === null) return value;
    return alter(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inside(inner)])));
  };
  const textOf = (text: string): string => {
    try {
      return JSON.stringify(inside(JSON.parse(text)));
    } catch {
      return text;
    }
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const said = inPlace(request.method ?? '', request.url ?? '');
    if (said === 'cut') return void request.socket.destroy();
    if (said !== null && said !== 'lost') {
      response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers });
      return void response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const answer = await fetch(venue + request.url, {
      method: request.method ?? '',
      headers: headers as Record<string, string>,
      ...(body === '' ? {} : { body }),
    }).catch(() => null);
    if (answer === null || said === 'lost') return void request.socket.destroy();
    const type = answer.headers.get('content-type') ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': type });
    response.end(textOf(await answer.text()));
  });
  new WebSocketServer({ server }).on('connection', (desk, { url }) => {
    const upstream = new WebSocket(venue.replace(/^http/, 'ws') + url);
    const waiting: string[] = [];
    desk.on('message', (data) => {
      if (upstream.readyState === WebSocket.OPEN) upstream.send(String(data));
      else waiting.push(String(data));
    });
    upstream.on('open', () => waiting.splice(0).forEach((text) => void upstream.send(text)));
    upstream.on('message', (data) => desk.send(textOf(String(data))));
    upstream.on('close', () => desk.close());
    desk.on('close', () => upstream.close());
  });
  return listening(server);
}

/** The venue, but for its answers to what is posted to this path, which are lost while it is so. */
export const venueLosingAnswers = (venue: string, path: string, isSo: () => boolean): Promise<string> =>
  alteredVenue(
    venue,
    (record) => record,
    (method, asked) => (isSo() && method === 'POST' && asked.endsWith(path) ? 'lost' : null),
  );

/** Where orders are matched. */
export type LiveVenue = Pick<TestService, 'url' | 'exchange'>;

export async function startLiveDesk(
  venue: LiveVenue,
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
): Promise<TestService> {
  return startTestService({ ...liveEnvironment(venue.url), ...environment }, overrides);
}

/**
 * A desk whose venue B, chain and signing key are external services: another desk's sandbox is venue and chain.
 * @param dflow address of the venue's API, where it is not the sandbox itself
 */
export async function startLiveQuoteDesk(
  { url }: Pick<TestService, 'url'>,
  dflow = url,
  { environment = {}, ...overrides }: Overrides & { environment?: Readonly<Record<string, string>> } = {},
) {
  const fireblocks = await startFireblocks();
  const keyFile = join(temporaryFolder(), 'key.pem');
  writeFileSync(keyFile, fireblocks.privateKeyPem);
  const desk = await startTestService(
    {
      ...{ PAPER_WORLD: 'off', PAPER_DOORS: 'off', VENUE_B_BACKEND: 'live' },
      VENUE_B_COUNTRY_CHECKED_ELSEWHERE: 'on',
      DFLOW_METADATA_URL: dflow + SANDBOX_PATHS.metadata,
      DFLOW_TRADE_URL: dflow + SANDBOX_PATHS.trade,
      DFLOW_PROOF_URL: dflow + SANDBOX_PATHS.trade,
      SOLANA_RPC_URL: url + SANDBOX_PATHS.rpc,
      SIGNING_PROVIDER: 'fireblocks',
      FIREBLOCKS_URL: fireblocks.url,
      FIREBLOCKS_API_KEY: fireblocks.apiKey,
      FIREBLOCKS_KEY_FILE: keyFile,
      FIREBLOCKS_VAULT_ID: VAULT_ID,
      FIREBLOCKS_ASSET_ID: ASSET_ID,
      FIREBLOCKS_ADDRESS: fireblocks.address,
      ...environment,
    },
    overrides,
  );
  return { desk, fireblocks };
}

const pools = new Map<string, Sql>();

/** The desk's database. */
export function poolOf({ databaseUrl }: Pick<TestService, 'databaseUrl'>): Sql {
  const known = pools.get(databaseUrl);
  if (known !== undefined) return known;
  const sql = openPool(databaseUrl, { max: 2 });
  pools.set(databaseUrl, sql);
  afterFile('pools', () => sql.end({ timeout: 1 }));
  return sql;
}

/** The page of the claim is tested elsewhere. */
export async function claim(desk: Pick<TestService, 'databaseUrl'>, agentId: string): Promise<void> {
  const sql = poolOf(desk);
  await sql`update agents set claimed_at = now() where agent_id = ${agentId}`;
}

/** A claimed agent whose wallet has money and a key at the venue. */
export async function newLiveTrader(
  desk: TestService,
  venue: LiveVenue,
  signatureType: SignatureType = 0,
): Promise<Trader> {
  const agent = await newAgent(desk);
  const clobUrl = `${venue.url}/paper/clob`;
  const credentials = await createVenueCredentials({ clobUrl, signer: agent.signer });
  const request = credentialRequest(agent.signer, credentials, signatureType);
  await agent.client.registerCredentials(request);
  const funder = agent.signer.wallet(signatureType).toLowerCase();
  await venue.exchange.execute({ kind: 'deposit', account: funder, amount: FUNDS, reason: 'faucet' });
  await claim(desk, agent.agentId);
  await agent.client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  return { ...agent, signatureType, funder };
}

export const liveOrder = (
  trader: Pick<Trader, 'signer' | 'signatureType'>,
  market: Market,
  fields: Partial<Parameters<typeof buildLimitOrder>[0]> & { readonly side: 'BUY' | 'SELL' },
) =>
  buildLimitOrder({
    signer: trader.signer,
    signatureType: trader.signatureType,
    profile: PROFILE,
    market,
    outcome: 'YES',
    price: market.tickSize,
    size: 10,
    ...fields,
  } as Parameters<typeof buildLimitOrder>[0]);

export const orderAt = async (
  desk: Pick<TestService, 'url'>,
  trader: Pick<Trader, 'apiKey'>,
  orderId: string,
) => (await call(desk, 'GET', `/markets/orders/${orderId}`, { key: trader.apiKey })).body;
