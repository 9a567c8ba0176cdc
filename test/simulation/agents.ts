/** Agents that trade as a plan says, and remember what they sent and what they were answered. */
import {
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  type Market,
  Signer,
} from '@bellwether/sdk';
import type { Step } from './plan.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

const ANSWER_WITHIN_MS = 8_000;

// biome-ignore lint/suspicious/noExplicitAny: the checks look into answers of every shape
type Body = any;

export interface Answer {
  /** 0: no answer came. */
  readonly status: number;
  readonly body: Body;
  readonly sentAt: number;
  readonly at: number;
}

/** A signed order, and every answer to it. */
export interface SentOrder {
  readonly orderId: string | null;
  readonly agent: number;
  readonly body: Body;
  readonly answers: Answer[];
}

export interface Agent {
  readonly agentId: string;
  readonly apiKey: string;
  readonly signer: Signer;
  readonly funder: string;
  readonly orders: SentOrder[];
  /** Sentences: what an answer contradicted at once. */
  readonly objections: string[];
}

export class Agents {
  readonly #world: World;
  readonly #urlOf: (replica: number) => string;
  readonly process: SimulatedProcess;
  readonly all: Agent[] = [];
  #markets: readonly Market[] = [];
  readonly #pending = new Set<Promise<void>>();

  constructor(world: World, urlOf: (replica: number) => string) {
    this.#world = world;
    this.#urlOf = urlOf;
    this.process = world.process('agents');
  }

  get markets(): readonly Market[] {
    return this.#markets;
  }

  get ordersSent(): number {
    return this.all.reduce((sum, { orders }) => sum + orders.length, 0);
  }

  async register(count: number): Promise<void> {
    const url = this.#urlOf(0);
    for (let nth = 0; nth < count; nth += 1) {
      const { apiKeyCode, agentId } = await new BellwetherClient({ baseUrl: url }).registerAgent({
        name: `Agent ${nth}`,
      });
      const client = new BellwetherClient({ baseUrl: url, apiKey: apiKeyCode });
      const signer = Signer.generate();
      const credentials = await createVenueCredentials({ clobUrl: `${url}/paper/clob`, signer });
      await client.registerCredentials(credentialRequest(signer, credentials));
      await client.updateSettings({
        maxTradesPerDay: 5_000,
        maxTradeAmount: 1_000,
        dailyTradeAmountLimit: 1_000_000,
        maxOpenOrders: 200,
      });
      const funder = signer.address.toLowerCase();
      this.all.push({ agentId, apiKey: apiKeyCode, signer, funder, orders: [], objections: [] });
      if (nth > 0) continue;
      const markets = await client.listMarkets({ q: '*', limit: 200 });
      this.#markets = markets
        .filter((one) => one.tickSize === '0.01' && Number(one.bestBid) >= 0.2 && Number(one.bestAsk) <= 0.8)
        .sort((a, b) => Number(a.id) - Number(b.id))
        .slice(0, 2);
    }
  }

