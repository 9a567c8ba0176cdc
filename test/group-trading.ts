/** Agents that send orders of every kind, so that groups form, and what must be true of them after a fault. */
import {
  buildLimitOrder,
  buildMarketOrder,
  type Market,
  orderIdOf,
  type TradeRequest,
} from '@bellwether/sdk';
import { expect } from 'vitest';
import { expectBooksToAgree } from './books.ts';
import { call, type RawAnswer, restingOrder, type TestService, type Trader } from './harness.ts';

export interface Sent {
  readonly trader: Trader;
  readonly request: TradeRequest;
  readonly orderId: string;
  /** `null`: the connection ended. */
  readonly answer: RawAnswer | null;
}

/** Before it, agents buy what they sell later. */
const FIRST_SALE = 8;

/** Is filled, rests, is refused by the venue, is sold. */
export function orderOfTurn(turn: number, trader: Trader, market: Market): Promise<TradeRequest> {
  const common = { signer: trader.signer, market, outcome: 'YES' } as const;
  switch (turn % 4 === 3 && turn < FIRST_SALE ? 0 : turn % 4) {
    case 0:
      return buildMarketOrder({ ...common, side: 'BUY', amount: 3, worstPrice: 0.95 });
    case 1:
      return restingOrder(trader, market);
    case 2:
      return buildLimitOrder({ ...common, side: 'BUY', price: '0.97', size: 5, postOnly: true });
    default:
      return buildMarketOrder({ ...common, side: 'SELL', shares: 1, worstPrice: 0.02 });
  }
}

export const place = async (
  at: { readonly url: string },
  { trader, request }: Pick<Sent, 'trader' | 'request'>,
): Promise<RawAnswer> => call(at, 'POST', '/markets/trade', { key: trader.apiKey, body: request });

/** When an answer came. */
export interface Timed extends Sent {
  readonly answeredAt: number;
}

/** Every agent sends one order after another until one of its own is not acknowledged. */
export async function tradeUntilStopped(
  at: { readonly url: string },
  traders: readonly Trader[],
  market: Market,
  sent: Timed[] = [],
): Promise<Timed[]> {
  await Promise.all(
    traders.map(async (trader, index) => {
      for (let turn = index % 4; ; turn += 1) {
        const request = await orderOfTurn(turn, trader, market);
        const answer = await place(at, { trader, request }).catch(() => null);
        sent.push({ trader, request, orderId: orderIdOf(request), answer, answeredAt: Date.now() });
        if (answer?.status !== 201) return;
      }
    }),
  );
  return sent;
}

/** At the desk and at the exchange. */
export async function isRecorded(
  { needs, exchange }: TestService,
  { trader, orderId }: Pick<Sent, 'trader' | 'orderId'>,
): Promise<boolean> {
  // Work that the database was kept from, such as the renewal of a lease, may take a moment more.
  await expect.poll(() => exchange.status).toBe('open');
  const [row, record] = await Promise.all([
    needs.orders.byId(trader.agentId, orderId),
    exchange.orderRecord(orderId),
  ]);
  expect({ orderId, isKnown: record !== undefined }).toEqual({ orderId, isKnown: row !== null });
  return row !== null;
}

const isPlaced = ({ answer }: Sent): boolean => answer?.status === 201;

/** Every answer was the truth; what had no proof is there completely or not at all, and the books agree. */
export async function expectTruth(service: TestService, sent: readonly Sent[]): Promise<void> {
  await Promise.all(
    sent.map(async (one) => {
      const is = await isRecorded(service, one);
      if (isPlaced(one)) expect(is).toBe(true);
      // An answer without proof may turn out either way; any other one was the truth.
      else if (one.answer !== null && one.answer.body.code !== 'order_outcome_unknown') {
        expect(one.answer).toMatchObject({ status: 503 });
        expect(is).toBe(false);
      }
    }),
  );
  await expectBooksToAgree(service, [...new Set(sent.map(({ trader }) => trader))]);
}

/** As an agent does: where the database does not answer yet, such as on a session with a server that is gone, the same once more. */
async function placeAgain(...of: Parameters<typeof place>): ReturnType<typeof place> {
  const answers: Awaited<ReturnType<typeof place>>[] = [];
  await expect
    .poll(async () => {
      answers.push(await place(...of));
      return answers.at(-1)?.body.code;
    })
    .not.toBe('service_unavailable');
  return answers.at(-1)!;
}

/** The same orders again: the first answer; for those without one a single effect, of any kind. */
export async function expectOneEffect(service: TestService, sent: readonly Sent[]): Promise<void> {
  await Promise.all(
    sent.map(async (one) => {
      if (isPlaced(one)) {
        expect((await placeAgain(service, one)).body).toEqual(one.answer?.body);
        return;
      }
      const [first, second] = await Promise.all([placeAgain(service, one), placeAgain(service, one)]);
      const placed = first.status === 201 ? first : second;
      expect(placed).toMatchObject({ status: 201 });
      expect([201, 409]).toContain((placed === first ? second : first).status);
      expect((await placeAgain(service, one)).body).toEqual(placed.body);
      expect(await isRecorded(service, one)).toBe(true);
    }),
  );
  await expectBooksToAgree(service, [...new Set(sent.map(({ trader }) => trader))]);
}
