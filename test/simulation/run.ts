/** Carries out a plan in a world of its own, and has the history of it checked. */
import { openPool, socketUrl } from '@bellwether/durable';
import type { Agent } from '../histories/agents.ts';
import { check } from '../histories/checker.ts';
import { collectFacts } from '../histories/collect-facts.ts';
import { comeToRest } from '../histories/come-to-rest.ts';
import { exitCounts } from '../histories/final-facts.ts';
import { Recorder } from '../histories/history.ts';
import { endAll, type Listening, listen, startReceiver } from '../histories/listeners.ts';
import type { Place } from '../histories/place.ts';
import { isUnchecked } from '../histories/sentences.ts';
import { liveEnvironment } from '../live-environment.ts';
import { Traders } from './agents.ts';
import { Desk, WORLD_SPEED } from './desk.ts';
import { endFaults, scheduleFaults } from './faults.ts';
import type { FaultKind, Plan, PlannedFault, Step } from './plan.ts';
import { type LiveVenue, openVenue } from './venue.ts';
import type { Server, World } from './world.ts';

const MINUTE_MS = 60_000;
/** By then a live desk has asked for each open order once more, also where the event was lost that would have reported it. */
const QUIET_MS = { paper: 2_000, live: 45_000 } as const;
/** Events of an agent that come no more have come. */
const AFTERWARDS_MS = 1_000;

export interface Ran {
  /** Sentences: what broke a promise. Empty when nothing did. */
  readonly violations: readonly string[];
  /** Sentences: what could not be checked. */
  readonly unchecked: readonly string[];
  readonly orders: number;
  readonly calls: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** What became of exits. */
  readonly exits: ReadonlyMap<string, number>;
  readonly virtualMs: number;
  readonly events: number;
  readonly statements: number;
  readonly lockWaits: number;
  /** The same plan gives the same one, again and again. */
  readonly fingerprint: string;
}

interface Played {
  readonly world: World;
  readonly plan: Plan;
  readonly desk: Desk;
  readonly place: Place;
  readonly venue: LiveVenue | null;
}

interface RunPlanOptions {
  /** Prints each event. */
  readonly isTraced?: boolean;
  /** Where the history is written. */
  readonly historyFile?: string | null;
}

async function listenToAll(place: Place, recorder: Recorder, agents: readonly Agent[]) {
  const receiver = await startReceiver(recorder);
  const listening: Listening[] = [];
  for (const agent of agents) listening.push(await listen(place, recorder, receiver, agent));
  return listening;
}

async function play({ world, plan, desk, place, venue }: Played, recorder: Recorder) {
  const { scheduler } = world;
  const people = world.process('agents');
  /** Work of the agents' side. */
  const until = <T>(work: () => Promise<T>, mostMs: number): Promise<T> =>
    world.until(scheduler.within(people, work), mostMs);
  await desk.startBoth();
  const steps = plan.acts.filter((act): act is Step => act.what === 'step');
  const kinds = new Set(steps.map(({ kind }) => kind));
  const traders = await until(() => Traders.open(world, place, recorder, kinds), MINUTE_MS);
  const { agents, heard } = traders;
  const listening = plan.listens ? await until(() => listenToAll(place, recorder, heard), MINUTE_MS) : [];
  venue?.begin();
  const stage = { world, desk, agents: people };
  traders.schedule(steps, people);
  const faults = scheduleFaults(
    stage,
    plan.acts.filter((act): act is PlannedFault => act.what === 'fault'),
  );
  await world.pass((plan.acts.at(-1)?.at ?? 0) + AFTERWARDS_MS);
  endFaults(stage);
  venue?.endFaults();
  await until(() => traders.settle(), 5 * MINUTE_MS);
  const left = await until(() => comeToRest(place, QUIET_MS[plan.setUp]), 5 * MINUTE_MS);
  const logs = await until(() => endAll(listening), 2 * MINUTE_MS);
  const stop = async () => {
    await desk.killAll();
    await venue?.kill();
  };
  const facts = await until(
    () => collectFacts({ place, agents, logs, hasMidnight: false, stop }),
    5 * MINUTE_MS,
  );
  return { history: recorder.end(facts), faults, left };
}

export async function runPlan(
  server: Server,
  plan: Plan,
  { isTraced = false, historyFile = null }: RunPlanOptions = {},
): Promise<Ran> {
  const world = server.newWorld(plan.seed);
  if (isTraced)
    world.scheduler.onEvent = (at, owner, label) => console.log(`${at.toFixed(3)} ${owner}: ${label}`);
  const url = socketUrl(server.where, await server.createDatabase(world));
  const observing = world.process('observer');
  let violations: string[] = [];
  let unchecked: string[] = [];
  let counted = {
    ...{ orders: 0, calls: 0 },
    ...{ faults: new Map<FaultKind, number>(), exits: new Map<string, number>() },
  };
  try {
    const venue = plan.setUp === 'live' ? await openVenue(server, world) : null;
    const desk = new Desk(world, {
      DATABASE_URL: url,
      ...(venue === null ? {} : liveEnvironment(venue.url)),
    });
    const urls = [desk.urlOf(0), desk.urlOf(1)] as const;
    const place: Place = {
      ...{
        speed: WORLD_SPEED,
        setUp: plan.setUp,
        profile: venue === null ? 'interface' : 'polymarket',
        urls,
      },
      clobUrl: `${venue?.url ?? urls[0]}/paper/clob`,
      link: async (nth) => urls[nth % 2] as string,
      fund: async (wallet) => venue?.fund(wallet),
      moveWorld: () => (venue === null ? desk.moveWorld() : venue.moveWorld()),
      send: venue === null ? null : (command) => venue.send(command),
      sql: world.scheduler.within(observing, () => openPool(url, { max: 2 })),
      exchangeUrl: venue?.databaseUrl ?? url,
    };
    const { history, faults, left } = await play(
      { world, plan, desk, place, venue },
      new Recorder(historyFile, { line: 'run', seed: plan.seed, setUp: plan.setUp }),
    );
    const found = check(history);
    violations = [
      ...(left === null ? [] : [`The desk does not come to rest: ${left}.`]),
      ...found.filter((sentence) => !isUnchecked(sentence)),
    ];
    unchecked = found.filter(isUnchecked);
    counted = {
      orders: history.facts.orders.length,
      calls: history.calls.length,
      faults,
      exits: exitCounts(history.facts),
    };
  } catch (error) {
    violations = [`The run did not reach its end: ${error instanceof Error ? error.stack : String(error)}`];
  }
  const { scheduler, gate } = world;
  const ran: Ran = {
    ...{
      violations,
      unchecked,
      ...counted,
      virtualMs: scheduler.now,
      events: scheduler.eventsRun,
      ...gate.counts,
    },
    fingerprint: scheduler.fingerprint,
  };
  await world.end();
  await server.dropDatabases();
  return ran;
}
