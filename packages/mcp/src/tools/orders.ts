/**
 * Orders: from the terms of a call to one that was prepared by the desk and computed again here; checking and placing
 * one, listing, looking up, and canceling.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  BellwetherApiError,
  type IntentTerms,
  intentFaults,
  isProblem,
  type Market,
  type Order,
  type PreparedTrade,
  sideCalled,
  signPrepared,
  type TradeResponse,
  tradeIntent,
  type VerifiedPrepared,
  verifyPrepared,
} from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
import { z } from 'zod';
import {
  flagOf,
  idOf,
  listOf,
  money,
  numberOf,
  OrderRefused,
  recordOf,
  refusalOf,
  type StrangersTexts,
  ToolProblem,
  timeOf,
  wordOf,
} from '../answer.ts';
import {
  ACTS,
  type AskedOrder,
  CANCEL_AFTER_MS,
  type Call,
  CLIENT_ORDER_ID,
  EITHER_VENUE,
  limitOf,
  MARKET,
  OUTCOME,
  QUANTITY,
  READS,
  REASONING,
  SIDE,
  spend,
  spendingOf,
  tool,
  VENUE,
} from '../tool.ts';

const PRICE = z.number().gt(0).lt(1);

const ORDER_FIELDS = {
  market: MARKET,
  venue: VENUE,
  outcome: OUTCOME,
  side: SIDE,
  price: PRICE.optional().describe('limit order: waits on the book at it. This or worstPrice'),
  worstPrice: PRICE.optional().describe('market order: takes what the book offers up to it. This or price'),
  size: QUANTITY.optional().describe('shares: of every order but a market BUY'),
  amount: QUANTITY.optional().describe('collateral to spend at most, fees apart: of a market BUY'),
  timeInForce: z
    .enum(['GTC', 'GTD', 'FAK', 'FOK'])
    .optional()
    .describe('GTC for a limit order, FAK for a market order when left out'),
  expiresAt: z.iso.datetime({ offset: true }).optional().describe('of a GTD order: when it ends'),
  cancelAfterMs: CANCEL_AFTER_MS.describe('what is not filled by then is canceled'),
  postOnly: z.boolean().optional().describe('refuse rather than take from the book'),
  clientOrderId: CLIENT_ORDER_ID.describe(
    'of an earlier answer: tries that order again; other terms under it are refused',
  ),
  reasoning: REASONING,
  skill: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/)
    .optional()
    .describe('the skill that led to this order'),
};

type OrderTermsInput = z.output<z.ZodObject<typeof ORDER_FIELDS>>;

/** The fields of the desk's intent that have another name here. */
const NAMES_OF_FIELDS: Readonly<Record<string, string>> = {
  orderType: 'timeInForce',
  expiration: 'expiresAt',
};

function intentTerms(terms: Partial<OrderTermsInput>) {
  const { market: _market, timeInForce, expiresAt, skill, ...rest } = terms;
  return {
    ...rest,
    orderType: timeInForce,
    expiration: expiresAt === undefined ? undefined : Math.floor(Date.parse(expiresAt) / 1000),
    skillSlug: skill,
  } satisfies Partial<IntentTerms>;
}

/** All that does not fit together, at once; as parts of a list. */
const contradictions = (terms: Partial<OrderTermsInput>): string[] =>
  intentFaults(intentTerms(terms), { nameOf: (field) => NAMES_OF_FIELDS[field] ?? field }).map(
    (sentence) => `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`,
  );

export const ORDER_TERMS = { input: z.strictObject(ORDER_FIELDS), contradictions };

interface ReadyOrder {
  readonly market: Market;
  readonly clientOrderId: string;
  readonly prepared: PreparedTrade;
  readonly verified: VerifiedPrepared;
  /** The most that it may take out of the spending limit: collateral of a BUY with its fee; nothing of a SELL. */
  readonly cost: Micro;
  /** The most that a person may lose by it: the cost of a BUY, the shares of a SELL at their highest value. */
  readonly stake: Micro;
}

/** Names made here begin with the time that the venue's own orders carry, so that a retry carries the same. */
const OWN_NAME = /^mcp-(\d{13})-/;
const newName = (): string => `mcp-${Date.now()}-${randomBytes(6).toString('hex')}`;

