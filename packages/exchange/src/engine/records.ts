/**
 * Markets, accounts and resting orders: the engine's records, in one file because they refer to one another. Every
 * change of an account is checked: a balance that would go below zero throws, because only an engine bug can cause it.
 */
import { type Micro, type Pips, TICK_SIZES } from '@bellwether/contract/decimals';
import { feeDenominator } from './amounts.ts';
import { Book, type PriceLevel, yesPrice } from './book.ts';
import type {
  AccountId,
  MarketSpec,
  NewOrder,
  OrderId,
  Outcome,
  Payout,
  Side,
  TimeInForce,
} from './types.ts';

/** `closed`: no longer trading, outcome open. `resolved`: final. */
export type MarketStatus = 'open' | 'closed' | 'resolved';

export class Market {
  readonly spec: MarketSpec;
  readonly book: Book<RestingOrder>;
  readonly feeDenominator: bigint;
  status: MarketStatus = 'open';
  payout: Payout | undefined = undefined;
  /** Tokens in existence, held or not. Equal to each other until redemption starts. */
  yesSupply: Micro = 0n;
  noSupply: Micro = 0n;
  /** Collateral behind the tokens. */
  backing: Micro = 0n;
  /** Collateral traded: the sum of the takers' costs. */
  volume: Micro = 0n;
  /** YES price of the last match. */
  lastTrade: Pips | undefined = undefined;
  /** Its taker's side in terms of YES; unknown for trades of snapshot version 1. */
  lastTakerSide: Side | undefined = undefined;

  /** @throws RangeError for an impossible specification: a bug of the caller, not a refusal. */
  constructor(spec: MarketSpec, listedAt: number) {
    if (!Object.values<number>(TICK_SIZES).includes(spec.tickSize))
      throw new RangeError(`tick size ${spec.tickSize} of market ${spec.conditionId} is unknown`);
    if (!Number.isSafeInteger(spec.feeExponent) || spec.feeExponent < 0 || spec.feeRate < 0n)
      throw new RangeError(
        `fee ${spec.feeRate}, ${spec.feeExponent} of market ${spec.conditionId} is no fee`,
      );
    this.spec = spec;
    this.book = new Book(spec, listedAt);
    this.feeDenominator = feeDenominator(spec.feeExponent);
  }

  /** Makes (or, negative, unwinds) full sets at one collateral each. */
  changeSets(amount: Micro): void {
    this.yesSupply += amount;
    this.noSupply += amount;
    this.backing += amount;
  }
}

/** An order on the book; removed from all indexes as soon as it ends. */
export class RestingOrder {
  readonly orderId: OrderId;
  readonly owner: Account;
  readonly market: Market;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly limit: Pips;
  /** As signed, in micro-shares. */
  readonly size: Micro;
  readonly timeInForce: TimeInForce;
  readonly expiresAt: number | undefined;
  readonly acceptedAt: number;
  readonly level: PriceLevel<RestingOrder>;
  filled: Micro;
  cost: Micro;
  fees: Micro;
  /** What still rests: size − filled, less rounding dust (see matching.ts). */
  remaining: Micro;
  /** floor(remaining × limit) in micro collateral: the hold of a BUY, the book value of a SELL. */
  value: Micro = 0n;
  previous: RestingOrder | undefined;
  next: RestingOrder | undefined;
  ownersPrevious: RestingOrder | undefined;
  ownersNext: RestingOrder | undefined;
  /** Place in the expiry queue; −1 when not in it. */
  queueIndex = -1;

  constructor(order: NewOrder, place: { owner: Account; market: Market; acceptedAt: number }) {
    this.orderId = order.orderId;
    this.owner = place.owner;
    this.market = place.market;
    this.outcome = order.outcome;
    this.side = order.side;
    this.limit = order.limit;
    this.size = order.size;
    this.timeInForce = order.timeInForce;
    // A signed expiry may exceed the exact range of a number; such a time is never reached.
    this.expiresAt =
      order.timeInForce === 'GTD'
        ? Math.min(Math.floor(order.expiresAt ?? 0), Number.MAX_SAFE_INTEGER)
        : undefined;
    this.acceptedAt = place.acceptedAt;
    this.level = place.market.book.level(yesPrice(order.outcome, order.limit));
    this.filled = 0n;
    this.cost = 0n;
    this.fees = 0n;
    this.remaining = order.size;
    this.previous = undefined;
    this.next = undefined;
    this.ownersPrevious = undefined;
    this.ownersNext = undefined;
  }

