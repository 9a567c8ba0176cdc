import { randomUUID } from 'node:crypto';
import { isProblem, type Market, type Order, sideCalled } from '@bellwether/sdk';
import { z } from 'zod';
import { idOf, listOf, numberOf, recordOf, timeOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { ACTS, type Call, READS, tool } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { EITHER_VENUE, limitOf, MARKET } from './terms.ts';

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
