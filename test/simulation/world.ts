/**
 * One simulated world: services that run the real code on a real PostgreSQL, on virtual time. This file must be loaded before any module
 * of the project, because it replaces what they take from Node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import net from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Client } from 'pg';
import type { SharedPostgres } from '../setup/postgres-server.ts';
import { enterWorld, onThreads, real } from './chance.ts';
import { Gate } from './database.ts';
import { simulatedFetch } from './in-process.ts';
import { Network } from './network.ts';
import { Scheduler, SimulatedProcess } from './scheduler.ts';

const RealSocket = net.Socket;
const TEMPLATE = 'simulation';
/** Modules that compute in a thread of their own, which no scheduler of this process can hold. */
const STAND_INS: Readonly<Record<string, string>> = {
  '@bellwether/sandbox': 'no-sandbox.ts',
  './snapshot-thread.ts': 'no-snapshots.ts',
};

registerHooks({
  resolve(specifier, context, next) {
    const file = STAND_INS[specifier];
    return file === undefined
      ? next(specifier, context)
      : { url: new URL(file, import.meta.url).href, shortCircuit: true };
  },
});

const { default: pg } = await import('pg');

/** The server, for all worlds of this process. */
export class Server {
  readonly #child: ChildProcess;
  readonly where: SharedPostgres;
  readonly #root: Client;
  readonly #databases: string[] = [];
  #made = 0;

  private constructor(child: ChildProcess, where: SharedPostgres, root: Client) {
    this.#child = child;
    this.where = where;
    this.#root = root;
  }

  static async start(): Promise<Server> {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../setup/postgres-server.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = await once(
      createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }),
      'line',
    );
    const where = JSON.parse(String(line)) as SharedPostgres;
    const root = await connect(where, 'postgres');
    // Work of the server itself would come at any moment.
    await root.query('alter system set autovacuum = off');
    await root.query('select pg_reload_conf()');
    await root.query(`create database ${TEMPLATE} owner ${where.user} template ${where.template}`);
    const inside = await connect(where, TEMPLATE);
    await inside.query(`
      create schema simulation;
      create sequence simulation.clock minvalue 0;
      create function simulation.clock_timestamp() returns timestamptz language sql volatile
        as $$ select to_timestamp(last_value / 1e6) from simulation.clock $$;
      create function simulation.set_config(name text, value text, is_local boolean) returns text language sql volatile
        as $$ select case when name = 'lock_timeout' then value else pg_catalog.set_config(name, value, is_local) end $$;
      -- The server counts rows when it has time.
      create function simulation.pg_stat_get_live_tuples(oid) returns bigint language sql immutable as $$ select 0::bigint $$;
      grant usage on schema simulation to public;
      grant select on simulation.clock to public`);
    await inside.end();
    return new Server(child, where, root);
  }

  newWorld(seed: number): World {
    return new World(seed);
  }

  /** A database with the desk's tables, whose `clock_timestamp()` is that of the world. */
  async createDatabase(world: World): Promise<string> {
    this.#made += 1;
    const name = `world_${this.#made}`;
    await this.#root.query(`create database ${name} owner ${this.where.user} template ${TEMPLATE}`);
    await this.#root.query(`alter database ${name} set search_path = public, simulation, pg_catalog`);
    this.#databases.push(name);
    world.gate.watch(await connect(this.where, name));
    return name;
  }

  /** Those of a world that has ended. */
  async dropDatabases(): Promise<void> {
    for (const name of this.#databases.splice(0))
      await this.#root.query(`drop database ${name} with (force)`);
  }

  async stop(): Promise<void> {
    await this.#root.end();
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}

async function connect({ socketDir, port, admin }: SharedPostgres, database: string): Promise<Client> {
  const stream = () => new RealSocket();
  const client = new pg.Client({ host: socketDir, port, user: admin, database, stream });
  await client.connect();
  return client;
}

/** Work of Node's other threads and of the system that the last event has begun: it ends in real time. */
const UNDER_WAY = /^(FSReq|GetAddrInfo|.*Request$)/;

/** Turns of the real event loop: what the last event has caused is over. */
async function turn(): Promise<void> {
  do await new Promise((resolve) => real.setImmediate(resolve));
  while (onThreads.underWay > 0 || process.getActiveResourcesInfo().some((name) => UNDER_WAY.test(name)));
}

export class World {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly gate: Gate;
  readonly seed: number;
  readonly #processes: SimulatedProcess[] = [];
  /** An error that no code expected. */
  #fault: unknown;

  constructor(seed: number) {
    this.seed = seed;
    this.scheduler = new Scheduler(seed);
    this.network = new Network(this.scheduler);
    this.gate = new Gate(this.scheduler);
    enterWorld(this.scheduler, seed);
    this.network.enter();
    this.gate.enter();
    globalThis.fetch = simulatedFetch(() => this.scheduler.owner) as typeof fetch;
  }

  fail(error: unknown): void {
    this.#fault ??= error;
  }

  /** Work of the simulation itself with the server: no event runs meanwhile. */
  aside(work: () => Promise<void>): void {
    this.gate.wait(() => work().catch((error: unknown) => this.fail(error)));
  }

  process(name: string): SimulatedProcess {
    const made = new SimulatedProcess(name);
    this.#processes.push(made);
    return made;
  }

  /** Nothing of it runs any more. */
  async end(): Promise<void> {
    for (const one of this.#processes) if (!one.isDead) void this.kill(one);
    await this.gate.close();
  }

  /** Runs events until the work is done. @throws Error when it is not done in that much virtual time */
  async until<T>(work: Promise<T>, mostMs: number): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    work.then(done, done);
    const end = this.scheduler.now + mostMs;
    for (;;) {
      await this.#quiet();
      if (this.#fault !== undefined) throw this.#fault;
      if (isDone) return work;
      if (!this.scheduler.step(end)) {
        await this.#quiet();
        if (isDone) return work;
        throw new Error(`not done after ${mostMs} ms of virtual time`);
      }
    }
  }

  async pass(ms: number): Promise<void> {
    const end = this.scheduler.now + ms;
    do {
      await this.#quiet();
      if (this.#fault !== undefined) throw this.#fault;
    } while (this.scheduler.step(end));
    await this.#quiet();
  }

  async #quiet(): Promise<void> {
    await turn();
    while (this.gate.working !== undefined) {
      await this.gate.working;
      await turn();
    }
  }

  /** Ends a process as `kill -9` does. Resolves when the server has freed what it held. */
  kill(owner: SimulatedProcess): Promise<void> {
    owner.isDead = true;
    return new Promise((resolve) => {
      this.aside(async () => {
        this.network.end(owner);
        await this.gate.end(owner);
        resolve();
      });
    });
  }
}
