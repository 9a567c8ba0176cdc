/**
 * Between the services and a real PostgreSQL. Each unit of statements waits until the scheduler releases it; then the simulation
 * stands still until the server has answered it, or waits for a lock; then the answer is delivered as an event. So the server
 * decides what a statement finds and who waits for whom, and the seed decides the order in which statements reach it.
 *
 * A limit of this: two statements that the server executes at the very same moment.
 */
import { createRequire } from 'node:module';
import type { Client } from 'pg';
import { EPOCH, real } from './chance.ts';
import { GatedSocket } from './gated-socket.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

/** Real time after which a statement without an answer is looked up among those that wait for a lock. */
const LOOK_AFTER_MS = 2;
/** Real time after which the server is lost. */
const LOST_AFTER_MS = 8_000;
const END_MS = 30;

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
  #made = 0;
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

  nextId(): number {
    this.#made += 1;
    return this.#made;
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

  /** Work that must be over before the next event: the server has answered, or waits for a lock. */
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

  /** Does what a system does for a process that has ended: its connections close, the server rolls back. */
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
