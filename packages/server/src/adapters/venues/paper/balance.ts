/** An account's balance: as data, which can travel between replicas, and as the port hands it out. */
import type { Balance } from '../../../ports/venue.ts';

export type PlainBalance = Pick<Balance, 'available' | 'held'> & {
  readonly tokens: ReadonlyMap<string, { readonly yes: bigint; readonly no: bigint }>;
};

export const balanceOf = (plain: PlainBalance): Balance => ({
  available: plain.available,
  held: plain.held,
  shares: (conditionId, outcome) => {
    const tokens = plain.tokens.get(conditionId);
    return (outcome === 'YES' ? tokens?.yes : tokens?.no) ?? 0n;
  },
});
