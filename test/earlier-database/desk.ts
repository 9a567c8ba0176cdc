/**
 * The desk whose database was recorded: its settings, the keys of its traders, and the answers of its API. Read
 * by the recorder, which wrote it with the service of that time, and by the test that upgrades it.
 */
import { createHash, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Signer, SolanaSigner, type TradeRequest } from '@bellwether/sdk';
import { call, type RawAnswer, type TestService } from '../harness.ts';
import { Visitor } from '../passkey.ts';

export const DUMP = join(import.meta.dirname, 'database.sql.gz');
export const ANSWERS = join(import.meta.dirname, 'answers.json.gz');
export const OPERATOR_KEY = 'operator-key-of-the-earlier-database';
export const VENUE_B = 'kalshi';
/** The address of the agents' webhooks. */
export const RECEIVER_PORT = 28_417;

/** Fixed, because ciphers and hashes in the database were made with them. They guard nothing else. */
export const ENVIRONMENT = {
  MASTER_KEY: '5e'.repeat(32),
  OPERATOR_KEY,
  PAPER_SEED: '20261122',
  // Only a test moves the world.
  PAPER_WORLD: 'off',
  PUBLIC_URL: 'http://localhost:8080',
  WEBHOOKS_ALLOW_LOOPBACK: 'on',
  WEBHOOK_INBOUND_SECRETS: 'venue=a-secret-shared-with-the-venue',
} as const;

export const INBOUND_SECRET = 'a-secret-shared-with-the-venue';

export interface RecordedAgent {
  readonly name: string;
  readonly agentId: string;
  readonly apiKey: string;
  readonly solanaWallet: string | null;
  readonly webhooks: readonly { readonly id: string; readonly secret: string }[];
}

