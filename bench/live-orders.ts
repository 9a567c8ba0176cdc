/**
 * Measures what the desk adds to an order at a live venue. The venue is the paper exchange with its doors in a process of its own, behind a
 * door here that answers an order at once and hands it on afterwards: so it adds no delay, and knows every order all the same.
 * In turns: an order straight to that door, as a client of the venue sends it; one through the desk, which judges it, records
 * it, sends it, records the answer and answers; and one durable commit of a row in the desk's database.
 * Then the desk stops, one of its 1,000 open orders is canceled at the venue, and the desk finds out after its next start.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { l2Signature } from '@bellwether/protocol';
import {
  BellwetherClient,
  buildLimitOrder,
  createVenueCredentials,
  credentialRequest,
  type Market,
  orderIdOf,
  Signer,
  type TradeRequest,
  type VenueCredentials,
} from '@bellwether/sdk';
import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { type Service, startService as startDesk } from '../packages/server/src/service.ts';
import { median, ms, type Report, type RowOptions, times, whole } from './report.ts';
import { newDataFolder, removeFolder, startService } from './service.ts';

const PROFILE = 'polymarket';
const ROUNDS = { short: 800, full: 1_500 };
const WARM_UP = 60;
const OPEN_ORDERS = 1_000;
const FUNDS = 100_000;
const RESYNC_WITHIN_MS = 120_000;

export interface Wallet {
  readonly signer: Signer;
  readonly credentials: VenueCredentials;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

function send(
  url: string,
  method: string,
  headers: http.OutgoingHttpHeaders,
  body: string | Buffer,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = http.request(
    url,
    {
      ...{ method, agent },
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
    },
    (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    },
  );
  request.on('error', reject);
  request.end(body);
  return promise;
}

/** As a client of the venue signs a request. */
async function sendToDoor(
  door: string,
  { signer, credentials }: Wallet,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: string },
): Promise<string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return send(
    door + path,
    method,
    {
      POLY_ADDRESS: signer.address,
      POLY_API_KEY: credentials.apiKey,
      POLY_PASSPHRASE: credentials.apiPassphrase,
      POLY_TIMESTAMP: timestamp,
      POLY_SIGNATURE: l2Signature(credentials.apiSecret, { timestamp, method, path, body }),
    },
    body,
  );
}

/** The body of POST /order for the order of a trade. */
function doorBody({ order }: TradeRequest, owner: string): string {
  const { salt, side, ...rest } = order as Record<string, unknown>;
  const fields = {
    ...rest,
    salt: Number(salt),
    side: side === 0 || side === 'BUY' ? 'BUY' : 'SELL',
    expiration: '0',
  };
  return JSON.stringify({ order: fields, owner, orderType: 'GTC', deferExec: false, postOnly: true });
}

const expectText = (text: string, part: string): void => {
  if (!text.includes(part)) throw new Error(`an unexpected answer: ${text.slice(0, 300)}`);
};

const restingOrder = (signer: Signer, market: Market): Promise<TradeRequest> =>
  buildLimitOrder({
    ...{ signer, market, profile: PROFILE, outcome: 'YES', side: 'BUY', size: 5, postOnly: true },
    price: market.tickSize,
  });

const timed = async (work: () => Promise<void>): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

export async function benchLiveOrders({ full }: RowOptions): Promise<Report> {
  const { venue, door: promptly, config, sql, close } = await openLiveStage(openPromptDoor);
  await sql`create table bench_commits (nth integer)`;
  let desk = await startDesk(config);
  try {
    const door = `${venue.url}/paper/clob`;
    const [own, through] = [await newWallet(venue.url), await newWallet(venue.url)];
    const apiKey = await openAgent(desk, through, await openOwner(desk));
    const markets = await new BellwetherClient({ baseUrl: desk.address, apiKey }).listMarkets({
      q: '*',
      limit: 50,
    });
    const market = markets.find(({ tickSize, negRisk }) => tickSize === '0.01' && !negRisk);
    if (market === undefined) throw new Error('the venue has no such market');
    const latencies = await inTurns({
      desk,
      ...{ promptly, sql, own, through, apiKey, market },
      rounds: full ? ROUNDS.full : ROUNDS.short,
    });
    const resyncMs = await resynchronise({
      ...{ door, wallet: through, apiKey, market, desk },
      restart: async () => {
        await desk.stop();
        return {
          start: async () => {
            desk = await startDesk(config);
            return desk;
          },
        };
      },
    });
    return reportOf(latencies, resyncMs);
  } finally {
    await desk.stop();
    await close();
    agent.destroy();
  }
}

