/** Shared by every workload: agents, their clients at both replicas, markets, and an end. */
import { buildLimitOrder, buildMarketOrder, type Market, orderIdOf } from '@bellwether/sdk';
import { limitOrder } from '../../harness.ts';
import { type Agent, AgentClient, newAgent, type Order, openMarkets } from '../agents.ts';
import type { Outcome, Recorder } from '../history.ts';
import type { Place } from '../place.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';

export interface Workshop {
  readonly stage: Stage;
  readonly recorder: Recorder;
  readonly random: (name: string) => Random;
  /** Its faults are over soon: no further step begins. */
  readonly isOver: () => boolean;
}

export interface Workload {
  readonly agents: readonly Agent[];
  /** Those of them that have no listener: a briefing is a request. */
  readonly unheard?: readonly Agent[];
  /** Resolves when it has made its last step. */
  run(): Promise<void>;
  /** Once the faults are over: asks for what is unknown, until there is an answer. */
  settle(): Promise<void>;
}

export const newAgents = async (place: Place, name: string, count: number): Promise<readonly Agent[]> => {
  const agents: Agent[] = [];
  for (let nth = 1; nth <= count; nth += 1) agents.push(await newAgent(place, `${name} ${nth}`));
  return agents;
};

/** A worker's two clients, one at each replica. */
export const clientsOf = async (
  { stage, recorder }: Workshop,
  agent: Agent,
  name: string,
): Promise<readonly [AgentClient, AgentClient]> => [
  await AgentClient.open({ agent, name, replica: 0 }, stage, recorder),
  await AgentClient.open({ agent, name, replica: 1 }, stage, recorder),
];

export async function someMarkets(place: Place, agent: Agent, count: number): Promise<readonly Market[]> {
  const markets = await openMarkets(place, agent);
  if (markets.length < count)
    throw new Error(`the venue has ${markets.length} such markets, and ${count} are needed`);
  return markets.slice(0, count);
}

const cents = (price: number): number => Math.min(0.99, Math.max(0.01, Number(price.toFixed(2))));

/** Between the house's prices, so that agents meet one another; a share of them takes what is there. */
export async function anOrder(
  { profile }: Pick<Place, 'profile'>,
  agent: Agent,
  market: Market,
  random: Random,
): Promise<Order> {
  const [bid, ask] = [Number(market.bestBid), Number(market.bestAsk)];
  const outcome = random.isOf(0.7) ? 'YES' : 'NO';
  const [low, high] = outcome === 'YES' ? [bid, ask] : [1 - ask, 1 - bid];
  const common = { signer: agent.signer, profile, market, outcome } as const;
  const request = random.isOf(0.25)
    ? await buildMarketOrder({
        ...{ ...common, side: 'BUY', amount: random.between(2, 9) },
        ...{ worstPrice: cents(high + 0.03), type: random.isOf(0.5) ? 'FAK' : 'FOK' },
      })
    : await buildLimitOrder({
        ...{ ...common, side: random.isOf(0.6) ? 'BUY' : 'SELL', size: random.between(5, 20) },
        price: cents(low + (high - low) * random.next() + (random.isOf(0.5) ? 0.01 : -0.01)),
      } as Parameters<typeof buildLimitOrder>[0]);
  return { request, orderId: orderIdOf(request) };
}

/** A BUY far below the market: it rests. */
export async function restingOrder(
  { profile }: Pick<Place, 'profile'>,
  agent: Agent,
  market: Market,
  size: number,
): Promise<Order> {
  const request = await limitOrder(agent, market, { profile, side: 'BUY', size, price: market.tickSize });
  return { request, orderId: orderIdOf(request) };
}

export const pause = (random: Random, most: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, random.between(0, most)));

/** Caps that no run reaches. */
export const WIDE_CAPS = {
  maxTradesPerDay: 5_000,
  maxTradeAmount: 1_000_000_000n,
  dailyTradeAmountLimit: 1_000_000_000_000n,
} as const;

const LONGEST_PAUSE_MS = 300;
const AFTER_SILENCE_MS = 400;

interface Acting {
  readonly random: Random;
  readonly clients: readonly AgentClient[];
}

/** Between two steps; longer where no answer came, as agents do: a replica that is down would else be asked a thousand times. */
async function rest({ random, clients }: Acting): Promise<void> {
  if (clients.some(({ isSilent }) => isSilent)) await pause(random, 2 * AFTER_SILENCE_MS);
  await pause(random, LONGEST_PAUSE_MS);
}

/** Every worker acts and rests, until the run is over. */
export async function workOn<W extends Acting>(
  { isOver }: Workshop,
  workers: readonly W[],
  act: (worker: W) => Promise<void>,
): Promise<void> {
  await Promise.all(
    workers.map(async (worker) => {
      while (!isOver()) {
        await act(worker);
        await rest(worker);
      }
    }),
  );
}

/** There is no proof yet, or another call with the same name is under way. */
export const isOpen = (outcome: Outcome): boolean =>
  outcome.kind === 'unknown' ||
  (outcome.kind === 'refused' &&
    ['idempotency_in_flight', 'rate_limited', 'request_timeout'].includes(outcome.code));

/** An answer that stays away for longer than any lease, deadline or doubt of the desk. */
const SETTLED_WITHIN_MS = 150_000;
const ASK_EVERY_MS = 500;

/** Asks again until there is proof. What has none in the end is in the history, and the checker's to judge. */
export async function untilProof(ask: () => Promise<Outcome>): Promise<Outcome> {
  const end = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const outcome = await ask();
    if (!isOpen(outcome) || performance.now() > end) return outcome;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}