/** @throws PreparedOrderError when the desk prepared another order; nothing is signed or reserved yet */
export async function readyOrder(
  terms: OrderTermsInput,
  asked: AskedOrder | null,
  { desk, texts, signal }: Call,
): Promise<ReadyOrder> {
  const { signer, signatureType } = desk.wallet();
  const { profile } = desk.config;
  const clientOrderId = asked?.clientOrderId ?? terms.clientOrderId ?? newName();
  const { venue } = terms;
  const market = await desk.client.getMarket(terms.market, venue === undefined ? {} : { venue }, { signal });
  const outcome = sideIn(terms.outcome, market, texts);
  const { side } = terms;
  const intent = tradeIntent({
    ...intentTerms(terms),
    ...{ outcome, side, clientOrderId, marketId: market.id, source: 'mcp' },
    walletAddress: signer.wallet(signatureType),
    signatureType,
    timestamp: profile === 'polymarket' || market.version === 'v2' ? timestampOf(clientOrderId) : undefined,
  });
  const prepared = await desk.client.prepareTrade(intent, { signal });
  const tokenIds = new KnownMints(desk.config.place).tokensOf(market);
  const known = { agentId: desk.agentId, signer, market, tokenIds, profile };
  const verified = verifyPrepared(prepared, intent, known);
  const { order, orderSize } = verified.body;
  const fee = parseMicro(Math.max(0, prepared.feeAtMost), 'ceil');
  const cost = order.side === 'BUY' ? BigInt(order.makerAmount) + fee : 0n;
  return {
    market,
    clientOrderId,
    prepared,
    verified,
    cost,
    stake: order.side === 'BUY' ? cost : parseMicro(orderSize, 'ceil'),
  };
}

function timestampOf(clientOrderId: string): number {
  const [, text] = OWN_NAME.exec(clientOrderId) ?? [];
  if (text !== undefined) return Number(text);
  throw new ToolProblem({
    code: 'client_order_id_not_usable',
    message:
      'Orders of this venue carry the time of their first try, which only a clientOrderId of an earlier answer has.',
    fix: 'Leave clientOrderId out, or use one that place_order or check_order gave.',
  });
}

/** Question about figures that were computed here alone; the market by its id. */
export function questionAbout({ market, verified }: ReadyOrder): string {
  const { order, outcome, orderSize, price } = verified.body;
  const collateral = money(BigInt(order.side === 'BUY' ? order.makerAmount : order.takerAmount));
  const bound =
    order.side === 'BUY'
      ? `pays at most ${collateral}, fees apart`
      : `receives at least ${collateral}, fees apart`;
  return [
    `Place this order? ${order.side} ${orderSize} ${outcome} shares of market ${idOf(market.id)} (${wordOf(market.venue)})`,
    `at ${price} or better; it ${bound}.`,
    `Order id ${verified.orderId}.`,
  ].join(' ');
}

/** The figures that an order's record and the answer to a trade have in common. */
export function placedFacts(
  answer: Pick<TradeResponse, 'orderId' | 'status' | 'filledSize' | 'avgPrice' | 'feePaid'> &
    Partial<Pick<TradeResponse, 'success' | 'errorCode' | 'errorMessage'>>,
  texts: StrangersTexts,
) {
  const isRefused = answer.success === false || answer.status === 'rejected';
  if (isRefused) texts.add('refusal.detail', answer.errorMessage);
  return {
    placed: !isRefused,
    status: wordOf(answer.status),
    orderId: idOf(answer.orderId),
    filledSize: numberOf(answer.filledSize),
    averagePrice: numberOf(answer.avgPrice),
    fee: numberOf(answer.feePaid),
    ...(isRefused ? { refusal: refusalOf(answer.errorCode) } : {}),
  };
}

/** An order that the desk knows already: of a retry, whose first try arrived. */
async function knownOrder({ desk, signal }: Call, orderId: string): Promise<Order | null> {
  try {
    return await desk.client.getOrder(orderId, { signal });
  } catch (error) {
    if (error instanceof BellwetherApiError && error.code === 'order_not_found') return null;
    throw error;
  }
}

