/** Reasons to refuse an intent before there is an order of it, and the field of the intent that a fault comes from. */
import {
  type ErrorCode,
  OrderBuildError,
  type TradeIntent,
  type UnsignedTrade,
  type UnsignedTradeTerms,
  unsignedTrade,
} from '@bellwether/contract';
import type { ExchangeVersion } from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import { Refusal, refusal } from '../platform/refusal.ts';

/** @throws Refusal with every field that contradicts another */
export function requireCoherent(intent: TradeIntent, hasExtras: boolean): void {
  const { price, worstPrice, size, amount, side } = intent;
  const faults: Denial[] = [];
  const fault = (path: string, detail: string) => faults.push({ code: 'invalid_request', path, detail });
  if ((price === undefined) === (worstPrice === undefined))
    fault('price', 'Either price (a limit order) or worstPrice (a market order) is needed, not both.');
  const isBudget = price === undefined && worstPrice !== undefined && side === 'BUY';
  const what = isBudget ? 'A market BUY' : 'This order';
  const [wanted, other] = isBudget ? (['amount', 'size'] as const) : (['size', 'amount'] as const);
  if ((isBudget ? amount : size) === undefined) fault(wanted, `${what} needs ${wanted}.`);
  if ((isBudget ? size : amount) !== undefined) fault(other, `${what} takes ${wanted}, not ${other}.`);
  if (hasExtras && intent.timestamp === undefined)
    fault(
      'timestamp',
      "Version 2 signs a timestamp under this service's order profile: send the time of the first try in milliseconds, and the same again with every retry.",
    );
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

/** @throws Refusal for what an order in a market of Protocol V2 cannot be, or lacks */
export function requireFitting({ orderVersion, timestamp }: TradeIntent, version: ExchangeVersion): void {
  if (version !== 3) return;
  const faults: Denial[] = [];
  if (orderVersion === 1)
    faults.push({
      code: 'invalid_request',
      path: 'orderVersion',
      detail: 'This market is of version v2 and trades on ExchangeV3: leave orderVersion out, or send 2.',
    });
  if (timestamp === undefined)
    faults.push({
      code: 'invalid_request',
      path: 'timestamp',
      detail:
        'This market is of version v2, whose orders sign a timestamp: send the time of the first try in milliseconds, and the same again with every retry.',
    });
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

export const noBuilderField = (): Refusal =>
  refusal(
    'invalid_request',
    'Orders of this market carry no builder code under the order profile of this service: leave builder out.',
    {
      path: 'builder',
    },
  );

/** @throws Refusal for a price or quantity of which no order can be made */
export function unsignedOf(intent: TradeIntent, terms: UnsignedTradeTerms): UnsignedTrade {
  try {
    return unsignedTrade(intent, terms);
  } catch (error) {
    if (!(error instanceof OrderBuildError)) throw error;
    const { code, message } = error;
    if (isOurOwn(code)) throw error;
    const detail = `${message[0]?.toUpperCase()}${message.slice(1)}.`;
    throw refusal(code, detail, { path: pathOf(code, intent) });
  }
}

/** Codes that no intent can cause here: the service knows no deadline. */
const NOT_OF_INTENTS = ['market_incomplete', 'tokens_differ', 'deadline_passed'] as const;
type NotOfIntents = (typeof NOT_OF_INTENTS)[number];
const isOurOwn = (code: string): code is NotOfIntents => NOT_OF_INTENTS.includes(code as NotOfIntents);

function pathOf(code: ErrorCode, { price, amount }: TradeIntent): string {
  if (code === 'price_off_tick_grid' || code === 'price_out_of_range')
    return price === undefined ? 'worstPrice' : 'price';
  return amount === undefined ? 'size' : 'amount';
}

const INTENT_PATHS: Readonly<Record<string, string>> = {
  marketConditionId: 'marketConditionId',
  orderSize: 'size',
  'order.makerAmount': 'amount',
  'order.takerAmount': 'size',
  'order.expiration': 'expiration',
  'order.builder': 'builder',
  expirationTime: 'expiration',
};

/** A fault of the trade, with the field of the intent that it comes from. */
export const inIntent = (denial: Denial): Denial =>
  denial.path === undefined ? denial : { ...denial, path: INTENT_PATHS[denial.path] ?? denial.path };
