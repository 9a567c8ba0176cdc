/**
 * Guarded exits: agents buy, leave what sells it with the desk, and then pause, resume, take back, sell beside it, or leave it alone. Some
 * are due at once, some never, some wait for a price that the agents' own orders make, and some may not be sent at all.
 */
import { buildLimitOrder, type Market, orderIdOf } from '@bellwether/sdk';
import type { Agent, AgentClient, Exit, Order } from '../agents.ts';
import type { Outcome } from '../history.ts';
import type { Place } from '../place.ts';
import type { Random } from '../random.ts';
import {
  clientsOf,
  isOpen,
  newAgents,
  pause,
  someMarkets,
  untilProof,
  WIDE_CAPS,
  type Workload,
  type Workshop,
  workOn,
} from './workload.ts';

const AGENTS = 3;
const LONGEST_PAUSE_MS = 300;
/** A time trigger is due so soon. */
const SOON_MS = { least: 100, most: 2_500 } as const;
const HOUR_MS = 3_600_000;
const LEAST_SHARES = 5;

type Profile = Pick<Place, 'profile'>;
type Type = 'FAK' | 'FOK' | 'GTC';

const cents = (price: number): number => Math.min(0.99, Math.max(0.01, Number(price.toFixed(2))));

async function limit(
  { profile }: Profile,
  agent: Agent,
  market: Market,
  terms: {
    readonly side: 'BUY' | 'SELL';
    readonly price: number;
    readonly size: number;
    readonly type: Type;
  },
): Promise<Order> {
  const request = await buildLimitOrder({
    ...{ signer: agent.signer, profile, market, outcome: 'YES' },
    ...terms,
    price: cents(terms.price),
  } as Parameters<typeof buildLimitOrder>[0]);
  return { request, orderId: orderIdOf(request) };
}

/** Takes what the house offers. */
export const aPurchase = (place: Profile, agent: Agent, market: Market, random: Random): Promise<Order> =>
  limit(place, agent, market, {
    ...{ side: 'BUY', type: 'FAK', price: Number(market.bestAsk) + 0.02 },
    size: random.between(6, 14),
  });

/** What is left, by its trigger. */
type Kind = 'time' | 'stop' | 'profit' | 'rests' | 'waits' | 'cheap' | 'never';
const KINDS: readonly (readonly [Kind, number])[] = [
  ['time', 0.35],
  ['stop', 0.2],
  ['profit', 0.13],
  ['rests', 0.1],
  ['cheap', 0.1],
  ['never', 0.12],
];

function kindOf(random: Random): Kind {
  let draw = random.next();
  for (const [kind, share] of KINDS) {
    draw -= share;
    if (draw < 0) return kind;
  }
  return 'time';
}

/** @param group those of one group are due at about the same time */
export async function anExit(
  place: Profile,
  agent: Agent,
  market: Market,
  random: Random,
  group?: string,
): Promise<Exit> {
  const bid = Number(market.bestBid);
  const ofGroup = random.isOf(0.4) ? 'waits' : random.isOf(0.7) ? 'time' : kindOf(random);
  const kind = group === undefined ? kindOf(random) : ofGroup;
  const dueAt =
    kind === 'time' || kind === 'cheap' || kind === 'waits'
      ? Date.now() + random.between(SOON_MS.least, SOON_MS.most)
      : kind === 'never' && random.isOf(0.5)
        ? Date.now() + HOUR_MS
        : null;
  const type = random.pick(['FAK', 'FAK', 'GTC', 'FOK'] as const);
  const below = (price: number) => ({ kind: 'price_at_or_below', price: cents(price) }) as const;
  const above = (price: number) => ({ kind: 'price_at_or_above', price: cents(price) }) as const;
  const at = { kind: 'time', at: new Date(dueAt ?? 0).toISOString() } as const;
  const terms: Readonly<Record<Kind, readonly [Exit['terms']['trigger'], number, Type]>> = {
    time: [at, bid - random.between(0, 2) / 100, type],
    // The house's bid is as low as that; an agent's bid above it lets go.
    stop: [below(bid + random.between(0, 1) / 100), bid * 0.94, type],
    profit: [above(bid + random.between(0, 1) / 100), bid - 0.01, type],
    // Its order waits on the book: the others of its group wait with it.
    waits: [at, 0.9, 'GTC'],
    // It holds in every book.
    rests: [below(0.99), 0.9, 'GTC'],
    // So far below the market it is not sent.
    cheap: [at, 0.01, type],
    never: [dueAt === null ? below(0.02) : at, dueAt === null ? 0.02 : bid - 0.01, type],
  };
  const [trigger, price, ofType] = terms[kind];
  const order = await limit(place, agent, market, {
    ...{ side: 'SELL', price, type: ofType, size: random.between(LEAST_SHARES, 8) },
  });
  return {
    ...order,
    terms: { trigger, ...(group === undefined ? {} : { group }) },
    dueAt,
    isNever: kind === 'never',
  };
}