/** The order that has the name. */
async function firstUnder(
  { desk, signal }: Call,
  clientOrderId: string,
): Promise<{ readonly orderId?: string }> {
  const orders = await desk.client.listOrders({ clientOrderId, limit: 20 }, { signal });
  const first = orders.find(({ status }) => status !== 'rejected');
  return first === undefined ? {} : { orderId: first.orderId };
}

/**
 * The tool does not sign an order that the desk would refuse: once signed it counts, even after a refusal of the desk. The trade itself asks the owner.
 * @throws OrderRefused for a safeguard @returns the venue's refusal, as the trade would answer it
 */
async function refusalBefore({ prepared, verified, clientOrderId }: ReadyOrder, call: Call) {
  const { texts } = call;
  const { expectedRefusal, checks } = prepared;
  const { orderId } = verified;
  const failed = checks.find(({ passed, code }) => !passed && code !== 'approval_required');
  if (failed !== undefined) {
    const { code, message: detail = 'A check of the desk fails.', fix, limit, used, asked } = failed;
    const problem = {
      ...{ code, detail, context: { limit, used, asked } },
      ...(fix === undefined ? {} : { fix }),
      ...(code === 'client_order_id_already_used' ? await firstUnder(call, clientOrderId) : {}),
    };
    throw new OrderRefused(new BellwetherApiError(403, problem as never), { orderId, clientOrderId });
  }
  if (expectedRefusal === null) return null;
  const answer = { orderId, status: 'rejected', filledSize: 0, avgPrice: null, feePaid: 0, success: false };
  return placedFacts({ ...answer, errorCode: expectedRefusal } as never, texts);
}

export const placeOrder = tool({
  name: 'place_order',
  title: 'Place an order',
  description:
    'Buys or sells shares of an outcome. The order is checked and signed on this machine. A BUY counts against the spending limit of the day; above a threshold the person is asked first. The same clientOrderId with the same terms is the same order, placed once: so call it again after order_outcome_unknown. Changed terms under the same clientOrderId are refused; without it, it is another order, placed beside the first.',
  annotations: ACTS,
  ...ORDER_TERMS,
  async run(terms, call) {
    const { desk, texts, approval } = call;
    const order = await readyOrder(terms, approval.asked, call);
    const { verified, clientOrderId } = order;
    const { orderId } = verified;
    const side = sideOrdered(order, texts);
    const isRetry = terms.clientOrderId !== undefined;
    const known = isRetry ? await knownOrder(call, orderId) : null;
    if (known !== null)
      return {
        ...placedFacts({ ...known, success: known.status !== 'rejected' } as never, texts),
        ...side,
        repeated: true,
        clientOrderId,
        spendingLimit: spendingOf(desk.limit.standing()),
      };
    const refused = await refusalBefore(order, call);
    if (refused !== null)
      return {
        ...refused,
        ...side,
        repeated: false,
        clientOrderId,
        spendingLimit: spendingOf(desk.limit.standing()),
      };
    const spent = await spend(call, {
      order: { orderId, clientOrderId },
      cost: order.cost,
      stake: order.stake,
      question: () => questionAbout(order),
      send: async () => desk.once.placeTrade(await signPrepared(verified, desk.wallet().signer)),
    });
    if ('ask' in spent) return spent.ask;
    return {
      ...placedFacts(spent.answer, texts),
      ...side,
      repeated: false,
      clientOrderId,
      spendingLimit: spendingOf(desk.limit.standing()),
    };
  },
});

/** The side that was ordered; its name goes among the texts. */
function sideOrdered({ market, verified }: ReadyOrder, texts: StrangersTexts) {
  const { outcome } = verified.body;
  texts.addName('outcomeName', outcome, market.outcomes[outcome === 'YES' ? 0 : 1]);
  return { outcome };
}

