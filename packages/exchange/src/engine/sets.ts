/**
 * Full sets: split and merge at one collateral per set, and redemption once a market is resolved.
 *
 * Redemption burns all tokens of both outcomes that the caller holds. YES or NO: one collateral per winning token.
 * HALF: floor(half) of each outcome's tokens; a half micro-unit lost to that rounding stays in the backing until
 * another one completes it, and then goes to the fees, so that the backing is always ceil(half of the outstanding
 * tokens) and ends at zero.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Market } from './records.ts';
import type { EngineState } from './state.ts';
import type { AccountId, ConditionId, EngineEvent } from './types.ts';

type Refusal = Extract<EngineEvent, { kind: 'refused' }>;

interface SetCommand {
  readonly kind: 'split' | 'merge';
  readonly account: AccountId;
  readonly conditionId: ConditionId;
  readonly amount: Micro;
}

/**
 * Refused in this order: market_not_found, market_resolved, market_closed (split only: a merge is a way out),
 * amount_not_positive, insufficient_balance.
 */
export function splitOrMerge(state: EngineState, command: SetCommand): EngineEvent {
  const { kind, account: id, conditionId, amount } = command;
  const refuse = (reason: Refusal['reason']): EngineEvent => ({ kind: 'refused', command: kind, reason });
  const market = state.markets.get(conditionId);
  if (market === undefined) return refuse('market_not_found');
  if (market.status === 'resolved') return refuse('market_resolved');
  if (market.status === 'closed' && kind === 'split') return refuse('market_closed');
  if (amount <= 0n) return refuse('amount_not_positive');
  const account = state.ledger.accounts.get(id);
  if (account === undefined) return refuse('insufficient_balance');
  if (kind === 'split') {
    if (account.available < amount) return refuse('insufficient_balance');
  } else if (account.freeTokens(market, 'YES') < amount || account.freeTokens(market, 'NO') < amount) {
    return refuse('insufficient_balance');
  }
  const sets = kind === 'split' ? amount : -amount;
  account.credit(-sets);
  account.creditTokens(market, 'YES', sets);
  account.creditTokens(market, 'NO', sets);
  market.changeSets(sets);
  return { kind: kind === 'split' ? 'split' : 'merged', account: id, conditionId, amount };
}

/** Refused: market_not_found, market_not_resolved. Without tokens, the redemption reports zeros. */
export function redeem(state: EngineState, id: AccountId, conditionId: ConditionId): EngineEvent {
  const market = state.markets.get(conditionId);
  if (market === undefined) return { kind: 'refused', command: 'redeem', reason: 'market_not_found' };
  if (market.payout === undefined)
    return { kind: 'refused', command: 'redeem', reason: 'market_not_resolved' };
  const account = state.ledger.accounts.get(id);
  const yes = account?.freeTokens(market, 'YES') ?? 0n;
  const no = account?.freeTokens(market, 'NO') ?? 0n;
  const payout = market.payout === 'HALF' ? yes / 2n + no / 2n : market.payout === 'YES' ? yes : no;
  if (account !== undefined && yes + no > 0n) {
    account.creditTokens(market, 'YES', -yes);
    account.creditTokens(market, 'NO', -no);
    account.credit(payout);
    burn(state, market, { yes, no, payout });
  }
  return { kind: 'redeemed', account: id, conditionId, yes, no, payout };
}

function burn(
  state: EngineState,
  market: Market,
  burnt: { readonly yes: Micro; readonly no: Micro; readonly payout: Micro },
): void {
  market.yesSupply -= burnt.yes;
  market.noSupply -= burnt.no;
  const backing = backingOf(market);
  state.ledger.fees += market.backing - burnt.payout - backing;
  market.backing = backing;
}

/** The required backing of a market's tokens, by its payout. */
export function backingOf(market: Market): Micro {
  if (market.payout === 'NO') return market.noSupply;
  if (market.payout === 'HALF') return (market.yesSupply + market.noSupply + 1n) / 2n;
  return market.yesSupply;
}
