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
