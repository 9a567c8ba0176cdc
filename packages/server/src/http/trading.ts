import { placeTrade } from '@bellwether/contract';
import { type OrderNeeds, orderUseCases } from '../app/orders/order-use-cases.ts';
import * as trade from '../app/orders/signed/place-trade.ts';
import { deadlineOf } from './request-deadline.ts';
import type { Bind } from './routes.ts';
import { bindUseCases } from './use-cases.ts';

export function bindTrading(bind: Bind, needs: trade.PlaceTradeNeeds & OrderNeeds): void {
  bind(placeTrade, ({ caller, body, request }) =>
    trade.placeTrade(needs, { caller, request: body, requestId: request.id, deadline: deadlineOf(request) }),
  );
  bindUseCases(bind, orderUseCases(needs));
}
