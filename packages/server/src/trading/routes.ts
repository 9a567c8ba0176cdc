/** Trades, batches, trades made ready for signing, and sets, each bound to its use case. */
import {
  type BatchTradeResult,
  batchTrade,
  convertSets,
  TradeIntent as IntentSchema,
  mergeSets,
  type PrepareBatchResult,
  placeTrade,
  prepareBatch,
  prepareTrade,
  relaySet,
  type SetResponse,
  splitSets,
  type TradeIntent,
  type TradeRequest,
  TradeRequest as TradeSchema,
} from '@bellwether/contract';
import type { FastifyRequest } from 'fastify';
import { outcomeFaults } from '../markets/index.ts';
import { deadlineOf, requireTime } from '../platform/http/deadline.ts';
import { noteRefusal } from '../platform/http/metrics.ts';
import { describeFault, problemOf, refusedEverywhere } from '../platform/http/problem.ts';
import { type Bind, type Input, markedAnswer, markRepeated } from '../platform/http/routes.ts';
import { compileFor, withUnknownFields } from '../platform/http/validation.ts';
import type { TradeNeeds } from './judge-trade.ts';
import * as trade from './place-trade.ts';
import { type BatchItem, type BatchOutcome, placeBatch } from './place-trade.ts';
import { prepareTrade as prepare } from './prepare-trade.ts';
import type { SetKind } from './set-terms.ts';
import { placeSet, relaySigned, type SetNeeds } from './sets.ts';

export function bindTrading(bind: Bind, needs: TradeNeeds): void {
  bind(
    placeTrade,
    async ({ caller, body, request, reply }) => {
      const call = { caller, request: body, requestId: request.id };
      if (body.validateOnly !== true) {
        const deadline = deadlineOf(request);
        const trace = request.trace?.trade();
        const { answer, isRepeated } = await trade.placeTrade(needs, { ...call, deadline, trace });
        if (isRepeated) markRepeated(reply);
        else noteRefusal(request, 'signed orders', answer);
        return answer;
      }
      const validated = await trade.validateTrade(needs, call);
      return reply.code(placeTrade.validatesOnly.status).send(validated);
    },
    outcomeFaults(needs),
  );
}

const isIntent = compileFor(withUnknownFields(IntentSchema, prepareBatch.unknownFields), 'body');

export function bindPrepareTrade(bind: Bind, needs: TradeNeeds): void {
  const faultsOf = outcomeFaults(needs);
  bind(prepareTrade, ({ caller, body }) => prepare(needs, caller, body), faultsOf);

  bind(prepareBatch, async ({ caller, body, request }) => {
    const deadline = deadlineOf(request);
    const results: PrepareBatchResult[] = [];
    for (const [index, intent] of (body.intents as readonly unknown[]).entries()) {
      try {
        if (!isIntent(intent)) {
          const { errors: validation } = isIntent;
          throw { validation, validationContext: 'intent', further: await faultsOf(intent) };
        }
        requireTime(deadline);
        const prepared = await prepare(needs, caller, intent as TradeIntent);
        results.push({ index, status: prepareBatch.status, prepared, problem: null });
      } catch (fault) {
        const problem = problemOf(request, ...describeFault(fault, request, [intent]));
        results.push({ index, status: problem.status, prepared: null, problem });
      }
    }
    const succeeded = results.filter(({ prepared }) => prepared !== null).length;
    return { total: results.length, succeeded, failed: results.length - succeeded, results };
  });
}

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

export function bindBatchTrade(bind: Bind, needs: TradeNeeds): void {
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

export function bindSets(bind: Bind, needs: SetNeeds): void {
  const place = async (
    kind: SetKind,
    { caller, body, request, reply }: Input<typeof splitSets | typeof mergeSets | typeof convertSets>,
  ): Promise<SetResponse> => {
    const deadline = deadlineOf(request);
    const trace = request.trace?.trade();
    const call = { caller, kind, request: body, requestId: request.id, deadline, trace };
    const placed = await placeSet(needs, call);
    if (!placed.isRepeated) noteRefusal(request, 'signed orders', placed.answer);
    return markedAnswer(reply, placed);
  };
  bind(splitSets, (input) => place('split', input));
  bind(mergeSets, (input) => place('merge', input));
  bind(convertSets, (input) => place('convert', input));
  bind(relaySet, async ({ caller, body, reply }) =>
    markedAnswer(reply, await relaySigned(needs, caller, body)),
  );
}
