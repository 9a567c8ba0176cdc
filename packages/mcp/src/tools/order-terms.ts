/** From the terms of a call to an order that was prepared by the desk and computed again here. */
import { randomBytes } from 'node:crypto';
import { type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  type IntentTerms,
  intentFaults,
  type Market,
  type PreparedTrade,
  tradeIntent,
  type VerifiedPrepared,
  verifyPrepared,
} from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
import { z } from 'zod';
import type { AskedOrder } from '../approval.ts';
import { idOf, money, wordOf } from '../facts.ts';
import type { Call } from '../tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { sideIn } from './orders.ts';
import {
  CANCEL_AFTER_MS,
  CLIENT_ORDER_ID,
  MARKET,
  OUTCOME,
  QUANTITY,
  REASONING,
  SIDE,
  VENUE,
} from './terms.ts';

const PRICE = z.number().gt(0).lt(1);

const FIELDS = {
  market: MARKET,
  venue: VENUE,
  outcome: OUTCOME,
  side: SIDE,
  price: PRICE.optional().describe('limit order: waits on the book at it. This or worstPrice'),
  worstPrice: PRICE.optional().describe('market order: takes what the book offers up to it. This or price'),
  size: QUANTITY.optional().describe('shares: of every order but a market BUY'),
  amount: QUANTITY.optional().describe('collateral to spend at most, fees apart: of a market BUY'),
  timeInForce: z
    .enum(['GTC', 'GTD', 'FAK', 'FOK'])
    .optional()
    .describe('GTC for a limit order, FAK for a market order when left out'),
  expiresAt: z.iso.datetime({ offset: true }).optional().describe('of a GTD order: when it ends'),
  cancelAfterMs: CANCEL_AFTER_MS.describe('what is not filled by then is canceled'),
  postOnly: z.boolean().optional().describe('refuse rather than take from the book'),
  clientOrderId: CLIENT_ORDER_ID.describe(
    'of an earlier answer: tries that order again; other terms under it are refused',
  ),
  reasoning: REASONING,
  skill: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/)
    .optional()
    .describe('the skill that led to this order'),
};

type OrderTermsInput = z.output<z.ZodObject<typeof FIELDS>>;

/** The fields of the desk's intent that have another name here. */
const NAMES: Readonly<Record<string, string>> = { orderType: 'timeInForce', expiration: 'expiresAt' };

function intentTerms(terms: Partial<OrderTermsInput>) {
  const { market: _market, timeInForce, expiresAt, skill, ...rest } = terms;
  return {
    ...rest,
    orderType: timeInForce,
    expiration: expiresAt === undefined ? undefined : Math.floor(Date.parse(expiresAt) / 1000),
    skillSlug: skill,
  } satisfies Partial<IntentTerms>;
}

/** All that does not fit together, at once; as parts of a list. */
const contradictions = (terms: Partial<OrderTermsInput>): string[] =>
  intentFaults(intentTerms(terms), { nameOf: (field) => NAMES[field] ?? field }).map(
    (sentence) => `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`,
  );

export const ORDER_TERMS = { input: z.strictObject(FIELDS), contradictions };

export interface ReadyOrder {
  readonly market: Market;
  readonly clientOrderId: string;
  readonly prepared: PreparedTrade;
  readonly verified: VerifiedPrepared;
  /** The most that it may take out of the spending limit: collateral of a BUY with its fee; nothing of a SELL. */
  readonly cost: Micro;
  /** The most that a person may lose by it: the cost of a BUY, the shares of a SELL at their highest value. */
  readonly stake: Micro;
}

/** Names made here begin with the time that the venue's own orders carry, so that a retry carries the same. */
const OWN_NAME = /^mcp-(\d{13})-/;
const newName = (): string => `mcp-${Date.now()}-${randomBytes(6).toString('hex')}`;

/** @throws PreparedOrderError when the desk prepared another order; nothing is signed or reserved yet */
export async function readyOrder(
  terms: OrderTermsInput,
  asked: AskedOrder | null,
  { desk, texts, signal }: Call,
): Promise<ReadyOrder> {
  const { signer, signatureType } = desk.wallet();
  const { profile } = desk.config;
  const clientOrderId = asked?.clientOrderId ?? terms.clientOrderId ?? newName();
  const { venue } = terms;
  const market = await desk.client.getMarket(terms.market, venue === undefined ? {} : { venue }, { signal });
  const outcome = sideIn(terms.outcome, market, texts);
  const { side } = terms;
  const intent = tradeIntent({
    ...intentTerms(terms),
    ...{ outcome, side, clientOrderId, marketId: market.id, source: 'mcp' },
    walletAddress: signer.wallet(signatureType),
    signatureType,
    timestamp: profile === 'polymarket' || market.version === 'v2' ? timestampOf(clientOrderId) : undefined,
  });
  const prepared = await desk.client.prepareTrade(intent, { signal });
  const tokenIds = new KnownMints(desk.config.place).tokensOf(market);
  const known = { agentId: desk.agentId, signer, market, tokenIds, profile };
  const verified = verifyPrepared(prepared, intent, known);
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

/** Question about figures that were computed here alone; the market by its id. */
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
