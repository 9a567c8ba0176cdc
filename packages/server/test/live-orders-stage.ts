/** A live connection's orders against a venue that answers as a test says, over TCP, on a real database. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openPool } from '@bellwether/durable';
import { type Address, ZERO_ADDRESS } from '@bellwether/protocol';
import { expect } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createDeskDatabase } from '../../../test/postgres.ts';
import { afterFile, afterUse } from '../../../test/setup/clean-up.ts';
import { listening } from '../../../test/stand-in.ts';
import type { MarketRecord } from '../src/domain/market.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { createPooledSend } from '../src/platform/outbound/http.ts';
import { createLiveOrderLog } from '../src/trading/live-order-log.ts';
import { createVenueHttp } from '../src/venues/polymarket/http.ts';
import { createLiveOrders, type LiveOrders } from '../src/venues/polymarket/live-orders.ts';
import type { SignedMessage, VenueOrder } from '../src/venues/venue.ts';
import { createHeartbeatLog } from '../src/wallets/index.ts';

export const SECRETS = {
  apiKey: 'k3y-of-the-wallet',
  secret: 'c2VjcmV0LW9mLWl0',
  passphrase: 'p4ssphrase-of-it',
};
const EOA = `0x${'11'.repeat(20)}` as Address;
const MARKET = {
  ...{
    id: 'm1',
    conditionId: `0x${'c1'.repeat(32)}`,
    tokenIds: ['1001', '1002'],
    slug: 'one',
    question: 'Why?',
  },
  ...{ endDate: Date.UTC(2030, 0, 1), feeRate: 0n, feeExponent: 1, tickSize: 100 },
} as unknown as MarketRecord;
export const CONDITION = MARKET.conditionId;

export interface VenueRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The body is cut off in its middle, and the connection with it. */
  readonly isCut?: boolean;
}

/** `reset`: the connection is cut after the request was read. `hang`: no answer. */
export type Answer = Reply | 'reset' | 'hang';

export interface Stage {
  readonly sql: Sql;
  readonly orders: LiveOrders;
  readonly asked: VenueRequest[];
  readonly logged: string[];
  /** Answer of the venue to a request; by default it has nothing. */
  answer: (asked: VenueRequest) => Answer | undefined | Promise<Answer | undefined>;
  newOrder(given?: Partial<Terms>): Promise<NewOrder>;
  /** Tells the user socket, once it is open. @returns once the desk has read it */
  say(event: object): Promise<void>;
  /** Ends the venue: nothing listens on its port any more, from the moment of the call. */
  closeVenue(): Promise<void>;
}

interface Terms {
  readonly timeInForce: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly postOnly: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deadline: number;
  readonly expiration: number | null;
}

export interface NewOrder {
  readonly order: VenueOrder;
  readonly message: SignedMessage;
  submit(): ReturnType<LiveOrders['submit']>;
  row(): Promise<{ readonly status: string; readonly error_code: string | null; readonly filled: bigint }>;
}

const NOTHING: Readonly<Record<string, Reply>> = {
  '/data/orders': { body: { data: [], next_cursor: 'LTE=' } },
  '/data/trades': { body: { data: [], next_cursor: 'LTE=' } },
};

