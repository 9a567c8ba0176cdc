import { placeTrade } from '@bellwether/contract';
import * as trade from '../app/orders/signed/place-trade.ts';
import { deadlineOf } from './request-deadline.ts';
import type { Bind } from './routes.ts';

export function bindTrading(bind: Bind, needs: trade.ValidateTradeNeeds): void {
  bind(placeTrade, async ({ caller, body, request, reply }) => {
    const call = { caller, request: body, requestId: request.id };
    if (body.validateOnly !== true)
      return trade.placeTrade(needs, {
        ...call,
        deadline: deadlineOf(request),
        trace: request.trace?.trade(),
      });
    const validated = await trade.validateTrade(needs, call);
    return reply.code(placeTrade.validatesOnly.status).send(validated);
  });
}
