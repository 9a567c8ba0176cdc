/**
 * What the desk does by itself or asks a person for: orders whose time runs out, agents that fall silent or speak on, and an owner who
 * approves, declines, does both, or is too late. The acts are shared with the simulation.
 */
import { buildLimitOrder, type LimitOrder, type Market, orderIdOf } from '@bellwether/sdk';
import { type Agent, AgentClient, type Exit, newAgent, type Order } from '../agents.ts';
import type { Outcome, Recorder } from '../history.ts';
import { Owner } from '../owner.ts';
import type { Place } from '../place.ts';
import type { Random } from '../random.ts';
import { aPurchase } from './stops.ts';
import {
  isOpen,
  newAgents,
  pause,
  restingOrder,
  someMarkets,
  untilProof,
  WIDE_CAPS,
  type Workload,
  type Workshop,
} from './workload.ts';

/** The shortest that an agent can set. */
const SILENCE_S = 30;
/** Until the desk has noticed it, also where its watch has to begin anew. */
const NOTICED_MS = 24_000;
const SPEAKS_EVERY_MS = 1_500;
const HOUR_MS = 3_600_000;
/** A GTD order, of desks that want three seconds. */
const EXPIRES_IN_S = { least: 4, most: 9 } as const;
const APPROVAL_ABOVE = 10_000_000n;
const LONGEST_PAUSE_MS = 400;

/** Where an act happens. */
export interface Scene {
  readonly place: Place;
  readonly agent: Agent;
  readonly market: Market;
  readonly random: Random;
  /** One call at a replica, even or odd; others may be under way. */
  ask<T>(replica: number, work: (client: AgentClient) => Promise<T>): Promise<T>;
  /** Asked again once the faults are over: there was no proof. */
  later(ask: (client: AgentClient) => Promise<Outcome>): void;
}

type Terms = Partial<Pick<LimitOrder, 'cancelAfterMs' | 'expiration' | 'type'>> & {
  readonly price: number | string;
  readonly size: number;
};

async function purchase({ place, agent, market }: Scene, terms: Terms): Promise<Order> {
  const { signer } = agent;
  const common = { signer, profile: place.profile, market, outcome: 'YES', side: 'BUY' } as const;
  const request = await buildLimitOrder({ ...common, ...terms } as LimitOrder);
  return { request, orderId: orderIdOf(request) };
}

async function send(scene: Scene, replica: number, { request, orderId }: Order, type?: string) {
  const ask = (client: AgentClient) => client.place(request, orderId, undefined, type);
  const outcome = await scene.ask(replica, ask);
  if (isOpen(outcome)) scene.later(ask);
  return outcome;
}

/** An order that rests until its time is over: sent at both replicas, sent again, or canceled by hand at that very moment. */
export async function letTimeRun(scene: Scene): Promise<void> {
  const { place, market, random } = scene;
  const isLong = random.isOf(0.15);
  const isGtd = place.setUp === 'paper' && random.isOf(0.25);
  const inS = random.between(EXPIRES_IN_S.least, EXPIRES_IN_S.most);
  // The desk ends also what its venue should have ended: a paper world that stands still expires nothing by itself.
  const latest = isGtd && random.isOf(0.5) ? 1_000 * (inS + 2) : random.between(100, 2_000);
  const afterMs = isLong ? HOUR_MS : latest;
  const expiration = Math.ceil(Date.now() / 1_000) + (isLong ? HOUR_MS / 1_000 : inS);
  const order = await purchase(scene, {
    price: random.isOf(0.7) ? market.tickSize : Number(market.bestBid),
    ...{ size: random.between(5, 12), cancelAfterMs: afterMs },
    ...(isGtd ? { type: 'GTD', expiration } : {}),
  });
  const here = random.between(0, 1);
  const sent = [send(scene, here, order)];
  if (random.isOf(0.3)) sent.push(send(scene, here + 1, order));
  await Promise.all(sent);
  const draw = random.next();
  if (isLong || draw < 0.3) return;
  await new Promise((resolve) => setTimeout(resolve, afterMs + random.between(-30, 30)));
  if (draw < 0.55) await scene.ask(here + 1, (client) => client.cancel(order.orderId));
  else if (draw < 0.75) await send(scene, here + 1, order);
  await scene.ask(here, (client) => client.readOrder(order.orderId));
}

