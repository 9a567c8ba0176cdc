/**
 * A network within this process. Every server that listens and every connection of Node's own HTTP is led here: bytes travel as events,
 * and connections between two processes can be cut or slowed.
 */
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { Duplex } from 'node:stream';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const FIRST_PORT = 20_000;
const CONNECT_MS = 0.2;
const LEAST_MS = 0.05;

interface Listening {
  readonly server: net.Server;
  readonly owner: SimulatedProcess | undefined;
}

/** Bytes between two processes. */
export interface LinkFault {
  /** Added to each packet. */
  delayMs: number;
  /** Nothing passes, and no side learns of it. */
  isSilent: boolean;
}

class SimulatedSocket extends Duplex {
  connecting = false;
  readonly encrypted = false;
  readonly remoteAddress = '127.0.0.1';
  readonly localAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly remotePort: number;
  readonly localPort: number;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  peer: SimulatedSocket | undefined;
  readonly owner: SimulatedProcess | undefined;
  readonly #network: Network;
  /** Writes from before it was connected. */
  #early: (() => void)[] | null = [];
  /** Time of the last arrival: bytes that were sent later arrive later. */
  #lastAt = 0;

  constructor(network: Network, owner: SimulatedProcess | undefined, ports: readonly [number, number]) {
    super({ allowHalfOpen: true });
    this.#network = network;
    this.owner = owner;
    [this.localPort, this.remotePort] = ports;
    network.sockets.add(this);
    this.once('close', () => network.sockets.delete(this));
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#early !== null && this.connecting) {
      this.#early.push(() => this._write(chunk, _encoding, done));
      return;
    }
    this.bytesWritten += chunk.length;
    const bytes = Buffer.from(chunk);
    this.#send('packet', (peer) => {
      peer.bytesRead += bytes.length;
      peer.push(bytes);
    });
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#early !== null && this.connecting) {
      this.#early.push(() => this._final(done));
      return;
    }
    this.#send('end', (peer) => {
      peer.push(null);
      if (peer.listenerCount('end') === 0) peer.resume();
    });
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#send('reset', (peer) => {
      if (!peer.readableEnded && !peer.writableFinished) peer.reset();
      else peer.destroy();
    });
    done(error);
  }

  #send(label: string, arrive: (peer: SimulatedSocket) => void): void {
    const { peer } = this;
    if (peer === undefined) return;
    const { scheduler } = this.#network;
    const fault = this.#network.faultBetween(this.owner, peer.owner);
    if (fault?.isSilent === true) return;
    const at = Math.max(this.#lastAt, scheduler.now + this.#network.latency() + (fault?.delayMs ?? 0));
    this.#lastAt = at + 0.001;
    scheduler.after(at - scheduler.now, label, () => !peer.destroyed && arrive(peer), peer.owner);
  }

  /** As when a packet says that the other side knows of no such connection. Before it is accepted, its program learns nothing. */
  reset(): void {
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    this.destroy(this.listenerCount('error') > 0 ? error : undefined);
  }

  connected(peer: SimulatedSocket): void {
    this.peer = peer;
    this.connecting = false;
    const early = this.#early ?? [];
    this.#early = null;
    this.emit('connect');
    this.emit('ready');
    for (const write of early) write();
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }
  setTimeout(_ms: number, onTimeout?: () => void): this {
    void onTimeout;
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  address() {
    return { address: '127.0.0.1', family: 'IPv4', port: this.localPort };
  }
  resetAndDestroy(): this {
    return this.destroy();
  }
}

let current: Network;

export class Network {
  readonly scheduler: Scheduler;
  readonly sockets = new Set<SimulatedSocket>();
  readonly #listening = new Map<string, Listening[]>();
  readonly #faults = new Map<string, LinkFault>();
  #nextPort = FIRST_PORT;

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  latency(): number {
    return LEAST_MS + this.scheduler.latency.share() * 0.4;
  }

  /** Between these two, in both directions. */
  setFault(one: SimulatedProcess, other: SimulatedProcess, fault: LinkFault | null): void {
    for (const key of [`${one.name}>${other.name}`, `${other.name}>${one.name}`])
      if (fault === null) this.#faults.delete(key);
      else this.#faults.set(key, fault);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  faultBetween(
    one: SimulatedProcess | undefined,
    other: SimulatedProcess | undefined,
  ): LinkFault | undefined {
    return this.#faults.get(`${one?.name}>${other?.name}`);
  }

