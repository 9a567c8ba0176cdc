/**
 * All accounts and their tokens, in rows of typed arrays, and the totals that belong to no account. Every change is
 * checked: a balance that would go below zero throws, because only an engine bug can cause it.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { NONE } from './orders.ts';
import { mixed, RowIndex } from './row-index.ts';
import type { AccountId, Outcome } from './types.ts';
import { addTo, CELL, changeMicro, covers, isEmpty, microAt, takeFrom, type Units } from './units.ts';

/** Cells of an account in `money`, in micro collateral. */
const MONEY = 2 * CELL;
/** Free collateral. */
export const AVAILABLE = 0;
/** Collateral set aside for open BUY orders. */
export const HELD = CELL;

/** Cells of a position in `tokens`, in micro-shares: free tokens, and those that back open SELL orders. */
const TOKENS = 4 * CELL;
const YES = 0;
const NO = CELL;
const YES_HELD = 2 * CELL;
const NO_HELD = 3 * CELL;

/** Elements of a position in `#places`. An account's positions are a list. */
const PLACES = 4;
const ACCOUNT = 0;
const MARKET = 1;
const BEFORE = 2;
const AFTER = 3;

const FIRST_ROWS = 64;

/** What an error names. */
const FREE = 'free tokens';
const HELD_TOKENS = 'held tokens';

export class Ledger {
  /** Taker fees, and the rounding remainders of HALF redemptions: one cell. */
  readonly fees = new Float64Array(CELL);
  /** Sum of all deposits. */
  deposits: Micro = 0n;
  readonly #rows = new Map<AccountId, number>();
  readonly #ids: AccountId[] = [];
  #money = new Float64Array(FIRST_ROWS * MONEY);
  /** Heads of each account's lists of orders and of positions. */
  #heads = new Int32Array(2 * FIRST_ROWS);
  #tokens = new Float64Array(FIRST_ROWS * TOKENS);
  #places = new Int32Array(FIRST_ROWS * PLACES);
  #positions = 0;
  /** First of the positions that are not used, which AFTER connects. */
  #free = NONE;
  readonly #index = new RowIndex();

  /** An account's row, or NONE. */
  find(id: AccountId): number {
    return this.#rows.get(id) ?? NONE;
  }

  open(id: AccountId): number {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const account = this.#ids.length;
    this.#rows.set(id, account);
    this.#ids.push(id);
    if (2 * account >= this.#heads.length) {
      this.#money = doubled(this.#money, Float64Array);
      this.#heads = doubled(this.#heads, Int32Array);
    }
    this.#heads[2 * account] = NONE;
    this.#heads[2 * account + 1] = NONE;
    return account;
  }

  get size(): number {
    return this.#ids.length;
  }

  id(account: number): AccountId {
    return this.#ids[account]!;
  }

