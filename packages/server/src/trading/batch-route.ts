import {
  type BatchTradeResult,
  batchTrade,
  type TradeRequest,
  TradeRequest as TradeSchema,
} from '@bellwether/contract';
import type { FastifyRequest } from 'fastify';
import { outcomeFaults } from '../markets/index.ts';
import { noteRefusal } from '../platform/http/metrics.ts';
import { describeFault, problemOf, refusedEverywhere } from '../platform/http/problem.ts';
import { deadlineOf } from '../platform/http/request-deadline.ts';
import { type Bind, markRepeated } from '../platform/http/routes.ts';
import { compileFor, withUnknownFields } from '../platform/http/validators.ts';
import { type BatchItem, type BatchOutcome, placeBatch } from './batch-trade.ts';
import type { ValidateTradeNeeds } from './place-trade.ts';

const PLACED = 201;
const VALIDATED = 200;

const isTrade = compileFor(withUnknownFields(TradeSchema, batchTrade.unknownFields), 'body');

/** Every order is judged as POST /markets/trade would judge it. */
const itemOf =
  (faultsOf: ReturnType<typeof outcomeFaults>) =>
  async (order: unknown): Promise<BatchItem> => {
    if (isTrade(order)) return { request: order as TradeRequest };
    const { errors: validation } = isTrade;
    return { fault: { validation, validationContext: 'order', further: await faultsOf(order) } };
  };

function resultOf(request: FastifyRequest, { trade, fault }: BatchOutcome, index: number): BatchTradeResult {
  if (trade !== null) {
    const { success, orderId } = trade;
    const status = trade.validateOnly === true ? VALIDATED : PLACED;
    return { index, success, status, orderId, trade, problem: null };
  }
  const problem = problemOf(request, ...describeFault(fault, request));
  const { status, orderId = null } = problem;
  return { index, success: false, status, orderId, trade: null, problem };
}

export function bindBatchTrade(bind: Bind, needs: ValidateTradeNeeds): void {
  bind(batchTrade, async ({ caller, body, request, reply }) => {
    const outcomes = await placeBatch(needs, {
      caller,
      validateOnly: body.validateOnly === true,
      items: await Promise.all((body.orders as readonly unknown[]).map(itemOf(outcomeFaults(needs)))),
      requestId: request.id,
      deadline: deadlineOf(request),
      newTrace: request.trace?.trade,
    });
    for (const { fault } of outcomes) await refusedEverywhere(fault, request);
    const results = outcomes.map((outcome, index) => resultOf(request, outcome, index));
    // Where nothing came of any order, or one is in doubt, sending the same batch again has to find out anew.
    const isSettled = results.every(({ status }) => status < 500 && status !== 409);
    request.hadNoEffect = !isSettled || results.every(({ trade }) => trade === null || trade.validateOnly);
    // A trade that was only checked was not shown to the venue.
    for (const { trade, isRepeated } of outcomes)
      if (trade !== null && trade.validateOnly !== true && !isRepeated)
        noteRefusal(request, 'signed orders', trade);
    if (outcomes.every(({ isRepeated }) => isRepeated)) markRepeated(reply);
    const succeeded = results.filter(({ success }) => success).length;
    return { total: results.length, succeeded, failed: results.length - succeeded, results };
  });
}