function preview({ prepared, verified, cost, clientOrderId }: ReadyOrder) {
  const { fill, checks, expectedRefusal } = prepared;
  return {
    orderId: verified.orderId,
    clientOrderId,
    accepted: flagOf(prepared.accepted),
    size: numberOf(verified.body.orderSize),
    ...(prepared.amounts.cut === undefined ? {} : { cut: numberOf(prepared.amounts.cut) }),
    worstPrice: numberOf(verified.body.price),
    costAtMost: money(cost),
    counted: numberOf(prepared.counted),
    fillsNow: {
      size: numberOf(fill.shares),
      averagePrice: numberOf(fill.averagePrice),
      cost: numberOf(fill.cost),
      fee: numberOf(fill.fee),
      complete: flagOf(fill.complete),
      rests: numberOf(fill.rests),
    },
    expectedRefusal: expectedRefusal === null ? null : wordOf(expectedRefusal),
    warnings: prepared.warnings.slice(0, 10).map(({ code }) => wordOf(code)),
    checks: checks.slice(0, 30).map((check) => ({
      code: wordOf(check.code),
      passed: flagOf(check.passed),
      limit: numberOf(check.limit),
      used: numberOf(check.used),
      asked: numberOf(check.asked),
      left: numberOf(check.left),
    })),
  };
}

export const checkOrder = tool({
  name: 'check_order',
  title: 'Check an order without placing it',
  description:
    'What place_order would do with the same terms: the fill and fee to expect, what counts against the limits (counted), and the verdict of every safeguard. place_order with the clientOrderId of the answer and the same terms places exactly this order. Nothing is placed, signed or reserved.',
  annotations: READS,
  ...ORDER_TERMS,
  async run(terms, call) {
    const order = await readyOrder(terms, null, call);
    const { checks, warnings } = order.prepared;
    for (const [at, { message }] of warnings.slice(0, 10).entries())
      call.texts.add(`warnings.${at}.message`, message);
    for (const [at, { message, fix }] of checks.slice(0, 30).entries())
      call.texts.add(`checks.${at}.detail`, [message, fix].filter((text) => text !== undefined).join(' '));
    return {
      ...preview(order),
      ...sideOrdered(order, call.texts),
      spendingLimit: spendingOf(call.desk.limit.standing()),
    };
  },
});

// Orders that were placed: listed, looked up, and canceled.

export function orderFacts(order: Order, texts: StrangersTexts, place: string) {
  texts.add(`${place}.title`, order.marketQuestion);
  texts.addName(`${place}.outcomeName`, order.outcome, order.outcomeName);
  texts.add(`${place}.error`, order.errorMessage);
  return {
    orderId: idOf(order.orderId),
    venue: wordOf(order.venue),
    status: wordOf(order.status),
    market: idOf(order.marketId),
    outcome: wordOf(order.outcome),
    side: wordOf(order.side),
    timeInForce: wordOf(order.orderType),
    price: numberOf(order.price),
    size: numberOf(order.orderSize),
    filledSize: numberOf(order.filledSize),
    averagePrice: numberOf(order.avgPrice),
    fee: numberOf(order.feePaid),
    errorCode: order.errorCode === null ? null : wordOf(order.errorCode),
    createdAt: timeOf(order.createdAt),
  };
}

const CONDITION_ID = /^0x[0-9a-f]{64}$/i;

/** Orders are listed and canceled by the condition of their market, which is its ticker on venue B. */
const conditionOf = async (market: string, venue: string | undefined, call: Call): Promise<string> =>
  CONDITION_ID.test(market) ? market : (await findMarket(market, venue, call)).conditionId;

/** @throws BellwetherApiError market_not_found when no venue knows the market */
export async function findMarket(
  market: string,
  venue: string | undefined,
  { desk, signal }: Call,
): Promise<Market> {
  let unknown: unknown;
  for (const name of venue === undefined ? desk.backends.venues() : [venue]) {
    try {
      return await desk.client.getMarket(market, { venue: name }, { signal });
    } catch (error) {
      if (!isProblem(error, 'market_not_found')) throw error;
      unknown = error;
    }
  }
  throw unknown;
}

/** The side that a word of the model means in this market. @throws ToolProblem, with both names among the texts */
export function sideIn(
  word: string,
  { outcomes }: Pick<Market, 'outcomes'>,
  texts: StrangersTexts,
): 'YES' | 'NO' {
  const side = sideCalled(word, outcomes);
  if (side !== null) return side;
  texts.addNames('', outcomes);
  throw new ToolProblem({
    code: 'outcome_name_mismatch',
    message: 'This market has no outcome of this name.',
    fix: 'Use YES or NO: outcomes.YES and outcomes.NO in untrusted.texts say which is which.',
  });
}