  /** True when the account is empty and can be left out of a snapshot. */
  isUnused(account: number): boolean {
    const money = account * MONEY;
    return (
      isEmpty(this.#money, money + AVAILABLE) &&
      isEmpty(this.#money, money + HELD) &&
      this.#heads[2 * account] === NONE &&
      this.#heads[2 * account + 1] === NONE
    );
  }

  /** Head of the list of its open orders, in no particular order. */
  firstOrder(account: number): number {
    return this.#heads[2 * account]!;
  }

  setFirstOrder(account: number, order: number): void {
    this.#heads[2 * account] = order;
  }

  money(account: number, cell: typeof AVAILABLE | typeof HELD): Micro {
    return microAt(this.#money, account * MONEY + cell);
  }

  covers(account: number, amount: Units): boolean {
    return covers(this.#money, account * MONEY + AVAILABLE, amount);
  }

  /** Adds to the free collateral. */
  credit(account: number, amount: Units): void {
    addTo(this.#money, account * MONEY + AVAILABLE, amount);
  }

  /** Takes from the free collateral. */
  debit(account: number, amount: Units): void {
    takeFrom(this.#money, account * MONEY + AVAILABLE, amount, 'available collateral');
  }

  /** Changes the free collateral by an amount of any size. */
  changeMoney(account: number, change: Micro): void {
    changeMicro(this.#money, account * MONEY + AVAILABLE, change, 'available collateral');
  }

  hold(account: number, amount: Units): void {
    this.debit(account, amount);
    addTo(this.#money, account * MONEY + HELD, amount);
  }

  /** Holds new collateral, from a snapshot. */
  addHold(account: number, amount: Units): void {
    addTo(this.#money, account * MONEY + HELD, amount);
  }

  /** Ends a hold without making its collateral available: it is paid, or credited. */
  endHold(account: number, amount: Units): void {
    takeFrom(this.#money, account * MONEY + HELD, amount, 'held collateral');
  }

  /** Of a market in which the account has tokens, held ones included; else NONE. */
  position(account: number, market: number): number {
    const hash = hashOf(account, market);
    for (let slot = this.#index.first(hash); slot !== NONE; slot = this.#index.next(slot)) {
      const position = this.#index.row(slot);
      const place = position * PLACES;
      if (this.#places[place + ACCOUNT] === account && this.#places[place + MARKET] === market)
        return position;
    }
    return NONE;
  }

  firstPosition(account: number): number {
    return this.#heads[2 * account + 1]!;
  }

  nextPosition(position: number): number {
    return this.#places[position * PLACES + AFTER]!;
  }

  marketOf(position: number): number {
    return this.#places[position * PLACES + MARKET]!;
  }

  /** The positions in a market, in no particular order. It walks those of all markets: for occasional reads. */
  *positionsIn(market: number): Generator<{ readonly account: number; readonly position: number }> {
    for (let position = 0; position < this.#positions; position += 1) {
      const place = position * PLACES;
      if (this.#places[place + MARKET] !== market || this.#isEmpty(position)) continue;
      yield { account: this.#places[place + ACCOUNT]!, position };
    }
  }

  /** Free tokens of an outcome cover `amount`. */
  coversTokens(position: number, outcome: Outcome, amount: Units): boolean {
    return position !== NONE && covers(this.#tokens, free(position, outcome), amount);
  }

  freeTokens(position: number, outcome: Outcome): Micro {
    return position === NONE ? 0n : microAt(this.#tokens, free(position, outcome));
  }

  heldTokens(position: number, outcome: Outcome): Micro {
    return position === NONE ? 0n : microAt(this.#tokens, held(position, outcome));
  }

  creditTokens(account: number, market: number, outcome: Outcome, amount: Units): void {
    if (amount === 0) return;
    // First, because a new position may replace the array.
    const position = this.#opened(account, market);
    addTo(this.#tokens, free(position, outcome), amount);
  }

  debitTokens(account: number, market: number, outcome: Outcome, amount: Units): void {
    const position = this.#opened(account, market);
    takeFrom(this.#tokens, free(position, outcome), amount, FREE);
    this.#closeIfEmpty(position);
  }

  /** Changes the free tokens by an amount of any size. */
  changeTokens(account: number, market: number, outcome: Outcome, change: Micro): void {
    if (change === 0n) return;
    const position = this.#opened(account, market);
    changeMicro(this.#tokens, free(position, outcome), change, FREE);
    this.#closeIfEmpty(position);
  }

  /** Holds tokens that are free. */
  holdTokens(account: number, market: number, outcome: Outcome, amount: Units): void {
    const position = this.#opened(account, market);
    takeFrom(this.#tokens, free(position, outcome), amount, FREE);
    addTo(this.#tokens, held(position, outcome), amount);
  }

  /** Holds new tokens, from a snapshot. */
  addHeldTokens(account: number, market: number, outcome: Outcome, amount: Units): void {
    const position = this.#opened(account, market);
    addTo(this.#tokens, held(position, outcome), amount);
  }

  /** Frees held tokens. */
  releaseTokens(account: number, market: number, outcome: Outcome, amount: Units): void {
    const position = this.#opened(account, market);
    takeFrom(this.#tokens, held(position, outcome), amount, HELD_TOKENS);
    addTo(this.#tokens, free(position, outcome), amount);
  }

  /** Delivers held tokens. */
  deliverTokens(account: number, market: number, outcome: Outcome, amount: Units): void {
    const position = this.#opened(account, market);
    takeFrom(this.#tokens, held(position, outcome), amount, HELD_TOKENS);
    this.#closeIfEmpty(position);
  }

  #opened(account: number, market: number): number {
    const known = this.position(account, market);
    return known === NONE ? this.#openPosition(account, market) : known;
  }

  #openPosition(account: number, market: number): number {
    const position = this.#newPosition();
    const place = position * PLACES;
    const head = 2 * account + 1;
    const next = this.#heads[head]!;
    this.#places[place + ACCOUNT] = account;
    this.#places[place + MARKET] = market;
    this.#places[place + BEFORE] = NONE;
    this.#places[place + AFTER] = next;
    if (next !== NONE) this.#places[next * PLACES + BEFORE] = position;
    this.#heads[head] = position;
    this.#index.add(hashOf(account, market), position);
    return position;
  }

  #newPosition(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.#places[free * PLACES + AFTER]!;
      return free;
    }
    const position = this.#positions;
    this.#positions += 1;
    if (position * PLACES >= this.#places.length) {
      this.#places = doubled(this.#places, Int32Array);
      this.#tokens = doubled(this.#tokens, Float64Array);
    }
    return position;
  }

  #isEmpty(position: number): boolean {
    const at = position * TOKENS;
    for (let cell = YES; cell <= NO_HELD; cell += CELL) if (!isEmpty(this.#tokens, at + cell)) return false;
    return true;
  }

  #closeIfEmpty(position: number): void {
    if (!this.#isEmpty(position)) return;
    const place = position * PLACES;
    const account = this.#places[place + ACCOUNT]!;
    const before = this.#places[place + BEFORE]!;
    const after = this.#places[place + AFTER]!;
    if (before === NONE) this.#heads[2 * account + 1] = after;
    else this.#places[before * PLACES + AFTER] = after;
    if (after !== NONE) this.#places[after * PLACES + BEFORE] = before;
    this.#index.remove(hashOf(account, this.#places[place + MARKET]!), position);
    this.#places[place + AFTER] = this.#free;
    this.#free = position;
  }
}

const free = (position: number, outcome: Outcome): number =>
  position * TOKENS + (outcome === 'YES' ? YES : NO);
const held = (position: number, outcome: Outcome): number =>
  position * TOKENS + (outcome === 'YES' ? YES_HELD : NO_HELD);

const hashOf = (account: number, market: number): number => mixed(Math.imul(account, 0x9e3779b1) ^ market);

function doubled<Cells extends Int32Array | Float64Array>(
  cells: Cells,
  Kind: new (length: number) => Cells,
): Cells {
  const larger = new Kind(2 * cells.length);
  larger.set(cells);
  return larger;
}
