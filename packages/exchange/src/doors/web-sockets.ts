/**
 * WebSockets of the doors, on the embedder's own HTTP server. An upgrade is routed like any other request, so every hook of the
 * server and of the door (targets, hosts, origins, the guard) judges it first.
 *
 * A socket is open to strangers as a door is, so everything that one can cost is bounded: sockets per address and in all, size and rate of
 * frames in, bytes that wait to be read, and how long a peer may be silent. A peer that is too slow is cut off instead of buffered for.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { type DoorGuard, type Guarded, networkOf } from './limits.ts';

const MOST_FRAME_BYTES = 64 * 1024;
const FRAMES_PER_SECOND = 20;
const FRAME_BURST = 60;
const MOST_UNREAD_BYTES = 2 * 1024 * 1024;
/** A peer that answers no ping in this time, nor says anything, is gone. */
const SILENCE_MS = 30_000;
const CLOSE_MS = 500;

/** Close codes; the last is the venue's own. */
export const CLOSE = {
  goingAway: 1001,
  noText: 1003,
  policy: 1008,
  failed: 1011,
  restart: 1012,
  slow: 4002,
} as const;

export interface SocketPeer {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Cuts the connection without a close frame. */
  cut(): void;
}

export interface SocketHandler {
  text(frame: string): void;
  closed(): void;
}

export interface SocketBounds {
  readonly perAddress: number;
  readonly total: number;
}

export const SOCKET_BOUNDS: SocketBounds = { perAddress: 20, total: 1_000 };

/** Upgrades that were routed, and have not been taken yet. */
const upgrades = new WeakMap<IncomingMessage, { readonly socket: Duplex; readonly head: Buffer }>();
/** Paths of sockets, by server. */
const accepting = new WeakMap<object, Set<string>>();

/**
 * Routes upgrades of the embedder's server. What asks for another protocol, or elsewhere, is a request like any other (RFC 9110,
 * section 7.8): with an upgrade the server would not read its body, and Java's client offers HTTP/2 with each request.
 */
function acceptUpgrades(app: FastifyInstance, path: string): void {
  const paths = accepting.get(app.server) ?? new Set();
  paths.add(withoutSlash(path));
  if (accepting.has(app.server)) return;
  accepting.set(app.server, paths);
  // An option of the constructor, which the embedder has called already.
  Object.assign(app.server, {
    shouldUpgradeCallback: ({ method, url = '', headers }: IncomingMessage): boolean =>
      method === 'GET' &&
      headers.upgrade?.toLowerCase() === 'websocket' &&
      paths.has(withoutSlash(url.split('?', 1)[0] ?? '')),
  });
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.on('finish', () => socket.end());
    upgrades.set(request, { socket, head });
    app.routing(request, response);
  });
}

/** A door's own address is a route with and without it. */
const withoutSlash = (path: string): string => path.replace(/\/$/, '');

/** @returns false when the socket is ended instead */
export type Charge = (tokens: number) => Promise<boolean>;

export type Relay = (request: FastifyRequest) => ((peer: SocketPeer) => SocketHandler) | null;

export interface SocketRoute {
  readonly guard: Guarded;
  readonly sockets: Sockets;
  /**
   * Called once a peer is connected.
   * @param charge draws further tokens of its address, for what a frame costs; ends the socket when there are none
   */
  readonly open: (peer: SocketPeer, charge: Charge) => SocketHandler;
  /** Serves the socket of a request through another process; `null`: it is served here. */
  readonly relay?: Relay | undefined;
}

/** Serves WebSockets at a path of the door. Any other request to it is answered that it must upgrade. */
export function socketRoute(door: FastifyInstance, path: string, route: SocketRoute): void {
  const { sockets, guard, open, relay = () => null } = route;
  acceptUpgrades(door, `${door.prefix}${path}`);
  door.addHook('preClose', () => sockets.close());
  door.get(path, (request, reply) => {
    const upgrade = upgrades.get(request.raw);
    if (upgrade === undefined)
      return reply.code(426).header('upgrade', 'websocket').send({ error: 'WebSocket only' });
    const source = sourceOf(guard, request);
    if (!sockets.hasRoomFor(source))
      return reply.code(429).header('retry-after', '10').send({ error: 'Too many sockets' });
    upgrades.delete(request.raw);
    const elsewhere = relay(request);
    reply.hijack();
    takeOver(reply, upgrade.socket);
    sockets.add(request.raw, upgrade, {
      source,
      open: elsewhere ?? ((peer) => open(peer, (tokens) => charge(peer, guard, { request, tokens }))),
    });
    return reply;
  });
}

