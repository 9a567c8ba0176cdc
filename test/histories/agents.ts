/** Agents with a wallet, and their clients: the published SDK over HTTP, each client with a connection of its own to one replica. */
import { canonicalJson } from '@bellwether/contract';
import {
  BellwetherApiError,
  BellwetherClient,
  BellwetherConnectionError,
  createVenueCredentials,
  credentialRequest,
  type ExitRequest,
  type Fetch,
  type Market,
  Signer,
  signPrepared,
  type TradeIntent,
  type TradeRequest,
  type TradeResponse,
  verifyPrepared,
} from '@bellwether/sdk';
import type {
  Answer,
  Call,
  LeftTrigger,
  Operation,
  Outcome,
  Recorder,
  SetOperation,
  Settings,
} from './history.ts';
import type { Place } from './place.ts';

const TIMEOUT_MS = 8_000;
/** Funds of each new wallet. */
export const DEPOSIT = 10_000_000_000n;
const MOST_LISTED = 100;

export interface Agent {
  readonly agentId: string;
  readonly apiKey: string;
  readonly signer: Signer;
  readonly wallet: string;
  readonly deposited: bigint;
}

export interface Order {
  readonly request: TradeRequest;
  readonly orderId: string;
}

/** An order that is left with the desk. */
export interface Exit extends Order {
  readonly terms: Pick<ExitRequest, 'trigger' | 'group'>;
  /** Of a time trigger: the client's clock then. */
  readonly dueAt: number | null;
  /** Nothing in a run makes its trigger hold. */
  readonly isNever: boolean;
}

/** A JSON amount as exact micro-units. */
const micro = (value: number): bigint => BigInt(Math.round(value * 1e6));

/** @param isClaimed at once, as a live venue wants it */
export async function newAgent(
  { urls: [baseUrl], clobUrl, setUp, fund, sql }: Place,
  name: string,
  isClaimed = setUp === 'live',
): Promise<Agent> {
  const { agentId, apiKeyCode } = await new BellwetherClient({ baseUrl }).registerAgent({
    name,
  });
  const signer = Signer.generate();
  const client = new BellwetherClient({ baseUrl, apiKey: apiKeyCode });
  const credentials = await createVenueCredentials({ clobUrl, signer });
  await client.registerCredentials(credentialRequest(signer, credentials));
  const wallet = signer.address.toLowerCase();
  await fund(wallet);
  if (isClaimed) {
    // The page of the claim is tested elsewhere.
    await sql`update agents set claimed_at = now() where agent_id = ${agentId}`;
  }
  return { agentId, apiKey: apiKeyCode, signer, wallet, deposited: DEPOSIT };
}

/** Open markets with a book well inside the price range, in a stable order. */
export async function openMarkets({ urls: [baseUrl] }: Place, { apiKey }: Agent): Promise<readonly Market[]> {
  const client = new BellwetherClient({ baseUrl, apiKey });
  const markets = await client.listMarkets({ q: '*', limit: 500 });
  return markets
    .filter(
      ({ tickSize, negRisk, bestBid, bestAsk, endDate }) =>
        tickSize === '0.01' &&
        !negRisk &&
        Number(bestBid) >= 0.2 &&
        Number(bestAsk) <= 0.8 &&
        Date.parse(endDate) > Date.now() + 6 * 3_600_000,
    )
    .sort((a, b) => Number(a.id) - Number(b.id));
}

/** Outcome that an error of the SDK proves. @throws an error that is none of a call */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof BellwetherApiError) {
    const isProof = error.status < 500;
    if (!isProof) return { kind: 'unknown', why: error.code };
    const { code, approvalId } = error;
    return { kind: 'refused', code, ...(approvalId === undefined ? {} : { approvalId }) };
  }
  if (error instanceof BellwetherConnectionError) return { kind: 'unknown', why: error.reason };
  throw error;
}

/** One agent at one replica. It makes one call at a time. */
export class AgentClient {
  readonly agent: Agent;
  readonly name: string;
  readonly sdk: BellwetherClient;
  readonly #recorder: Recorder;
  readonly #transport: { readonly baseUrl: string; readonly timeoutMs: number; readonly maxRetries: number };
  /** To its last call no answer came. */
  isSilent = false;
  #isReplay = false;

