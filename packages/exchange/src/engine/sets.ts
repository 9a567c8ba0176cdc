/**
 * Full sets: split and merge at one collateral per set, conversion of NO shares between the markets of an event, and redemption
 * once a market is resolved.
 *
 * Redemption burns all tokens of both outcomes that the caller holds, and pays what the resolution says for each outcome's
 * tokens, rounded down. Parts of a micro-unit lost to that rounding stay in the backing until others complete them, and then go
 * to the fees, so that the backing is always what the outstanding tokens are worth together, rounded up, and ends at zero.
 */
import { divide, MICRO, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { paysOf, redeemedFor } from '@bellwether/contract/positions';
import { changeMicro, microAt, setMicro } from './amounts.ts';
import type {
  AccountId,
  ConditionId,
  EngineCommand,
  EngineEvent,
  RejectReason,
  ReversedLeg,
  SetCommand,
} from './commands.ts';
import { AVAILABLE } from './ledger.ts';
import { BACKING, type Market, NO_SUPPLY, YES_SUPPLY } from './market.ts';
import { NONE } from './orders.ts';
import { settleAccount } from './resting.ts';
import type { EngineState } from './state.ts';

type Convert = Extract<EngineCommand, { kind: 'convert' }>;
type RefusedSet = Extract<EngineEvent, { kind: 'refused' }>;

/** Reasons in the words of orders, whose record a named command has. */
const REJECTED: Partial<Record<RefusedSet['reason'], RejectReason>> = {
  market_not_found: 'market_not_found',
  market_closed: 'market_closed',
  market_resolved: 'market_closed',
  conversion_not_supported: 'conversion_not_supported',
  amount_not_positive: 'amount_below_minimum',
  insufficient_balance: 'insufficient_balance',
};

/**
 * Refused in this order: market_not_found, market_resolved, market_closed (split only: a merge is a way out),
 * amount_not_positive, insufficient_balance.
 */
export function splitOrMerge(state: EngineState, command: SetCommand): EngineEvent {
  const { kind, account: id, conditionId, amount, orderId } = command;
  const refuse = (reason: RefusedSet['reason']): EngineEvent => refusalOf(command, reason);
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

/**
 * Burns the NO shares' claim and makes claims of the same worth: `pool` takes the NO shares, splits `amount` sets in each of
 * the others, and gives the YES shares. It must have the collateral. Its NO shares of all markets of the event pay it back: all
 * but one of them win.
 *
 * Refused in this order: market_not_found, conversion_not_supported (no others, or unknown ones), market_resolved, market_closed (of any
 * of them), amount_not_positive, insufficient_balance.
 */
export function convert(state: EngineState, command: Convert): EngineEvent {
  const { account: id, conditionId, amount, orderId, others, pool } = command;
  const refuse = (reason: RefusedSet['reason']): EngineEvent => refusalOf(command, reason);
  const market = state.markets.get(conditionId);
  if (market === undefined) return refuse('market_not_found');
  const made = others.flatMap((other) => state.markets.get(other) ?? []);
  if (made.length === 0 || made.length < others.length || made.includes(market))
    return refuse('conversion_not_supported');
  const all = [market, ...made];
  if (all.some(({ status }) => status === 'resolved')) return refuse('market_resolved');
  if (all.some(({ status }) => status === 'closed')) return refuse('market_closed');
  if (amount <= 0n) return refuse('amount_not_positive');
  const { ledger } = state;
  const account = ledger.find(id);
  const position = account === NONE ? NONE : ledger.position(account, market.row);
  if (ledger.freeTokens(position, 'NO') < amount) return refuse('insufficient_balance');
  const lender = ledger.find(pool);
  if (lender === NONE) throw new Error('engine bug: a conversion without a pool');
  ledger.changeTokens(account, market.row, 'NO', -amount);
  ledger.changeTokens(lender, market.row, 'NO', amount);
  ledger.changeMoney(lender, -amount * BigInt(made.length));
  for (const other of made) {
    ledger.changeTokens(account, other.row, 'YES', amount);
    ledger.changeTokens(lender, other.row, 'NO', amount);
    other.changeSets(amount);
  }
  const worth = amount - (amount * BigInt(yesPriceOf(market))) / BigInt(PIPS);
  return {
    ...{ kind: 'converted', account: id, conditionId, amount, worth, made: shared(worth, made) },
    ...(orderId === undefined ? {} : { orderId }),
  };
}

/** Divides by the prices of YES; the last one takes the rest. */
function shared(
  worth: Micro,
  markets: readonly Market[],
): { readonly conditionId: ConditionId; readonly worth: Micro }[] {
  const prices = markets.map((market) => BigInt(yesPriceOf(market)));
  const total = prices.reduce((sum, price) => sum + price, 0n);
  let left = worth;
  return markets.map(({ spec: { conditionId } }, at) => {
    const isLast = at === markets.length - 1;
    const part = isLast ? left : total === 0n ? 0n : (worth * (prices[at] ?? 0n)) / total;
    left -= part;
    return { conditionId, worth: part };
  });
}

function refusalOf(
  { kind, orderId, account, conditionId }: SetCommand | Convert,
  reason: RefusedSet['reason'],
): EngineEvent {
  if (orderId === undefined) return { kind: 'refused', command: kind, reason };
  const rejected = REJECTED[reason];
  if (rejected === undefined) throw new Error(`engine bug: a ${kind} is refused as ${reason}`);
  return { kind: 'order_rejected', orderId, account, conditionId, reason: rejected };
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
  const payout = redeemedFor(market.payout, 'YES', yes) + redeemedFor(market.payout, 'NO', no);
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
  if (payout === undefined) return yes;
  return divide(yes * paysOf(payout, 'YES') + no * paysOf(payout, 'NO'), MICRO, 'ceil');
}

// Undoes a trade that failed to settle: every party gets back what it gave and gives back what it got, the fee included, and sets that
// the trade made or used up are unwound or made again. All of it happens or nothing: only where every party still has, free, what it must
// give back, and the market has no outcome yet. Orders, volume and last price stay as they are.

type Reversal = Extract<EngineCommand, { readonly kind: 'reverse' }>;

/** Changes for one account. */
interface ReversalChange {
  money: Micro;
  yes: Micro;
  no: Micro;
}

interface SumOfLegs {
  readonly accounts: ReadonlyMap<AccountId, ReversalChange>;
  /** Full sets that come into being; negative: that are unwound. */
  readonly sets: Micro;
  /** That the exchange gives back. */
  readonly fees: Micro;
}

/** @throws RangeError for legs that are no trade; nothing is changed */
export function reverse(state: EngineState, command: Reversal, events: EngineEvent[]): void {
  const { conditionId, trade, legs } = command;
  const sum = sumOfLegs(legs);
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
function canReverse(state: EngineState, market: Market, sum: SumOfLegs, events: EngineEvent[]): boolean {
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

function sumOfLegs(legs: readonly ReversedLeg[]): SumOfLegs {
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
