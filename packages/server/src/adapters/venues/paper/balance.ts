/** An account's balance: as data, for calls between replicas, and in the port's form. */
import type { Balance } from '../../../ports/venue.ts';

export type PlainBalance = Pick<Balance, 'available' | 'held'> & {
  readonly tokens: ReadonlyMap<string, { readonly yes: bigint; readonly no: bigint }>;
};

export type PaperBalance = Balance & PlainBalance;

export const balanceOf = ({ available, held, tokens }: PlainBalance): PaperBalance => ({
  available,
  held,
  tokens,
  shares: (conditionId, outcome) => {
    const found = tokens.get(conditionId);
    return (outcome === 'YES' ? found?.yes : found?.no) ?? 0n;
  },
});
