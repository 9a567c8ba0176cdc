import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  openReconnectingSocket,
  type ReconnectingSocket,
  type SocketTimes,
} from '../src/venues/polymarket/reconnecting-socket.ts';

const TIMES: SocketTimes = {
  connectMs: 200,
  pingEveryMs: 20,
  staleMs: 150,
  firstBackoffMs: 10,
  maxBackoffMs: 40,
};
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A venue that answers PINGs unless it is set to freeze. */
async function venue() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const state = { connections: [] as WebSocket[], heard: [] as string[], isFrozen: false };
  server.on('connection', (socket) => {
    state.connections.push(socket);
    socket.on('message', (data) => {
      const text = String(data);
      if (text !== 'PING') state.heard.push(text);
      else if (!state.isFrozen) socket.send('PONG');
    });
  });
  const close = () => {
    for (const one of server.clients) one.terminate();
    return new Promise((resolve) => server.close(resolve));
  };
  open.push({ close });
  return { ...state, state, close, port: (server.address() as AddressInfo).port };
}

function listen(port: number, onFrame: (text: string) => void = () => {}) {
  const seen = { opens: 0, downs: 0, frames: [] as string[], said: [] as string[] };
  const socket: ReconnectingSocket = openReconnectingSocket({
    url: `ws://127.0.0.1:${port}/ws/user?key=hidden`,
    name: 'the user socket',
    log: {
      warn: (context, message) => seen.said.push(`${JSON.stringify(context)} ${message}`),
      info: (context, message) => seen.said.push(`${JSON.stringify(context)} ${message}`),
    },
    times: TIMES,
    onOpen: () => {
      seen.opens += 1;
      socket.send(`subscribe ${seen.opens}`);
    },
    onFrame: (text) => {
      seen.frames.push(text);
      onFrame(text);
    },
    onDown: () => {
      seen.downs += 1;
    },
  });
  open.push(socket);
  return { socket, seen };
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 5 });

test('it subscribes at each connection, hears frames, and keeps answers to PINGs to itself', async () => {
  const { state, port } = await venue();
  const { socket, seen } = listen(port);
  await until(() => expect(state.heard).toEqual(['subscribe 1']));
  expect(socket.status()).toBe('ready');
  state.connections[0]!.send('[{"event_type":"book"}]');
  await until(() => expect(seen.frames).toEqual(['[{"event_type":"book"}]']));
  state.connections[0]!.terminate();
  await until(() => expect(state.heard).toEqual(['subscribe 1', 'subscribe 2']));
  expect(seen).toMatchObject({ opens: 2, downs: 1 });
  expect(seen.frames).toHaveLength(1);
});

test('a connection that freezes without closing is replaced', async () => {
  const { state, port } = await venue();
  const { seen } = listen(port);
  await until(() => expect(state.heard).toHaveLength(1));
  state.isFrozen = true;
  await until(() => expect(seen.downs).toBeGreaterThan(0));
  state.isFrozen = false;
  await until(() => expect(seen.opens).toBeGreaterThan(1));
});

test('a venue that accepts connections and never shakes hands is tried again', async () => {
  let tries = 0;
  const mute: Server = createServer(() => {
    tries += 1;
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  open.push(mute);
  const { socket, seen } = listen((mute.address() as AddressInfo).port);
  await until(() => expect(tries).toBeGreaterThan(2));
  expect(socket.isOpen()).toBe(false);
  expect(socket.send('anything')).toBe(false);
  expect(socket.status()).toBe('the user socket is not connected');
  expect(seen).toMatchObject({ opens: 0, downs: 0 });
});

test('a frame that cannot be read ends nothing', async () => {
  const { state, port } = await venue();
  const { seen } = listen(port, (text) => {
    JSON.parse(text);
  });
  await until(() => expect(state.connections).toHaveLength(1));
  state.connections[0]!.send('{not json');
  state.connections[0]!.send('{}');
  await until(() => expect(seen.frames).toEqual(['{not json', '{}']));
  expect(seen.downs).toBe(0);
});

test('a frame beyond the bound ends the connection, and another one is made', async () => {
  const { state, port } = await venue();
  const { seen } = listen(port);
  await until(() => expect(state.connections).toHaveLength(1));
  state.connections[0]!.send(Buffer.alloc(17 * 1024 * 1024, 0x20));
  await until(() => expect(seen).toMatchObject({ opens: 2, downs: 1 }));
  expect(seen.frames).toEqual([]);
});

test('a reader may ask for a new connection', async () => {
  const { state, port } = await venue();
  const { socket, seen } = listen(port);
  await until(() => expect(seen.opens).toBe(1));
  socket.reconnect('a book does not follow from the one before');
  expect(socket.isOpen()).toBe(false);
  await until(() => expect(state.heard).toEqual(['subscribe 1', 'subscribe 2']));
});

test('it ends for good, also while it is connecting, and logs neither address nor frame', async () => {
  const { state, port, close } = await venue();
  const { socket, seen } = listen(port);
  await until(() => expect(state.connections).toHaveLength(1));
  state.connections[0]!.send('{"secret":"hidden"}');
  state.connections[0]!.terminate();
  await until(() => expect(seen.opens).toBe(2));
  await socket.close();
  expect(socket.isOpen()).toBe(false);
  await close();
  const connecting = listen(port);
  await connecting.socket.close();
  expect(connecting.seen.opens).toBe(0);
  expect(seen.opens).toBe(2);
  expect(seen.said.length).toBeGreaterThan(0);
  expect(seen.said.join()).not.toContain('hidden');
});
