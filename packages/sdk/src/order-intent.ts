/** The intent of an order, as the desk prepares it: which terms belong together, and the record without what was left out. */
import type { TradeIntent } from '@bellwether/contract';
import { BellwetherUsageError, NEED, needOptions, needValue } from './usage-error.ts';

/** The fields of an intent; `undefined` is the same as leaving a field out. */
export type IntentTerms = { readonly [Field in keyof TradeIntent]: TradeIntent[Field] | undefined };

/** A field on which another depends. */
export type IntentField =
  | 'price'
  | 'worstPrice'
  | 'size'
  | 'amount'
  | 'orderType'
  | 'expiration'
  | 'postOnly';

export interface IntentWords {
  /** The name that a field has for the caller, such as `--worst-price`. Default: the field's own. */
  readonly nameOf?: (field: IntentField) => string;
  /** Whether the caller reads the worst price from the book where neither price is given. */
  readonly pricesFromBook?: boolean;
}

/**
 * Names what contradicts or is missing among the terms of an order. The desk refuses such an intent too, with the paths of its fields.
 * @param terms may lack more than an intent may: what another check has refused is not named again
 * @returns a sentence for each fault, in the caller's words; none when the terms fit together
 * @example
 * intentFaults({ side: 'BUY', worstPrice: 0.6, size: 5 }, { nameOf: (field) => `--${field}` });
 * // ['A market order to buy takes --amount in collateral, not --size; a limit order takes --price and --size.']
 */
export function intentFaults(terms: Partial<IntentTerms>, words: IntentWords = {}): string[] {
  needValue('intentFaults', 'terms', terms, NEED.object('the fields of an order, such as side and price'));
  needValue('intentFaults', 'words', words, NEED.object('options, such as nameOf'));
  const { nameOf = (field) => field, pricesFromBook = false } = words;
  return [
    ...priceFaults(terms, nameOf, pricesFromBook),
    ...quantityFaults(terms, nameOf),
    ...lifetimeFaults(terms, nameOf),
  ];
}

type Name = (field: IntentField) => string;

function priceFaults({ price, worstPrice }: Partial<IntentTerms>, name: Name, fromBook: boolean): string[] {
  if (price !== undefined && worstPrice !== undefined)
    return [
      `${name('price')} makes a limit order and ${name('worstPrice')} a market order: give one of them.`,
    ];
  if (price === undefined && worstPrice === undefined && !fromBook)
    return [`Give either ${name('price')}, for a limit order, or ${name('worstPrice')}, for a market order.`];
  return [];
}

function quantityFaults({ side, price, size, amount }: Partial<IntentTerms>, name: Name): string[] {
  if (price !== undefined || side === 'SELL') {
    const what = side === 'SELL' ? 'A sale' : 'A limit order';
    if (amount !== undefined) return [`${what} takes ${name('size')} in shares, not ${name('amount')}.`];
    return size === undefined ? [`${what} needs ${name('size')}, in shares.`] : [];
  }
  if (side === undefined) return [];
  const limit = `${name('price')} and ${name('size')}.`;
  if (size !== undefined)
    return [
      `A market order to buy takes ${name('amount')} in collateral, not ${name('size')}; a limit order takes ${limit}`,
    ];
  return amount === undefined
    ? [`A market order to buy needs ${name('amount')}, in collateral; a limit order needs ${limit}`]
    : [];
}

function lifetimeFaults(terms: Partial<IntentTerms>, name: Name): string[] {
  const { price, orderType, expiration, postOnly } = terms;
  const faults: string[] = [];
  const needsPrice = `rests at a price: give ${name('price')}.`;
  if (price === undefined && (orderType === 'GTC' || orderType === 'GTD'))
    faults.push(`${name('orderType')} ${orderType} ${needsPrice}`);
  if (price === undefined && postOnly === true) faults.push(`${name('postOnly')} ${needsPrice}`);
  if (orderType === 'GTD' && expiration === undefined)
    faults.push(`${name('orderType')} GTD needs ${name('expiration')}.`);
  if (orderType !== 'GTD' && expiration !== undefined)
    faults.push(`${name('expiration')} needs ${name('orderType')} GTD.`);
  return faults;
}

type RequiredField = 'clientOrderId' | 'marketId' | 'outcome' | 'side';

const INTENT_NEEDS = {
  clientOrderId: NEED.text('your own name for the order'),
  marketId: NEED.text('a market id, condition id, slug or token id'),
  outcome: NEED.text("YES, NO, or one of the market's outcomes"),
  side: NEED.oneOf('BUY', 'SELL'),
};

/**
 * Makes the intent that `prepareTrade` takes and `verifyPrepared` compares with what the desk answers.
 * @throws BellwetherUsageError naming every fault of the terms, before anything is sent
 * @example
 * const intent = tradeIntent({
 *   clientOrderId: 'entry-17',
 *   marketId: market.id,
 *   outcome: 'YES',
 *   side: 'BUY',
 *   worstPrice: 0.6,
 *   amount: 25,
 * });
 * const prepared = await client.prepareTrade(intent);
 */
export function tradeIntent(terms: Partial<IntentTerms> & Pick<TradeIntent, RequiredField>): TradeIntent {
  needOptions('tradeIntent', terms, INTENT_NEEDS);
  const faults = intentFaults(terms);
  if (faults.length > 0) throw new BellwetherUsageError(faults.join(' '));
  const given = Object.entries(terms).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as TradeIntent;
}
