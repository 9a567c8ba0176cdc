/**
 * Full sets: split and merge at one collateral per set, and redemption once a market is resolved.
 *
 * Redemption burns all tokens of both outcomes that the caller holds. YES or NO: one collateral per winning token.
 * HALF: floor(half) of each outcome's tokens; a half micro-unit lost to that rounding stays in the backing until
 * another one completes it, and then goes to the fees, so that the backing is always ceil(half of the outstanding
 * tokens) and ends at zero.
 */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { AVAILABLE } from './ledger.ts';
import { BACKING, type Market, NO_SUPPLY, YES_SUPPLY } from './market.ts';
import { NONE } from './orders.ts';
import type { EngineState } from './state.ts';
import type { AccountId, ConditionId, EngineEvent, RejectReason, SetCommand } from './types.ts';
import { changeMicro, microAt, setMicro } from './units.ts';

type RefusedSet = Extract<EngineEvent, { kind: 'refused' }>;

/** Reasons in the words of orders, whose record a named command has. */
const REJECTED: Partial<Record<RefusedSet['reason'], RejectReason>> = {
  market_not_found: 'market_not_found',
  market_closed: 'market_closed',
  market_resolved: 'market_closed',
  amount_not_positive: 'amount_below_minimum',
  insufficient_balance: 'insufficient_balance',
};

/**
 * Refused in this order: market_not_found, market_resolved, market_closed (split only: a merge is a way out),
 * amount_not_positive, insufficient_balance.
 */
export function splitOrMerge(state: EngineState, command: SetCommand): EngineEvent {
  const { kind, account: id, conditionId, amount, orderId } = command;
  const refuse = (reason: RefusedSet['reason']): EngineEvent => {
    if (orderId === undefined) return { kind: 'refused', command: kind, reason };
    const rejected = REJECTED[reason];
    if (rejected === undefined) throw new Error(`engine bug: a ${kind} is refused as ${reason}`);
    return { kind: 'order_rejected', orderId, account: id, conditionId, reason: rejected };
  };
  const market = state.markets.get(conditionId);
  if (market === undefined) return refuse('market_not_found');
  if (market.status === 'resolved') return refuse('market_resolved');
  if (market.status === 'closed' && kind === 'split') return refuse('market_closed');
  if (amount <= 0n) return refuse('amount_not_positive');
  const { ledger } = state;
  const account = ledger.find(id);
  if (account === NONE) return refuse('insufficient_balance');
  if (kind === 'split') {
    if (ledger.money(account, AVAILABLE) < amount) return refuse('insufficient_balance');
  } else {
    const position = ledger.position(account, market.row);
    if (ledger.freeTokens(position, 'YES') < amount || ledger.freeTokens(position, 'NO') < amount)
      return refuse('insufficient_balance');
  }
  const sets = kind === 'split' ? amount : -amount;
  ledger.changeMoney(account, -sets);
  ledger.changeTokens(account, market.row, 'YES', sets);
  ledger.changeTokens(account, market.row, 'NO', sets);
  market.changeSets(sets);
  return {
    ...{ kind: kind === 'split' ? 'split' : 'merged', account: id, conditionId, amount },
    ...(orderId === undefined ? {} : { orderId, yesPrice: yesPriceOf(market) }),
  };
}

/** The middle of the book, half pips rounded down; without both sides the last trade, else half. */
function yesPriceOf({ book, lastTrade, spec }: Market): Pips {
  const { bids, asks } = book;
  if (bids.best === NONE || asks.best === NONE) return lastTrade ?? PIPS / 2;
  return Math.floor(((bids.best + asks.best) * spec.tickSize) / 2);
}

/** Refused: market_not_found, market_not_resolved. Without tokens, the redemption reports zeros. */
export function redeem(state: EngineState, id: AccountId, conditionId: ConditionId): EngineEvent {
  const market = state.markets.get(conditionId);
  if (market === undefined) return { kind: 'refused', command: 'redeem', reason: 'market_not_found' };
  if (market.payout === undefined)
    return { kind: 'refused', command: 'redeem', reason: 'market_not_resolved' };
  const { ledger } = state;
  const account = ledger.find(id);
  const position = account === NONE ? NONE : ledger.position(account, market.row);
  const yes = ledger.freeTokens(position, 'YES');
  const no = ledger.freeTokens(position, 'NO');
  const payout = market.payout === 'HALF' ? yes / 2n + no / 2n : market.payout === 'YES' ? yes : no;
  if (yes + no > 0n) {
    ledger.changeTokens(account, market.row, 'YES', -yes);
    ledger.changeTokens(account, market.row, 'NO', -no);
    ledger.changeMoney(account, payout);
    burn(state, market, { yes, no, payout });
  }
  return { kind: 'redeemed', account: id, conditionId, yes, no, payout };
}

function burn(
  state: EngineState,
  market: Market,
  burnt: { readonly yes: Micro; readonly no: Micro; readonly payout: Micro },
): void {
  const { totals } = market;
  changeMicro(totals, YES_SUPPLY, -burnt.yes, 'YES supply');
  changeMicro(totals, NO_SUPPLY, -burnt.no, 'NO supply');
  const backing = backingOf(market);
  changeMicro(state.ledger.fees, 0, microAt(totals, BACKING) - burnt.payout - backing, 'fees');
  setMicro(totals, BACKING, backing, 'backing');
}

/** The required backing of a market's tokens, by its payout. */
export function backingOf({ payout, totals }: Market): Micro {
  const [yes, no] = [microAt(totals, YES_SUPPLY), microAt(totals, NO_SUPPLY)];
  if (payout === 'NO') return no;
  if (payout === 'HALF') return (yes + no + 1n) / 2n;
  return yes;
}
