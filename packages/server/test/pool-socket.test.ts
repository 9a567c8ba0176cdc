/**
 * The pool's sockets, killed under load: every query gets its own answer or an error, and none hangs. A pooler between the
 * service and PostgreSQL is refused with a sentence.
 */
import { createServer, connect as dial, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createSecureServer } from 'node:tls';
import { openPool, refusePooler, type Sql, type Tls } from '@bellwether/durable';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';
import { type Connection, Listener } from '../../durable/src/connection.ts';
import { startPulse } from '../src/platform/database/database-pulse.ts';

const STORMS = 20;
const PROMPT_MS = 30_000;
/** Longer than a database may be silent. */
const HELD_MS = 2_500;
/** Longer than a listener waits between two attempts. */
const ATTEMPTS_MS = 600;

const escaped: unknown[] = [];
const onEscaped = (error: unknown) => escaped.push(error);
let url: string;
let admin: Sql;

beforeAll(async () => {
  process.on('uncaughtException', onEscaped);
  process.on('unhandledRejection', onEscaped);
  url = await createTestDatabase();
  admin = openPool(url, { max: 1 });
});
afterAll(async () => {
  await admin.end({ timeout: 1 });
  process.off('uncaughtException', onEscaped);
  process.off('unhandledRejection', onEscaped);
  expect(escaped).toEqual([]);
});

/** Queries on all connections, which are terminated together, many times. */
async function storm(pool: Sql, name: string): Promise<void> {
  // As a service does: one connection, before there is work, learns the types for all.
  await pool`select 1`;
  let isOver = false;
  let answers = 0;
  const wrong: unknown[] = [];
  const ask = async (worker: number) => {
    for (let turn = 0; !isOver; turn += 1) {
      const id = worker * 1_000_000 + turn;
      await pool`select ${id}::int as id, array[${id}]::int[] as ids, pg_sleep(${(worker % 2) / 500})`.then(
        ([row]) => {
          answers += 1;
          if (row?.id !== id || row.ids[0] !== id) wrong.push({ id, row });
        },
        () => {},
      );
    }
  };
  const workers = Array.from({ length: 12 }, (_, worker) => ask(worker));
  for (let turn = 0; turn < STORMS; turn += 1) {
    const before = answers;
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${name}`;
    await expect.poll(() => answers, { timeout: PROMPT_MS, interval: 20 }).toBeGreaterThan(before + 5);
  }
  isOver = true;
  expect(await Promise.race([Promise.all(workers), sleep(PROMPT_MS, 'a query hangs')])).not.toBe(
    'a query hangs',
  );
  expect(wrong).toEqual([]);
  // The pool detects the last dead connections here: at most one error each, without a wait.
  await Promise.allSettled(Array.from({ length: 12 }, () => pool`select 1`));
  await Promise.all(Array.from({ length: 50 }, () => pool`select 1`));
  await pool.end({ timeout: 1 });
}

test('connects over a Unix socket', () =>
  storm(openPool(url, { max: 10, applicationName: 'unix', connectTimeoutSeconds: 20 }), 'unix'));

test('a listener whose connections break while they are opened has one in the end, and hears everything once', async () => {
  const pool = openPool(url);
  onTestFinished(() => pool.end({ timeout: 1 }));
  const opened: Connection[] = [];
  let breaks = 0;
  const listener = new Listener(async () => {
    const connection = await new Promise<Connection>((resolve, reject) => {
      pool.connections.acquire(resolve, reject);
    });
    opened.push(connection);
    if (breaks > 0) connection.destroy(new Error('cut'));
    breaks -= 1;
    return connection;
  });
  onTestFinished(() => listener.stop());
  const heard: string[] = [];
  const onNotify = (payload: string) => heard.push(payload);

  breaks = 1;
  await expect(listener.listen('never', onNotify)).rejects.toThrow('cut');
  await listener.listen('first', onNotify);
  breaks = 2;
  opened.at(-1)?.destroy(new Error('cut'));
  // Others begin to listen meanwhile.
  await Promise.allSettled(['second', 'third'].map((channel) => listener.listen(channel, onNotify)));
  await sleep(2 * ATTEMPTS_MS);
  await listener.listen('last', onNotify);
  expect(opened.filter(({ isLost }) => !isLost)).toHaveLength(1);
  for (const channel of ['never', 'first', 'last']) await pool.notify(channel, channel);
  await expect.poll(() => heard.at(-1)).toBe('last');
  expect(heard).toEqual(['first', 'last']);
});

test('a database whose answer waits while this process is held counts as there', async () => {
  const pool = openPool(url);
  onTestFinished(() => pool.end({ timeout: 1 }));
  let held = 0;
  const hold = (_: number, statement: string) => {
    if (!/^select 1$/.test(statement) || held++ > 0) return;
    const until = performance.now() + HELD_MS;
    while (performance.now() < until);
  };
  const sql = { ...pool, beside: (own: object) => pool.beside({ ...own, onStatement: hold }) } as Sql;
  const pulse = startPulse({ sql, onSilence: () => {} });
  onTestFinished(() => pulse.stop());
  const seen = new Set<string>();
  const look = setInterval(() => seen.add(pulse.status()), 1);
  onTestFinished(() => clearInterval(look));
  await expect.poll(() => held, { timeout: PROMPT_MS }).toBeGreaterThan(1);
  expect([...seen]).toEqual(['ready']);
});

/** A server of one test, on a free port. The database here has none: who connects to it is handed on to its Unix socket. */
async function inFront(greet: (client: Socket, first: Buffer) => void): Promise<number> {
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', (first: Buffer) => greet(client, first));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

/** To the database and back, until either side ends. @returns the database's side */
function handOn(client: Duplex): Socket {
  const params = new URL(url.replace('@/', '@localhost/')).searchParams;
  const backend = dial(`${params.get('host')}/.s.PGSQL.${params.get('port')}`);
  for (const [from, to] of [
    [client, backend],
    [backend, client],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
  return backend;
}

function overTcp(port: number, tls: Tls, applicationName: string): Sql {
  const [, user, database] = /^postgres:\/\/([^@]+)@\/([^?]+)/.exec(url) ?? [];
  return openPool(`postgres://${user}@127.0.0.1:${port}/${database}`, {
    max: 10,
    tls,
    connectTimeoutSeconds: 20,
    applicationName,
  });
}