/** An answered request; repeated, it must get the same answer. */
export interface RecordedRequest {
  readonly agent: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

export interface Recorded {
  /** The clock of the desk when its database was dumped. */
  readonly now: number;
  readonly exchangeHash: string;
  readonly agents: readonly RecordedAgent[];
  readonly revokedKey: string;
  readonly claimedByOwner: readonly string[];
  readonly passkey: { readonly id: string; readonly key: string; readonly counter: number };
  readonly markets: { readonly traded: string; readonly resolved: string; readonly ticker: string };
  readonly requests: readonly RecordedRequest[];
  /** Signed while the desk ran, and never sent. */
  readonly unsent: TradeRequest;
  /** By path, for each agent, the owner and the public. */
  readonly answers: Readonly<Record<string, Answers>>;
}

export type Answers = Record<string, unknown>;

/** As recorded, except that the agents' webhooks go to a free port of this machine. */
function read(file: string, receiverPort: number): string {
  const text = gunzipSync(readFileSync(file)).toString();
  return text.replaceAll(`127.0.0.1:${RECEIVER_PORT}`, `127.0.0.1:${receiverPort}`);
}

export const readRecorded = (receiverPort: number): Recorded => JSON.parse(read(ANSWERS, receiverPort));
/** SQL for an empty database. */
export const readDump = (receiverPort: number): string => read(DUMP, receiverPort);

const seedOf = (name: string): Buffer => createHash('sha256').update(`earlier database: ${name}`).digest();
export const signerOf = (name: string): Signer =>
  Signer.fromPrivateKey(`0x${seedOf(name).toString('hex')}`, { use: 'paper' });
export const solanaSignerOf = (name: string): SolanaSigner =>
  SolanaSigner.fromSecretKey(seedOf(name), { use: 'paper' });

/** The owner's browser, with the passkey that was registered then. */
export function ownerOf(service: TestService, { passkey }: Pick<Recorded, 'passkey'>): Visitor {
  const owner = new Visitor(service);
  owner.passkey = {
    ...owner.passkey,
    id: Buffer.from(passkey.id, 'base64url'),
    key: createPrivateKey(passkey.key),
  };
  owner.counter = passkey.counter;
  return owner;
}

async function must(answer: Promise<RawAnswer>, path: string): Promise<RawAnswer['body']> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const idsOf = (rows: unknown, name = 'orderId'): string[] =>
  (rows as Record<string, string>[]).map((row) => row[name] as string);

/** Every read that an agent has of itself. */
export async function answersOfAgent(
  service: Pick<TestService, 'url'>,
  agent: RecordedAgent,
  market: string,
): Promise<Answers> {
  const answers: Answers = {};
  const read = async (path: string): Promise<unknown> => {
    answers[path] = await must(call(service, 'GET', path, { key: agent.apiKey }), path);
    return answers[path];
  };
  for (const path of [
    '/agents/me',
    '/agents/settings',
    '/agents/api-key/list',
    '/agents/trades?limit=100',
    '/agents/trades/by-strategy',
    '/agent/skill/my-skills',
    '/markets/orders/open',
    '/markets/current-positions',
    '/markets/closed-positions',
    '/markets/portfolio',
    '/markets/positions/expiring',
    '/markets/risk-settings',
    `/markets/context/${market}`,
    '/markets/briefing',
    '/venueb/agent/positions',
    '/wallet/credentials/check',
    '/webhooks',
  ])
    await read(path);
  for (const id of idsOf(await read('/markets/orders?limit=100'))) await read(`/markets/orders/${id}`);
  for (const id of idsOf(await read('/venueb/agent/orders'))) await read(`/venueb/agent/orders/${id}`);
  for (const { id } of agent.webhooks) await read(`/webhooks/${id}/deliveries?limit=100`);
  if (agent.solanaWallet !== null) await read(`/venueb/agent/delegation?walletAddress=${agent.solanaWallet}`);
  return answers;
}

export async function answersOfOwner(owner: Visitor, agentIds: readonly string[]): Promise<Answers> {
  const paths = [
    '/owner/session',
    '/owner/agents',
    '/owner/wallets/left',
    ...agentIds.flatMap((id) => [`/owner/agents/${id}/keys`, `/owner/agents/${id}/wallets`]),
  ];
  const answers: Answers = {};
  for (const path of paths) answers[path] = await must(owner.send('GET', path), path);
  return answers;
}

/** Public reads: markets, prices, results, skills. */
export async function answersForAll(
  service: Pick<TestService, 'url'>,
  apiKey: string,
  { traded, resolved, ticker }: Recorded['markets'],
): Promise<Answers> {
  const answers: Answers = {};
  const read = async (path: string): Promise<unknown> => {
    answers[path] = await must(call(service, 'GET', path, { key: apiKey }), path);
    return answers[path];
  };
  const market = (await read(`/markets/${traded}`)) as { clobTokenIds: readonly string[] };
  await read(`/markets/${resolved}`);
  await read(`/markets/${ticker}?venue=${VENUE_B}`);
  await read(`/markets/orderbook/${market.clobTokenIds[0]}`);
  await read(`/markets/prices-history?market=${market.clobTokenIds[0]}&interval=max`);
  await read('/agents/leaderboard?limit=100');
  await read('/agent/skill/skills?category=2');
  return answers;
}

/** A wallet's holdings on the chain, read through the chain's door; and the total supply of money. */
export async function answersOfChain(
  service: Pick<TestService, 'url'>,
  wallets: readonly string[],
  mint: string,
): Promise<Answers> {
  const answers: Answers = {};
  const ask = async (name: string, method: string, params: readonly unknown[]) => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const { result, error } = await must(call(service, 'POST', '/paper/solana', { body }), method);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    answers[name] = result.value ?? result;
  };
  await ask('supply', 'getTokenSupply', [mint]);
  await ask('slot', 'getSlot', []);
  for (const wallet of wallets) {
    await ask(`money of ${wallet}`, 'getBalance', [wallet]);
    for (const programId of [
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    ])
      await ask(`${programId} of ${wallet}`, 'getTokenAccountsByOwner', [
        wallet,
        { programId },
        { encoding: 'base64' },
      ]);
  }
  return answers;
}