/** What an agent has when it falls silent: orders that rest, and exits that then sell. */
export async function leaveBehind(scene: Scene): Promise<void> {
  const { place, agent, market, random } = scene;
  const replica = random.between(0, 1);
  if (random.isOf(0.6)) {
    const isTimed = random.isOf(0.3);
    const terms = { price: market.tickSize, size: random.between(5, 12) };
    await send(
      scene,
      replica,
      await purchase(scene, { ...terms, ...(isTimed ? { cancelAfterMs: HOUR_MS } : {}) }),
    );
    return;
  }
  await send(scene, replica, await aPurchase(place, agent, market, random));
  const request = await buildLimitOrder({
    ...{ signer: agent.signer, profile: place.profile, market, outcome: 'YES', side: 'SELL', type: 'FAK' },
    ...{ price: (Number(market.bestBid) - 0.02).toFixed(2), size: 5 },
  } as LimitOrder);
  const exit: Exit = {
    ...{ request, orderId: orderIdOf(request), dueAt: null, isNever: false },
    terms: { trigger: { kind: 'silence' } },
  };
  const leave = (client: AgentClient) => client.leaveExit(exit);
  if (isOpen(await scene.ask(replica + 1, leave))) scene.later(leave);
}

/** One agent says nothing for longer than its time; this one speaks on, and then wants to be watched no more. */
async function speakOn({ ask }: Scene, isOver: () => boolean): Promise<void> {
  let replica = 0;
  while (!isOver()) {
    await ask(replica++, (client) => client.readUsage());
    await new Promise((resolve) => setTimeout(resolve, SPEAKS_EVERY_MS));
  }
}

export const watch = ({ ask }: Scene): Promise<Outcome> =>
  untilProof(() => ask(0, (client) => client.changeSettings({ silenceSeconds: SILENCE_S })));

/** The end of a run: both were watched until now. */
export async function fallSilent(speaking: Scene): Promise<void> {
  const end = performance.now() + SILENCE_S * 1_000 + NOTICED_MS;
  await speakOn(speaking, () => performance.now() > end);
  let replica = 0;
  await untilProof(() =>
    speaking.ask(replica++, (client) => client.changeSettings({ silenceSeconds: null })),
  );
}

/** An agent whose owner decides on its larger orders. */
export async function ownedAgent(place: Place, recorder: Recorder, name: string) {
  const agent = await newAgent(place, name, false);
  return { agent, owner: await Owner.of(place, recorder, agent) };
}

export const wantApprovals = ({ ask }: Scene): Promise<Outcome> =>
  untilProof(() => ask(0, (client) => client.changeSettings({ approvalAbove: APPROVAL_ABOVE })));

const withType = ({ request, orderId }: Order, orderType: 'GTC' | 'FAK'): Order => ({
  request: { ...request, orderType },
  orderId,
});

/** A larger order waits; its owner decides once, twice at the same moment, or in vain; and it is sent again, as it was or otherwise. */
export async function askTheOwner(scene: Scene, owner: Owner): Promise<void> {
  const { place, agent, market, random } = scene;
  const takes = random.isOf(0.3);
  const price = takes ? Number(market.bestAsk) + 0.02 : 0.05;
  const order = await purchase(scene, {
    price: price.toFixed(2),
    size: Math.ceil(random.between(11, 14) / price),
  });
  const here = random.between(0, 1);
  const post = (nth: number, type: 'GTC' | 'FAK' = 'GTC') =>
    send(scene, here + nth, withType(order, type), type);
  const asked = await post(0);
  if (asked.kind !== 'refused') return;
  const { approvalId } = asked;
  if (approvalId === undefined) return owner.declineWaiting(agent, here);
  const draw = random.next();
  if (draw < 0.2) {
    await owner.decline(agent, approvalId, here);
    await Promise.all([post(0), post(1, random.pick(['GTC', 'FAK'] as const))]);
    if (random.isOf(0.3)) await owner.decline(agent, approvalId, here + 1);
    return;
  }
  const word = await owner.word(here, approvalId);
  if (word === null) return;
  const deciding = [owner.approve(agent, approvalId, here, word)];
  if (draw < 0.5) {
    await pause(random, 12);
    deciding.push(owner.decline(agent, approvalId, here + 1));
  }
  // It may be there before the answer is.
  if (random.isOf(0.3)) await post(1);
  await Promise.all(deciding);
  if (draw > 0.7) {
    // Another type of the very same order is another order for its owner.
    if (draw < 0.85) await post(1, 'FAK');
    else
      await sendAtTheEnd(
        scene,
        (nth) => post(nth),
        await shorten(place, owner, { agent, approvalId, random }),
      );
  }
  await Promise.all(random.isOf(0.5) ? [post(0), post(1)] : [post(1)]);
}

interface Shortening {
  readonly agent: Agent;
  readonly approvalId: string;
  readonly random: Random;
}

