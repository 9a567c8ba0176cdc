/** Money that moves between agents through trades: they meet on few markets, rest, take, cancel, and look at what is theirs. */
import type { Market } from '@bellwether/sdk';
import type { Agent, AgentClient, Order } from '../agents.ts';
import type { Random } from '../random.ts';
import {
  anOrder,
  clientsOf,
  isOpen,
  newAgents,
  someMarkets,
  untilProof,
  WIDE_CAPS,
  type Workload,
  type Workshop,
  workOn,
} from './workload.ts';

const AGENTS = 4;
const MARKETS = 2;
const WORKERS_EACH = 2;

interface Worker {
  readonly agent: Agent;
  readonly clients: readonly [AgentClient, AgentClient];
  readonly random: Random;
  readonly placed: Order[];
  readonly unknown: Set<Order>;
}

async function step({ stage }: Workshop, worker: Worker, market: Market): Promise<void> {
  const { agent, clients, random, placed, unknown } = worker;
  const draw = random.next();
  if (draw < 0.5 || placed.length === 0) {
    const order = await anOrder(stage, agent, market, random);
    const outcome = await random.pick(clients).place(order.request, order.orderId);
    placed.push(order);
    if (isOpen(outcome)) unknown.add(order);
    // Right after its answer the order is there, at the other replica, too.
    if (random.isOf(0.4)) await random.pick(clients).readOrder(order.orderId);
    return;
  }
  const { orderId } = random.isOf(0.6) ? (placed.at(-1) as Order) : random.pick(placed);
  if (draw < 0.72) {
    await random.pick(clients).cancel(orderId);
    if (random.isOf(0.5)) await random.pick(clients).readOrder(orderId);
  } else if (draw < 0.88) await random.pick(clients).readOrder(orderId);
  else if (draw < 0.95) await random.pick(clients).listOpen();
  else await random.pick(clients).readUsage();
}

export async function moneyMoves(workshop: Workshop): Promise<Workload> {
  const { stage } = workshop;
  const agents = await newAgents(stage, 'Mover', AGENTS);
  const markets = await someMarkets(stage, agents[0] as Agent, MARKETS);
  const workers: Worker[] = [];
  for (const [nth, agent] of agents.entries()) {
    for (let own = 1; own <= WORKERS_EACH; own += 1) {
      const name = `mover ${nth + 1}.${own}`;
      const clients = await clientsOf(workshop, agent, name);
      workers.push({ agent, clients, random: workshop.random(name), placed: [], unknown: new Set() });
    }
    const worker = workers.at(-1) as Worker;
    await worker.clients[0].changeSettings(WIDE_CAPS);
  }
  return {
    agents,
    run: () => workOn(workshop, workers, (worker) => step(workshop, worker, worker.random.pick(markets))),
    settle: async () => {
      await Promise.all(
        workers.map(async ({ clients, random, unknown }) => {
          for (const { request, orderId } of unknown)
            await untilProof(() => random.pick(clients).place(request, orderId));
        }),
      );
    },
  };
}
