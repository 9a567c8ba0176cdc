import { placeTrade } from '@bellwether/contract';
import { outcomeFaults } from '../markets/index.ts';
import { noteRefusal } from '../platform/http/metrics.ts';
import { deadlineOf } from '../platform/http/request-deadline.ts';
import { type Bind, markRepeated } from '../platform/http/routes.ts';
import * as trade from './place-trade.ts';

export function bindTrading(bind: Bind, needs: trade.ValidateTradeNeeds): void {
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