/** @returns when the approval ends, by the recorder's clock */
async function shorten(
  place: Place,
  owner: Owner,
  { agent, approvalId, random }: Shortening,
): Promise<number> {
  const ms = random.between(40, 200);
  const endsAt = performance.now() + ms;
  await owner.shorten(place, agent, approvalId, ms);
  return endsAt;
}

/** One request is read before the end and judged behind it, if any is. */
async function sendAtTheEnd(
  { random }: Scene,
  post: (nth: number) => Promise<Outcome>,
  endsAt: number,
): Promise<void> {
  const before = random.between(2, 30);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, endsAt - performance.now() - before)));
  await post(random.between(0, 1));
}

/** Below the limit, while the owner pauses the agent and lets it go on. */
export async function pauseByOwner(scene: Scene, owner: Owner): Promise<void> {
  const { place, agent, market, random } = scene;
  const order = () => restingOrder(place, agent, market, random.between(5, 12));
  const here = random.between(0, 1);
  await send(scene, here + 1, await order());
  const pausing = owner.pause(agent, true, here);
  if (random.isOf(0.5)) await send(scene, here + 1, await order());
  await pausing;
  await Promise.all([send(scene, here, await order()), send(scene, here + 1, await order())]);
  let replica = here;
  await untilProof(() => owner.pause(agent, false, replica++));
  await send(scene, here, await order());
}

interface Worker {
  readonly scene: Scene;
  readonly again: (() => Promise<Outcome>)[];
}

export async function watched({ stage, recorder, random, isOver }: Workshop): Promise<Workload> {
  const { agent: owned, owner } = await ownedAgent(stage, recorder, 'Owned 1');
  const others = await newAgents(stage, 'Watched', 3);
  const [timed, silent, speaking] = others as readonly [Agent, Agent, Agent];
  const [market] = (await someMarkets(stage, owned, 1)) as readonly [Market];
  const workerOf = async (agent: Agent, name: string): Promise<Worker> => {
    const idle: readonly [AgentClient[], AgentClient[]] = [[], []];
    const again: Worker['again'] = [];
    const ask: Scene['ask'] = async (nth, work) => {
      const replica = (nth % 2) as 0 | 1;
      const client =
        idle[replica].pop() ?? (await AgentClient.open({ agent, name, replica }, stage, recorder));
      return work(client).finally(() => idle[replica].push(client));
    };
    const scene: Scene = {
      ...{ place: stage, agent, market, random: random(name), ask },
      later: (work) => void again.push(() => ask(again.length, work)),
    };
    await untilProof(() => ask(0, (client) => client.changeSettings(WIDE_CAPS)));
    return { scene, again };
  };
  const workers = {
    owned: await workerOf(owned, 'owned'),
    timed: await workerOf(timed, 'timed'),
    silent: await workerOf(silent, 'silent'),
    speaking: await workerOf(speaking, 'speaking'),
  };
  await wantApprovals(workers.owned.scene);
  for (const { scene } of [workers.silent, workers.speaking]) await watch(scene);
  const loop = async ({ scene }: Worker, act: (scene: Scene) => Promise<void>): Promise<void> => {
    while (!isOver()) {
      await act(scene);
      await pause(scene.random, LONGEST_PAUSE_MS);
    }
  };
  /** Silent for long enough, also in the middle of a run. */
  const leaveAndGo = async (scene: Scene): Promise<void> => {
    for (let nth = 0; nth < 3; nth += 1) await leaveBehind(scene);
    const end = performance.now() + SILENCE_S * 1_000 + NOTICED_MS;
    while (!isOver() && performance.now() < end) await pause(scene.random, LONGEST_PAUSE_MS);
  };
  return {
    agents: [owned, timed, silent, speaking],
    unheard: [silent],
    run: async () => {
      await Promise.all([
        loop(workers.owned, (scene) =>
          scene.random.isOf(0.15) ? pauseByOwner(scene, owner) : askTheOwner(scene, owner),
        ),
        loop(workers.timed, letTimeRun),
        loop(workers.silent, leaveAndGo),
        speakOn(workers.speaking.scene, isOver),
        loop(workers.speaking, async (scene) => {
          await leaveBehind(scene);
          await pause(scene.random, 10 * LONGEST_PAUSE_MS);
        }),
      ]);
    },
    settle: async () => {
      await Promise.all(Object.values(workers).flatMap(({ again }) => again.map(untilProof)));
      await leaveBehind(workers.silent.scene);
      await fallSilent(workers.speaking.scene);
    },
  };
}
