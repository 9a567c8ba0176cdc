/** The venue's sockets on a running exchange where Alice and Bob have money, with a controlled clock, and a client that collects what they say. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import { type FastifyInstance, fastify } from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Guarded } from '../src/doors/limits.ts';
import {
  EXCHANGE_KEYS_SCHEMA,
  type Faults,
  polymarketSocketDoor,
  type SocketDoorOptions,
  VenueKeys,
} from '../src/doors/polymarket/index.ts';
import type { ExchangeOptions, JournalledExchange } from '../src/index.ts';
import { ALICE, stage } from './open-exchange-stage.ts';

export const BOB = '0x0000000000000000000000000000000000000b0b';

export interface Message {
  readonly event_type: string;
  // biome-ignore lint/suspicious/noExplicitAny: what arrives is what is tested
  readonly [field: string]: any;
}

export class SocketClient {
  readonly socket: WebSocket;
  readonly frames: string[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers });
    this.socket.on('message', (data) => this.frames.push(String(data)));
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      this.socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('error', reject);
      this.socket.once('unexpected-response', (_request, response) =>
        reject(new Error(`HTTP ${response.statusCode}`)),
      );
    });
    return this;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Every message so far, those of arrays one by one. */
  get messages(): Message[] {
    return this.frames.filter((frame) => frame !== 'PONG').flatMap((frame) => JSON.parse(frame));
  }

  of(kind: string): Message[] {
    return this.messages.filter((message) => message.event_type === kind);
  }

  async until(isDone: (client: this) => boolean, what = 'a message'): Promise<void> {
    await expect.poll(() => isDone(this), { message: what, interval: 5 }).toBe(true);
  }
}

interface UserAuth {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

interface SocketStage {
  readonly exchange: JournalledExchange;
  readonly clock: { time: number };
  readonly app: FastifyInstance;
  readonly sql: Awaited<ReturnType<typeof stage>>['sql'];
  readonly keys: VenueKeys;
  readonly auth: UserAuth;
  readonly url: string;
  /** A client of the user channel that has been let in. */
  user(auth: UserAuth, markets?: readonly string[]): Promise<SocketClient>;
  /** A client of the market channel that has had the books of these tokens. */
  watch(assetIds: readonly string[], more?: object): Promise<SocketClient>;
  connect(channel: 'market' | 'user', headers?: Record<string, string>): Promise<SocketClient>;
}

export async function socketStage(
  options: Partial<SocketDoorOptions> & {
    readonly exchange?: Partial<ExchangeOptions>;
    readonly faults?: Faults;
    readonly guard?: Guarded;
  } = {},
): Promise<SocketStage> {
  const { sql, open, clock } = await stage();
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  const keys = new VenueKeys({ sql, secret: new Uint8Array(32).fill(7) });
  const auth = (await keys.create(ALICE as Address, 0n))!;
  const exchange = await open(options.exchange);
  for (const account of [ALICE, BOB])
    await exchange.execute({ kind: 'deposit', account, amount: 10_000n * MICRO });
  const app = fastify();
  // The venue acknowledges no subscription: this counts those that it has answered.
  let verified = 0;
  const verify: VenueKeys['verify'] = (credentials) =>
    keys.verify(credentials).finally(() => {
      verified += 1;
    });
  const { exchange: _, ...given } = options;
  await app.register(polymarketSocketDoor, {
    prefix: '/paper/ws',
    find: () => exchange,
    keys: { verify },
    now: () => clock.time,
    guard: null,
    ...given,
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await app.close();
    await exchange.close();
  });
  const url = `${address.replace('http', 'ws')}/paper/ws`;
  const connect: SocketStage['connect'] = (channel, headers) =>
    new SocketClient(`${url}/${channel}`, headers).open();
  const watch: SocketStage['watch'] = async (assetIds, more) => {
    const client = await connect('market');
    client.send({ type: 'market', assets_ids: assetIds, ...more });
    await client.until(({ frames }) => frames.length === 1);
    return client;
  };
  const user: SocketStage['user'] = async (given, markets = []) => {
    const client = await connect('user');
    const before = verified;
    client.send({ type: 'user', auth: given, markets });
    await expect.poll(() => verified, { interval: 5 }).toBeGreaterThan(before);
    await nextTurn();
    return client;
  };
  return { exchange, clock, app, sql, keys, auth, url, user, watch, connect };
}
