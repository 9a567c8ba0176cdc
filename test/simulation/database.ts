/**
 * Between the services and a real PostgreSQL. Each unit of statements waits until the scheduler releases it; then the simulation
 * stands still until the server has answered it, or waits for a lock; then the answer is delivered as an event. So the server
 * decides what a statement finds and who waits for whom, and the seed decides the order in which statements reach it.
 *
 * What this cannot show: two statements that the server executes at the very same moment.
 */
import { createRequire } from 'node:module';
import net from 'node:net';
import { Duplex } from 'node:stream';
import type { Client } from 'pg';
import { EPOCH, real } from './chance.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const RealSocket = net.Socket;
const CONNECT_MS = 0.3;
/** Real time after which a statement without an answer is looked up among those that wait for a lock. */
const LOOK_AFTER_MS = 2;
/** Real time after which the server is lost. */
const LOST_AFTER_MS = 8_000;
const END_MS = 30;

const [SYNC, QUERY, TERMINATE, PARSE, BIND] = ['S', 'Q', 'X', 'P', 'B'].map((type) => type.charCodeAt(0));
const [READY, KEY] = ['Z', 'K'].map((type) => type.charCodeAt(0));
/** Outside a transaction. */
const IDLE = 'I'.charCodeAt(0);
const SYNC_MESSAGE = Buffer.from([SYNC as number, 0, 0, 0, 4]);

interface Unit {
  readonly bytes: Buffer;
  readonly readsClock: boolean;
  readonly endsSessions: boolean;
}

/** A connection of a service to the database. */
class GatedSocket extends Duplex {
  readonly owner: SimulatedProcess | undefined;
  readonly #gate: Gate;
  readonly #socket = new RealSocket();
  #outgoing = Buffer.alloc(0);
  #isStarted = false;
  #startsAt = 0;
  #units: Unit[] = [];
  #incoming: Buffer = Buffer.alloc(0);
  /** Whole messages of the answer so far. */
  #answer: Buffer[] = [];
  readonly #clockStatements = new Set<string>();
  #unitReadsClock = false;
  #unitEndsSessions = false;
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
    this.#outgoing = Buffer.concat([this.#outgoing, chunk]);
    this.#split();
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

  #split(): void {
    for (;;) {
      const bytes = this.#outgoing.subarray(this.#startsAt);
      const header = this.#isStarted ? 1 : 0;
      if (bytes.length < header + 4) return;
      const length = header + bytes.readInt32BE(header);
      if (bytes.length < length) return;
      const type = this.#isStarted ? (bytes[0] as number) : 0;
      if (type === PARSE || type === QUERY || type === BIND)
        this.#read(type, bytes.subarray(header + 4, length));
      this.#startsAt += length;
      if (type === TERMINATE) {
        this.#socket.end(Buffer.from(bytes.subarray(0, length)));
        this.#gate.wait(() => this.whenClosed);
        return;
      }
      if (this.#isStarted && type !== SYNC && type !== QUERY) continue;
      this.#isStarted = true;
      const unit = Buffer.from(this.#outgoing.subarray(0, this.#startsAt));
      this.#units.push({
        bytes: this.#isStarted ? unit : withoutTimeouts(unit),
        readsClock: this.#unitReadsClock,
        endsSessions: this.#unitEndsSessions,
      });
      this.#isStarted = true;
      this.#unitReadsClock = false;
      this.#unitEndsSessions = false;
      this.#outgoing = this.#outgoing.subarray(this.#startsAt);
      this.#startsAt = 0;
      if (this.#units.length === 1 && !this.isOut) this.#releaseLater();
    }
  }

  #read(type: number, body: Buffer): void {
    const end = body.indexOf(0);
    const first = body.toString('latin1', 0, end);
    const second = body.toString('latin1', end + 1, body.indexOf(0, end + 1));
    const text = type === QUERY ? first : type === PARSE ? second : '';
    if (type === BIND && this.#clockStatements.has(second)) this.#unitReadsClock = true;
    if (text.includes('clock_timestamp')) {
      this.#unitReadsClock = true;
      if (type === PARSE && first !== '') this.#clockStatements.add(first);
    }
    if (/^listen /i.test(text)) this.isListening = true;
    if (text.includes('pg_terminate_backend')) this.#unitEndsSessions = true;
  }

