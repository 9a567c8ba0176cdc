import { expect, test } from 'vitest';
import type { Caller, NewOrder } from '../domain/records.ts';
import type { Deadline } from '../platform/http/deadline.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Recorded, TradeScope } from './admission.ts';
import { type Placement, type PlaceOrderNeeds, placeOrder } from './place-order.ts';
import { beingPlaced } from './trade-answers.ts';

const order = { orderId: 'order', agentId: 'agent', kind: 'signed' } as unknown as NewOrder;
const recorded = { order, reserves: 5n, checked: {} } as unknown as Recorded;
const free = { existing: null, namedOrder: null, keyActive: true };
const scope = { ...free, way: { kind: 'recorded' } } as unknown as TradeScope;

/** Places an order whose deadline is over when it is to be handed over. */
async function placeLate(handedOverBy: 'sending' | 'recording') {
  const [sent, settled]: [string[], string[]] = [[], []];
  const deadline: Deadline = { leftMs: () => 100, handOver: () => false };
  const needs = {
    clock: { now: () => 0 },
    ledger: {
      admit: async ({ judge }: { judge: (scope: TradeScope) => unknown }) => judge(scope),
    },
    orders: {
      settle: async (id: string, { status }: { status: string }) => void settled.push(`${id} ${status}`),
    },
  } as unknown as PlaceOrderNeeds;
  const placement = {
    ...{ duplicateLookup: 'before_refusal', handedOverBy, look: async () => null, judgeRequest: () => ({}) },
    ...{ question: () => ({}), sameOrder: () => null, judge: () => recorded },
    send: async () => void sent.push('order'),
  } as unknown as Placement<object, NewOrder, unknown>;
  const answer = await placeOrder(needs, { caller: {} as Caller, deadline }, placement).catch(
    (error) => error,
  );
  return { sent, settled, answer };
}

test('an order that is recorded in time and too late for its venue is not sent, and gives its budget back', async () => {
  const { sent, settled, answer } = await placeLate('sending');
  expect(answer).toBeInstanceOf(Refusal);
  expect((answer as Refusal).denials[0].detail).toContain('had no effect');
  expect({ sent, settled }).toEqual({ sent: [], settled: ['order rejected'] });
});

test('an order that its record hands over is neither recorded nor sent when it is too late', async () => {
  const { sent, settled, answer } = await placeLate('recording');
  expect(answer).toBeInstanceOf(Refusal);
  expect({ sent, settled }).toEqual({ sent: [], settled: [] });
});

test('the second of two that arrive together gets what the first has by now, else that it is being placed', async () => {
  const claim = () => {
    throw beingPlaced('order');
  };
  for (const known of ['its first answer', null]) {
    const placement = {
      ...{ duplicateLookup: 'before_refusal', look: async () => known, judgeRequest: () => ({}), claim },
    } as unknown as Placement<object, NewOrder, unknown>;
    const call = { caller: {} as Caller, deadline: {} as Deadline };
    const placed = placeOrder({} as PlaceOrderNeeds, call, placement);
    if (known === null)
      await expect(placed).rejects.toMatchObject({ denials: [{ code: 'idempotency_in_flight' }] });
    else expect(await placed).toEqual({ answer: known, isRepeated: true });
  }
});
