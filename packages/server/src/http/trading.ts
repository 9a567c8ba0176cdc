import { placeTrade } from '@bellwether/contract';
import { type OrderNeeds, orderUseCases } from '../app/orders/order-use-cases.ts';
import * as trade from '../app/orders/signed/place-trade.ts';
import { deadlineOf } from './request-deadline.ts';
import type { Bind } from './routes.ts';
import { bindUseCases } from './use-cases.ts';

export function bindTrading(bind: Bind, needs: trade.ValidateTradeNeeds & OrderNeeds): void {
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
  bindUseCases(bind, orderUseCases(needs));
}
