/**
 * Undoes a trade that failed to settle: every party gets back what it gave and gives back what it got, the fee included, and sets that
 * the trade made or used up are unwound or made again. All of it happens or nothing: only where every party still has, free, what it must
 * give back, and the market has no outcome yet. Orders, volume and last price stay as they are.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { AVAILABLE } from './ledger.ts';
import type { Market } from './market.ts';
import { NONE } from './orders.ts';
import type { EngineState } from './state.ts';
import { settleAccount } from './sweeps.ts';
import type { AccountId, EngineCommand, EngineEvent, ReversedLeg } from './types.ts';
import { changeMicro, microAt } from './units.ts';

type Reversal = Extract<EngineCommand, { readonly kind: 'reverse' }>;

/** Changes for one account. */
interface ReversalChange {
  money: Micro;
  yes: Micro;
  no: Micro;
}

interface Sum {
  readonly accounts: ReadonlyMap<AccountId, ReversalChange>;
  /** Full sets that come into being; negative: that are unwound. */
  readonly sets: Micro;
  /** That the exchange gives back. */
  readonly fees: Micro;
}

/** @throws RangeError for legs that are no trade; nothing is changed */
export function reverse(state: EngineState, command: Reversal, events: EngineEvent[]): void {
  const { conditionId, trade, legs } = command;
  const sum = sumOf(legs);
  const market = state.markets.get(conditionId);
  const reason =
    market === undefined
      ? 'market_not_found'
      : market.status === 'resolved'
        ? 'market_resolved'
        : canReverse(state, market, sum, events)
          ? null
          : 'insufficient_balance';
  if (market === undefined || reason !== null) {
    events.push({ kind: 'reversal_refused', conditionId, trade, reason: reason ?? 'market_not_found' });
    return;
  }
  const { ledger } = state;
  for (const [id, { money, yes, no }] of sum.accounts) {
    const account = ledger.open(id);
    ledger.changeMoney(account, money);
    ledger.changeTokens(account, market.row, 'YES', yes);
    ledger.changeTokens(account, market.row, 'NO', no);
  }
  market.changeSets(sum.sets);
  changeMicro(ledger.fees, 0, -sum.fees, 'fees');
  events.push({ kind: 'trade_reversed', conditionId, trade });
}

/** First removes what dead orders of the parties hold. */
function canReverse(state: EngineState, market: Market, sum: Sum, events: EngineEvent[]): boolean {
  const { ledger } = state;
  for (const id of sum.accounts.keys()) {
    const account = ledger.find(id);
    if (account !== NONE) settleAccount(state, account, events);
  }
  for (const [id, { money, yes, no }] of sum.accounts) {
    const account = ledger.find(id);
    const position = account === NONE ? NONE : ledger.position(account, market.row);
    const available = account === NONE ? 0n : ledger.money(account, AVAILABLE);
    const isCovered =
      available + money >= 0n &&
      ledger.freeTokens(position, 'YES') + yes >= 0n &&
      ledger.freeTokens(position, 'NO') + no >= 0n;
    if (!isCovered) return false;
  }
  return microAt(ledger.fees, 0) >= sum.fees;
}

function sumOf(legs: readonly ReversedLeg[]): Sum {
  const accounts = new Map<AccountId, ReversalChange>();
  let [money, yes, no, fees] = [0n, 0n, 0n, 0n];
  for (const { account, outcome, side, size, cost, fee } of legs) {
    const change = accounts.get(account) ?? { money: 0n, yes: 0n, no: 0n };
    accounts.set(account, change);
    const back = side === 'BUY' ? cost + fee : fee - cost;
    const tokens = side === 'BUY' ? -size : size;
    change.money += back;
    money += back;
    fees += fee;
    if (outcome === 'YES') {
      change.yes += tokens;
      yes += tokens;
    } else {
      change.no += tokens;
      no += tokens;
    }
  }
  // The parties are paid from the fees and from unwound sets, one collateral each.
  if (yes !== no || money !== fees - yes) throw new RangeError('the legs of a reversal are no trade');
  return { accounts, sets: yes, fees };
}
