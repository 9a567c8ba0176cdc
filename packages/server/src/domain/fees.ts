/** The venue's taker fee. Source: wire reference §6.3. */
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