  /** The limit as a bigint of pips, of the order's own token. */
  get price(): bigint {
    return this.outcome === 'YES' ? this.level.yes : this.level.no;
  }
}

/** Tokens of one market, in micro-shares. `yes` and `no` are free; held tokens back open SELL orders. */
export interface Position {
  yes: Micro;
  no: Micro;
  yesHeld: Micro;
  noHeld: Micro;
}

export class Account {
  readonly id: AccountId;
  available: Micro = 0n;
  held: Micro = 0n;
  /** Only markets in which the account has tokens. */
  readonly positions = new Map<Market, Position>();
  /** Head of the list of its open orders, in no particular order. */
  firstOrder: RestingOrder | undefined = undefined;

  constructor(id: AccountId) {
    this.id = id;
  }

  /** True when the account is empty and can be dropped. */
  get isEmpty(): boolean {
    return (
      this.available === 0n && this.held === 0n && this.firstOrder === undefined && this.positions.size === 0
    );
  }

  addOrder(order: RestingOrder): void {
    order.ownersNext = this.firstOrder;
    if (this.firstOrder !== undefined) this.firstOrder.ownersPrevious = order;
    this.firstOrder = order;
  }

  removeOrder(order: RestingOrder): void {
    if (order.ownersPrevious === undefined) this.firstOrder = order.ownersNext;
    else order.ownersPrevious.ownersNext = order.ownersNext;
    if (order.ownersNext !== undefined) order.ownersNext.ownersPrevious = order.ownersPrevious;
    order.ownersPrevious = undefined;
    order.ownersNext = undefined;
  }

  *orders(): Generator<RestingOrder> {
    for (let order = this.firstOrder; order !== undefined; order = order.ownersNext) yield order;
  }

  freeTokens(market: Market, outcome: Outcome): Micro {
    const position = this.positions.get(market);
    if (position === undefined) return 0n;
    return outcome === 'YES' ? position.yes : position.no;
  }

  /** Adds to (or, negative, takes from) the free collateral. */
  credit(amount: Micro): void {
    this.available = notNegative(this.available + amount, this, 'available');
  }

  /** Holds free collateral (or, negative, releases it). */
  hold(amount: Micro): void {
    this.credit(-amount);
    this.held = notNegative(this.held + amount, this, 'held');
  }

  /** Pays `cost` out of a hold of `released` and frees the rest of it. */
  payFromHold(released: Micro, cost: Micro): void {
    this.held = notNegative(this.held - released, this, 'held');
    this.credit(notNegative(released - cost, this, 'hold'));
  }

  /** Adds to (or, negative, takes from) the free tokens of an outcome. */
  creditTokens(market: Market, outcome: Outcome, amount: Micro): void {
    const position = this.#position(market);
    if (outcome === 'YES') position.yes = notNegative(position.yes + amount, this, 'YES');
    else position.no = notNegative(position.no + amount, this, 'NO');
    this.#forget(market, position);
  }

  /** Holds free tokens (or, negative, releases them). */
  holdTokens(market: Market, outcome: Outcome, amount: Micro): void {
    const position = this.#position(market);
    if (outcome === 'YES') {
      position.yes = notNegative(position.yes - amount, this, 'YES');
      position.yesHeld = notNegative(position.yesHeld + amount, this, 'YES held');
    } else {
      position.no = notNegative(position.no - amount, this, 'NO');
      position.noHeld = notNegative(position.noHeld + amount, this, 'NO held');
    }
  }

  /** Delivers tokens out of a hold. */
  deliverHeld(market: Market, outcome: Outcome, amount: Micro): void {
    const position = this.#position(market);
    if (outcome === 'YES') position.yesHeld = notNegative(position.yesHeld - amount, this, 'YES held');
    else position.noHeld = notNegative(position.noHeld - amount, this, 'NO held');
    this.#forget(market, position);
  }

  #position(market: Market): Position {
    let position = this.positions.get(market);
    if (position === undefined) {
      position = { yes: 0n, no: 0n, yesHeld: 0n, noHeld: 0n };
      this.positions.set(market, position);
    }
    return position;
  }

  #forget(market: Market, position: Position): void {
    if (position.yes === 0n && position.no === 0n && position.yesHeld === 0n && position.noHeld === 0n)
      this.positions.delete(market);
  }
}

function notNegative(value: Micro, account: Account, what: string): Micro {
  if (value < 0n) throw new Error(`engine bug: ${what} of ${account.id} would become ${value}`);
  return value;
}
