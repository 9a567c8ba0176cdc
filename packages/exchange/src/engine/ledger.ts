/**
 * Who owns what: collateral and tokens per account, free or held for an open order, and the fees kept apart. Every
 * movement is checked: a balance that would go below zero throws, because it can only be a bug of the engine.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { RestingOrder } from './book.ts';
import type { Market } from './market.ts';
import type { AccountId, Outcome } from './types.ts';

/** Tokens of one market, in micro-shares. `yes` and `no` are free; the held ones stand behind open SELL orders. */
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

  /** True when forgetting the account would change nothing. */
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

  /** Sets free collateral aside (or, negative, gives it back). */
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

  /** Sets free tokens aside (or, negative, gives them back). */
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

export class Ledger {
  readonly accounts = new Map<AccountId, Account>();
  /** Taker fees, and what rounding left over from HALF redemptions. */
  fees: Micro = 0n;
  /** Everything ever deposited. */
  deposits: Micro = 0n;

  open(id: AccountId): Account {
    let account = this.accounts.get(id);
    if (account === undefined) {
      account = new Account(id);
      this.accounts.set(id, account);
    }
    return account;
  }
}

function notNegative(value: Micro, account: Account, what: string): Micro {
  if (value < 0n) throw new Error(`engine bug: ${what} of ${account.id} would become ${value}`);
  return value;
}