  /** Begins each step when it is due. */
  schedule(steps: readonly Step[]): void {
    for (const step of steps)
      this.#world.scheduler.after(
        step.at,
        step.kind,
        () => {
          const done: Promise<void> = this.#act(step)
            .catch((error: unknown) => this.#world.fail(error))
            .finally(() => this.#pending.delete(done));
          this.#pending.add(done);
        },
        this.process,
      );
  }

  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Orders without a final answer are sent again, as agents are told to. */
  async askAgain(): Promise<void> {
    for (const [nth, agent] of this.all.entries())
      for (const order of agent.orders)
        if (!order.answers.some(({ status }) => isFinal(status))) {
          for (let attempt = 0; attempt < 30; attempt += 1) {
            const { status } = await this.#send(agent, order, (nth + attempt) % 2);
            if (isFinal(status)) break;
            await new Promise((resolve) => setTimeout(resolve, 2_000));
          }
        }
  }

  async #act(step: Step): Promise<void> {
    const agent = this.all[step.agent] as Agent;
    switch (step.kind) {
      case 'limit':
      case 'market':
        return this.#trade(agent, step);
      case 'again': {
        const order = this.#one(agent.orders, step.draws[0]);
        if (order !== undefined) await this.#send(agent, order, step.replica);
        return;
      }
      case 'cancel': {
        const open = agent.orders.filter(
          ({ body, orderId }) => body.isLimitOrder !== false && orderId !== null,
        );
        const order = this.#one(open.slice(-12), step.draws[0]);
        if (order !== undefined)
          await this.#ask(agent, step.replica, 'DELETE', `/markets/orders/${order.orderId}`);
        return;
      }
      case 'cancel_all':
        await this.#ask(agent, step.replica, 'DELETE', '/markets/orders');
        return;
      case 'settings':
        await this.#ask(agent, step.replica, 'POST', '/agents/settings', {
          maxTradeAmount: 5 + Math.floor((step.draws[0] as number) * 200),
        });
        return;
      case 'pause': {
        await this.#ask(agent, step.replica, 'POST', '/agents/settings', { paused: true });
        await new Promise((resolve) => setTimeout(resolve, 100 + (step.draws[0] as number) * 400));
        await this.#ask(agent, step.replica, 'POST', '/agents/settings', { paused: false });
        return;
      }
      case 'read':
        return this.#read(agent, step);
    }
  }

  #one<T>(items: readonly T[], draw = 0): T | undefined {
    return items[Math.floor(draw * items.length)];
  }

  async #trade(agent: Agent, step: Step): Promise<void> {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = step.draws;
    const market = this.#one(this.#markets, a) as Market;
    const [bid, ask] = [Number(market.bestBid), Number(market.bestAsk)];
    const outcome = b < 0.7 ? 'YES' : 'NO';
    const side = c < 0.55 ? 'BUY' : 'SELL';
    const size = 5 + Math.floor(d * 30);
    const price = Math.min(0.98, Math.max(0.02, Number((bid - 0.04 + (ask - bid + 0.08) * e).toFixed(2))));
    const { signer } = agent;
    const body =
      step.kind === 'market' && side === 'BUY'
        ? await buildMarketOrder({
            ...{ signer, market, outcome, side, amount: size, worstPrice: 0.95 },
            type: f < 0.5 ? 'FAK' : 'FOK',
          })
        : await buildLimitOrder({
            ...{
              signer,
              market,
              outcome,
              side,
              price: outcome === 'YES' ? price : Number((1 - price).toFixed(2)),
              size,
            },
            ...(f < 0.1 ? { postOnly: true } : {}),
          } as never);
    const order: SentOrder = { orderId: null, agent: step.agent, body, answers: [] };
    agent.orders.push(order);
    await this.#send(agent, order, step.replica);
  }

  async #send(agent: Agent, order: SentOrder, replica: number): Promise<Answer> {
    const answer = await this.#ask(agent, replica, 'POST', '/markets/trade', order.body);
    order.answers.push(answer);
    if (answer.status === 201 && order.orderId === null)
      Object.assign(order, { orderId: answer.body.orderId as string });
    return answer;
  }

  /** What the agent was answered before must be found. */
  async #read(agent: Agent, { draws, replica }: Step): Promise<void> {
    const placed = agent.orders.filter(({ answers }) => answers.some(({ status }) => status === 201));
    const order = this.#one(placed.slice(-5), draws[0]);
    if (order === undefined) return;
    const { status, body } = await this.#ask(agent, replica, 'GET', `/markets/orders/${order.orderId}`);
    if (status === 404)
      agent.objections.push(`order ${order.orderId} was accepted, and a read does not find it`);
    if (status === 200 && Number(body.filledSize) > Number(body.size ?? Number.POSITIVE_INFINITY) + 1e-6)
      agent.objections.push(`order ${order.orderId} is filled beyond its size`);
  }

  async #ask(agent: Agent, replica: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const sentAt = this.#world.scheduler.now;
    const finish = (status: number, content: Body): Answer => ({
      ...{ status, body: content, sentAt, at: this.#world.scheduler.now },
    });
    try {
      const response = await fetch(this.#urlOf(replica) + path, {
        method,
        headers: {
          authorization: `Bearer ${agent.apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await response.text();
      const answer = finish(response.status, text === '' ? null : JSON.parse(text));
      if (response.status === 500 && answer.body?.code !== 'order_outcome_unknown')
        agent.objections.push(`${method} ${path} failed: ${text.slice(0, 300)}`);
      return answer;
    } catch {
      return finish(0, null);
    }
  }
}

/** The outcome is known: it was placed, or refused for good. */
export const isFinal = (status: number): boolean =>
  status === 201 || (status >= 400 && status < 500 && status !== 409 && status !== 429);
