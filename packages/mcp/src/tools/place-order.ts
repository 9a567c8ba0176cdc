import { BellwetherApiError, type Order, signPrepared, type TradeResponse } from '@bellwether/sdk';
import { flagOf, idOf, money, numberOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { ACTS, type Call, READS, tool } from '../tool.ts';
import { OrderRefused, refusalOf } from '../tool-problem.ts';
import { ORDER_TERMS, questionAbout, type ReadyOrder, readyOrder } from './order-terms.ts';
import { spend } from './spend.ts';
import { spendingOf } from './terms.ts';

/** The figures that an order's record and the answer to a trade have in common. */
export function placedFacts(
  answer: Pick<TradeResponse, 'orderId' | 'status' | 'filledSize' | 'avgPrice' | 'feePaid'> &
    Partial<Pick<TradeResponse, 'success' | 'errorCode' | 'errorMessage'>>,
  texts: StrangersTexts,
) {
  const isRefused = answer.success === false || answer.status === 'rejected';
  if (isRefused) texts.add('refusal.detail', answer.errorMessage);
  return {
    placed: !isRefused,
    status: wordOf(answer.status),
    orderId: idOf(answer.orderId),
    filledSize: numberOf(answer.filledSize),
    averagePrice: numberOf(answer.avgPrice),
    fee: numberOf(answer.feePaid),
    ...(isRefused ? { refusal: refusalOf(answer.errorCode) } : {}),
  };
}

/** An order that the desk knows already: of a retry, whose first try arrived. */
async function knownOrder({ desk, signal }: Call, orderId: string): Promise<Order | null> {
  try {
    return await desk.client.getOrder(orderId, { signal });
  } catch (error) {
    if (error instanceof BellwetherApiError && error.code === 'order_not_found') return null;
    throw error;
  }
}

/** The order that has the name. */
async function firstUnder(
  { desk, signal }: Call,
  clientOrderId: string,
): Promise<{ readonly orderId?: string }> {
  const orders = await desk.client.listOrders({ clientOrderId, limit: 20 }, { signal });
  const first = orders.find(({ status }) => status !== 'rejected');
  return first === undefined ? {} : { orderId: first.orderId };
}

/**
 * The tool does not sign an order that the desk would refuse: once signed it counts, even after a refusal of the desk. The trade itself asks the owner.
 * @throws OrderRefused for a safeguard @returns the venue's refusal, as the trade would answer it
 */
async function refusalBefore({ prepared, verified, clientOrderId }: ReadyOrder, call: Call) {
  const { texts } = call;
  const { expectedRefusal, checks } = prepared;
  const { orderId } = verified;
  const failed = checks.find(({ passed, code }) => !passed && code !== 'approval_required');
  if (failed !== undefined) {
    const { code, message: detail = 'A check of the desk fails.', fix, limit, used, asked } = failed;
    const problem = {
      ...{ code, detail, context: { limit, used, asked } },
      ...(fix === undefined ? {} : { fix }),
      ...(code === 'client_order_id_already_used' ? await firstUnder(call, clientOrderId) : {}),
    };
    throw new OrderRefused(new BellwetherApiError(403, problem as never), { orderId, clientOrderId });
  }
  if (expectedRefusal === null) return null;
  const answer = { orderId, status: 'rejected', filledSize: 0, avgPrice: null, feePaid: 0, success: false };
  return placedFacts({ ...answer, errorCode: expectedRefusal } as never, texts);
}

export const placeOrder = tool({
  name: 'place_order',
  title: 'Place an order',
  description:
    'Buys or sells shares of an outcome. The order is checked and signed on this machine. A BUY counts against the spending limit of the day; above a threshold the person is asked first. The same clientOrderId with the same terms is the same order, placed once: so call it again after order_outcome_unknown. Changed terms under the same clientOrderId are refused; without it, it is another order, placed beside the first.',
  annotations: ACTS,
  ...ORDER_TERMS,
  async run(terms, call) {
    const { desk, texts, approval } = call;
    const order = await readyOrder(terms, approval.asked, call);
    const { verified, clientOrderId } = order;
    const { orderId } = verified;
    const side = sideOrdered(order, texts);
    const isRetry = terms.clientOrderId !== undefined;
    const known = isRetry ? await knownOrder(call, orderId) : null;
    if (known !== null)
      return {
        ...placedFacts({ ...known, success: known.status !== 'rejected' } as never, texts),
        ...side,
        repeated: true,
        clientOrderId,
        spendingLimit: spendingOf(desk.limit.standing()),
      };
    const refused = await refusalBefore(order, call);
    if (refused !== null)
      return {
        ...refused,
        ...side,
        repeated: false,
        clientOrderId,
        spendingLimit: spendingOf(desk.limit.standing()),
      };
    const spent = await spend(call, {
      order: { orderId, clientOrderId },
      cost: order.cost,
      stake: order.stake,
      question: () => questionAbout(order),
      send: async () => desk.once.placeTrade(await signPrepared(verified, desk.wallet().signer)),
    });
    if ('ask' in spent) return spent.ask;
    return {
      ...placedFacts(spent.answer, texts),
      ...side,
      repeated: false,
      clientOrderId,
      spendingLimit: spendingOf(desk.limit.standing()),
    };
  },
});

/** The side that was ordered; its name goes among the texts. */
function sideOrdered({ market, verified }: ReadyOrder, texts: StrangersTexts) {
  const { outcome } = verified.body;
  texts.addName('outcomeName', outcome, market.outcomes[outcome === 'YES' ? 0 : 1]);
  return { outcome };
}

function preview({ prepared, verified, cost, clientOrderId }: ReadyOrder) {
  const { fill, checks, expectedRefusal } = prepared;
  return {
    orderId: verified.orderId,
    clientOrderId,
    accepted: flagOf(prepared.accepted),
    size: numberOf(verified.body.orderSize),
    ...(prepared.amounts.cut === undefined ? {} : { cut: numberOf(prepared.amounts.cut) }),
    worstPrice: numberOf(verified.body.price),
    costAtMost: money(cost),
    counted: numberOf(prepared.counted),
    fillsNow: {
      size: numberOf(fill.shares),
      averagePrice: numberOf(fill.averagePrice),
      cost: numberOf(fill.cost),
      fee: numberOf(fill.fee),
      complete: flagOf(fill.complete),
      rests: numberOf(fill.rests),
    },
    expectedRefusal: expectedRefusal === null ? null : wordOf(expectedRefusal),
    warnings: prepared.warnings.slice(0, 10).map(({ code }) => wordOf(code)),
    checks: checks.slice(0, 30).map((check) => ({
      code: wordOf(check.code),
      passed: flagOf(check.passed),
      limit: numberOf(check.limit),
      used: numberOf(check.used),
      asked: numberOf(check.asked),
      left: numberOf(check.left),
    })),
  };
}

export const checkOrder = tool({
  name: 'check_order',
  title: 'Check an order without placing it',
  description:
    'What place_order would do with the same terms: the fill and fee to expect, what counts against the limits (counted), and the verdict of every safeguard. place_order with the clientOrderId of the answer and the same terms places exactly this order. Nothing is placed, signed or reserved.',
  annotations: READS,
  ...ORDER_TERMS,
  async run(terms, call) {
    const order = await readyOrder(terms, null, call);
    const { checks, warnings } = order.prepared;
    for (const [at, { message }] of warnings.slice(0, 10).entries())
      call.texts.add(`warnings.${at}.message`, message);
    for (const [at, { message, fix }] of checks.slice(0, 30).entries())
      call.texts.add(`checks.${at}.detail`, [message, fix].filter((text) => text !== undefined).join(' '));
    return {
      ...preview(order),
      ...sideOrdered(order, call.texts),
      spendingLimit: spendingOf(call.desk.limit.standing()),
    };
  },
});
