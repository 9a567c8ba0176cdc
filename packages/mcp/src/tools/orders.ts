import { randomUUID } from 'node:crypto';
import type { Order } from '@bellwether/sdk';
import { z } from 'zod';
import { idOf, listOf, numberOf, recordOf, timeOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { ACTS, READS, tool } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { amount, EITHER_VENUE, limitOf, MARKET, time } from './terms.ts';

export const ORDER_FACTS = z.object({
  orderId: z.string(),
  venue: z.string(),
  status: z.string(),
  marketId: z.string(),
  outcome: z.string(),
  side: z.string(),
  orderType: z.string(),
  price: amount,
  size: amount,
  filledSize: amount,
  averagePrice: amount,
  fee: amount,
  errorCode: z.string().nullable(),
  createdAt: time,
});

export function orderFacts(order: Order, texts: StrangersTexts, place: string): z.input<typeof ORDER_FACTS> {
  texts.add(`${place}.market`, order.marketQuestion);
  texts.add(`${place}.error`, order.errorMessage);
  return {
    orderId: idOf(order.orderId),
    venue: wordOf(order.venue),
    status: wordOf(order.status),
    marketId: idOf(order.marketId),
    outcome: wordOf(order.outcome),
    side: wordOf(order.side),
    orderType: wordOf(order.orderType),
    price: numberOf(order.price),
    size: numberOf(order.orderSize),
    filledSize: numberOf(order.filledSize),
    averagePrice: numberOf(order.avgPrice),
    fee: numberOf(order.feePaid),
    errorCode: order.errorCode === null ? null : wordOf(order.errorCode),
    createdAt: timeOf(order.createdAt),
  };
}

export const listOrders = tool({
  name: 'list_orders',
  title: 'List orders',
  description: 'Orders of this agent, newest first: those that are open, or all.',
  annotations: READS,
  input: z.strictObject({
    which: z.enum(['open', 'all']).default('open'),
    market: MARKET.optional().describe(
      'condition id of a market, or ticker of venue B; all markets when left out',
    ),
    venue: EITHER_VENUE,
    limit: limitOf(10, 100),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: { orders: z.array(ORDER_FACTS) },
  async run({ which, market, venue, limit, offset }, { desk, texts, signal }) {
    const query = {
      limit,
      offset,
      ...(market === undefined ? {} : { marketConditionId: market }),
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
  description: 'One order with its fills and what happened to it.',
  annotations: READS,
  input: z.strictObject({ orderId: ORDER_ID }),
  output: {
    order: ORDER_FACTS,
    fills: z.array(z.object({ price: amount, size: amount, cost: amount, fee: amount, filledAt: time })),
    journal: z.array(z.object({ at: time, event: z.string(), status: z.string() })),
  },
  async run({ orderId }, { desk, texts, signal }) {
    const order = await desk.client.getOrder(orderId, { signal });
    texts.add('order.reasoning', order.reasoning);
    const journal = listOf(order.journal).slice(-20);
    for (const [at, { detail }] of journal.entries()) texts.add(`journal.${at}.detail`, detail);
    return {
      order: orderFacts(order, texts, 'order'),
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
    market: MARKET.optional().describe('condition id of the market, or ticker of venue B'),
    all: z.literal(true).optional(),
  }),
  output: {
    canceled: z.array(z.string()),
    notCanceled: z.array(z.string()).describe('the reasons are in untrusted.texts'),
  },
  async run({ orderId, market, all }, { desk, texts, signal }) {
    if ([orderId, market, all].filter((one) => one !== undefined).length !== 1)
      throw new ToolProblem({
        code: 'invalid_request',
        message: 'Say which orders to cancel.',
        fix: 'Give exactly one of orderId, market and all.',
      });
    const options = { signal, idempotencyKey: randomUUID() };
    const answer =
      orderId !== undefined
        ? await desk.client.cancelOrder(orderId, options)
        : await desk.client.cancelMarket(market === undefined ? {} : { marketConditionId: market }, options);
    const others = Object.entries(recordOf(answer.notCanceled)).slice(0, 100);
    for (const [at, [, reason]] of others.entries()) texts.add(`notCanceled.${at}.reason`, reason);
    return {
      canceled: answer.canceled.map(idOf),
      notCanceled: others.map(([id]) => idOf(id)),
    };
  },
});