  /** Resets connections. @returns how many */
  cut(isMeant: (one: SimulatedProcess | undefined, other: SimulatedProcess | undefined) => boolean): number {
    let count = 0;
    for (const socket of [...this.sockets])
      if (isMeant(socket.owner, socket.peer?.owner)) {
        count += 1;
        socket.peer?.reset();
        socket.reset();
      }
    return count;
  }

  /** Does what a system does for a process that has ended. */
  end(owner: SimulatedProcess): void {
    for (const [key, all] of this.#listening) {
      const left = all.filter((one) => one.owner !== owner);
      if (left.length === 0) this.#listening.delete(key);
      else this.#listening.set(key, left);
    }
    for (const socket of [...this.sockets]) if (socket.owner === owner) socket.destroy();
  }

  /** From now on servers listen and connections are made here. */
  enter(): void {
    current = this;
  }

  listen(server: net.Server, args: unknown[]): void {
    const onListening = args.at(-1);
    if (typeof onListening === 'function') server.once('listening', onListening as () => void);
    const [first] = args;
    const options = (
      typeof first === 'object' && first !== null
        ? first
        : typeof first === 'string'
          ? { path: first }
          : { port: first }
    ) as { readonly port?: number; readonly path?: string; readonly reusePort?: boolean };
    let { port } = options;
    if (options.path === undefined && !port) {
      port = this.#nextPort;
      this.#nextPort += 1;
    }
    const key = options.path ?? String(port);
    const others = this.#listening.get(key) ?? [];
    if (others.length > 0 && options.reusePort !== true) {
      const error = Object.assign(new Error(`listen EADDRINUSE: ${key}`), { code: 'EADDRINUSE', port });
      process.nextTick(() => server.emit('error', error));
      return;
    }
    const one: Listening = { server, owner: this.scheduler.owner };
    this.#listening.set(key, [...others, one]);
    const handle = {
      close: (done?: () => void) => {
        const left = (this.#listening.get(key) ?? []).filter((other) => other !== one);
        if (left.length === 0) this.#listening.delete(key);
        else this.#listening.set(key, left);
        if (done !== undefined) process.nextTick(done);
      },
      getsockname: (out: object) => {
        Object.assign(out, { address: '127.0.0.1', family: 'IPv4', port });
        return 0;
      },
      ref: () => {},
      unref: () => {},
    };
    Object.assign(server, { _handle: handle, _connections: 0 });
    process.nextTick(() => server.emit('listening'));
  }

  connect(args: unknown[]): SimulatedSocket {
    const [first, second] = args;
    const options = (typeof first === 'object' && first !== null ? first : { port: first, host: second }) as {
      readonly port?: number;
      readonly path?: string;
    };
    const onConnect = args.at(-1);
    const key = options.path ?? String(options.port);
    const own = this.scheduler.owner;
    const port = this.#nextPort;
    this.#nextPort += 1;
    const socket = new SimulatedSocket(this, own, [port, Number(options.port ?? 0)]);
    socket.connecting = true;
    if (typeof onConnect === 'function') socket.once('connect', onConnect as () => void);
    const known = this.#listening.get(key);
    const target = known === undefined ? undefined : this.scheduler.latency.pick(known);
    const isSilent = target !== undefined && this.faultBetween(own, target.owner)?.isSilent === true;
    if (isSilent) return socket;
    this.scheduler.after(CONNECT_MS + this.latency(), 'connect', () => {
      if (socket.destroyed) return;
      if (target === undefined || target.owner?.isDead === true) {
        socket.destroy(
          Object.assign(new Error(`connect ECONNREFUSED 127.0.0.1:${key}`), {
            ...{ code: 'ECONNREFUSED', errno: -111, syscall: 'connect' },
          }),
        );
        return;
      }
      const peer = new SimulatedSocket(this, target.owner, [Number(options.port ?? 0), port]);
      peer.peer = socket;
      socket.connected(peer);
      this.scheduler.after(
        this.latency(),
        'accept',
        () => {
          if (peer.destroyed) return;
          Object.assign(peer, { server: target.server, _server: target.server });
          target.server.emit('connection', peer);
        },
        target.owner,
      );
    });
    return socket;
  }
}

net.Server.prototype.listen = function listen(this: net.Server, ...args: unknown[]) {
  current.listen(this, args);
  return this;
} as never;
const connect = (...args: unknown[]) => current.connect(args);
Object.assign(net, { connect, createConnection: connect });
Object.assign(http.Agent.prototype, { createConnection: connect });
syncBuiltinESMExports();
