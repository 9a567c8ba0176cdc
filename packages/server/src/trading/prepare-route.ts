import {
  TradeIntent as IntentSchema,
  type PrepareBatchResult,
  prepareBatch,
  prepareTrade,
  type TradeIntent,
} from '@bellwether/contract';
import { outcomeFaults } from '../markets/index.ts';
import { requireTime } from '../platform/http/deadline.ts';
import { describeFault, problemOf } from '../platform/http/problem.ts';
import { deadlineOf } from '../platform/http/request-deadline.ts';
import type { Bind } from '../platform/http/routes.ts';
import { compileFor, withUnknownFields } from '../platform/http/validators.ts';
import { type PrepareTradeNeeds, prepareTrade as prepare } from './prepare-trade.ts';

const isIntent = compileFor(withUnknownFields(IntentSchema, prepareBatch.unknownFields), 'body');

export function bindPrepareTrade(bind: Bind, needs: PrepareTradeNeeds): void {
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
