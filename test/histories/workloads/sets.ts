/**
 * Full sets: agents split, merge and convert under their own names, once or several times, here, there or at both replicas at once, with
 * other terms under a name that is taken, and more than there is; they sell halves, and redeem before a market is resolved and after.
 */
import { BellwetherClient, buildLimitOrder, type Market, orderIdOf } from '@bellwether/sdk';
import type { Agent, AgentClient, Order } from '../agents.ts';
import type { Outcome, SetOperation } from '../history.ts';
import type { OwnersCommand, Place } from '../place.ts';
import type { Random } from '../random.ts';
import {
  clientsOf,
  isOpen,
  newAgents,
  untilProof,
  WIDE_CAPS,
  type Workload,
  type Workshop,
  workOn,
} from './workload.ts';

const AGENTS = 3;
/** A market that ends sooner has ended before the agents begin. */
const LASTS_AT_LEAST_MS = 2_500;
const ENDING_MARKETS = 2;
const EVENT_MARKETS = 2;
const MAX_POSITION_VALUE = 60_000_000n;
/** Share of what is handed out. */
const NEVER_SENT = 0.25;
const CENT = 10_000n;
const LEAST_SHARES = 5;
/** More pairs than any wallet here has. */
const TOO_MANY_SETS = 8_000_000_000n;

export interface SetMarkets {
  /** They end during the run, or soon after. */
  readonly ending: readonly Market[];
  /** Of one event, of which one resolves YES. */
  readonly ofEvent: readonly Market[];
}

/** In a stable order. */
export async function setMarkets({ urls: [baseUrl] }: Place, { apiKey }: Agent): Promise<SetMarkets> {
  const client = new BellwetherClient({ baseUrl, apiKey });
  const all = await client.listMarkets({ q: '*', limit: 500 });
  const tradable = all.filter(
    ({ tickSize, bestBid, bestAsk }) =>
      tickSize === '0.01' && Number(bestBid) >= 0.15 && Number(bestAsk) <= 0.85,
  );
  const ending = tradable
    .filter(({ negRisk, endDate }) => !negRisk && Date.parse(endDate) > Date.now() + LASTS_AT_LEAST_MS)
    .sort((a, b) => Date.parse(a.endDate) - Date.parse(b.endDate));
  // A live desk converts in markets of this version alone.
  const events = Map.groupBy(
    tradable.filter(({ negRisk, version }) => negRisk && version === 'v2'),
    ({ eventId }) => eventId,
  );
  const ofEvent = [...events.values()].find((markets) => markets.length >= EVENT_MARKETS) ?? [];
  if (ending.length < ENDING_MARKETS || ofEvent.length < EVENT_MARKETS)
    throw new Error(`the venue has ${ending.length} markets that end, and ${ofEvent.length} of one event`);
  return {
    ending: ending.slice(0, ENDING_MARKETS),
    ofEvent: ofEvent.sort((a, b) => Number(a.id) - Number(b.id)).slice(0, EVENT_MARKETS),
  };
}

type Ask = (client: AgentClient) => Promise<Outcome>;

/** One agent's way to ask; what has had no proof is asked for again in the end. */
export interface Asking {
  readonly place: Place;
  readonly agent: Agent;
  readonly random: Random;
  readonly markets: SetMarkets;
  /** Orders whose transactions their owner has sent, or will not. */
  readonly sent: Set<string>;
  newName(): string;
  once(ask: Ask): Promise<Outcome>;
  /** At both replicas at once. */
  both(ask: Ask): Promise<void>;
  trade(order: Order): Promise<void>;
}

/** The owner signs what is handed out, once, or never. */
async function sendSigned(
  { place, agent, random, sent }: Asking,
  { conditionId }: Market,
  command: Pick<Extract<OwnersCommand, { readonly kind: SetOperation['kind'] }>, 'kind' | 'amount'>,
  outcome: Outcome,
): Promise<void> {
  const { setId, status } = outcome.kind === 'ok' ? outcome.answer : {};
  if (place.send === null || status !== 'unsigned' || setId === undefined || sent.has(setId)) return;
  sent.add(setId);
  if (random.isOf(NEVER_SENT)) return;
  await place.send({ ...command, account: agent.wallet, conditionId });
}

/** Asks for it, often in a way that a desk may get wrong. */
async function change(
  by: Asking,
  kind: SetOperation['kind'],
  market: Market,
  amount: bigint,
): Promise<Outcome['kind'] | 'both'> {
  const { random } = by;
  const name = by.newName();
  const askFor =
    (of: bigint): Ask =>
    async (client) => {
      const outcome = await client.changeSets(kind, { name, market, amount: of });
      await sendSigned(by, market, { kind, amount: of }, outcome);
      return outcome;
    };
  const draw = random.next();
  let done: Outcome['kind'] | 'both' = 'both';
  if (draw < 0.3) await by.both(askFor(amount));
  else done = (await by.once(askFor(amount))).kind;
  if (random.isOf(0.25)) await by.once(askFor(amount));
  // Other terms under a name that is taken have no effect.
  if (random.isOf(0.2)) await by.once(askFor(amount + CENT));
  return done;
}

/** Few amounts, so that one transaction could be the proof of several orders. */
const sharesOf = (random: Random): bigint => BigInt(random.between(LEAST_SHARES * 4, 40)) * 25n * CENT;

async function sellHalf(by: Asking, market: Market, amount: bigint): Promise<void> {
  const { agent, random } = by;
  const outcome = random.isOf(0.5) ? 'YES' : 'NO';
  const bid = outcome === 'YES' ? Number(market.bestBid) : 1 - Number(market.bestAsk);
  const size = random.isOf(0.6) ? Number(amount) / 1e6 : LEAST_SHARES;
  const request = await buildLimitOrder({
    ...{ signer: agent.signer, profile: by.place.profile, market, outcome, side: 'SELL', type: 'FAK' },
    ...{ price: Math.max(0.01, Number((bid * 0.7).toFixed(2))), size },
  } as Parameters<typeof buildLimitOrder>[0]);
  await by.trade({ request, orderId: orderIdOf(request) });
}