function nothing({ path }: VenueRequest): Reply {
  if (path.startsWith('/data/order/')) return { body: null };
  return NOTHING[path.split('?')[0] ?? ''] ?? { status: 404, body: { error: 'not found' } };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

export async function startStage(
  given: {
    readonly doubtMs?: number;
    readonly sends?: boolean;
    readonly shortage?: string;
    /** When an order in doubt is looked for again; half an hour later without it. */
    readonly lookAfterMs?: readonly number[];
    /** Within so long the socket is to speak of an order; an hour without it. */
    readonly eventMs?: number;
    /** Between heartbeats; an hour without it. */
    readonly beatMs?: number;
    /** Between two looks at a wallet; an hour without it. */
    readonly followMs?: number;
    /** Fee rate of the market, in millionths. */
    readonly feeRate?: bigint;
  } = {},
): Promise<Stage> {
  const { followMs = 3_600_000 } = given;
  const sql = openPool(await createDeskDatabase());
  afterFile('pools', () => sql.end({ timeout: 1 }));
  const asked: VenueRequest[] = [];
  const logged: string[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const one = { method: request.method ?? '', path: request.url ?? '', body: await readAll(request) };
    asked.push(one);
    const answer = (await stage.answer(one)) ?? nothing(one);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      request.socket.destroy();
      return;
    }
    const { status = 200, body = '', headers = {}, isCut = false } = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const length = isCut ? { 'content-length': text.length } : {};
    response.writeHead(status, { 'content-type': 'application/json', ...length, ...headers });
    if (isCut) response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
    else response.end(text);
  };
  const server = createServer((request, response) => void respond(request, response));
  const baseUrl = await listening(server);
  const sockets = new WebSocketServer({ server });
  const closeVenue = async () => {
    const closed = new Promise<void>((done) => server.close(() => done()));
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await closed;
  };
  const say = async (event: object): Promise<void> => {
    // On a busy machine the socket may have been given up, and comes back after a pause.
    for (;;) {
      await expect.poll(() => sockets.clients.size, { timeout: 150_000 }).toBe(1);
      const [socket] = sockets.clients as Set<WebSocket>;
      const isRead = new Promise((read) => {
        const onClose = () => read(false);
        socket?.once('close', onClose).once('pong', () => {
          socket.off('close', onClose);
          read(true);
        });
      });
      socket?.send(JSON.stringify(event));
      socket?.ping();
      if (await isRead) return;
    }
  };
  const note = (context: object, message: string) =>
    void logged.push(JSON.stringify({ ...context, message }));
  const pooled = createPooledSend();
  const clock = { now: () => Date.now() };
  const log = { warn: note, info: note };
  const orders = createLiveOrders({
    http: createVenueHttp({ service: 'venue', baseUrl, send: pooled.send, clock, log }),
    log: createLiveOrderLog(sql, 'live'),
    heartbeats: createHeartbeatLog(sql, 'live'),
    openSecrets: () => SECRETS,
    findMarket: async () => ({ ...MARKET, feeRate: given.feeRate ?? 0n }),
    shortageReason: async () => given.shortage ?? null,
    clock,
    logger: log,
    holder: 'stage',
    socketUrl: baseUrl.replace('http', 'ws'),
    sends: given.sends ?? true,
    doubtMs: given.doubtMs ?? 60_000,
    missingMs: 50,
    heartbeatTimes: { tickMs: 50, leaseMs: 1_000, beatMs: given.beatMs ?? 3_600_000 },
    lookAfterMs: given.lookAfterMs ?? [1_800_000],
    times: {
      ...{ leaseMs: 5_000, tickMs: followMs, quietMs: followMs, settleMs: followMs, busyMs: followMs },
      eventMs: given.eventMs ?? 3_600_000,
    },
  });
  afterUse(async () => {
    await orders.stop();
    pooled.close();
  });
  await sql`insert into owners (created_at) values (now())`;
  await sql`insert into agents (agent_id, user_id, name, description, claim_code, created_at)
    select gen_random_uuid(), max(user_id), 'Agent', '', 'code', now() from owners`;
  await sql`insert into credentials (wallet_address, user_id, eoa, funder, signature_type, api_key_hash, key_id, sealed,
      registered_at) select ${EOA}, max(user_id), ${EOA}, ${EOA}, 0, '', 1, '', now() from owners`;
  let made = 0;
  const stage: Stage = {
    ...{ sql, orders, asked, logged, say, closeVenue },
    answer: () => undefined,
    async newOrder(terms = {}) {
      made += 1;
      const { timeInForce = 'GTC', postOnly = false, createdAt = Date.now(), expiration = null } = terms;
      const orderId = `0x${made.toString(16).padStart(64, '0')}`;
      await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id,
          outcome, kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price,
          shares, money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day,
          reserved_amount, updated_at, expiration)
        select agent_id, ${orderId}, user_id, 'live', 'm1', ${CONDITION}, 'Why?', '1001', 'YES', 'signed', 0, 2, 'BUY',
          true, ${timeInForce}, ${postOnly}, false, 5000, 5000, 10000000, 5000000, ${EOA}, ${EOA}, 0, 'r',
          ${new Date(createdAt)}, 'submitting', '[]', ${new Date(createdAt)}, 5000000, ${new Date(createdAt)},
          ${expiration === null ? null : new Date(expiration)} from agents`;
      const order: VenueOrder = {
        ...{ orderId, funder: EOA, conditionId: CONDITION, outcome: 'YES', side: 'BUY', limit: 5_000 },
        ...{ shares: 10_000_000n, spend: null, timeInForce, postOnly, expiration },
        deadline: terms.deadline ?? createdAt + 4_000,
      };
      const message: SignedMessage = {
        ...{ walletAddress: EOA, signer: EOA, signature: '0xsigned', deferExec: false },
        fields: {
          ...{ salt: 7n, maker: EOA, signer: EOA, taker: ZERO_ADDRESS, tokenId: 1001n, side: 0 },
          ...{ makerAmount: 5_000_000n, takerAmount: 10_000_000n, signatureType: 0 },
          ...{ expiration: 0n, nonce: 0n, feeRateBps: 0n },
        },
        extras: { timestamp: 1n, metadata: new Uint8Array(32), builder: new Uint8Array(32) },
      };
      return {
        order,
        message,
        submit: () => orders.submit(order, message),
        async row() {
          const [row] = await sql`select status, error_code, filled from orders where order_id = ${orderId}`;
          return row as never;
        },
      };
    },
  };
  return stage;
}

export const isPost = ({ method, path }: VenueRequest): boolean => method === 'POST' && path === '/order';

/** The venue's answer to an order that rests. */
export const live = (orderId: string, status = 'live'): Reply => ({
  body: { success: true, errorMsg: '', orderID: orderId, status, makingAmount: '', takingAmount: '' },
});