  private constructor(agent: Agent, name: string, baseUrl: string, recorder: Recorder) {
    this.agent = agent;
    this.name = name;
    this.#recorder = recorder;
    this.#transport = { baseUrl, timeoutMs: TIMEOUT_MS, maxRetries: 0 };
    this.sdk = this.#withKey(agent.apiKey);
  }

  /** @param opening replica: 0 or 1 */
  static async open(
    { agent, name, replica }: { readonly agent: Agent; readonly name: string; readonly replica: number },
    place: Place,
    recorder: Recorder,
  ): Promise<AgentClient> {
    const named = `${name} at replica ${replica + 1}`;
    return new AgentClient(agent, named, await place.link(replica), recorder);
  }

  #withKey(apiKey: string): BellwetherClient {
    const noting: Fetch = async (url, init) => {
      const response = await fetch(url, init);
      this.#isReplay = response.headers.get('idempotency-replayed') === 'true';
      return response;
    };
    return new BellwetherClient({ ...this.#transport, apiKey, fetch: noting });
  }

  /** @param type is noted where an owner approves orders of a type */
  place(request: TradeRequest, orderId: string, key?: string, type?: string): Promise<Outcome> {
    const operation = this.#placing({ request, orderId }, type);
    return this.#call(operation, keyed('trade', key, orderId), async () =>
      this.#answer(await this.sdk.placeTrade(request, options(key)), placed),
    );
  }

