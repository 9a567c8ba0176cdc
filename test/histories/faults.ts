/**
 * Faults while a run goes on, chosen by its seed: replicas die, freeze and thaw, so do single backends of PostgreSQL, and connections
 * between any two are cut, delayed and lose answers. At most one replica is hit at a time; connections fail beside that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { kill } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import type { TcpProxy } from '../tcp-proxy.ts';
import type { Random } from './random.ts';
import { type Replica, restart, type Stage } from './stage.ts';

/** Undoes everything that is still wrong. */
export interface Faults {
  readonly counts: ReadonlyMap<string, number>;
  /** Resolves once nothing is wrong any more and both replicas serve. */
  end(): Promise<void>;
}

interface Scene {
  readonly stage: Stage;
  readonly random: Random;
  readonly isOver: () => boolean;
}

interface Kind {
  readonly name: string;
  /** How often, beside the others. */
  readonly weight: number;
  /** Resolves when it is over. Those of one hand happen one after the other. */
  readonly hand: 'processes' | 'backends' | 'connections';
  begin(scene: Scene): Promise<void>;
}

const replicaPid = ({ process }: Replica): number => process.child.pid as number;

/** Frozen processes: they must thaw, or nothing could end them. */
const frozen = new Set<number>();
function freeze(pid: number): void {
  frozen.add(pid);
  kill(pid, 'SIGSTOP');
}
function thaw(pid: number): void {
  if (frozen.delete(pid)) kill(pid, 'SIGCONT');
}

async function killReplica({ stage, random, isOver }: Scene): Promise<void> {
  const replica = random.pick(stage.replicas);
  kill(replicaPid(replica), 'SIGKILL');
  await replica.process.exit();
  await sleep(random.between(100, 2_500));
  await restart(replica, isOver);
}

async function freezeReplica({ stage, random }: Scene): Promise<void> {
  const pid = replicaPid(random.pick(stage.replicas));
  freeze(pid);
  await sleep(random.between(300, 7_000));
  thaw(pid);
}

/** A backend of a replica, in any state at the moment. */
async function aBackend({ stage, random }: Scene): Promise<number | null> {
  const rows = await stage.sql`select pid from pg_stat_activity
    where backend_type = 'client backend' and usename <> current_user order by pid`;
  return rows.length === 0 ? null : (random.pick(rows).pid as number);
}

/** The one that does something rather than one that waits: a fault of an idle connection is soon mended. */
async function aBusyBackend(scene: Scene): Promise<number | null> {
  const rows = await scene.stage.sql`select pid from pg_stat_activity
    where backend_type = 'client backend' and usename <> current_user and state <> 'idle' order by pid`;
  return rows.length === 0 ? aBackend(scene) : (scene.random.pick(rows).pid as number);
}

async function terminateBackend(scene: Scene): Promise<void> {
  const pid = await aBusyBackend(scene);
  if (pid !== null) await scene.stage.sql`select pg_terminate_backend(${pid}::int)`;
}

async function freezeBackend(scene: Scene): Promise<void> {
  const pid = await aBusyBackend(scene);
  if (pid === null) return;
  freeze(pid);
  await sleep(scene.random.between(200, 4_000));
  thaw(pid);
}

const toClients = ({ stage, random }: Scene): TcpProxy => random.pick(random.pick(stage.replicas).links);
const toDatabase = ({ stage, random }: Scene): TcpProxy => random.pick(stage.replicas).toDatabase;
const toVenue = ({ stage, random }: Scene): TcpProxy => random.pick(stage.replicas).toVenue;
type Way = (scene: Scene) => TcpProxy;

const cut =
  (way: Way) =>
  async (scene: Scene): Promise<void> =>
    way(scene).cut();

const delay =
  (way: Way, most: number) =>
  async (scene: Scene): Promise<void> => {
    const proxy = way(scene);
    proxy.delay(scene.random.between(20, most));
    await sleep(scene.random.between(500, 3_000));
    proxy.delay(0);
  };

const stall =
  (way: Way) =>
  async (scene: Scene): Promise<void> => {
    const proxy = way(scene);
    proxy.stall();
    await sleep(scene.random.between(200, 6_000));
    proxy.resume();
  };

const lose =
  (way: Way, when: 'before' | 'after') =>
  async (scene: Scene): Promise<void> =>
    way(scene).loseAnswer(when);