/** At a live venue its owner redeems. */
const redemption =
  ({ place, agent }: Asking, market: Market): Ask =>
  async (client) => {
    const outcome = await client.redeem(market);
    if (place.send !== null && outcome.kind === 'ok' && outcome.answer.status === 'unsigned')
      await place.send({ kind: 'redeem', account: agent.wallet, conditionId: market.conditionId });
    return outcome;
  };

export const SET_ACTS = {
  split: async (by) => {
    const { place, random, markets } = by;
    const market = random.pick([...markets.ending, ...markets.ofEvent]);
    const amount = sharesOf(random);
    const done = await change(by, 'split', market, amount);
    // At a live venue a trade may fail once its market is resolved: then it cannot be taken back.
    const mayFailLate = place.setUp === 'live' && markets.ending.includes(market);
    if (done === 'refused' || mayFailLate) return;
    for (let sales = random.between(0, 2); sales > 0; sales -= 1) await sellHalf(by, market, amount);
  },
  merge: async (by) => {
    const { random, markets } = by;
    const market = random.pick([...markets.ending, ...markets.ofEvent]);
    const amount = random.isOf(0.15) ? TOO_MANY_SETS : BigInt(random.between(2, 36)) * 25n * CENT;
    await change(by, 'merge', market, amount);
  },
  /** NO shares of both markets become YES shares of the others, and of each other. */
  convert: async (by) => {
    const { random, markets } = by;
    const market = random.pick(markets.ofEvent);
    const amount = sharesOf(random);
    if (random.isOf(0.7)) await change(by, 'split', market, amount);
    const converted = random.isOf(0.6) ? amount : BigInt(random.between(2, 36)) * 25n * CENT;
    await change(by, 'convert', market, converted);
    // One transaction of the event must not be the proof of both.
    const sibling = markets.ofEvent.find(({ id }) => id !== market.id);
    if (sibling === undefined || random.isOf(0.6)) return;
    await change(by, 'split', sibling, converted);
    await change(by, 'convert', sibling, converted);
  },
  redeem: async (by) => {
    const { random, markets } = by;
    const ask = redemption(by, random.pick(markets.ending));
    if (random.isOf(0.5)) await by.both(ask);
    else await by.once(ask);
    if (random.isOf(0.3)) await by.once(ask);
  },
} as const satisfies Readonly<Record<string, (by: Asking) => Promise<void>>>;

const ASK_EVERY_MS = 1_000;
const RESOLVED_WITHIN_MS = 120_000;

/** Waits for the outcome of the markets that end, and asks twice for what they pay: replicas learn of it one after the other. */
export async function settleSets(by: Asking): Promise<void> {
  const { place, markets } = by;
  // Without anybody to sign there is nothing to be paid for.
  if (place.setUp === 'live' && place.send === null) return;
  const end = performance.now() + RESOLVED_WITHIN_MS;
  for (const market of markets.ending) {
    const ask = redemption(by, market);
    for (let answered = 0; answered < 2 && performance.now() < end; ) {
      const outcome = await untilProof(() => by.once(ask));
      if (outcome.kind !== 'refused' || outcome.code !== 'market_not_resolved') answered += 1;
      else {
        await place.moveWorld();
        await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      }
    }
  }
}

interface Worker extends Asking {
  readonly clients: readonly [AgentClient, AgentClient];
  readonly again: (() => Promise<Outcome>)[];
}

const DRAWN = ['split', 'split', 'merge', 'convert', 'redeem'] as const;

export async function sets(workshop: Workshop): Promise<Workload> {
  const { stage } = workshop;
  const agents = await newAgents(stage, 'Maker', AGENTS);
  const markets = await setMarkets(stage, agents[0] as Agent);
  const workers: Worker[] = [];
  for (const [nth, agent] of agents.entries()) {
    const name = `maker ${nth + 1}`;
    const clients = await clientsOf(workshop, agent, name);
    await clients[0].changeSettings({
      ...WIDE_CAPS,
      ...(nth === 0 ? { maxPositionValue: MAX_POSITION_VALUE } : {}),
    });
    workers.push(workerOf(stage, { agent, name, clients, markets, random: workshop.random(name) }));
  }
  return {
    agents,
    run: () => workOn(workshop, workers, (worker) => SET_ACTS[worker.random.pick(DRAWN)](worker)),
    settle: async () => {
      await Promise.all(workers.flatMap(({ again }) => again.map(untilProof)));
      await Promise.all(workers.map(settleSets));
    },
  };
}

function workerOf(
  place: Place,
  { name, ...own }: Pick<Worker, 'agent' | 'clients' | 'markets' | 'random'> & { readonly name: string },
): Worker {
  const { clients, random } = own;
  const again: Worker['again'] = [];
  let names = 0;
  const once = async (ask: Ask): Promise<Outcome> => {
    const outcome = await ask(random.pick(clients));
    if (isOpen(outcome)) again.push(() => ask(random.pick(clients)));
    return outcome;
  };
  return {
    ...{ ...own, place, again, sent: new Set(), once },
    newName() {
      names += 1;
      return `${name.replace(' ', '-')}-${names}`;
    },
    async both(ask) {
      const outcomes = await Promise.all(clients.map(ask));
      if (outcomes.every(isOpen)) again.push(() => ask(random.pick(clients)));
    },
    trade: async (order) => {
      await once((client) => client.place(order.request, order.orderId));
    },
  };
}
