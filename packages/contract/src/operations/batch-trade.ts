import { type Static, Type } from 'typebox';
import { LIMITS, Nullable, Problem } from '../fields.ts';
import { operation } from '../operation.ts';
import { TradeRequest, TradeResponse } from './trading.ts';

export const BatchTradeResult = Type.Object({
  index: Type.Integer({ description: 'position in orders' }),
  success: Type.Boolean({ description: 'the venue took the order' }),
  status: Type.Integer({ description: 'HTTP status that POST /markets/trade would have answered' }),
  orderId: Nullable(Type.String()),
  trade: Nullable(TradeResponse),
  problem: Nullable(Problem),
});

export const BatchTradeResponse = Type.Object({
  total: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  results: Type.Array(BatchTradeResult, { description: 'in the order of the request' }),
});

/** Up to 20 signed orders, each checked separately. Repeated after a broken connection like `placeTrade`. */
export const batchTrade = operation({
  id: 'batchTrade',
  method: 'POST',
  path: '/markets/batch-trade',
  repeatable: true,
  summary: 'Place up to 20 signed orders, judged one after the other, each checked separately',
  description:
    'No order depends on another, except that they draw on the same budgets in the order given: one that is malformed ' +
    'is refused alone. A live venue is sent them together, once all are judged: none counts what another one of the batch would ' +
    'bring. The request as a whole is refused only where it is no array of 1 to 20 orders.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'trade',
  tokensPerItemOf: 'orders',
  idempotent: true,
  bodyBytes: LIMITS.batchBodyBytes,
  body: Type.Object({
    orders: Type.Array(TradeRequest, { minItems: 1, maxItems: LIMITS.ordersPerBatch }),
    validateOnly: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'of every order: checks it, each as if it were the only one, without any effect',
      }),
    ),
  }),
  unknownFields: 'refuse',
  checkedSeparately: 'orders',
  validatesOnly: { when: 'validateOnly', status: 200 },
  status: 200,
  response: BatchTradeResponse,
  errors: ['service_unavailable'],
});

export type BatchTradeResult = Static<typeof BatchTradeResult>;
export type BatchTradeResponse = Static<typeof BatchTradeResponse>;
