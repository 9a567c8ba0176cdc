/** The arithmetic of fees and of quotes. Pure integers. */
import { divide, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';

const RATE_UNIT = 1_000_000n;

/** shares × rate × (p(1−p))^exponent in micro collateral, rounded up to the micro-unit. */
export function takerFee(terms: { feeRate: Micro; feeExponent: number }, shares: Micro, price: Pips): Micro {
  if (terms.feeRate === 0n) return 0n;
  const exponent = BigInt(terms.feeExponent);
  const variance = BigInt(price) * BigInt(PIPS - price);
  return divide(
    shares * terms.feeRate * variance ** exponent,
    RATE_UNIT * (BigInt(PIPS) ** 2n) ** exponent,
    'ceil',
  );
}

/** The amount that an order can take: a fixed number of shares, or as many as its collateral buys. */
export interface Takes {
  readonly side: 'BUY' | 'SELL';
  readonly shares: Micro;
  /** Collateral of a BUY that executes at once: all of it is spent, so a better price buys more shares. */
  readonly spends?: Micro;
}

/**
 * The most that the taker's fee of an order can be, in micro collateral: an order may fill at better prices than its limit,
 * and the fee of a share is highest in the middle. Matches that are rounded up one by one may add a micro-unit each.
 */
export function highestTakerFee(
  terms: { feeRate: Micro; feeExponent: number; tickSize: Pips },
  { side, shares, spends }: Takes,
  limit: Pips,
): Micro {
  const [lowest, highest] = side === 'BUY' ? [terms.tickSize, limit] : [limit, PIPS - terms.tickSize];
  const clip = (price: Pips): Pips => Math.max(lowest, Math.min(highest, price));
  if (spends === undefined) return takerFee(terms, shares, clip(PIPS / 2));
  // Per collateral the fee is p^(e−1) (1−p)^e, which has one peak.
  const peak = (PIPS * (terms.feeExponent - 1)) / (2 * terms.feeExponent - 1);
  const fees = [Math.floor(peak), Math.ceil(peak)].map(clip).map((price) => {
    const bought = divide(spends * BigInt(PIPS), BigInt(price), 'ceil');
    return takerFee(terms, bought, price);
  });
  return fees.reduce((most, fee) => (fee > most ? fee : most));
}

// The arithmetic of quoted orders: prices, legs and fills from input and output amounts.

/** The maximum of the record's column. */
const MAX_PRICE = 2_147_483_647n;

/** Collateral per contract, rounded against the agent. Contracts must be positive. */
export function averagePrice(side: 'BUY' | 'SELL', contracts: Micro, collateral: Micro): Pips {
  const price = divide(collateral * BigInt(PIPS), contracts, side === 'BUY' ? 'ceil' : 'floor');
  // The price is only for the record; an absurd quote must not become an unsafe number.
  return Number(price > MAX_PRICE ? MAX_PRICE : price);
}

/** Both legs of a trade, as contracts and collateral. */
export const legsOf = (
  side: 'BUY' | 'SELL',
  amounts: { readonly inAmount: Micro; readonly outAmount: Micro },
): { readonly contracts: Micro; readonly collateral: Micro } =>
  side === 'BUY'
    ? { contracts: amounts.outAmount, collateral: amounts.inAmount }
    : { contracts: amounts.inAmount, collateral: amounts.outAmount };

/** A fill with its fee as a separate figure: a BUY's collateral includes the fee, a SELL's is net of it. */
export function fillOf(
  side: 'BUY' | 'SELL',
  fill: { readonly inAmount: Micro; readonly outAmount: Micro; readonly fee: Micro },
): { readonly size: Micro; readonly cost: Micro; readonly fee: Micro } {
  const { contracts, collateral } = legsOf(side, fill);
  if (side === 'SELL') return { size: contracts, cost: collateral + fill.fee, fee: fill.fee };
  // The reported fee cannot exceed the collateral paid.
  const fee = fill.fee > collateral ? collateral : fill.fee;
  return { size: contracts, cost: collateral - fee, fee };
}

const POLL_MIN_MS = 500;
const POLL_MAX_MS = 5_000;
const POLL_OLD_MS = 60_000;
const OLD_AFTER_MS = 10 * 60_000;
const POLLS_PER_AGE = 8;

/** The pause before the next poll of a landed order: short at first, then longer. */
export const pollPause = (ageMs: number): number =>
  ageMs > OLD_AFTER_MS
    ? POLL_OLD_MS
    : Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, Math.floor(ageMs / POLLS_PER_AGE)));
