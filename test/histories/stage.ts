/**
 * The stage of a run: two replicas on one PostgreSQL, each a process of its own, and a proxy between any two that talk. On paper the
 * venue is the replica that leads; live it is the stand-alone exchange, in a further process with a database of its own.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { liveEnvironment } from '../live-environment.ts';
import { freePort, launch, type ServiceProcess, startProcess } from '../service-process.ts';
import { databaseTarget, startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { startDatabase } from './database.ts';
import type { SetUpName } from './history.ts';
import type { Place } from './place.ts';

const SKEWED_CLOCK = join(import.meta.dirname, 'skewed-clock.ts');
/** Seconds, before which an order that a live venue does not know stays in doubt. */
const DOUBT_S = 6;
/** On paper some markets end within a minute, and most not within hours. A live venue does not move by itself: trades are the agents'. */
const SPEEDS = { paper: 20, live: 0.001 } as const;
const READY = /is ready \(/;

export interface Replica {
  readonly name: string;
  readonly port: number;
  readonly toDatabase: TcpProxy;
  /** To the venue; on paper, from the other replica to this one. */
  readonly toVenue: TcpProxy;
  /** From clients, one for each. */
  readonly links: TcpProxy[];
  readonly env: Readonly<Record<string, string>>;
  process: ServiceProcess;
}

interface LiveVenue {
  readonly url: string;
  setFaults(plan: object): Promise<void>;
  readonly process: ServiceProcess;
}

export interface Stage extends Place {
  readonly replicas: readonly [Replica, Replica];
  /** `null` on paper. */
  readonly venue: LiveVenue | null;
}

const common = {
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'fatal',
  WEBHOOKS_ALLOW_LOOPBACK: 'on',
  /** So that a GTD order can expire within a run. */
  PAPER_GTD_MIN_LEAD_S: '3',
} as const;

async function startVenue(databaseUrl: string, seed: number): Promise<LiveVenue & { readonly port: number }> {
  const key = randomBytes(16).toString('hex');
  const process = await startProcess({
    program: 'exchange',
    env: {
      DATABASE_URL: databaseUrl,
      MASTER_KEY: randomBytes(32).toString('hex'),
      VENUE_A_ORDER_PROFILE: 'polymarket',
      PAPER_CONTROL_KEY: key,
      PAPER_REQUESTS_PER_S: '100000',
      PAPER_SEED: String(seed),
      PAPER_SPEED: String(SPEEDS.live),
    },
  });
  const { url, port } = process;
  return {
    url,
    port,
    process,
    async setFaults(plan) {
      const answer = await fetch(`${url}/paper/faults`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(plan),
      });
      if (!answer.ok) throw new Error(`the venue refuses its faults: ${await answer.text()}`);
    },
  };
}

/** @param skewsMs of the two replicas' clocks */
export async function openStage(
  setUp: SetUpName,
  seed: number,
  skewsMs: readonly [number, number],
): Promise<Stage> {
  const database = await startDatabase();
  const venue = setUp === 'live' ? await startVenue(database.exchangeUrl, seed) : null;
  const masterKey = randomBytes(32).toString('hex');
  const { target, urlAt } = databaseTarget(database.deskUrl);
  const openReplica = async (nth: 0 | 1): Promise<Replica> => {
    const port = await freePort();
    const toDatabase = await startTcpProxy(target);
    const toVenue = await startTcpProxy({ host: '127.0.0.1', port: venue?.port ?? port });
    const env = {
      ...common,
      ...(venue === null
        ? { PAPER_SPEED: String(SPEEDS.paper) }
        : { ...liveEnvironment(`http://127.0.0.1:${toVenue.port}`), VENUE_A_DOUBT_S: String(DOUBT_S) }),
      DATABASE_URL: urlAt(toDatabase.port),
      MASTER_KEY: masterKey,
      REPLICA_URL: `http://127.0.0.1:${venue === null ? toVenue.port : port}`,
      NODE_OPTIONS: `--import ${SKEWED_CLOCK}`,
      CLOCK_SKEW_MS: String(skewsMs[nth]),
    };
    const process = await startProcess({ env, port });
    return { name: `replica ${nth + 1}`, port, toDatabase, toVenue, links: [], env, process };
  };
  const replicas = [await openReplica(0), await openReplica(1)] as const;
  return {
    setUp,
    speed: SPEEDS[setUp],
    profile: venue === null ? 'interface' : 'polymarket',
    replicas,
    urls: [replicas[0].process.url, replicas[1].process.url],
    async link(nth) {
      const replica = replicas[nth as 0 | 1];
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: replica.port });
      replica.links.push(proxy);
      return `http://127.0.0.1:${proxy.port}`;
    },
    venue,
    async fund(address) {
      if (venue === null) return;
      const gift = await fetch(`${venue.url}/paper/faucet`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ address }),
      });
      if (!gift.ok) throw new Error(`the faucet refused: ${await gift.text()}`);
    },
    // It does by itself.
    moveWorld: async () => {},
    send: null,
    clobUrl: `${venue?.url ?? replicas[0].process.url}/paper/clob`,
    sql: database.admin,
    exchangeUrl: venue === null ? database.deskUrl : database.exchangeUrl,
  };
}

/** Starts it on its port again, as often as it takes: a start may meet a fault of the database. */
export async function restart(replica: Replica, isOver: () => boolean): Promise<void> {
  for (;;) {
    const started = await launch({ env: replica.env, port: replica.port });
    const isReady = (): boolean => READY.test(started.output());
    while (!isReady() && started.child.exitCode === null && started.child.signalCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    if (isReady() || isOver()) {
      const { child, output, exit } = started;
      const url = `http://127.0.0.1:${replica.port}`;
      replica.process = { url, port: replica.port, child, output, readyMs: 0, exit };
      return;
    }
  }
}