async function charge(
  peer: SocketPeer,
  guard: Guarded,
  { request, tokens }: { readonly request: FastifyRequest; readonly tokens: number },
): Promise<boolean> {
  const waitS = guard === null || tokens <= 0 ? 0 : await guard.charge(request, tokens);
  if (waitS > 0) peer.close(CLOSE.policy, `too many requests from this address: wait ${waitS} s`);
  return waitS === 0;
}

const sourceOf = (guard: DoorGuard | null, request: FastifyRequest): string =>
  guard === null ? networkOf(request.ip) : guard.sourceOf(request);

/** The request is over for the server: what counts it in flight, or watches its deadline, lets go. */
function takeOver(reply: FastifyReply, socket: Duplex): void {
  const { raw } = reply;
  raw.detachSocket(socket as never);
  raw.emit('close');
  (socket as { setTimeout?: (ms: number) => void }).setTimeout?.(0);
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The sockets of one door. */
export class Sockets {
  readonly #bounds: SocketBounds;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MOST_FRAME_BYTES,
  });
  readonly #perAddress = new Map<string, number>();
  readonly #open = new Set<Peer>();
  #watch: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(bounds: SocketBounds = SOCKET_BOUNDS) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#open.size;
  }

  hasRoomFor(source: string): boolean {
    const { perAddress, total } = this.#bounds;
    return !this.#isClosing && this.#open.size < total && (this.#perAddress.get(source) ?? 0) < perAddress;
  }

  add(
    request: IncomingMessage,
    { socket, head }: Upgrade,
    { source, open }: { readonly source: string; readonly open: (peer: SocketPeer) => SocketHandler },
  ): void {
    // An invalid handshake is answered there.
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const peer = new Peer(webSocket, socket);
      this.#open.add(peer);
      this.#perAddress.set(source, (this.#perAddress.get(source) ?? 0) + 1);
      this.#watch ??= setInterval(() => this.#endSilent(), SILENCE_MS).unref();
      webSocket.once('close', () => this.#left(peer, source));
      peer.serve(open(peer));
    });
  }

  /** Ends every socket: the close code asks clients to connect again. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const peer of this.#open) peer.close(CLOSE.goingAway, 'the venue stops');
    for (let waited = 0; this.#open.size > 0 && waited < 2 * CLOSE_MS; waited += 20) await sleep(20);
    for (const peer of this.#open) peer.cut();
    clearInterval(this.#watch);
  }

  #left(peer: Peer, source: string): void {
    this.#open.delete(peer);
    const left = (this.#perAddress.get(source) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(source);
    else this.#perAddress.set(source, left);
    if (this.#open.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #endSilent(): void {
    for (const peer of this.#open) peer.probe();
  }
}

class Peer implements SocketPeer {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #isCorked = false;
  #isAlive = true;
  #isClosing = false;
  #tokens = FRAME_BURST;
  #tokensAt = performance.now();

  constructor(socket: WebSocket, stream: Duplex) {
    this.#socket = socket;
    this.#stream = stream;
  }

  serve(handler: SocketHandler): void {
    const socket = this.#socket;
    socket.on('message', (data: RawData, isBinary: boolean) => {
      this.#isAlive = true;
      if (this.#isClosing) return;
      if (isBinary) this.close(CLOSE.noText, 'text frames only');
      else if (!this.#drawFrame()) this.close(CLOSE.policy, 'too many frames');
      else handler.text(String(data));
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // A frame that is too large, or no frame at all: the library closes with the code that says so.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#isClosing = true;
      handler.closed();
    });
  }

  send(text: string): void {
    const socket = this.#socket;
    if (this.#isClosing || socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MOST_UNREAD_BYTES) {
      this.close(CLOSE.slow, 'slow consumer');
      return;
    }
    this.#cork();
    socket.send(text);
  }

  /** Gathers the frames of one turn, which go out in one write. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#stream.uncork();
    });
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.close(code, reason);
    setTimeout(() => this.cut(), CLOSE_MS).unref();
  }

  cut(): void {
    this.#isClosing = true;
    this.#socket.terminate();
  }

  /** Ends it when nothing came since the last call. */
  probe(): void {
    if (!this.#isAlive) this.cut();
    else if (!this.#isClosing) this.#socket.ping();
    this.#isAlive = false;
  }

  #drawFrame(): boolean {
    const now = performance.now();
    const earned = ((now - this.#tokensAt) / 1_000) * FRAMES_PER_SECOND;
    this.#tokens = Math.min(FRAME_BURST, this.#tokens + earned);
    this.#tokensAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
