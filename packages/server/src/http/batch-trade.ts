import {
  type BatchTradeResult,
  batchTrade,
  type TradeRequest,
  TradeRequest as TradeSchema,
} from '@bellwether/contract';
import type { FastifyRequest } from 'fastify';
import { type BatchItem, type BatchOutcome, placeBatch } from '../app/orders/signed/batch-trade.ts';
import type { PlaceTradeNeeds } from '../app/orders/signed/place-trade.ts';
import { describeFault, problemOf } from './problem.ts';
import { deadlineOf } from './request-deadline.ts';
import type { Bind } from './routes.ts';
import { compileFor, withUnknownFields } from './validators.ts';

const PLACED = 201;

const isTrade = compileFor(withUnknownFields(TradeSchema, batchTrade.unknownFields), 'body');

/** Every order is judged as POST /markets/trade would judge it. */
const itemOf = (order: unknown): BatchItem =>
  isTrade(order)
    ? { request: order as TradeRequest }
    : { fault: { validation: isTrade.errors, validationContext: 'order' } };

function resultOf(request: FastifyRequest, { trade, fault }: BatchOutcome, index: number): BatchTradeResult {
  if (trade !== null)
    return { index, success: trade.success, status: PLACED, orderId: trade.orderId, trade, problem: null };
  const problem = problemOf(request, ...describeFault(fault, request));
  const { status, orderId = null } = problem;
  return { index, success: false, status, orderId, trade: null, problem };
}

export function bindBatchTrade(bind: Bind, needs: PlaceTradeNeeds): void {
  bind(batchTrade, async ({ caller, body, request }) => {
    const outcomes = await placeBatch(needs, {
      caller,
      items: (body.orders as readonly unknown[]).map(itemOf),
      requestId: request.id,
      deadline: deadlineOf(request),
    });
    const results = outcomes.map((outcome, index) => resultOf(request, outcome, index));
    // Where nothing came of any order, or one is in doubt, sending the same batch again has to find out anew.
    const isSettled = results.every(({ status }) => status < 500 && status !== 409);
    request.hadNoEffect = !isSettled || results.every(({ trade }) => trade === null);
    const succeeded = results.filter(({ success }) => success).length;
    return { total: results.length, succeeded, failed: results.length - succeeded, results };
  });
}