/** A shared secret instead of certificates: the handshake is real, and needs no files. */
const SECRET = { identity: 'test', psk: Buffer.alloc(16, 7) };
const VERSION = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const;
const PSK = { ...VERSION, pskCallback: () => SECRET, checkServerIdentity: () => undefined };

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** The TLS negotiation of PostgreSQL in front of the plain protocol. */
function tlsInFront(answer: 'S' | 'N'): Promise<number> {
  const encrypted = createSecureServer({ ...VERSION, pskCallback: () => SECRET.psk }, handOn);
  return inFront((plain, greeting) => {
    if (!greeting.equals(SSL_REQUEST)) {
      plain.unshift(greeting);
      handOn(plain);
      return;
    }
    plain.write(answer);
    if (answer === 'S') encrypted.emit('connection', plain);
  });
}

test('connects over TLS', async () => storm(overTcp(await tlsInFront('S'), PSK, 'tls'), 'tls'));

test('a server without TLS is refused where TLS is required, accepted where it is preferred', async () => {
  const port = await tlsInFront('N');
  const preferring = overTcp(port, 'prefer', 'plain');
  expect(await preferring`select 1 as one`).toEqual([{ one: 1 }]);
  await preferring.end({ timeout: 1 });
  const requiring = overTcp(port, 'require', 'plain');
  for (const attempt of [1, 2, 3])
    expect(await requiring`select ${attempt}::int`.catch((error: unknown) => error)).toBeInstanceOf(Error);
  await requiring.end({ timeout: 1 });
});

test('without a server every connection fails at once', async () => {
  for (const tls of [false, 'require'] as const) {
    const nowhere = overTcp(1, tls, 'nowhere');
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(await nowhere`select 1`.catch((error: unknown) => error)).toMatchObject({
        code: 'ECONNREFUSED',
      });
    await nowhere.end({ timeout: 1 });
  }
});

/** Length and protocol before the pairs of a startup message. */
const HEAD = 8;

/** The startup message without `options`, as with pgbouncer's `ignore_startup_parameters = options`. */
function withoutOptions(startup: Buffer): Buffer {
  const texts = startup
    .subarray(HEAD, startup.length - 2)
    .toString()
    .split('\0');
  const kept: string[] = [];
  for (let at = 0; at + 1 < texts.length; at += 2)
    if (texts[at] !== 'options') kept.push(texts[at] as string, texts[at + 1] as string);
  const pairs = Buffer.from(`${kept.join('\0')}\0\0`);
  const message = Buffer.concat([startup.subarray(0, HEAD), pairs]);
  message.writeInt32BE(message.length);
  return message;
}

/** As pgbouncer answers what it does not know. */
function refused(): Buffer {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

test.each([
  [
    'drops the settings of sessions',
    (client: Socket, startup: Buffer) => void handOn(client).write(withoutOptions(startup)),
    /pgbouncer .* drops the settings .*Name PostgreSQL/,
  ],
  [
    'refuses the settings of sessions',
    (client: Socket) => void client.end(refused()),
    /pgbouncer .* refuses the settings/,
  ],
  ['hands them on', (client: Socket, startup: Buffer) => void handOn(client).write(startup), /^accepted$/],
])('a pooler that %s', async (_, greet, words) => {
  const pool = overTcp(await inFront(greet), false, 'pooled');
  const said = await refusePooler(pool).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
  expect(said).toMatch(words);
  await pool.end({ timeout: 1 });
});