/** The next pages say that the list begins anew where it ends, or that it ends. */
async function lieAboutCursors(scene: Scene): Promise<void> {
  const proxy = toVenue(scene);
  const [from, to] = scene.random.isOf(0.5) ? ['"LTE="', '"MA=="'] : ['"MA=="', '"LTE="'];
  proxy.change((bytes) => Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1'));
  await sleep(scene.random.between(500, 2_000));
  proxy.change(null);
}

const KINDS: readonly Kind[] = [
  { name: 'replica killed', weight: 3, hand: 'processes', begin: killReplica },
  { name: 'replica frozen', weight: 3, hand: 'processes', begin: freezeReplica },
  { name: 'backend terminated', weight: 6, hand: 'backends', begin: terminateBackend },
  { name: 'backend frozen', weight: 3, hand: 'backends', begin: freezeBackend },
  { name: 'client cut', weight: 4, hand: 'connections', begin: cut(toClients) },
  { name: 'client delayed', weight: 3, hand: 'connections', begin: delay(toClients, 800) },
  {
    name: 'answer to a client lost, not executed',
    weight: 4,
    hand: 'connections',
    begin: lose(toClients, 'before'),
  },
  {
    name: 'answer to a client lost, executed',
    weight: 6,
    hand: 'connections',
    begin: lose(toClients, 'after'),
  },
  { name: 'database cut', weight: 2, hand: 'connections', begin: cut(toDatabase) },
  { name: 'database delayed', weight: 2, hand: 'connections', begin: delay(toDatabase, 150) },
  { name: 'database stalled', weight: 1, hand: 'connections', begin: stall(toDatabase) },
  { name: 'answer of the database lost', weight: 4, hand: 'connections', begin: lose(toDatabase, 'after') },
  {
    name: 'statement to the database lost',
    weight: 2,
    hand: 'connections',
    begin: lose(toDatabase, 'before'),
  },
  { name: 'venue cut', weight: 2, hand: 'connections', begin: cut(toVenue) },
  { name: 'venue delayed', weight: 2, hand: 'connections', begin: delay(toVenue, 1_500) },
  { name: 'venue stalled', weight: 1, hand: 'connections', begin: stall(toVenue) },
  { name: 'answer of the venue lost', weight: 4, hand: 'connections', begin: lose(toVenue, 'after') },
  { name: 'request to the venue lost', weight: 2, hand: 'connections', begin: lose(toVenue, 'before') },
];
const LIVE_KINDS: readonly Kind[] = [
  { name: 'cursor lies', weight: 3, hand: 'connections', begin: lieAboutCursors },
];

/** Between two faults of one hand, on average half of it. */
const LONGEST_REST_MS = { processes: 6_000, backends: 1_500, connections: 700 } as const;
type Hand = keyof typeof LONGEST_REST_MS;

function chosen(kinds: readonly Kind[], random: Random): Kind {
  let draw = random.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of kinds) {
    draw -= kind.weight;
    if (draw < 0) return kind;
  }
  return kinds.at(-1) as Kind;
}

/** @param random one for each hand, so that the time that one of them takes does not change what the others do */
export function beginFaults(stage: Stage, random: (name: string) => Random, share = 1): Faults {
  afterFile('services', () => [...frozen].forEach(thaw));
  const counts = new Map<string, number>();
  let isOver = false;
  const kinds = [...KINDS, ...(stage.setUp === 'live' ? LIVE_KINDS : [])];
  const work = async (hand: Hand): Promise<void> => {
    const own = kinds.filter((kind) => kind.hand === hand);
    const scene: Scene = { stage, random: random(`faults of ${hand}`), isOver: () => isOver };
    for (;;) {
      const rest = scene.random.between(0, LONGEST_REST_MS[hand] / share);
      const until = performance.now() + rest;
      while (!isOver && performance.now() < until) await sleep(Math.min(100, rest));
      if (isOver) return;
      const kind = chosen(own, scene.random);
      counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
      await kind.begin(scene);
    }
  };
  const working = Promise.all((Object.keys(LONGEST_REST_MS) as Hand[]).map(work));
  return {
    counts,
    async end() {
      isOver = true;
      await working;
      for (const { links, toDatabase, toVenue } of stage.replicas)
        for (const proxy of [...links, toDatabase, toVenue]) {
          proxy.loseAnswer(null);
          proxy.delay(0);
          proxy.change(null);
          proxy.resume();
        }
      for (const replica of stage.replicas)
        if (replica.process.child.exitCode !== null || replica.process.child.signalCode !== null)
          await restart(replica, () => false);
    },
  };
}
