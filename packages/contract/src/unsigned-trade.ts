/**
 * From an intent in named fields to the unsigned body of a trade. The service prepares orders with this function, and a
 * client that has it computes the same body by itself, so that nothing of a prepared order has to be believed.
 */
import { formatPips, microToNumber, type Pips, parseMicro, pipsToNumber } from './decimals.ts';
import { LIMITS } from './fields.ts';
import type { TradeIntent, UnsignedTrade } from './operations/prepare-trade.ts';
import { type Amounts, limitAmounts, marketAmounts, priceOnGrid, sharesOf } from './order-amounts.ts';

/** Whose money the order is about, and who signs it. */
export interface OrderParties {
  readonly maker: string;
  /** As the order names it: the wallet itself where the signature is wrapped. */
  readonly signer: string;
  readonly signatureType: 0 | 1 | 2 | 3;
}

export interface UnsignedTradeTerms extends OrderParties {
  readonly venue: string;
  readonly conditionId: string;
  readonly question: string;
  /** [YES, NO] */
  readonly tokenIds: readonly [string, string];
  /** The side that the intent's word means in this market. */
  readonly outcome: 'YES' | 'NO';
  readonly tick: Pips;
  readonly negRisk: boolean;
  readonly salt: number;
  /** Whether the struct has the venue's own fields timestamp, metadata and builder. */
  readonly hasExtras: boolean;
  /** Default: none. Signed only with the fields above. */
  readonly builder?: string | undefined;
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const ZERO_BYTES32 = `0x${'0'.repeat(64)}`;

/**
 * A market's question as `marketQuestion` takes it: a label.
 * @example
 * questionLabel('Will it rain?\n'); // 'Will it rain? '
 */
export const questionLabel = (question: string): string =>
  [...question.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')]
    .slice(0, LIMITS.marketQuestionChars)
    .join('');

/**
 * @example
 * orderTypeOfIntent({ ...intent, orderType: 'GTC' }); // 'GTC'; without a type FAK or GTC, by the price
 */
export const orderTypeOfIntent = ({ orderType, price }: TradeIntent): 'GTC' | 'FOK' | 'GTD' | 'FAK' =>
  orderType ?? (price === undefined ? 'FAK' : 'GTC');

function priced(intent: TradeIntent, tick: Pips): { readonly price: Pips; readonly amounts: Amounts } {
  const { price: limit, worstPrice, side, size = 0, amount = 0 } = intent;
  const price = priceOnGrid(limit ?? worstPrice ?? 0, tick);
  if (limit === undefined)
    return { price, amounts: marketAmounts({ side, price, tick, quantity: side === 'BUY' ? amount : size }) };
  const orderType = orderTypeOfIntent(intent);
  const immediate = orderType === 'FOK' || orderType === 'FAK';
  return { price, amounts: limitAmounts({ side, price, tick, size, immediate }) };
}

/**
 * What an order leaves of the quantity that was asked for, where it leaves anything: shares, or the collateral of a market BUY.
 * @example
 * const sold = { makerAmount: 54_800_000n, takerAmount: 27_400_000n };
 * cutOf({ ...intent, side: 'SELL', worstPrice: 0.5, size: 54.807692 }, sold); // { cut: 0.007692 }
 */
export function cutOf(
  { price, side, size = 0, amount = 0 }: TradeIntent,
  amounts: Amounts,
): { readonly cut?: number } {
  const isBudget = price === undefined && side === 'BUY';
  const taken = isBudget ? amounts.makerAmount : sharesOf(side, amounts);
  const cut = parseMicro(isBudget ? amount : size, 'floor') - taken;
  return cut === 0n ? {} : { cut: microToNumber(cut) };
}

/**
 * @throws OrderBuildError for a price or a quantity of which no order can be made
 * @example
 * const { order, price, orderSize } = unsignedTrade(intent, terms);
 */
export function unsignedTrade(intent: TradeIntent, terms: UnsignedTradeTerms): UnsignedTrade {
  const { maker, signatureType, tick, negRisk } = terms;
  const { price, amounts } = priced(intent, tick);
  const { side, expiration, postOnly = false, deferExec = false } = intent;
  const { clientOrderId, cancelAfterMs, reasoning, source, skillSlug } = intent;
  return {
    venue: terms.venue,
    marketConditionId: terms.conditionId,
    marketQuestion: questionLabel(terms.question),
    outcome: terms.outcome,
    orderSize: microToNumber(sharesOf(side, amounts)),
    price: pipsToNumber(price),
    isLimitOrder: intent.price !== undefined,
    orderType: orderTypeOfIntent(intent),
    postOnly,
    deferExec,
    expirationTime: (expiration ?? 0) * 1000,
    orderVersion: intent.orderVersion ?? 2,
    tickSize: formatPips(tick),
    negRisk,
    clientOrderId,
    ...(cancelAfterMs === undefined ? {} : { cancelAfterMs }),
    ...(signatureType === 0 ? {} : { funderAddress: maker }),
    ...(reasoning == null ? {} : { reasoning }),
    ...(source == null ? {} : { source }),
    ...(skillSlug == null ? {} : { skillSlug }),
    order: {
      salt: terms.salt,
      maker,
      signer: terms.signer,
      taker: ZERO_ADDRESS,
      tokenId: terms.tokenIds[terms.outcome === 'YES' ? 0 : 1],
      makerAmount: String(amounts.makerAmount),
      takerAmount: String(amounts.takerAmount),
      side,
      expiration: String(expiration ?? 0),
      nonce: '0',
      feeRateBps: '0',
      signatureType,
      ...(terms.hasExtras
        ? {
            timestamp: String(intent.timestamp),
            metadata: ZERO_BYTES32,
            builder: terms.builder ?? ZERO_BYTES32,
          }
        : {}),
    },
  };
}
