/**
 * Orders of venue B in that venue's own words. The desk keeps them on the lifecycle of every order; the agent reads
 * submitted → open → filled, partially_filled or reverted, or expired, failed, canceled. Also the arithmetic of their
 * fills. Nothing here asks anybody.
 */
import { divide, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { type OrderKind, type OrderStatus, orderStatusNumber } from './orders/lifecycle.ts';

export type ChainWord =
  | 'submitted'
  | 'open'
  | 'filled'
  | 'partially_filled'
  | 'reverted'
  | 'expired'
  | 'failed'
  | 'canceled';

interface Standing {
  readonly kind: OrderKind;
  readonly status: OrderStatus;
  readonly errorCode: string | null;
}

export function chainWord(status: OrderStatus, errorCode: string | null): ChainWord {
  switch (status) {
    case 'submitting':
    case 'unknown':
      return 'submitted';
    case 'filled':
      return 'filled';
    case 'matched':
      return 'partially_filled';
    case 'canceled':
      return 'canceled';
    case 'expired':
      return 'expired';
    case 'rejected':
      if (errorCode === 'reverted') return 'reverted';
      return errorCode === 'not_landed' ? 'expired' : 'failed';
    default:
      return 'open';
  }
}

const NUMBERS = {
  submitted: 1,
  open: 1,
  filled: 2,
  partially_filled: 2,
  canceled: 3,
  expired: 3,
  reverted: 3,
  failed: 5,
} as const satisfies Record<ChainWord, 1 | 2 | 3 | 4 | 5>;

/** How an order's status reads, on either venue. */
export const statusWord = (order: Standing): string =>
  order.kind === 'quoted' ? chainWord(order.status, order.errorCode) : order.status;

/** The integer of the interface's records, on either venue. */
export const statusNumber = (order: Standing): 1 | 2 | 3 | 4 | 5 =>
  order.kind === 'quoted'
    ? NUMBERS[chainWord(order.status, order.errorCode)]
    : orderStatusNumber(order.status);

/** What fits the record's column. */
const MAX_PRICE = 2_147_483_647n;

/** Collateral per contract, rounded against whoever would like it to look better. Contracts must be positive. */
export function averagePrice(side: 'BUY' | 'SELL', contracts: Micro, collateral: Micro): Pips {
  const price = divide(collateral * BigInt(PIPS), contracts, side === 'BUY' ? 'ceil' : 'floor');
  // A price is a number on the record only; an absurd quote must not become an unsafe one.
  return Number(price > MAX_PRICE ? MAX_PRICE : price);
}

/** Both legs of a trade: what came in and what went out, as contracts and collateral. */
export const legsOf = (
  side: 'BUY' | 'SELL',
  amounts: { readonly inAmount: Micro; readonly outAmount: Micro },
): { readonly contracts: Micro; readonly collateral: Micro } =>
  side === 'BUY'
    ? { contracts: amounts.outAmount, collateral: amounts.inAmount }
    : { contracts: amounts.inAmount, collateral: amounts.outAmount };

/** A fill without its fee: on top of a BUY's cost, out of a SELL's proceeds. */
export function fillOf(
  side: 'BUY' | 'SELL',
  fill: { readonly inAmount: Micro; readonly outAmount: Micro; readonly fee: Micro },
): { readonly size: Micro; readonly cost: Micro; readonly fee: Micro } {
  const { contracts, collateral } = legsOf(side, fill);
  if (side === 'SELL') return { size: contracts, cost: collateral + fill.fee, fee: fill.fee };
  // The venue's word of its fee cannot be more than what was paid.
  const fee = fill.fee > collateral ? collateral : fill.fee;
  return { size: contracts, cost: collateral - fee, fee };
}

const POLL_MIN_MS = 500;
const POLL_MAX_MS = 5_000;
const POLL_OLD_MS = 60_000;
const OLD_AFTER_MS = 10 * 60_000;
const POLLS_PER_AGE = 8;

/** For how long to leave a landed order alone: often at first, ever more seldom. */
export const pollPause = (ageMs: number): number =>
  ageMs > OLD_AFTER_MS
    ? POLL_OLD_MS
    : Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, Math.floor(ageMs / POLLS_PER_AGE)));