interface Closing {
  readonly place: Profile;
  readonly client: AgentClient;
  readonly market: Market;
  readonly random: Random;
}

/** Sells all that is held beside the exits, looks at them, and may buy anew: what they guarded is gone. */
export async function closeAndBuy(
  { place, client, market, random }: Closing,
  onPlaced: (order: Order) => void,
): Promise<void> {
  const send = async (order: Order): Promise<void> => {
    onPlaced(order);
    await client.place(order.request, order.orderId);
  };
  const held = Math.floor(((await client.sharesOf(market)) ?? 0) * 100) / 100;
  if (held < LEAST_SHARES) return;
  const price = Number(market.bestBid) * 0.9;
  const sale = await limit(place, client.agent, market, { side: 'SELL', type: 'FAK', price, size: held });
  await send(sale);
  await client.readOrder(sale.orderId);
  await client.listExits();
  if (random.isOf(0.6)) await send(await aPurchase(place, client.agent, market, random));
}

/** Each that the list shows suspended. */
export async function resumeAll(client: AgentClient): Promise<void> {
  const outcome = await client.listExits();
  const exits = outcome.kind === 'ok' ? (outcome.answer.exits ?? []) : [];
  for (const [exitId, status] of exits) if (status === 'suspended') await client.resumeExit(exitId);
}

interface Worker {
  readonly agent: Agent;
  readonly clients: readonly [AgentClient, AgentClient];
  readonly random: Random;
  readonly left: { readonly exit: Exit; exitId: string | null }[];
  readonly again: (() => Promise<Outcome>)[];
  groups: number;
}

async function leave(worker: Worker, exit: Exit): Promise<void> {
  const { clients, random, left, again } = worker;
  const one: Worker['left'][number] = { exit, exitId: null };
  left.push(one);
  const ask = async (): Promise<Outcome> => {
    const outcome = await random.pick(clients).leaveExit(exit);
    if (outcome.kind === 'ok') one.exitId = outcome.answer.exitId ?? null;
    return outcome;
  };
  if (isOpen(await ask())) again.push(ask);
}

async function step({ stage }: Workshop, worker: Worker, market: Market): Promise<void> {
  const { agent, clients, random, left, again } = worker;
  const client = random.pick(clients);
  const place = async (order: Order): Promise<void> => {
    const ask = () => random.pick(clients).place(order.request, order.orderId);
    if (isOpen(await ask())) again.push(ask);
  };
  const draw = random.next();
  if (draw < 0.25 || left.length === 0) {
    await place(await aPurchase(stage, agent, market, random));
    await leave(worker, await anExit(stage, agent, market, random));
  } else if (draw < 0.45) await leave(worker, await anExit(stage, agent, market, random));
  else if (draw < 0.58) {
    worker.groups += 1;
    const group = `${agent.agentId.slice(0, 8)} ${worker.groups}`;
    await place(await aPurchase(stage, agent, market, random));
    for (let nth = 0; nth < 2; nth += 1)
      await leave(worker, await anExit(stage, agent, market, random, group));
    await client.listExits();
  } else if (draw < 0.68) {
    const { exitId } = random.pick(left);
    if (exitId === null) return;
    await client.cancelExit(exitId);
    await random.pick(clients).readExit(exitId);
  } else if (draw < 0.76) {
    await client.changeSettings({ tradingPaused: true });
    await random.pick(clients).listExits();
    await pause(random, LONGEST_PAUSE_MS);
    await untilProof(() => random.pick(clients).changeSettings({ tradingPaused: false }));
    if (random.isOf(0.7)) await resumeAll(random.pick(clients));
  } else if (draw < 0.84) await leave(worker, random.pick(left).exit);
  else if (draw < 0.9) await client.listExits();
  else
    await closeAndBuy({ place: stage, client, market, random }, ({ request, orderId }) =>
      again.push(() => random.pick(clients).place(request, orderId)),
    );
}

export async function stops(workshop: Workshop): Promise<Workload> {
  const { stage } = workshop;
  const agents = await newAgents(stage, 'Guard', AGENTS);
  const [market] = (await someMarkets(stage, agents[0] as Agent, 1)) as readonly [Market];
  const workers: Worker[] = [];
  for (const [nth, agent] of agents.entries()) {
    const name = `guard ${nth + 1}`;
    const clients = await clientsOf(workshop, agent, name);
    const [first] = clients;
    await first.changeSettings(WIDE_CAPS);
    workers.push({ agent, clients, random: workshop.random(name), left: [], again: [], groups: 0 });
  }
  return {
    agents,
    run: () => workOn(workshop, workers, (worker) => step(workshop, worker, market)),
    settle: async () => {
      await Promise.all(workers.flatMap(({ again }) => again.map(untilProof)));
    },
  };
}
