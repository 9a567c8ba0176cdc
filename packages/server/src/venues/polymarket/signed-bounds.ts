/**
 * The amounts that an order signed are the most that any of its trades may take: a BUY its collateral before fees, a SELL its shares.
 * A trade that says more is wrong, for example in another unit, even if the venue repeats it.
 */
import { formatMicro, type Micro, PIPS } from '@bellwether/contract/decimals';
import type { SignedOrderRow } from '../../domain/records.ts';
import type { TradePart } from './observations.ts';

/** Amounts of a match may differ from the order's by one hundredth of a share, which costs at most one cent; the venue says so. */
export const DUST: Micro = 10_000n;

type Signed = Pick<SignedOrderRow, 'side' | 'shares' | 'money'>;
type Amounts = Pick<TradePart, 'size' | 'cost'>;

/** @param before what other trades of the order took @returns why the trade cannot be; `null`: it can */
export function beyondSigned(
  { side, shares, money }: Signed,
  trade: Amounts,
  before: Amounts,
): string | null {
  if (trade.cost > trade.size + DUST)
    return `a share would have cost more than 1: ${formatMicro(trade.size)} shares for ${formatMicro(trade.cost)}`;
  const { taken, signed, unit } =
    side === 'BUY'
      ? { taken: before.cost + trade.cost, signed: money, unit: 'collateral' }
      : { taken: before.size + trade.size, signed: shares, unit: 'shares' };
  return taken <= signed + DUST
    ? null
    : `the order signed ${formatMicro(signed)} ${unit}, and would have given ${formatMicro(taken)}`;
}

/** The most shares that can be matched of it: a BUY may buy cheaper, down to the lowest price that there is. */
export const mostShares = ({ side, shares, money }: Signed): Micro => {
  const atLowest = money * BigInt(PIPS);
  return (side === 'BUY' && atLowest > shares ? atLowest : shares) + DUST;
};