/** The market is looked up for a name alone. @throws ToolProblem, BellwetherApiError */
export const sideOf = async (
  word: string,
  { market, venue }: { readonly market: string; readonly venue?: string | undefined },
  call: Call,
): Promise<'YES' | 'NO'> =>
  word === 'YES' || word === 'NO' ? word : sideIn(word, await findMarket(market, venue, call), call.texts);

export const listOrders = tool({
  name: 'list_orders',
  title: 'List orders',
  description: 'Orders of this agent, newest first: those that are open, or all.',
  annotations: READS,
  input: z.strictObject({
    which: z.enum(['open', 'all']).default('open'),
    market: MARKET.optional(),
    venue: EITHER_VENUE,
    limit: limitOf(10, 100),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  async run({ which, market, venue, limit, offset }, call) {
    const { desk, texts, signal } = call;
    const query = {
      limit,
      offset,
      ...(market === undefined ? {} : { marketConditionId: await conditionOf(market, venue, call) }),
      ...(venue === undefined ? {} : { venue }),
    };
    const orders =
      which === 'open'
        ? await desk.client.listOpenOrders(query, { signal })
        : await desk.client.listOrders(query, { signal });
    return { orders: orders.slice(0, limit).map((order, at) => orderFacts(order, texts, `orders.${at}`)) };
  },
});

const ORDER_ID = z.string().regex(/^[A-Za-z0-9-]{1,128}$/);

export const getOrder = tool({
  name: 'get_order',
  title: 'Look at one order',
  description: 'One order with its fills, what happened to it, and what the safeguards counted of it.',
  annotations: READS,
  input: z.strictObject({ orderId: ORDER_ID }),
  async run({ orderId }, { desk, texts, signal }) {
    const order = await desk.client.getOrder(orderId, { signal });
    texts.add('order.reasoning', order.reasoning);
    const journal = listOf(order.journal).slice(-20);
    for (const [at, { detail }] of journal.entries()) texts.add(`journal.${at}.detail`, detail);
    return {
      order: { ...orderFacts(order, texts, 'order'), counted: numberOf(order.counted) },
      fills: listOf(order.fills)
        .slice(0, 50)
        .map((fill) => ({
          price: numberOf(fill.price),
          size: numberOf(fill.size),
          cost: numberOf(fill.cost),
          fee: numberOf(fill.fee),
          filledAt: timeOf(fill.filledAt),
        })),
      journal: journal.map((line) => ({
        at: timeOf(line.at),
        event: wordOf(line.event),
        status: wordOf(line.status),
      })),
    };
  },
});

export const cancelOrders = tool({
  name: 'cancel_orders',
  title: 'Cancel orders',
  description:
    'Takes open orders off the book: one by orderId, those of a market, or all of this agent. Never blocked by a safeguard. What was reserved in the spending limit stays reserved.',
  annotations: { ...ACTS, idempotentHint: true },
  input: z.strictObject({
    orderId: ORDER_ID.optional(),
    market: MARKET.optional(),
    all: z.literal(true).optional(),
  }),
  contradictions: ({ orderId, market, all }) =>
    [orderId, market, all].filter((one) => one !== undefined).length === 1
      ? []
      : ['give exactly one of orderId, market and all'],
  async run({ orderId, market }, call) {
    const { desk, texts, signal } = call;
    const options = { signal, idempotencyKey: randomUUID() };
    const answer =
      orderId !== undefined
        ? await desk.client.cancelOrder(orderId, options)
        : await desk.client.cancelMarket(
            market === undefined ? {} : { marketConditionId: await conditionOf(market, undefined, call) },
            options,
          );
    const others = Object.entries(recordOf(answer.notCanceled)).slice(0, 100);
    for (const [at, [, reason]] of others.entries()) texts.add(`notCanceled.${at}.reason`, reason);
    return {
      canceled: answer.canceled.map(idOf),
      notCanceled: others.map(([id]) => idOf(id)),
    };
  },
});