  #placing({ request: { order }, orderId }: Order, type?: string): Operation {
    const amount = order.side === 'BUY' ? BigInt(order.makerAmount) : null;
    const { agentId: agent } = this.agent;
    return { kind: 'place', agent, orderId, amount, ...(type === undefined ? {} : { type }) };
  }

  /** In one request; a call and an outcome for each of them. */
  async placeAll(orders: readonly Order[]): Promise<readonly Outcome[]> {
    const asked = this.sdk.batchTrade(orders.map(({ request }) => request));
    return Promise.all(
      orders.map((order, nth) =>
        this.#call(this.#placing(order), undefined, async () => {
          const result = (await asked).results[nth];
          if (result?.trade != null) return this.#answer(result.trade, placed);
          throw new BellwetherApiError(result?.status ?? 500, { code: result?.problem?.code ?? 'unknown' });
        }),
      ),
    );
  }

  /** @returns the order of the intent, verified and signed; `null` when no answer came */
  async prepare(market: Market, intent: TradeIntent, profile: Place['profile']): Promise<Order | null> {
    const { agentId, signer } = this.agent;
    let order: Order | null = null;
    await this.#call({ kind: 'prepare', agent: agentId, name: intent.clientOrderId }, undefined, async () => {
      const prepared = await this.sdk.prepareTrade(intent);
      const verified = verifyPrepared(prepared, intent, { agentId, signer, market, profile });
      order = { request: await signPrepared(verified, signer), orderId: verified.orderId };
      return { whole: prepared.orderId, isReplay: false };
    });
    return order;
  }

  cancel(orderId: string, key?: string): Promise<Outcome> {
    return this.#call(
      { kind: 'cancel', agent: this.agent.agentId, orderId },
      keyed('cancel', key, orderId),
      async () =>
        this.#answer(
          await this.sdk.cancelOrder(orderId, options(key)),
          ({ success, notCanceled, syncedToMkOrder }) => {
            const reason = notCanceled[orderId];
            return { success, isRecorded: syncedToMkOrder, ...(reason === undefined ? {} : { reason }) };
          },
        ),
    );
  }

  readOrder(orderId: string): Promise<Outcome> {
    return this.#call({ kind: 'read order', agent: this.agent.agentId, orderId }, undefined, async () =>
      this.#answer(await this.sdk.getOrder(orderId), ({ status, filledSize }) => ({
        status,
        filled: micro(filledSize),
      })),
    );
  }

  listOpen(): Promise<Outcome> {
    return this.#call({ kind: 'list open orders', agent: this.agent.agentId }, undefined, async () =>
      this.#answer(await this.sdk.listOpenOrders({ limit: MOST_LISTED }), (orders) => ({
        orderIds: orders.map(({ orderId }) => orderId),
        isWhole: orders.length < MOST_LISTED,
      })),
    );
  }

  leaveExit({ request, orderId, terms, dueAt, isNever }: Exit): Promise<Outcome> {
    const trigger: LeftTrigger = isNever
      ? { kind: 'never' }
      : dueAt === null
        ? { kind: 'price' }
        : { kind: 'time', dueInMs: dueAt - Date.now() };
    return this.#call(
      { kind: 'leave exit', agent: this.agent.agentId, orderId, trigger },
      undefined,
      async () =>
        this.#answer(
          await this.sdk.leaveExit({ ...request, ...terms } as ExitRequest),
          ({ exitId, status }) => ({ exitId: exitId as string, status }),
        ),
    );
  }

  readExit(exitId: string): Promise<Outcome> {
    return this.#call({ kind: 'read exit', agent: this.agent.agentId, exitId }, undefined, async () =>
      this.#answer(await this.sdk.getExit(exitId), ({ status }) => ({ status })),
    );
  }

  listExits(): Promise<Outcome> {
    return this.#call({ kind: 'list exits', agent: this.agent.agentId }, undefined, async () =>
      this.#answer(await this.sdk.listExits({ limit: MOST_LISTED }), (exits) => ({
        exits: exits.map(({ exitId, status }) => [exitId, status] as const),
      })),
    );
  }

  cancelExit(exitId: string): Promise<Outcome> {
    return this.#call({ kind: 'cancel exit', agent: this.agent.agentId, exitId }, undefined, async () =>
      this.#answer(await this.sdk.cancelExit({ exitId }), ({ status }) => ({ status })),
    );
  }

  resumeExit(exitId: string): Promise<Outcome> {
    return this.#call({ kind: 'resume exit', agent: this.agent.agentId, exitId }, undefined, async () =>
      this.#answer(await this.sdk.resumeOwnExit(exitId), ({ status }) => ({ status })),
    );
  }

  /** Shares of YES that the desk says it holds; `null` when no answer came. No call of the history. */
  async sharesOf({ conditionId }: Pick<Market, 'conditionId'>): Promise<number | null> {
    const found = await this.sdk
      .getCurrentPositions({ market: conditionId })
      .catch((error: unknown) => void outcomeOf(error));
    if (found === undefined) return null;
    return found.find(({ outcome }) => outcome === 'YES')?.size ?? 0;
  }

  /** Splits, merges or converts. @param amount micro-units */
  changeSets(
    kind: SetOperation['kind'],
    { name, market, amount }: { readonly name: string; readonly market: Market; readonly amount: bigint },
  ): Promise<Outcome> {
    const { agentId: agent } = this.agent;
    const body = { clientOrderId: name, marketId: market.id, amount: Number(amount) / 1e6 };
    const work = {
      split: () => this.sdk.splitSets(body),
      merge: () => this.sdk.mergeSets(body),
      convert: () => this.sdk.convertSets(body),
    }[kind];
    return this.#call({ kind, agent, name, market: market.conditionId, amount }, undefined, async () =>
      this.#answer(await work(), ({ success, status, orderId }) => ({ success, status, setId: orderId })),
    );
  }

  redeem({ id, conditionId }: Market): Promise<Outcome> {
    return this.#call(
      { kind: 'redeem', agent: this.agent.agentId, market: conditionId },
      undefined,
      async () =>
        this.#answer(await this.sdk.redeemPosition({ marketId: id }), ({ status, redeemedAmount }) => ({
          status,
          paid: micro(redeemedAmount),
        })),
    );
  }

  changeSettings(changes: Settings): Promise<Outcome> {
    const {
      maxTradeAmount,
      dailyTradeAmountLimit,
      maxPositionValue,
      approvalAbove,
      ownerPaused: _,
      ...others
    } = changes;
    const body = {
      ...others,
      ...(maxTradeAmount === undefined ? {} : { maxTradeAmount: Number(maxTradeAmount) / 1e6 }),
      ...(dailyTradeAmountLimit === undefined
        ? {}
        : { dailyTradeAmountLimit: Number(dailyTradeAmountLimit) / 1e6 }),
      ...(maxPositionValue == null ? {} : { maxPositionValue: Number(maxPositionValue) / 1e6 }),
      ...(approvalAbove === undefined ? {} : { approvalAbove: Number(approvalAbove) / 1e6 }),
    };
    return this.#call({ kind: 'change settings', agent: this.agent.agentId, changes }, undefined, async () =>
      this.#answer(await this.sdk.updateSettings(body), () => ({})),
    );
  }

  readUsage(): Promise<Outcome> {
    return this.#call({ kind: 'read usage', agent: this.agent.agentId }, undefined, async () =>
      this.#answer(await this.sdk.getBriefing({ includeMarkets: false }), ({ agent }) => ({
        trades: agent.tradesToday,
        tradedAmount: micro(agent.amountToday),
      })),
    );
  }

  /** @returns where the next briefing of the chain begins; `null` when no answer came */
  async briefing(chain: string, since: string | null): Promise<string | null> {
    let next: string | null = null;
    await this.#call({ kind: 'briefing', agent: this.agent.agentId, chain }, undefined, async () => {
      const answer = await this.sdk.getBriefing({
        includeMarkets: false,
        ...(since === null ? {} : { since }),
      });
      next = answer.nextCursor;
      return {
        whole: '',
        isReplay: false,
        changed: answer.recentTrades.map(({ orderId, status }) => [orderId, status] as const),
        isWhole: !answer.recentTradesTruncated,
      };
    });
    return next;
  }

  createApiKey(name: string, key: string): Promise<Outcome> {
    return this.#call(
      { kind: 'create api key', agent: this.agent.agentId, name },
      keyed('create api key', key, name),
      async () =>
        // The key itself stays out of the history, which a person may pass on.
        this.#answer(await this.sdk.createApiKey(name, options(key)), ({ id }) => ({ whole: String(id) })),
    );
  }

  /** A key that this client has made; it is used and revoked by its secret. */
  async newApiKey(name: string): Promise<{ readonly id: string; readonly secret: string } | null> {
    const made = await this.sdk.createApiKey(name).catch((error: unknown) => void outcomeOf(error));
    return made === undefined ? null : { id: String(made.id), secret: made.apiKeyCode };
  }

  revokeApiKey(id: string): Promise<Outcome> {
    return this.#call(
      { kind: 'revoke api key', agent: this.agent.agentId, apiKey: id },
      undefined,
      async () => this.#answer(await this.sdk.revokeApiKey(id), () => ({})),
    );
  }

  useApiKey(id: string, secret: string): Promise<Outcome> {
    const client = this.#withKey(secret);
    return this.#call({ kind: 'use api key', agent: this.agent.agentId, apiKey: id }, undefined, async () =>
      this.#answer(await client.getSettings(), () => ({})),
    );
  }

  #answer<T extends object>(body: T, read: (body: T) => Partial<Answer>): Answer {
    return { whole: canonicalJson(body) ?? '', isReplay: this.#isReplay, ...read(body) };
  }

  async #call(operation: Call['operation'], key: Call['key'], work: () => Promise<Answer>): Promise<Outcome> {
    const outcome = await this.#recorder.call(
      { client: this.name, operation, ...(key === undefined ? {} : { key }) },
      work,
      outcomeOf,
    );
    this.isSilent = outcome.kind === 'unknown';
    return outcome;
  }
}

const placed = ({ success, status, filledSize, feePaid }: TradeResponse): Partial<Answer> => ({
  ...{ success, status, filled: micro(filledSize), fees: micro(feePaid) },
});
const keyed = (route: string, key: string | undefined, body: string): Call['key'] =>
  key === undefined ? undefined : { route, key, body };
const options = (key: string | undefined) => (key === undefined ? {} : { idempotencyKey: key });
