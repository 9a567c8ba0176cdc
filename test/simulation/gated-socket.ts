/** A connection of a service to the database, as the driver sees it; the gate decides when what passes arrives. */
import net from 'node:net';
import { Duplex } from 'node:stream';
import type { Gate } from './database.ts';
import {
  Answers,
  isReady,
  isWithinTransaction,
  pidIn,
  Requests,
  SYNC_MESSAGE,
  type Unit,
} from './postgres-wire.ts';
import type { SimulatedProcess } from './scheduler.ts';

// The simulated network takes the place of `net.Socket` later.
const RealSocket = net.Socket;
const CONNECT_MS = 0.3;

export class GatedSocket extends Duplex {
  readonly owner: SimulatedProcess | undefined;
  readonly #gate: Gate;
  readonly #id: number;
  readonly #socket = new RealSocket();
  readonly #requests = new Requests();
  readonly #answers = new Answers();
  #units: Unit[] = [];
  /** Whole messages of the answer so far. */
  #answer: Buffer[] = [];
  #swallows = 0;
  #lastAt = 0;
  #heldUntil = 0;
  /** The server has answered all that it had; the program is to learn of it. */
  #hasFinished = false;
  #isClosed = false;
  readonly #closing = Promise.withResolvers<void>();
  pid = 0;
  isListening = false;
  /** A unit is at the server. */
  isOut = false;
  /** In a transaction: nothing was committed, so nothing was notified. */
  #isWithin = false;
  #settled: (() => void) | undefined;

  constructor(gate: Gate) {
    super({ allowHalfOpen: false });
    this.#gate = gate;
    this.#id = gate.nextId();
    this.owner = gate.scheduler.owner;
  }

  connect(...args: unknown[]): this {
    const [port, host] = args as [number | string, string | undefined];
    if (typeof port === 'string') this.#socket.connect(port);
    else this.#socket.connect(port, host ?? '127.0.0.1');
    this.#socket.on('data', (bytes) => this.#receive(bytes));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#closed());
    this.#gate.sockets.add(this);
    this.#gate.scheduler.after(
      CONNECT_MS,
      'database',
      () => {
        if (!this.destroyed) this.emit('connect');
      },
      this.owner,
    );
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    for (const unit of this.#requests.push(chunk)) {
      if (unit.listens) this.isListening = true;
      if (unit.isEnd) {
        this.#socket.end(unit.bytes);
        this.#gate.wait(() => this.whenClosed);
        break;
      }
      this.#units.push(unit);
      if (this.#units.length === 1 && !this.isOut) this.#releaseLater();
    }
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#gate.sockets.delete(this);
    this.#socket.destroy();
    this.isOut = false;
    this.#settled?.();
    this.#gate.hasEnded(this);
    this.#gate.wait(() => this.#gate.gone([this.pid]));
    this.#closing.resolve();
    done(error);
  }

  #releaseLater(): void {
    const { scheduler } = this.#gate;
    scheduler.after(this.#wayMs(), `statement of session ${this.#id}`, () => this.#release(), this.owner);
  }

  #release(): void {
    const unit = this.#units.shift();
    if (unit === undefined || this.destroyed || this.#isClosed) return;
    this.isOut = true;
    this.#gate.begin(this, unit.endsSessions, async () => {
      if (unit.readsClock) await this.#gate.setClock();
      this.#socket.write(unit.bytes);
    });
  }

  get isWithinTransaction(): boolean {
    return this.#isWithin;
  }

  /** Resolves when the server has answered what it has of this connection, or the connection is over. */
  get settled(): Promise<void> {
    if (!this.isOut || this.destroyed) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = resolve;
    return promise;
  }

  /** Makes the server send the notifications that it has for this connection. */
  ping(): Promise<void> {
    if (this.isOut || this.destroyed || this.#isClosed) return Promise.resolve();
    this.#swallows += 1;
    this.isOut = true;
    this.#socket.write(SYNC_MESSAGE);
    return this.settled;
  }

  #receive(bytes: Buffer): void {
    for (const message of this.#answers.push(bytes)) {
      this.pid = pidIn(message) ?? this.pid;
      if (isReady(message) && this.#swallows > 0) {
        this.#swallows -= 1;
        this.#finish();
        continue;
      }
      this.#answer.push(message);
      if (isReady(message)) {
        this.#isWithin = isWithinTransaction(message);
        this.#finish();
      }
    }
  }

  #finish(): void {
    this.isOut = false;
    this.#hasFinished = true;
    this.#settled?.();
  }

  /** Resolves when the server has closed it, or the program has. */
  get whenClosed(): Promise<void> {
    return this.#closing.promise;
  }

  /** Sends what the server has said meanwhile on its way: at a moment that real time does not decide. */
  flush(): void {
    if (this.destroyed) return;
    if (this.#isClosed) {
      this.#tellClosed();
      return;
    }
    this.#deliver();
    if (!this.#hasFinished) return;
    this.#hasFinished = false;
    if (this.#units.length > 0 && !this.isOut)
      this.#gate.scheduler.within(this.owner, () => this.#releaseLater());
  }

  #deliver(): void {
    const messages = this.#answer;
    this.#answer = [];
    if (messages.length === 0) return;
    const { scheduler } = this.#gate;
    const at = Math.max(this.#lastAt, scheduler.now + this.#wayMs());
    this.#lastAt = at + 0.001;
    scheduler.after(
      at - scheduler.now,
      `answer ${messages.length} to session ${this.#id}`,
      () => {
        if (!this.destroyed) this.push(Buffer.concat(messages));
      },
      this.owner,
    );
  }

  #closed(): void {
    this.isOut = false;
    this.#isClosed = true;
    this.#settled?.();
    this.#closing.resolve();
    this.#gate.hasEnded(this);
  }

  #tellClosed(): void {
    this.#gate.sockets.delete(this);
    const rest = Buffer.concat(this.#answer);
    this.#gate.scheduler.after(
      this.#gate.latency(this.owner),
      'database gone',
      () => {
        if (this.destroyed) return;
        if (rest.length > 0) this.push(rest);
        this.push(null);
      },
      this.owner,
    );
  }

  /** Its connection stands still: what is sent, and what the server answers, arrives later. */
  holdFor(ms: number): void {
    this.#heldUntil = this.#gate.scheduler.now + ms;
  }

  #wayMs(): number {
    const held = this.#heldUntil - this.#gate.scheduler.now;
    return this.#gate.latency(this.owner) + Math.max(0, held);
  }

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
