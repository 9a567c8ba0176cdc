/**
 * Retries with every kind of key, on two replicas at once: the Idempotency-Key, the signed order itself, the agent's own name for an
 * order, a cancel twice, a further body under a key that is used. Beside them: keys that are revoked, and caps that are reached and raised.
 */
import type { Market, TradeIntent } from '@bellwether/sdk';
import type { Agent, AgentClient, Order } from '../agents.ts';
import type { Outcome } from '../history.ts';
import type { Random } from '../random.ts';
import {
  anOrder,
  clientsOf,
  isOpen,
  newAgents,
  pause,
  restingOrder,
  someMarkets,
  untilProof,
  type Workload,
  type Workshop,
  workOn,
} from './workload.ts';

const AGENTS = 3;
const LONGEST_PAUSE_MS = 300;
const ACTIVE_KEYS = 6;
const CAPS = { maxTradesPerDay: 6, dailyTradeAmountLimit: 60_000_000n, maxTradeAmount: 12_000_000n };

interface Worker {
  readonly agent: Agent;
  readonly name: string;
  readonly clients: readonly [AgentClient, AgentClient];
  /** For what is sent at the same time as something else. */
  readonly twins: readonly [AgentClient, AgentClient];
  readonly random: Random;
  readonly market: Market;
  readonly again: (() => Promise<Outcome>)[];
  readonly caps: { maxTradesPerDay: number; dailyTradeAmountLimit: bigint };
  turn: number;
  keys: number;
}

/** The same call at both replicas at the same time, and once more afterwards. */
async function twice(
  { clients, twins, random, again }: Worker,
  ask: (client: AgentClient) => Promise<Outcome>,
): Promise<void> {
  const [here, there] = random.isOf(0.5) ? [clients[0], twins[1]] : [clients[1], twins[0]];
  const outcomes = await Promise.all([ask(here), ask(there)]);
  const last = random.isOf(0.5) ? await ask(random.pick(clients)) : null;
  if (isOpen(last ?? (outcomes[0] as Outcome)) && outcomes.every(isOpen))
    again.push(() => ask(random.pick(clients)));
}

const keyOf = (worker: Worker): string => {
  worker.turn += 1;
  return `${worker.name} ${worker.turn}`;
};

async function placeTwice({ stage }: Workshop, worker: Worker, order?: Order): Promise<void> {
  const { agent, market, random } = worker;
  const { request, orderId } = order ?? (await anOrder(stage, agent, market, random));
  const key = random.isOf(0.5) ? keyOf(worker) : undefined;
  await twice(worker, (client) => client.place(request, orderId, key));
  if (key === undefined || random.isOf(0.7)) return;
  // Another order under the same key has no effect.
  const other = await restingOrder(stage, agent, market, random.between(5, 9));
  await random.pick(worker.clients).place(other.request, other.orderId, key);
}

/** The agent's own name for an order: what both replicas make of it is one order. */
async function prepareTwice(workshop: Workshop, worker: Worker): Promise<void> {
  const { stage } = workshop;
  const { agent, market, random, clients, twins } = worker;
  const intent: TradeIntent = {
    ...{ clientOrderId: keyOf(worker), marketId: market.id, outcome: 'YES', side: 'BUY' },
    ...{ price: Number(market.bestBid), size: random.between(5, 9), signer: agent.signer.address },
    ...(stage.profile === 'polymarket' ? { timestamp: Date.now() } : {}),
  };
  const made = await Promise.all(
    [clients[0], twins[1]].map((client) => client.prepare(market, intent, stage.profile)),
  );
  const orders = made.filter((order) => order !== null);
  await Promise.all(
    orders.map(({ request, orderId }, nth) =>
      (nth === 0 ? clients : twins)[nth as 0 | 1].place(request, orderId),
    ),
  );
  const [order] = orders;
  if (order !== undefined) await placeTwice(workshop, worker, order);
}

