/** A port that several listening sockets share: many clients at once, and one service at a time. */
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { Acceptors } from '../src/platform/http/connections.ts';

const HOST = '127.0.0.1';
const CLIENTS = 200;
const SHARES = process.platform === 'linux';

async function open(port = 0) {
  const app = Fastify({ forceCloseConnections: true });
  app.get('/', async () => 'here');
  const acceptors = new Acceptors(app);
  const close = async () => {
    await Promise.all([app.close(), acceptors.close()]);
  };
  onTestFinished(close);
  const address = await acceptors.listen({ port, host: HOST, backlog: 1_024 });
  return { app, address, port: Number(new URL(address).port), close };
}

const connected = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, HOST, () => resolve(socket));
    socket.on('error', reject);
    onTestFinished(() => void socket.destroy());
  });

const isTaken = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(true));
    server.listen(port, HOST, () => server.close(() => resolve(false)));
  });

test.runIf(SHARES)('clients that connect together are taken many in a turn, not one', async () => {
  const { app, port } = await open();
  let inThisTurn = 0;
  app.server.on('connection', () => {
    inThisTurn += 1;
  });
  const clients = Promise.all(Array.from({ length: CLIENTS }, () => connected(port)));
  const byTurn: number[] = [];
  for (let taken = 0; taken < CLIENTS; taken += inThisTurn) {
    inThisTurn = 0;
    await nextTurn();
    if (inThisTurn > 0) byTurn.push(inThisTurn);
  }
  await clients;
  expect(Math.max(...byTurn)).toBeGreaterThan(4);
  expect(byTurn.length).toBeLessThan(CLIENTS / 2);
});

test('each of many clients is answered', async () => {
  const { address } = await open();
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, async () =>
      (await fetch(address, { headers: { connection: 'close' } })).text(),
    ),
  );
  expect(new Set(answers)).toEqual(new Set(['here']));
});

test('no other process can listen there, a second service neither, also when it starts at the same time', async () => {
  const { port, close } = await open();
  expect(await isTaken(port)).toBe(true);
  await expect(open(port)).rejects.toMatchObject({ code: 'EADDRINUSE', port });

  await close();
  const both = await Promise.allSettled([open(port), open(port)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  expect(refused.reason).toMatchObject({ code: 'EADDRINUSE', port });
});

test('a port that another program has is refused', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, HOST, resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  await expect(open(port)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});

test('closing ends every connection and frees the port', async () => {
  const { port, close } = await open();
  const clients = await Promise.all(Array.from({ length: 40 }, () => connected(port)));
  const ended = Promise.all(clients.map((client) => new Promise((resolve) => client.once('close', resolve))));
  await close();
  for (const client of clients) client.resume();
  await ended;
  await expect(connected(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await isTaken(port)).toBe(false);
});
