import { real } from './chance.ts';
import { Server, World } from './world.ts';

const { Agents } = await import('./agents.ts');
const { Desk } = await import('./desk.ts');
const { planOf } = await import('./plan.ts');
const { socketUrl } = await import('../../packages/server/src/adapters/postgres/connection.ts');

const server = await Server.start();
const seed = Number(process.argv[2] ?? 1);
const t0 = real.now();
const world = new World(seed);
const { name, observer } = await server.createDatabase();
await world.gate.watch(observer);
const lap = (what: string) =>
  console.log(
    what,
    (real.now() - t0).toFixed(0),
    'ms; virtual',
    world.scheduler.now.toFixed(0),
    'events',
    world.scheduler.eventsRun,
    world.scheduler.fingerprint,
    world.gate.counts,
  );
if (process.env.TRACE)
  world.scheduler.onEvent = (at, owner, label) => console.log(at.toFixed(3), owner, label);
const desk = new Desk(world, {
  DATABASE_URL: socketUrl(server.where, name),
  ...(process.env.LOG ? { LOG_LEVEL: process.env.LOG } : {}),
});
await desk.startBoth();
lap('both up');
const agents = new Agents(world, (nth) => desk.urlOf(nth));
const plan = planOf(seed, Number(process.argv[3] ?? 100));
await world.until(
  world.scheduler.within(agents.process, () => agents.register(plan.agents)),
  60_000,
);
lap('registered');
agents.schedule(plan.steps);
await world.pass(plan.steps.at(-1)?.at ?? 0);
lap('steps begun');
await world.until(agents.settled(), 60_000);
lap('settled');
const counts: Record<string, number> = {};
for (const agent of agents.all)
  for (const order of agent.orders)
    for (const { status, body } of order.answers) {
      const k = `${status} ${body?.status ?? body?.code ?? ''} ${body?.errorCode ?? ''}`;
      counts[k] = (counts[k] ?? 0) + 1;
    }
console.log(agents.ordersSent, counts, agents.all.flatMap((a) => a.objections).slice(0, 5));
await desk.killAll();
await observer.end();
await server.dropDatabase(name);
await server.stop();
process.exit(0);
