/** An account's balance: as data, for calls between replicas, and in the port's form. */
import type { PaperExchange } from '@bellwether/exchange';
import type { Address } from '@bellwether/protocol';
import type { Balance } from '../venue.ts';

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

/** Reads the exchange when a figure is asked for: an account may have tokens of many markets, and a trade asks for one. */
export const liveBalance = (
  exchange: Pick<PaperExchange, 'account' | 'available' | 'freeTokens'>,
  account: Address,
): PaperBalance => ({
  get available() {
    return exchange.available(account);
  },
  get held() {
    return exchange.account(account).held;
  },
  get tokens() {
    return exchange.account(account).tokens;
  },
  shares: (conditionId, outcome) => exchange.freeTokens(account, conditionId, outcome),
});
