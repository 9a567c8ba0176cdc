/** Agents that do what a plan says, over HTTP, and write down what they asked and were answered. */
import type { Market, TradeIntent } from '@bellwether/sdk';
import { type Agent, AgentClient, type Exit, type Order } from '../histories/agents.ts';
import type { Outcome, Recorder, Settings } from '../histories/history.ts';
import type { Owner } from '../histories/owner.ts';
import type { Place } from '../histories/place.ts';
import { type Random, seeded } from '../histories/random.ts';
import {
  type Asking,
  SET_ACTS,
  type SetMarkets,
  setMarkets,
  settleSets,
} from '../histories/workloads/sets.ts';
import { anExit, aPurchase, closeAndBuy, resumeAll } from '../histories/workloads/stops.ts';
import {
  askTheOwner,
  fallSilent,
  leaveBehind,
  letTimeRun,
  ownedAgent,
  pauseByOwner,
  type Scene,
  wantApprovals,
  watch,
} from '../histories/workloads/watched.ts';
import {
  anOrder,
  isOpen,
  newAgents,
  pause,
  restingOrder,
  someMarkets,
  untilProof,
} from '../histories/workloads/workload.ts';
import { AGENTS, type Step, type StepKind } from './plan.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

const MARKETS = 2;
const LONGEST_PAUSE_MS = 400;
/** What a pause has suspended is resumed by then, or never. */
const LONGEST_REST_MS = 12_000;
const MOST_API_KEYS = 6;
/** Of a key while it is being revoked. */
const USES_AT_LEAST = 4;
const WIDE = {
  maxTradesPerDay: 5_000,
  maxTradeAmount: 1_000_000_000n,
  dailyTradeAmountLimit: 100_000_000_000n,
};
/** Of the third agent, from its beginning. */
const MAX_POSITION_VALUE = 60_000_000n;
const TIGHT = { maxTradesPerDay: 8, maxTradeAmount: 8_000_000n, dailyTradeAmountLimit: 50_000_000n };

interface Trader {
  readonly agent: Agent;
  readonly name: string;
  /** By replica; each makes one call at a time. */
  readonly idle: readonly [AgentClient[], AgentClient[]];
  readonly placed: Order[];
  /** Orders that were left, and the exits that an answer named. */
  readonly left: { readonly exit: Exit; exitId: string | null }[];
  /** Repetitions of requests that had no proof yet. */
  readonly again: (() => Promise<Outcome>)[];
  readonly caps: { maxTradesPerDay: number; maxTradeAmount: bigint; dailyTradeAmountLimit: bigint };
  /** Splits, merges and conversions that the owner has signed. */
  readonly sent: Set<string>;
  names: number;
  apiKeys: number;
}

interface Turn {
  readonly trader: Trader;
  readonly market: Market;
  readonly random: Random;
  readonly replica: number;
}

export class Traders {
  readonly #world: World;
  readonly #place: Place;
  readonly #recorder: Recorder;
  readonly #traders: readonly Trader[];
  readonly #markets: readonly Market[];
  /** `null`: no step needs them. */
  readonly #sets: SetMarkets | null;
  /** Agents beside the plan's own, where a step needs them. */
  #owned: { readonly trader: Trader; readonly owner: Owner } | null = null;
  #watched: { readonly silent: Trader; readonly speaking: Trader } | null = null;
  readonly #pending = new Set<Promise<void>>();

  private constructor(
    world: World,
    place: Place,
    recorder: Recorder,
    traders: readonly Trader[],
    markets: { readonly traded: readonly Market[]; readonly sets: SetMarkets | null },
  ) {
    this.#world = world;
    this.#place = place;
    this.#recorder = recorder;
    this.#traders = traders;
    this.#markets = markets.traded;
    this.#sets = markets.sets;
  }

