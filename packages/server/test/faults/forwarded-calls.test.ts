/** Every method of the ports that only the leader has, called through a replica that follows it over HTTP. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EXCHANGE_SCHEMA } from '@bellwether/exchange';
import { EXCHANGE_KEYS_SCHEMA, VenueKeys } from '@bellwether/exchange/doors/polymarket';
import type { Address } from '@bellwether/protocol';
import { SANDBOX_SCHEMA } from '@bellwether/sandbox';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../../test/postgres.ts';
import { readConfig } from '../../src/config.ts';
import { VenueUnavailable } from '../../src/domain/unavailable.ts';
import { createLocalSigning } from '../../src/fees/signing-provider.ts';
import { openPool, type Sql } from '../../src/platform/database/connection.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { PositionsInPlay } from '../../src/positions/positions-in-play.ts';
import { type ForwardedName, LEADER_CALLS, type LeaderPorts } from '../../src/venues/paper/leader-calls.ts';
import type { PaperBackend } from '../../src/venues/paper/paper-backend.ts';
import { startPaper } from '../../src/wiring/paper.ts';

type Examples = {
  readonly [Port in keyof LeaderPorts]: {
    readonly [Method in ForwardedName<(typeof LEADER_CALLS)[Port]> & keyof LeaderPorts[Port]]: Parameters<
      Extract<LeaderPorts[Port][Method], (...args: never[]) => unknown>
    >;
  };
};

const FUNDER = `0x${'ab'.repeat(20)}` as Address;

const pools: Sql[] = [];
let leader: PaperBackend;
let follower: PaperBackend;
let server: Server;
/** The status that the leader's address answers; null: it performs the call. */
let failure: number | null = null;
let calls: string[] = [];
let requests = 0;

async function startReplica(databaseUrl: string, secret: Buffer, name: string): Promise<PaperBackend> {
  const sql = openPool(databaseUrl, { max: 5 });
  pools.push(sql);
  await migrate(sql, [EXCHANGE_SCHEMA, EXCHANGE_KEYS_SCHEMA, SANDBOX_SCHEMA]);
  const backend = await startPaper({
    config: readConfig({ DATABASE_URL: databaseUrl, MASTER_KEY: secret.toString('hex'), PAPER_WORLD: 'off' }),
    sql,
    keys: new VenueKeys({ sql, secret }),
    positions: new PositionsInPlay(),
    clock: { now: () => Date.now() },
    replicaId: name,
    sign: () => 'signed',
    log: pino({ level: 'silent' }),
    meters: { committed: () => {} },
    platformWallet: createLocalSigning(randomBytes(32)).address,
  });
  await backend.opened();
  return backend;
}