  #releaseLater(): void {
    const { scheduler } = this.#gate;
    scheduler.after(this.#wayMs(), 'statement', () => this.#release(), this.owner);
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
    this.#incoming = this.#incoming.length === 0 ? bytes : Buffer.concat([this.#incoming, bytes]);
    let at = 0;
    while (this.#incoming.length >= at + 5) {
      const length = 1 + this.#incoming.readInt32BE(at + 1);
      if (this.#incoming.length < at + length) break;
      const message = Buffer.from(this.#incoming.subarray(at, at + length));
      at += length;
      const [type] = message;
      if (type === KEY) this.pid = message.readInt32BE(5);
      if (type === READY && this.#swallows > 0) {
        this.#swallows -= 1;
        this.#finish();
        continue;
      }
      this.#answer.push(message);
      if (type === READY) {
        this.#isWithin = message[5] !== IDLE;
        this.#finish();
      }
    }
    this.#incoming = this.#incoming.subarray(at);
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

  /** What the server has said meanwhile is on its way: at a moment that real time does not decide. */
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
      `answer ${messages.length}`,
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

/** What the server would end after some real time. */
const TIMEOUTS: ReadonlySet<string> = new Set(['statement_timeout', 'idle_in_transaction_session_timeout']);
const STARTUP_HEAD_BYTES = 8;

/** A startup message without the settings that end sessions and statements. */
function withoutTimeouts(startup: Buffer): Buffer {
  const words = startup.toString('latin1', STARTUP_HEAD_BYTES).split('\0');
  const kept: string[] = [];
  for (let nth = 0; nth + 1 < words.length && words[nth] !== ''; nth += 2)
    if (!TIMEOUTS.has(words[nth] as string)) kept.push(words[nth] as string, words[nth + 1] as string);
  const body = Buffer.from(`${kept.join('\0')}\0\0`, 'latin1');
  const head = Buffer.from(startup.subarray(0, STARTUP_HEAD_BYTES));
  head.writeInt32BE(STARTUP_HEAD_BYTES + body.length, 0);
  return Buffer.concat([head, body]);
}

let current: Gate;

export class Gate {
  readonly scheduler: Scheduler;
  readonly sockets = new Set<GatedSocket>();
  /** At the server, without an answer yet. */
  readonly #out = new Set<GatedSocket>();
  #working: Promise<void> | undefined;
  #observer: Client | undefined;
  readonly #observers: Client[] = [];
  /** Sessions without a client that wait for a lock. */
  readonly #ghosts = new Set<number>();
  #clockAt = -1;
  #statements = 0;
  #lockWaits = 0;
  /** Added to the way of each statement, by process. */
  readonly slowMs = new Map<SimulatedProcess, number>();

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  get counts(): { readonly statements: number; readonly lockWaits: number } {
    return { statements: this.#statements, lockWaits: this.#lockWaits };
  }

  /** From now on connections of the driver pass here. */
  enter(): void {
    current = this;
  }

  /** @param observer a superuser's connection to a database of the services */
  watch(observer: Client): void {
    this.#observer ??= observer;
    this.#observers.push(observer);
  }

  /** Resolves when nothing is under way; from then on no server is asked. */
  async close(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    this.#observer = undefined;
    for (const observer of this.#observers.splice(0)) await observer.end();
  }

  latency(owner: SimulatedProcess | undefined): number {
    const { latency } = this.scheduler;
    const slow = owner === undefined ? 0 : (this.slowMs.get(owner) ?? 0);
    return 0.05 + latency.share() * 0.3 + slow * latency.share();
  }

  begin(socket: GatedSocket, endsSessions: boolean, send: () => Promise<void>): void {
    this.#statements += 1;
    this.#out.add(socket);
    this.wait(async () => {
      await send();
      await this.#settle();
      if (endsSessions) {
        await new Promise((resolve) => real.setTimeout(resolve, END_MS));
        await this.#allClosed();
      }
      if (socket.isWithinTransaction && this.#out.size === 0) return;
      await Promise.all([...this.sockets].filter(({ isListening }) => isListening).map((one) => one.ping()));
    });
  }

  /** Until it is over no event runs. */
  wait(work: () => Promise<unknown>): void {
    const before = this.#working ?? Promise.resolve();
    const all = before.then(work).then(() => {
      for (const socket of [...this.sockets]) socket.flush();
    });
    this.#working = all;
    void all.finally(() => {
      if (this.#working === all) this.#working = undefined;
    });
  }

  hasEnded(socket: GatedSocket): void {
    this.#out.delete(socket);
  }

  /** What must be over before the next event: the server has answered, or waits for a lock. */
  get working(): Promise<void> | undefined {
    return this.#working;
  }

  async setClock(): Promise<void> {
    if (this.#clockAt === this.scheduler.now || this.#observer === undefined) return;
    this.#clockAt = this.scheduler.now;
    const micro = Math.round((EPOCH + this.scheduler.now) * 1_000);
    for (const observer of this.#observers)
      await observer.query(`select setval('simulation.clock', ${micro})`);
  }

  async #settle(): Promise<void> {
    const lostAt = real.now() + LOST_AFTER_MS;
    for (;;) {
      for (const socket of this.#out) if (!socket.isOut) this.#out.delete(socket);
      if (this.#out.size === 0) break;
      const all = Promise.all([...this.#out].map((socket) => socket.settled));
      let timer: NodeJS.Timeout | undefined;
      const waited = new Promise<'late'>((resolve) => {
        timer = real.setTimeout(() => resolve('late'), LOOK_AFTER_MS);
      });
      const how = await Promise.race([all, waited]);
      real.clearTimeout(timer);
      if (how !== 'late') continue;
      if (await this.#allWait()) {
        this.#lockWaits += 1;
        break;
      }
      if (real.now() > lostAt) throw new Error(`the database does not answer: ${await this.#underWay()}`);
    }
    if (this.#ghosts.size > 0) await this.gone([...this.#ghosts]);
  }

  async #allWait(): Promise<boolean> {
    const waiting = [...this.#out].filter((socket) => socket.isOut);
    const pids = waiting.map(({ pid }) => pid);
    if (this.#observer === undefined) return false;
    const { rows } = await this.#observer.query(
      'select distinct pid from pg_locks where not granted and pid = any($1::int[])',
      [pids],
    );
    return rows.length === pids.length;
  }

  async #underWay(): Promise<string> {
    const pids = [...this.#out].map(({ pid }) => pid);
    const found = await this.#observer?.query(
      'select pid, state, wait_event_type, wait_event, left(query, 200) as query from pg_stat_activity where pid = any($1::int[])',
      [pids],
    );
    return JSON.stringify({ pids, sessions: found?.rows });
  }

  /** What a system does for a process that has ended: its connections close, the server rolls back. */
  async end(owner: SimulatedProcess): Promise<void> {
    const own = [...this.sockets].filter((socket) => socket.owner === owner);
    const pids = own.map(({ pid }) => pid);
    for (const socket of own) socket.destroy();
    await this.gone(pids);
  }

  /** Ends sessions as an administrator or a fault of the server does. */
  async terminate(pids: readonly number[]): Promise<void> {
    await this.#observer?.query('select pg_terminate_backend(p) from unnest($1::int[]) p', [pids]);
    await this.gone(pids);
    await this.#allClosed();
  }

  /** Resolves when this process has noticed which sessions the server has ended. */
  async #allClosed(): Promise<void> {
    const known = [...this.sockets].filter(({ pid }) => pid !== 0);
    const found = await this.#observer?.query('select pid from pg_stat_activity where pid = any($1::int[])', [
      known.map(({ pid }) => pid),
    ]);
    const alive = new Set(found?.rows.map(({ pid }) => pid as number));
    await Promise.all(known.filter(({ pid }) => !alive.has(pid)).map(({ whenClosed }) => whenClosed));
  }

  /**
   * Resolves when the server has ended these sessions, and freed what they held. One that waits for a lock does not notice that its
   * client has gone until it gets the lock.
   */
  async gone(pids: readonly number[]): Promise<void> {
    for (const pid of pids) this.#ghosts.delete(pid);
    for (;;) {
      const found = await this.#observer?.query(
        `select a.pid, exists (select 1 from pg_locks l where l.pid = a.pid and not l.granted) as waits
         from pg_stat_activity a where a.pid = any($1::int[])`,
        [pids],
      );
      if (found === undefined) return;
      if (found.rows.every(({ waits }) => waits)) {
        for (const { pid } of found.rows) this.#ghosts.add(pid);
        return;
      }
      await new Promise((resolve) => real.setTimeout(resolve, 1));
    }
  }
}

const require = createRequire(new URL('../../packages/durable/package.json', import.meta.url));
const streams = require('pg/lib/stream') as { getStream: () => unknown };
streams.getStream = () => new GatedSocket(current);