/** A venue in a process of its own behind a door of this one, and the settings and the database of a desk that is live on it. */
export async function openLiveStage<Door extends { readonly url: string; close(): Promise<void> }>(
  openDoor: (venueUrl: string) => Promise<Door>,
) {
  const [venueFolder, deskFolder] = [newDataFolder(), newDataFolder()];
  const common = {
    VENUE_A_ORDER_PROFILE: PROFILE,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    PAPER_WORLD: 'off',
  };
  const venue = await startService({
    dataDir: venueFolder,
    env: { ...common, PAPER_DOORS: 'clob', PAPER_FAUCET_PER_DAY: '1000000000' },
  });
  const door = await openDoor(venue.url);
  const postgres = await startEmbeddedPostgres({ dataDir: deskFolder });
  const url = socketUrl(postgres, postgres.database);
  const sql = openPool(url, { max: 1 });
  const env = {
    ...{ ...common, DATA_DIR: deskFolder, PAPER_DOORS: 'off', VENUE_A_BACKEND: 'live' },
    ...{ DATABASE_URL: url, MASTER_KEY: '0'.repeat(64) },
    POLYMARKET_CLOB_URL: `${door.url}/paper/clob`,
    POLYMARKET_GAMMA_URL: `${venue.url}/paper/gamma`,
    POLYMARKET_DATA_URL: `${venue.url}/paper/data`,
    POLYMARKET_SITE_URL: venue.url,
    POLYMARKET_WS_URL: `${venue.url.replace('http', 'ws')}/paper/ws`,
  };
  return {
    ...{ venue, door, env, config: readConfig({ ...env, PORT: '0' }), sql },
    async close() {
      await sql.end({ timeout: 1 });
      await postgres.stop();
      await door.close();
      await venue.stop();
      removeFolder(venueFolder);
      removeFolder(deskFolder);
    },
  };
}

/** With a key and paper money at the venue. */
export async function newWallet(venueUrl: string): Promise<Wallet> {
  const signer = Signer.generate();
  const credentials = await createVenueCredentials({ clobUrl: `${venueUrl}/paper/clob`, signer });
  const body = JSON.stringify({ address: signer.address, amount: FUNDS });
  expectText(await send(`${venueUrl}/paper/faucet`, 'POST', {}, body), 'balance');
  return { signer, credentials };
}

interface PromptDoor {
  readonly url: string;
  /** The order with this id is answered at once: it rests. */
  awaits(orderId: string): void;
  /** Resolves when the venue has taken what was answered. */
  handedOn(): Promise<void>;
  close(): Promise<void>;
}