  /** The last of them has tight caps. */
  static async open(
    world: World,
    place: Place,
    recorder: Recorder,
    kinds: ReadonlySet<StepKind>,
  ): Promise<Traders> {
    const agents = await newAgents(place, 'Agent', AGENTS);
    const traded = await someMarkets(place, agents[0] as Agent, MARKETS);
    const hasSets = Object.keys(SET_ACTS).some((kind) => kinds.has(kind as StepKind));
    const sets = hasSets ? await setMarkets(place, agents[0] as Agent) : null;
    const traders = agents.map((agent, nth) =>
      newTrader(agent, `agent ${nth + 1}`, nth === agents.length - 1 ? TIGHT : WIDE),
    );
    const all = new Traders(world, place, recorder, traders, { traded, sets });
    const limit = (trader: Trader, others: Settings = {}) =>
      all.#with(trader, 0, (client) => client.changeSettings({ ...trader.caps, ...others }));
    for (const [nth, trader] of traders.entries())
      await limit(trader, hasSets && nth === 2 ? { maxPositionValue: MAX_POSITION_VALUE } : {});
    if (kinds.has('approval') || kinds.has('owner_pause')) {
      const { agent, owner } = await ownedAgent(place, recorder, 'Owned');
      all.#owned = { trader: newTrader(agent, 'owned agent', WIDE), owner };
      await limit(all.#owned.trader);
      await wantApprovals(all.#sceneOf(all.#owned.trader, seeded(world.seed, 'owned')));
    }
    if (kinds.has('hush')) {
      const [silent, speaking] = (await newAgents(place, 'Watched', 2)) as [Agent, Agent];
      all.#watched = {
        silent: newTrader(silent, 'silent agent', WIDE),
        speaking: newTrader(speaking, 'speaking agent', WIDE),
      };
      for (const trader of Object.values(all.#watched)) {
        await limit(trader);
        await watch(all.#sceneOf(trader, seeded(world.seed, trader.name)));
      }
    }
    return all;
  }

  get agents(): readonly Agent[] {
    return this.#all().map(({ agent }) => agent);
  }

  /** Those to whom somebody may listen: a briefing is a request. */
  get heard(): readonly Agent[] {
    return this.agents.filter((agent) => agent !== this.#watched?.silent.agent);
  }

  #all(): readonly Trader[] {
    return [
      ...this.#traders,
      ...(this.#owned === null ? [] : [this.#owned.trader]),
      ...Object.values(this.#watched ?? {}),
    ];
  }

  /** Begins each step when it is due. */
  schedule(steps: readonly Step[], owner: SimulatedProcess): void {
    for (const step of steps)
      this.#world.scheduler.after(
        step.at,
        step.kind,
        () => {
          const done: Promise<void> = this.#act(step)
            .then(
              () => {},
              (error: unknown) => this.#world.fail(error),
            )
            .finally(() => this.#pending.delete(done));
          this.#pending.add(done);
        },
        owner,
      );
  }

  /** Once the faults are over: what has had no proof is asked for again. */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    await Promise.all(this.#all().flatMap(({ again }) => again.map(untilProof)));
    if (this.#sets !== null) {
      const turn = { random: seeded(0, 'settle'), replica: 0, market: this.#markets[0] as Market };
      for (const trader of this.#traders) await settleSets(this.#asking({ ...turn, trader }, this.#sets));
    }
    if (this.#watched === null) return;
    const { silent, speaking } = this.#watched;
    await leaveBehind(this.#sceneOf(silent, seeded(this.#world.seed, 'silent')));
    await fallSilent(this.#sceneOf(speaking, seeded(this.#world.seed, 'speaking')));
  }

  #sceneOf(trader: Trader, random: Random, market = this.#markets[0] as Market): Scene {
    return {
      ...{ place: this.#place, agent: trader.agent, market, random },
      ask: (replica, work) => this.#with(trader, replica, work),
      later: (work) => {
        let turn = 0;
        trader.again.push(() => this.#with(trader, turn++, work));
      },
    };
  }

  timed({ trader, random, market }: Turn): Promise<void> {
    return letTimeRun(this.#sceneOf(trader, random, market));
  }

  async owned({ random, market }: Turn, act: typeof askTheOwner): Promise<void> {
    if (this.#owned !== null) await act(this.#sceneOf(this.#owned.trader, random, market), this.#owned.owner);
  }

  async hush({ random, market }: Turn): Promise<void> {
    if (this.#watched === null) return;
    for (const trader of Object.values(this.#watched))
      await leaveBehind(this.#sceneOf(trader, random, market));
  }

  async changeSets(turn: Turn, act: keyof typeof SET_ACTS): Promise<void> {
    if (this.#sets !== null) await SET_ACTS[act](this.#asking(turn, this.#sets));
  }

  #asking(turn: Turn, markets: SetMarkets): Asking {
    const { trader, random } = turn;
    return {
      ...{ place: this.#place, agent: trader.agent, random, markets, sent: trader.sent },
      newName: () => nameOf(trader),
      once: async (ask) => {
        const outcome = await this.#with(trader, random.between(0, 1), ask);
        if (isOpen(outcome)) this.later(turn, ask);
        return outcome;
      },
      both: (ask) => this.both(turn, ask),
      trade: (order) => this.place(turn, order),
    };
  }

  moveWorld(): Promise<void> {
    return this.#place.moveWorld();
  }

  /** With a share of the orders in the markets of sets, where their trades can be taken back. */
  ofAnyMarket(turn: Turn): Turn {
    const { random } = turn;
    if (this.#sets === null || this.#place.setUp === 'live' || !random.isOf(0.2)) return turn;
    return { ...turn, market: random.pick([...this.#sets.ending, ...this.#sets.ofEvent]) };
  }

  async #with<T>(trader: Trader, nth: number, work: (client: AgentClient) => Promise<T>): Promise<T> {
    const replica = nth % 2;
    const idle = trader.idle[replica as 0 | 1];
    const { agent, name } = trader;
    const client =
      idle.pop() ?? (await AgentClient.open({ agent, name, replica }, this.#place, this.#recorder));
    try {
      return await work(client);
    } finally {
      idle.push(client);
    }
  }

  #act({ kind, agent, replica, seed }: Step): Promise<unknown> {
    const trader = this.#traders[agent] as Trader;
    const random = seeded(seed, kind);
    return ACTS[kind](this, { trader, random, replica, market: random.pick(this.#markets) });
  }

  async place(turn: Turn, order: Order, key?: string): Promise<void> {
    const { trader, replica } = turn;
    if (!trader.placed.includes(order)) trader.placed.push(order);
    const ask = (client: AgentClient) => client.place(order.request, order.orderId, key);
    const outcome = await this.#with(trader, replica, ask);
    if (isOpen(outcome)) this.later(turn, ask);
  }

  /** Asks this replica and the other at the same time. */
  async both(turn: Turn, ask: (client: AgentClient) => Promise<Outcome>): Promise<void> {
    const { trader, replica } = turn;
    const outcomes = await Promise.all([replica, replica + 1].map((nth) => this.#with(trader, nth, ask)));
    if (outcomes.every(isOpen)) this.later(turn, ask);
  }

  async leave(turn: Turn, exit: Exit, atBoth = false): Promise<void> {
    const { trader, replica } = turn;
    const left: Trader['left'][number] = { exit, exitId: null };
    trader.left.push(left);
    const ask = async (client: AgentClient): Promise<Outcome> => {
      const outcome = await client.leaveExit(exit);
      if (outcome.kind === 'ok') left.exitId = outcome.answer.exitId ?? null;
      return outcome;
    };
    if (atBoth) await this.both(turn, ask);
    else if (isOpen(await this.#with(trader, replica, ask))) this.later(turn, ask);
  }

  /** Shares, of which exits sell. */
  async buy(turn: Turn): Promise<void> {
    await this.place(turn, await aPurchase(this.#place, turn.trader.agent, turn.market, turn.random));
  }

  newExit({ trader, market, random }: Turn, group?: string): Promise<Exit> {
    return anExit(this.#place, trader.agent, market, random, group);
  }

  close({ trader, market, random, replica }: Turn): Promise<void> {
    return this.#with(trader, replica, (client) =>
      closeAndBuy({ place: this.#place, client, market, random }, (order) => trader.placed.push(order)),
    );
  }

  ask<T>({ trader, replica }: Turn, work: (client: AgentClient) => Promise<T>): Promise<T> {
    return this.#with(trader, replica, work);
  }

  later({ trader, replica }: Turn, ask: (client: AgentClient) => Promise<Outcome>): void {
    let turn = replica;
    trader.again.push(() => this.#with(trader, turn++, ask));
  }

  newOrder({ trader, market, random }: Turn): Promise<Order> {
    return anOrder(this.#place, trader.agent, market, random);
  }

  restingOrder({ trader, market, random }: Turn): Promise<Order> {
    return restingOrder(this.#place, trader.agent, market, random.between(5, 20));
  }

  /** The agent's own name for an order: what both replicas make of it is one order. */
  async prepare(turn: Turn): Promise<void> {
    const { trader, market, random, replica } = turn;
    const { agent } = trader;
    const { profile } = this.#place;
    const intent: TradeIntent = {
      ...{ clientOrderId: nameOf(trader), marketId: market.id, outcome: 'YES', side: 'BUY' },
      ...{ price: Number(market.bestBid), size: random.between(5, 9), signer: agent.signer.address },
      ...(profile === 'polymarket' ? { timestamp: Date.now() } : {}),
    };
    const made = await Promise.all(
      [replica, replica + 1].map((nth) =>
        this.#with(trader, nth, (client) => client.prepare(market, intent, profile)),
      ),
    );
    const orders = made.filter((order) => order !== null);
    await Promise.all(orders.map((order, nth) => this.place({ ...turn, replica: replica + nth }, order)));
  }
}

const newTrader = (agent: Agent, name: string, caps: Trader['caps']): Trader => ({
  ...{ agent, name, idle: [[], []], placed: [], left: [], again: [], sent: new Set(), names: 0, apiKeys: 0 },
  caps: { ...caps },
});

function nameOf(trader: Trader): string {
  trader.names += 1;
  return `${trader.name.replace(' ', '-')}-${trader.names}`;
}

const recent = ({ trader, random }: Turn): Order | undefined =>
  trader.placed.length === 0
    ? undefined
    : random.isOf(0.5)
      ? trader.placed.at(-1)
      : random.pick(trader.placed.slice(-15));

const recentExit = ({ trader, random }: Turn): Trader['left'][number] | undefined =>
  random.isOf(0.5) ? trader.left.at(-1) : trader.left.length === 0 ? undefined : random.pick(trader.left);

const ACTS: Readonly<Record<StepKind, (all: Traders, turn: Turn) => Promise<unknown>>> = {
  trade: async (all, turn) => {
    const order = await all.newOrder(all.ofAnyMarket(turn));
    await all.place(turn, order);
    if (turn.random.isOf(0.3)) {
      const replica = turn.random.between(0, 1);
      await all.ask({ ...turn, replica }, (client) => client.readOrder(order.orderId));
    }
  },
  rest: async (all, turn) => all.place(turn, await all.restingOrder(turn)),
  twice: async (all, turn) => {
    const order = await all.newOrder(turn);
    turn.trader.placed.push(order);
    const key = turn.random.isOf(0.6) ? nameOf(turn.trader) : undefined;
    await all.both(turn, (client) => client.place(order.request, order.orderId, key));
    if (key === undefined || turn.random.isOf(0.5)) return;
    // Another order under the same key has no effect.
    await all.place(turn, await all.restingOrder(turn), key);
  },
  again: async (all, turn) => {
    const order = recent(turn);
    if (order !== undefined) await all.place(turn, order);
  },
  batch: async (all, turn) => {
    const orders: Order[] = [];
    for (let left = turn.random.between(2, 4); left > 0; left -= 1)
      orders.push(turn.random.isOf(0.7) ? await all.newOrder(turn) : await all.restingOrder(turn));
    const before = recent(turn);
    if (before !== undefined && turn.random.isOf(0.3)) orders.push(before);
    turn.trader.placed.push(...orders);
    const asked = [turn, { ...turn, replica: turn.replica + 1 }].slice(turn.random.between(0, 1));
    const outcomes = await Promise.all(asked.map((one) => all.ask(one, (client) => client.placeAll(orders))));
    for (const [nth, { request, orderId }] of orders.entries())
      if (outcomes.every((some) => isOpen(some[nth] as Outcome)))
        all.later(turn, (client) => client.place(request, orderId));
  },
  prepare: (all, turn) => all.prepare(turn),
  cancel: async (all, turn) => {
    const order = recent(turn);
    if (order === undefined) return;
    const cancel = (client: AgentClient) => client.cancel(order.orderId);
    if (turn.random.isOf(0.2)) await all.both(turn, cancel);
    else await all.ask(turn, cancel);
    if (turn.random.isOf(0.5)) await all.ask(turn, (client) => client.readOrder(order.orderId));
  },
  read: async (all, turn) => {
    const order = recent(turn);
    if (order !== undefined) await all.ask(turn, (client) => client.readOrder(order.orderId));
  },
  list: (all, turn) => all.ask(turn, (client) => client.listOpen()),
  usage: (all, turn) => all.ask(turn, (client) => client.readUsage()),
  settings: async (all, turn) => {
    const { caps } = turn.trader;
    caps.maxTradesPerDay = Math.min(WIDE.maxTradesPerDay, caps.maxTradesPerDay + turn.random.between(1, 5));
    caps.dailyTradeAmountLimit += BigInt(turn.random.between(5, 40)) * 1_000_000n;
    const changes = { ...caps };
    await all.ask(turn, (client) => client.changeSettings(changes));
  },
  pause: async (all, turn) => {
    const pausing = all.ask(turn, (client) => client.changeSettings({ tradingPaused: true }));
    // In the very moment.
    if (turn.random.isOf(0.4))
      await all.leave({ ...turn, replica: turn.replica + 1 }, await all.newExit(turn));
    await pausing;
    await new Promise((resolve) => setTimeout(resolve, turn.random.between(10, LONGEST_PAUSE_MS)));
    let replica = turn.replica;
    await untilProof(() =>
      all.ask({ ...turn, replica: replica++ }, (client) => client.changeSettings({ tradingPaused: false })),
    );
    if (turn.trader.left.length === 0 || turn.random.isOf(0.4)) return;
    await new Promise((resolve) => setTimeout(resolve, turn.random.between(10, LONGEST_REST_MS)));
    await all.ask(turn, resumeAll);
  },
  key: async (all, turn) => {
    if (turn.trader.apiKeys >= MOST_API_KEYS) return;
    turn.trader.apiKeys += 1;
    const key = nameOf(turn.trader);
    await all.both(turn, (client) => client.createApiKey(key, key));
  },
  revoke: async (all, turn) => {
    const made = await all.ask(turn, (client) => client.newApiKey('to revoke'));
    if (made === null) return;
    const use = (nth: number) =>
      all.ask({ ...turn, replica: turn.replica + nth }, (client) => client.useApiKey(made.id, made.secret));
    for (const nth of [0, 1]) await use(nth);
    let isAnswered = false;
    const revoking = all
      .ask(turn, (client) => client.revokeApiKey(made.id))
      .finally(() => (isAnswered = true));
    // One call after the other, so that a refusal here and an answer there contradict each other.
    for (let nth = 0; nth < USES_AT_LEAST || !isAnswered; nth += 1) {
      await use(nth);
      await pause(turn.random, nth);
    }
    const revoked = await revoking;
    for (const nth of [0, 1]) await use(nth);
    if (isOpen(revoked)) all.later(turn, (client) => client.revokeApiKey(made.id));
  },
  stop: async (all, turn) => {
    if (turn.random.isOf(0.6)) await all.buy(turn);
    await all.leave(turn, await all.newExit(turn), turn.random.isOf(0.25));
  },
  /** All are due at about the same time, and whichever replica is asked, one is sent. */
  group: async (all, turn) => {
    if (turn.random.isOf(0.8)) await all.buy(turn);
    const group = nameOf(turn.trader);
    const size = turn.random.between(2, 3);
    for (let nth = 0; nth < size; nth += 1)
      await all.leave({ ...turn, replica: turn.replica + nth }, await all.newExit(turn, group));
    await all.ask(turn, (client) => client.listExits());
  },
  take_back: async (all, turn) => {
    const exitId = recentExit(turn)?.exitId;
    if (exitId === null || exitId === undefined) return;
    const cancel = (client: AgentClient) => client.cancelExit(exitId);
    if (turn.random.isOf(0.2)) await all.both(turn, cancel);
    else await all.ask(turn, cancel);
    if (turn.random.isOf(0.5)) await all.ask(turn, (client) => client.readExit(exitId));
  },
  resume: (all, turn) => all.ask(turn, resumeAll),
  exits: async (all, turn) => {
    const left = recentExit(turn);
    if (left === undefined) return;
    const draw = turn.random.next();
    // The same once more, or its very order.
    if (draw < 0.3) await all.leave(turn, left.exit);
    else if (draw < 0.45) await all.place(turn, left.exit);
    else await all.ask(turn, (client) => client.listExits());
  },
  close: (all, turn) => all.close(turn),
  split: (all, turn) => all.changeSets(turn, 'split'),
  merge: (all, turn) => all.changeSets(turn, 'merge'),
  convert: (all, turn) => all.changeSets(turn, 'convert'),
  redeem: (all, turn) => all.changeSets(turn, 'redeem'),
  world: (all) => all.moveWorld(),
  timed: (all, turn) => all.timed(turn),
  approval: (all, turn) => all.owned(turn, askTheOwner),
  owner_pause: (all, turn) => all.owned(turn, pauseByOwner),
  hush: (all, turn) => all.hush(turn),
};
