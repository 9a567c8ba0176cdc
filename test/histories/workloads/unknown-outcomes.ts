/**
 * Unknown outcomes: answers are lost before and after the desk has executed what was asked, all the time, and the agent asks again, here or
 * there, until it knows. Its budget is narrow, so that a trade that counts twice, or never, shows.
 */
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
  type Workload,
  type Workshop,
  workOn,
} from './workload.ts';

const AGENTS = 3;
const ATTEMPTS = 4;
const CAPS = { maxTradesPerDay: 30, dailyTradeAmountLimit: 150_000_000n, maxTradeAmount: 20_000_000n };

interface Worker {
  readonly agent: Agent;
  readonly clients: readonly [AgentClient, AgentClient];
  /** Connection of each client that loses answers. */
  readonly links: readonly { loseAnswer(when: 'before' | 'after'): void }[];
  readonly random: Random;
  readonly unknown: Set<Order>;
  caps: { maxTradesPerDay: number; dailyTradeAmountLimit: bigint };
}

async function step({ stage }: Workshop, worker: Worker, market: Market): Promise<void> {
  const { agent, clients, links, random, unknown } = worker;
  const order = await anOrder(stage, agent, market, random);
  const key = random.isOf(0.3) ? `order ${order.orderId}` : undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const at = random.between(0, 1);
    if (random.isOf(0.5)) links[at]?.loseAnswer(random.isOf(0.5) ? 'before' : 'after');
    const outcome = await (clients[at] as AgentClient).place(order.request, order.orderId, key);
    if (isOpen(outcome)) unknown.add(order);
    else {
      unknown.delete(order);
      break;
    }
    if (random.isOf(0.5)) await random.pick(clients).readOrder(order.orderId);
  }
  if (random.isOf(0.4)) {
    const at = random.between(0, 1);
    if (random.isOf(0.4)) links[at]?.loseAnswer(random.isOf(0.5) ? 'before' : 'after');
    await (clients[at] as AgentClient).cancel(order.orderId);
    await random.pick(clients).readOrder(order.orderId);
  }
  if (random.isOf(0.15)) {
    worker.caps = {
      maxTradesPerDay: worker.caps.maxTradesPerDay + random.between(2, 12),
      dailyTradeAmountLimit: worker.caps.dailyTradeAmountLimit + BigInt(random.between(10, 60)) * 1_000_000n,
    };
    await random.pick(clients).changeSettings({ ...worker.caps });
  }
}

export async function unknownOutcomes(workshop: Workshop): Promise<Workload> {
  const { stage } = workshop;
  const agents = await newAgents(stage, 'Doubter', AGENTS);
  const markets = await someMarkets(stage, agents[0] as Agent, 2);
  const workers: Worker[] = [];
  for (const [nth, agent] of agents.entries()) {
    const name = `doubter ${nth + 1}`;
    const clients = await clientsOf(workshop, agent, name);
    const links = stage.replicas.map((replica) => replica.links.at(-1) as Worker['links'][number]);
    const { maxTradesPerDay, dailyTradeAmountLimit } = CAPS;
    const caps = { maxTradesPerDay, dailyTradeAmountLimit };
    workers.push({ agent, clients, links, random: workshop.random(name), unknown: new Set(), caps });
    await clients[0].changeSettings(CAPS);
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
