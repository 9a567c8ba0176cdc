/** The arithmetic of quoted orders: prices, legs and fills from input and output amounts. */
import { divide, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';

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