beforeAll(async () => {
  const databaseUrl = await createTestDatabase();
  const secret = randomBytes(32);
  leader = await startReplica(databaseUrl, secret, 'leader');
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const sent = JSON.parse(body) as { port: string; method: string; args: unknown[] }[];
    // The follower’s regular look at its leader is none of them.
    if (sent[0]?.args[0] !== '') requests += 1;
    calls.push(...sent.map(({ port, method }) => `${port}.${method}`));
    if (failure !== null) return void response.writeHead(failure).end();
    try {
      response.end(await leader.answer(body));
    } catch (error) {
      // As the service answers once it no longer leads.
      if (!(error instanceof VenueUnavailable)) throw error;
      response.writeHead(503).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await leader.listening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  follower = await startReplica(databaseUrl, secret, 'follower');
});

afterAll(async () => {
  await follower?.stop();
  await leader?.stop();
  server?.closeAllConnections();
  server?.close();
  await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
});

/** Arguments for every forwarded method; a missing one is a type error. */
async function examples(): Promise<Examples> {
  const [market] = (await leader.markets.search({ words: '*' })).markets;
  if (market === undefined) throw new Error('the world has no market');
  const { id, conditionId, tokenIds } = market;
  const order = {
    orderId: `0x${randomBytes(32).toString('hex')}`,
    funder: FUNDER,
    conditionId,
    outcome: 'YES',
    side: 'BUY',
    limit: market.tickSize,
    shares: 10_000_000n,
    spend: null,
    timeInForce: 'GTC',
    postOnly: true,
    expiration: null,
    deadline: Date.now() + 10_000,
  } as const;
  const split = {
    kind: 'split',
    ...{ orderId: `0x${randomBytes(32).toString('hex')}`, funder: FUNDER, conditionId },
    ...{ amount: 1_000_000n, deadline: order.deadline },
  } as const;
  return {
    venue: {
      deposit: [FUNDER, 1_000_000_000n, 'faucet', randomUUID()],
      submit: [order],
      submitSet: [split],
      balance: [FUNDER],
      cancel: [FUNDER, [order.orderId]],
      resolve: [`0x${'00'.repeat(32)}`, { funder: FUNDER, conditionId }],
      redeem: [FUNDER, conditionId],
    },
    markets: {
      find: [id],
      findAll: [[conditionId]],
      listedAfter: [0, 3],
      byToken: [tokenIds[1]],
      search: [{ words: market.question, status: 'active', sort: 'volume', page: { offset: 0, limit: 2 } }],
      book: [conditionId, 'NO', 5],
    },
    sandbox: {
      request: [{ method: 'GET', url: 'http://sandbox/nowhere', headers: {} }],
      ask: ['getBalance', ['11111111111111111111111111111111', { commitment: 'confirmed' }]],
      isOpen: [],
      credit: [createLocalSigning(randomBytes(32)).address],
    },
  };
}

type AnyPort = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
const portOf = (replica: PaperBackend, name: string): AnyPort =>
  replica[name as keyof LeaderPorts] as unknown as AnyPort;

const ROWS = Object.entries(LEADER_CALLS).flatMap(([port, table]) =>
  Object.entries(table as Record<string, 'local' | { unanswered: string }>).flatMap(([method, row]) =>
    row === 'local' ? [] : [{ port, method, unanswered: row.unanswered }],
  ),
);
const argsOf = (all: Examples, port: string, method: string): unknown[] =>
  (all as unknown as Record<string, Record<string, unknown[]>>)[port]?.[method] ?? [];

/** The comparable form of an answer: functions are called. */
const dataOf = (answer: unknown, conditionId: string): unknown =>
  typeof (answer as { shares?: unknown } | null)?.shares === 'function'
    ? {
        ...(answer as object),
        shares: (answer as { shares: (...of: string[]) => bigint }).shares(conditionId, 'YES'),
      }
    : answer;

describe('a replica that follows', () => {
  test('has a leader', () => {
    expect(leader.local()).not.toBeNull();
    expect(follower.local()).toBeNull();
    expect(follower.leaderUrl()).not.toBeNull();
  });

  test('gets the leader’s answer to every method', async () => {
    const all = await examples();
    const [conditionId] = all.markets.book;
    for (const { port, method, unanswered } of ROWS) {
      const args = argsOf(all, port, method);
      calls = [];
      const answer = await portOf(follower, port)[method]?.(...args);
      expect(calls).toContain(`${port}.${method}`);
      if (unanswered !== 'retry') continue;
      const own = await portOf(leader, port)[method]?.(...args);
      expect(dataOf(answer, conditionId), method).toEqual(dataOf(own, conditionId));
      expect(answer, method).not.toBeNull();
    }
  });

  test('sees the effect of its calls', async () => {
    const all = await examples();
    // Its figures follow the account: these are of now.
    const before = { ...(await leader.venue.balance(FUNDER)) };
    // One draw.
    for (let sent = 0; sent < 2; sent += 1) await follower.venue.deposit(...all.venue.deposit);
    const accepted = await follower.venue.submit(...all.venue.submit);
    expect(accepted).toMatchObject({ kind: 'accepted', status: 'live', filled: 0n });
    const [order] = all.venue.submit;
    const held = await follower.venue.balance(FUNDER);
    expect(held.available + held.held).toBe(before.available + before.held + 1_000_000_000n);
    expect(held.held).toBeGreaterThan(before.held);
    expect(await follower.venue.resolve(order.orderId, order)).toEqual(accepted);
    expect(await follower.venue.cancel(...all.venue.cancel)).toEqual({
      kind: 'answered',
      canceled: [order.orderId],
      notCanceled: {},
    });
    expect(await follower.venue.resolve(...all.venue.resolve)).toEqual({ kind: 'never_received' });
    expect(await follower.venue.redeem(...all.venue.redeem)).toEqual({ kind: 'not_resolved' });
    expect((await follower.sandbox.request(...all.sandbox.request)).status).toBe(404);
  });

  test('reports a call without an answer as its table row says, and sends it once', async () => {
    const all = await examples();
    failure = 503;
    try {
      for (const { port, method, unanswered } of ROWS) {
        calls = [];
        const answer = portOf(follower, port)[method]?.(...argsOf(all, port, method));
        if (unanswered === 'unknown') expect(await answer, method).toEqual({ kind: 'unknown' });
        else await expect(answer, method).rejects.toThrow(VenueUnavailable);
        expect(calls.filter((call) => call === `${port}.${method}` && call !== 'markets.find').length).toBe(
          method === 'find' ? 0 : 1,
        );
      }
    } finally {
      failure = null;
    }
  });

  test.each([
    ['venue', 'verifyCredentials'],
    ['venue', 'status'],
    ['sandbox', 'close'],
    ['exchange', 'close'],
    ['venue', 'toString'],
    ['__proto__', 'toString'],
  ])('cannot call %s.%s at the leader', async (port, method) => {
    expect(await leader.answer(JSON.stringify([{ port, method, args: [] }]))).toBe('[{"failed":true}]');
  });

  test('asks in one request what it is asked in one turn, and one failure is that call’s alone', async () => {
    const { markets } = await examples();
    requests = 0;
    const both = await Promise.all([
      follower.markets.find(...markets.find),
      follower.markets.book(...markets.book),
      portOf(follower, 'markets')
        .findAll?.(null)
        .catch((error: unknown) => error),
    ]);
    expect(requests).toBe(1);
    expect(both[0]).toEqual(await leader.markets.find(...markets.find));
    expect(both[1]).toEqual(await leader.markets.book(...markets.book));
    expect(both[2]).toBeInstanceOf(VenueUnavailable);
  });

  test('a read does not wait for an order of its turn, nor anything for the chain', async () => {
    const { markets, venue, sandbox } = await examples();
    requests = 0;
    await Promise.all([
      follower.markets.find(...markets.find),
      follower.venue.submit(...venue.submit),
      follower.sandbox.ask(...sandbox.ask),
      follower.sandbox.ask(...sandbox.ask),
    ]);
    expect(requests).toBe(4);
  });

  test('more calls than a request carries travel in several', async () => {
    const { markets } = await examples();
    requests = 0;
    const found = await Promise.all(
      Array.from({ length: 200 }, () => follower.markets.find(...markets.find)),
    );
    expect(requests).toBe(4);
    expect(new Set(found.map((market) => market?.id))).toEqual(new Set([markets.find[0]]));
  });
});
