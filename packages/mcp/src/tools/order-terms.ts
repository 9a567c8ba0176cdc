/** From the terms of a call to an order that was prepared by the desk and computed again here. */
import { randomBytes } from 'node:crypto';
import { type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  type Market,
  type PreparedTrade,
  type TradeIntent,
  type VerifiedPrepared,
  verifyPrepared,
} from '@bellwether/sdk';
import { z } from 'zod';
import type { AskedOrder } from '../approval.ts';
import { idOf, money, wordOf } from '../facts.ts';
import type { Call } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { MARKET, OUTCOME, QUANTITY, REASONING, SIDE, VENUE } from './terms.ts';

const PRICE = z.number().gt(0).lt(1);

const FIELDS = {
  market: MARKET,
  venue: VENUE,
  outcome: OUTCOME,
  side: SIDE,
  price: PRICE.optional().describe('limit order: waits on the book at this price. Either this or worstPrice'),
  worstPrice: PRICE.optional().describe(
    'market order: takes what the book offers up to this price. Either this or price',
  ),
  size: QUANTITY.optional().describe('shares: of every order but a market BUY'),
  amount: QUANTITY.optional().describe('collateral to spend at most, fees apart: of a market BUY'),
  timeInForce: z
    .enum(['GTC', 'GTD', 'FAK', 'FOK'])
    .optional()
    .describe('GTC for a limit order, FAK for a market order when left out'),
  expiresAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('of a GTD order: when it ends. A time, so that the same terms stay the same order'),
  postOnly: z.boolean().optional().describe('refuse rather than take from the book'),
  clientOrderId: z
    .string()
    .regex(/^[\x21-\x7e]{1,64}$/)
    .optional()
    .describe('of an earlier answer, to try that order again with the same terms'),
  reasoning: REASONING,
  skill: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/)
    .optional()
    .describe('the skill that led to this order'),
};

type Terms = z.output<z.ZodObject<typeof FIELDS>>;

/** All that does not fit together, at once. */
function contradictions(terms: Partial<Terms>): string[] {
  const { side, price, worstPrice, size, amount, timeInForce, expiresAt, postOnly } = terms;
  const wrong: string[] = [];
  if ((price === undefined) === (worstPrice === undefined)) wrong.push('give either price or worstPrice');
  const spends = worstPrice !== undefined && side === 'BUY';
  if (spends && amount === undefined) wrong.push('a market BUY needs amount');
  if (spends && size !== undefined) wrong.push('a market BUY takes amount, not size');
  if (!spends && size === undefined) wrong.push('this order needs size');
  if (!spends && amount !== undefined) wrong.push('only a market BUY takes amount');
  if ((timeInForce === 'GTD') !== (expiresAt !== undefined)) wrong.push('GTD and expiresAt belong together');
  if (postOnly === true && worstPrice !== undefined) wrong.push('a market order cannot be postOnly');
  return wrong;
}

export const ORDER_TERMS = { input: z.strictObject(FIELDS), contradictions };

export interface ReadyOrder {
  readonly market: Market;
  readonly clientOrderId: string;
  readonly prepared: PreparedTrade;
  readonly verified: VerifiedPrepared;
  /** What it may take out of the spending limit: collateral of a BUY with its fee; nothing of a SELL. */
  readonly cost: Micro;
  /** What a person may lose by it: the cost of a BUY, the shares of a SELL at their highest value. */
  readonly stake: Micro;
}

/** Names made here begin with the time that the venue's own orders carry, so that a retry carries the same. */
const OWN_NAME = /^mcp-(\d{13})-/;
const newName = (): string => `mcp-${Date.now()}-${randomBytes(6).toString('hex')}`;

function intentOf(
  terms: Terms,
  marketId: string,
  names: { clientOrderId: string; expiration: number | undefined },
): TradeIntent {
  const { venue, outcome, side, price, worstPrice, size, amount, timeInForce, postOnly, reasoning, skill } =
    terms;
  return {
    clientOrderId: names.clientOrderId,
    marketId,
    outcome,
    side,
    source: 'mcp',
    ...(venue === undefined ? {} : { venue }),
    ...(price === undefined ? {} : { price }),
    ...(worstPrice === undefined ? {} : { worstPrice }),
    ...(size === undefined ? {} : { size }),
    ...(amount === undefined ? {} : { amount }),
    ...(timeInForce === undefined ? {} : { orderType: timeInForce }),
    ...(names.expiration === undefined ? {} : { expiration: names.expiration }),
    ...(postOnly === undefined ? {} : { postOnly }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(skill === undefined ? {} : { skillSlug: skill }),
  };
}

/** @throws PreparedOrderError when the desk prepared another order; nothing is signed or reserved yet */
export async function readyOrder(
  terms: Terms,
  asked: AskedOrder | null,
  { desk, signal }: Call,
): Promise<ReadyOrder> {
  const { signer, signatureType } = desk.wallet();
  const { profile } = desk.config;
  const clientOrderId = asked?.clientOrderId ?? terms.clientOrderId ?? newName();
  const expiration =
    terms.expiresAt === undefined ? undefined : Math.floor(Date.parse(terms.expiresAt) / 1000);
  const { venue } = terms;
  const market = await desk.client.getMarket(terms.market, venue === undefined ? {} : { venue }, { signal });
  const intent: TradeIntent = {
    ...intentOf(terms, market.id, { clientOrderId, expiration }),
    walletAddress: signer.wallet(signatureType),
    signatureType,
    ...(profile === 'polymarket' || market.version === 'v2' ? { timestamp: timestampOf(clientOrderId) } : {}),
  };
  const prepared = await desk.client.prepareTrade(intent, { signal });
  const verified = verifyPrepared(prepared, intent, { agentId: desk.agentId, signer, market, profile });
  const { order, orderSize } = verified.body;
  const fee = parseMicro(Math.max(0, prepared.feeAtMost), 'ceil');
  const cost = order.side === 'BUY' ? BigInt(order.makerAmount) + fee : 0n;
  return {
    market,
    clientOrderId,
    prepared,
    verified,
    cost,
    stake: order.side === 'BUY' ? cost : parseMicro(orderSize, 'ceil'),
  };
}

function timestampOf(clientOrderId: string): number {
  const [, text] = OWN_NAME.exec(clientOrderId) ?? [];
  if (text !== undefined) return Number(text);
  throw new ToolProblem({
    code: 'client_order_id_not_usable',
    message:
      'Orders of this venue carry the time of their first try, which only a clientOrderId of an earlier answer has.',
    fix: 'Leave clientOrderId out, or use one that place_order or check_order gave.',
  });
}

/** Of what was computed here alone; the market by its id. */
export function questionAbout({ market, verified }: ReadyOrder): string {
  const { order, outcome, orderSize, price } = verified.body;
  const collateral = money(BigInt(order.side === 'BUY' ? order.makerAmount : order.takerAmount));
  const bound =
    order.side === 'BUY'
      ? `pays at most ${collateral}, fees apart`
      : `receives at least ${collateral}, fees apart`;
  return [
    `Place this order? ${order.side} ${orderSize} ${outcome} shares of market ${idOf(market.id)} (${wordOf(market.venue)})`,
    `at ${price} or better; it ${bound}.`,
    `Order id ${verified.orderId}.`,
  ].join(' ');
}