async function cancelTwice({ stage }: Workshop, worker: Worker): Promise<void> {
  const { agent, market, random } = worker;
  const { request, orderId } = await restingOrder(stage, agent, market, random.between(5, 20));
  await random.pick(worker.clients).place(request, orderId);
  const key = random.isOf(0.4) ? keyOf(worker) : undefined;
  await twice(worker, (client) => client.cancel(orderId, key));
  await random.pick(worker.clients).readOrder(orderId);
}

/** Each makes a key of the agent that stays; an agent can have ten. */
async function createTwice(worker: Worker): Promise<void> {
  if (worker.keys >= ACTIVE_KEYS) return;
  worker.keys += 1;
  const key = keyOf(worker);
  const name = key.replaceAll(' ', '-');
  await twice(worker, (client) => client.createApiKey(name, key));
}

async function useAndRevoke(worker: Worker): Promise<void> {
  const { clients, random } = worker;
  const made = await random.pick(clients).newApiKey('to revoke');
  if (made === null) return;
  for (const client of clients) await client.useApiKey(made.id, made.secret);
  const [revoked] = await Promise.all([
    clients[0].revokeApiKey(made.id),
    worker.twins[1].useApiKey(made.id, made.secret),
  ]);
  for (const client of clients) await client.useApiKey(made.id, made.secret);
  // It must not stay: an agent can have ten.
  if (isOpen(revoked)) worker.again.push(() => clients[0].revokeApiKey(made.id));
}

/** A cap is raised, or trading is paused and goes on; what is refused under one may be sent again under the other. */
async function changeCaps(worker: Worker): Promise<void> {
  const { clients, random, caps } = worker;
  if (random.isOf(0.3)) {
    await random.pick(clients).changeSettings({ tradingPaused: true });
    await pause(random, LONGEST_PAUSE_MS);
    const outcome = await random.pick(clients).changeSettings({ tradingPaused: false });
    if (isOpen(outcome))
      await untilProof(() => random.pick(clients).changeSettings({ tradingPaused: false }));
    return;
  }
  caps.maxTradesPerDay += random.between(1, 5);
  caps.dailyTradeAmountLimit += BigInt(random.between(5, 40)) * 1_000_000n;
  await random.pick(clients).changeSettings({ ...caps });
}

async function step(workshop: Workshop, worker: Worker): Promise<void> {
  const draw = worker.random.next();
  if (draw < 0.35) await placeTwice(workshop, worker);
  else if (draw < 0.45) await prepareTwice(workshop, worker);
  else if (draw < 0.62) await cancelTwice(workshop, worker);
  else if (draw < 0.7) await createTwice(worker);
  else if (draw < 0.78) await useAndRevoke(worker);
  else if (draw < 0.92) await changeCaps(worker);
  else await worker.random.pick(worker.clients).readUsage();
}

export async function retries(workshop: Workshop): Promise<Workload> {
  const { stage } = workshop;
  const agents = await newAgents(stage, 'Repeater', AGENTS);
  const [market] = (await someMarkets(stage, agents[0] as Agent, 1)) as readonly [Market];
  const workers: Worker[] = [];
  for (const [nth, agent] of agents.entries()) {
    const name = `repeater ${nth + 1}`;
    const worker: Worker = {
      ...{ agent, name, market, random: workshop.random(name), again: [], turn: 0, keys: 0 },
      clients: await clientsOf(workshop, agent, name),
      twins: await clientsOf(workshop, agent, `${name}'`),
      caps: { maxTradesPerDay: CAPS.maxTradesPerDay, dailyTradeAmountLimit: CAPS.dailyTradeAmountLimit },
    };
    await worker.clients[0].changeSettings(CAPS);
    workers.push(worker);
  }
  return {
    agents,
    run: () => workOn(workshop, workers, (worker) => step(workshop, worker)),
    settle: async () => {
      await Promise.all(workers.flatMap(({ again }) => again.map(untilProof)));
    },
  };
}