/** The venue's door, which answers orders before the venue has them. */
async function openPromptDoor(venueUrl: string): Promise<PromptDoor> {
  let awaited = '';
  let handing: Promise<void> = Promise.resolve();
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const { host: _, connection: __, ...sent } = headers;
    const body = Buffer.concat(chunks);
    const toVenue = { method, agent, headers: sent };
    const isPrompt = method === 'POST' && url.endsWith('/order') && awaited !== '';
    if (isPrompt) {
      const rests = {
        success: true,
        errorMsg: '',
        orderID: awaited,
        status: 'live',
        takingAmount: '',
        makingAmount: '',
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rests));
      awaited = '';
      handing = send(venueUrl + url, method, sent, body).then((text) => expectText(text, '"live"'));
      return;
    }
    const passed = http.request(venueUrl + url, toVenue, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    awaits(orderId) {
      awaited = orderId;
    },
    handedOn: () => handing,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The owner of agents, by the number that the database gives it. */
export async function openOwner({ needs }: Service): Promise<bigint> {
  const at = Date.now();
  const owner = await needs.owners.register(
    {
      ...{ name: 'Bench', handle: needs.secrets.newToken() },
      passkey: {
        credentialId: needs.secrets.newToken(),
        ...{ publicKey: new Uint8Array(1), counter: 0, transports: [], backedUp: false },
      },
    },
    { tokenHash: needs.secrets.hash(needs.secrets.newToken()), at, expiresAt: at + 1 },
  );
  if (owner === null) throw new Error('no owner was made');
  return owner.userId;
}

/** A claimed agent without caps. */
export async function openAgent(
  { address, needs }: Service,
  { signer, credentials }: Wallet,
  userId: bigint,
): Promise<string> {
  const agent = await new BellwetherClient({ baseUrl: address }).registerAgent({ name: 'Bench' });
  const client = new BellwetherClient({ baseUrl: address, apiKey: agent.apiKeyCode });
  await client.registerCredentials(credentialRequest(signer, credentials));
  await client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  const claimed = await needs.owners.claim(agent.agentId, userId, Date.now(), {
    reseal: (wallet, sealed, from, to) =>
      needs.secrets.seal(
        needs.secrets.open(sealed, `credentials/${from}/${wallet}`),
        `credentials/${to}/${wallet}`,
      ),
    settings: () => ({}),
  });
  if (typeof claimed === 'string') throw new Error(`the agent is ${claimed}`);
  return agent.apiKeyCode;
}

interface Turns {
  readonly desk: Service;
  readonly promptly: PromptDoor;
  readonly sql: Sql;
  readonly own: Wallet;
  readonly through: Wallet;
  readonly apiKey: string;
  readonly market: Market;
  readonly rounds: number;
}

interface Latencies {
  readonly direct: number[];
  readonly through: number[];
  readonly commit: number[];
}

async function inTurns(turns: Turns): Promise<Latencies> {
  const { desk, promptly, sql, own, through, apiKey, market, rounds } = turns;
  const found: Latencies = { direct: [], through: [], commit: [] };
  const headers = { authorization: `Bearer ${apiKey}` };
  const door = `${promptly.url}/paper/clob`;
  for (let round = 0; round < WARM_UP + rounds; round += 1) {
    const order = await restingOrder(own.signer, market);
    const trade = await restingOrder(through.signer, market);
    const [body, request] = [doorBody(order, own.credentials.apiKey), JSON.stringify(trade)];
    promptly.awaits(orderIdOf(order));
    const direct = await timed(async () =>
      expectText(await sendToDoor(door, own, { method: 'POST', path: '/order', body }), '"live"'),
    );
    await promptly.handedOn();
    promptly.awaits(orderIdOf(trade));
    const added = await timed(async () =>
      expectText(await send(`${desk.address}/markets/trade`, 'POST', headers, request), '"status":"live"'),
    );
    await promptly.handedOn();
    const commit = await timed(async () => void (await sql`insert into bench_commits values (${round})`));
    if (round < WARM_UP) continue;
    found.direct.push(direct);
    found.through.push(added);
    found.commit.push(commit);
  }
  return found;
}

interface Resync {
  readonly desk: Service;
  readonly door: string;
  readonly wallet: Wallet;
  readonly apiKey: string;
  readonly market: Market;
  readonly restart: () => Promise<{ readonly start: () => Promise<Service> }>;
}

/** From the desk's start until it says of one of its open orders what happened to it meanwhile. */
async function resynchronise({ desk, door, wallet, apiKey, market, restart }: Resync): Promise<number> {
  const client = new BellwetherClient({ baseUrl: desk.address, apiKey });
  const { tradesToday } = await client.getMe();
  let last = '';
  for (let placed = tradesToday; placed < OPEN_ORDERS || last === ''; placed += 1)
    last = (await client.placeTrade(await restingOrder(wallet.signer, market))).orderId;
  const { start } = await restart();
  const body = JSON.stringify([last]);
  expectText(await sendToDoor(door, wallet, { method: 'DELETE', path: '/orders', body }), last);
  const again = await start();
  const from = performance.now();
  const reader = new BellwetherClient({ baseUrl: again.address, apiKey });
  while ((await reader.getOrder(last)).status !== 'canceled')
    if (performance.now() - from > RESYNC_WITHIN_MS) throw new Error('the desk did not resynchronise');
  return performance.now() - from;
}

function reportOf({ direct, through, commit }: Latencies, resyncMs: number): Report {
  const row = (name: string, values: readonly number[]) => [
    name,
    ms(median(values)),
    ms(percentile(values, 0.99)),
  ];
  const added = median(through) - median(direct);
  return {
    ratios: [
      [
        'what the desk adds to an order at a live venue ÷ one durable commit, medians',
        times(added / median(commit)),
        '≤ 2.5',
      ],
    ],
    tables: [
      {
        head: [`one order at a time, ${whole(direct.length)} each`, 'median', 'p99'],
        rows: [
          row('client → venue without delay', direct),
          row('client → desk → venue', through),
          ['added by the desk', ms(added), ms(percentile(through, 0.99) - percentile(direct, 0.99))],
          row('one durable commit', commit),
        ],
      },
      {
        head: ['after a restart of the desk', 'time'],
        rows: [[`${whole(OPEN_ORDERS)} open orders are what the venue says`, ms(resyncMs)]],
      },
    ],
  };
}
