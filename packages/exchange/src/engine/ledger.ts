/**
 * All accounts and their tokens, in rows of typed arrays, and the totals that belong to no account. Every change is
 * checked: a balance that would go below zero throws, because only an engine bug can cause it.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { addTo, CELL, changeMicro, covers, isEmpty, microAt, takeFrom, type Units } from './amounts.ts';
import type { AccountId, Outcome } from './commands.ts';
import { NONE } from './orders.ts';
import { mixed, RowIndex, Rows } from './rows.ts';

/** Eight-byte words of an account: two cells of micro collateral, then two integers. */
const ACCOUNT_WORDS = 2 * CELL + 1;
/** Free collateral. */
export const AVAILABLE = 0;
/** Collateral set aside for open BUY orders. */
export const HELD = CELL;
/** Integers of an account: heads of its lists of orders and of positions. */
const ACCOUNT_INTS = 2 * ACCOUNT_WORDS;
const FIRST_ORDER = 4 * CELL;
const FIRST_POSITION = FIRST_ORDER + 1;

/**
 * Eight-byte words of a position: four integers, then four cells of micro-shares (free tokens, and those that back open
 * SELL orders).
 */
const WORDS = 2 + 4 * CELL;
const YES = 2;
const NO = YES + CELL;
const YES_HELD = NO + CELL;
const NO_HELD = YES_HELD + CELL;

/** Integers of a position. An account's positions are a list. */
const INTS = 2 * WORDS;
const ACCOUNT = 0;
const MARKET = 1;
const BEFORE = 2;
const AFTER = 3;

const FIRST_ROWS = 64;

/** Names the balance in an error. */
const FREE = 'free tokens';
const HELD_TOKENS = 'held tokens';

export class Ledger {
  /** Taker fees, and the rounding remainders of HALF redemptions: one cell. */
  readonly fees = new Float64Array(CELL);
  /** Sum of all deposits. */
  deposits: Micro = 0n;
  readonly #known = new Map<AccountId, number>();
  readonly #ids: AccountId[] = [];
  readonly #accounts = new Rows(ACCOUNT_WORDS, FIRST_ROWS);
  readonly #positions = new Rows(WORDS, FIRST_ROWS);
  /** Positions that are used or were. */
  #count = 0;
  /** First of the positions that are not used, which AFTER connects. */
  #free = NONE;
  readonly #index = new RowIndex();

  /** An account's row, or NONE. */
  find(id: AccountId): number {
    return this.#known.get(id) ?? NONE;
  }

  open(id: AccountId): number {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const account = this.#ids.length;
    this.#known.set(id, account);
    this.#ids.push(id);
    this.#accounts.reserve(account);
    const { ints } = this.#accounts;
    ints[account * ACCOUNT_INTS + FIRST_ORDER] = NONE;
    ints[account * ACCOUNT_INTS + FIRST_POSITION] = NONE;
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
    const { doubles } = this.#accounts;
    const money = account * ACCOUNT_WORDS;
    return (
      isEmpty(doubles, money + AVAILABLE) &&
      isEmpty(doubles, money + HELD) &&
      this.firstOrder(account) === NONE &&
      this.firstPosition(account) === NONE
    );
  }

  /** Head of the list of its open orders, in no particular order. */
  firstOrder(account: number): number {
    return this.#accounts.ints[account * ACCOUNT_INTS + FIRST_ORDER]!;
  }

  setFirstOrder(account: number, order: number): void {
    this.#accounts.ints[account * ACCOUNT_INTS + FIRST_ORDER] = order;
  }

  money(account: number, cell: typeof AVAILABLE | typeof HELD): Micro {
    return microAt(this.#accounts.doubles, account * ACCOUNT_WORDS + cell);
  }

  covers(account: number, amount: Units): boolean {
    return covers(this.#accounts.doubles, account * ACCOUNT_WORDS + AVAILABLE, amount);
  }

  /** Adds to the free collateral. */
  credit(account: number, amount: Units): void {
    addTo(this.#accounts.doubles, account * ACCOUNT_WORDS + AVAILABLE, amount);
  }

  /** Takes from the free collateral. */
  debit(account: number, amount: Units): void {
    takeFrom(this.#accounts.doubles, account * ACCOUNT_WORDS + AVAILABLE, amount, 'available collateral');
  }

  /** Changes the free collateral by an amount of any size. */
  changeMoney(account: number, change: Micro): void {
    changeMicro(this.#accounts.doubles, account * ACCOUNT_WORDS + AVAILABLE, change, 'available collateral');
  }

  hold(account: number, amount: Units): void {
    this.debit(account, amount);
    addTo(this.#accounts.doubles, account * ACCOUNT_WORDS + HELD, amount);
  }

  /** Holds new collateral, from a snapshot. */
  addHold(account: number, amount: Units): void {
    addTo(this.#accounts.doubles, account * ACCOUNT_WORDS + HELD, amount);
  }

  /** Ends a hold without making its collateral available: it is paid, or credited. */
  endHold(account: number, amount: Units): void {
    takeFrom(this.#accounts.doubles, account * ACCOUNT_WORDS + HELD, amount, 'held collateral');
  }

  /** Position of a market in which the account has tokens, held ones included; else NONE. */
  position(account: number, market: number): number {
    const { ints } = this.#positions;
    const hash = hashOf(account, market);
    for (let slot = this.#index.first(hash); slot !== NONE; slot = this.#index.next(slot)) {
      const position = this.#index.row(slot);
      const at = position * INTS;
      if (ints[at + ACCOUNT] === account && ints[at + MARKET] === market) return position;
    }
    return NONE;
  }

  /** The position, which must get tokens at once if it is new. */
  opened(account: number, market: number): number {
    const known = this.position(account, market);
    return known === NONE ? this.#open(account, market) : known;
  }

  firstPosition(account: number): number {
    return this.#accounts.ints[account * ACCOUNT_INTS + FIRST_POSITION]!;
  }

  nextPosition(position: number): number {
    return this.#positions.ints[position * INTS + AFTER]!;
  }

  marketOf(position: number): number {
    return this.#positions.ints[position * INTS + MARKET]!;
  }

  /** The positions in a market, in no particular order. It walks those of all markets: for occasional reads. */
  *positionsIn(market: number): Generator<{ readonly account: number; readonly position: number }> {
    for (let position = 0; position < this.#count; position += 1) {
      if (this.marketOf(position) !== market || this.#isEmpty(position)) continue;
      yield { account: this.#positions.ints[position * INTS + ACCOUNT]!, position };
    }
  }

  /** Free tokens of an outcome cover `amount`. */
  coversTokens(position: number, outcome: Outcome, amount: Units): boolean {
    return position !== NONE && covers(this.#positions.doubles, free(position, outcome), amount);
  }

  freeTokens(position: number, outcome: Outcome): Micro {
    return position === NONE ? 0n : microAt(this.#positions.doubles, free(position, outcome));
  }

  heldTokens(position: number, outcome: Outcome): Micro {
    return position === NONE ? 0n : microAt(this.#positions.doubles, held(position, outcome));
  }

  creditTokens(position: number, outcome: Outcome, amount: Units): void {
    addTo(this.#positions.doubles, free(position, outcome), amount);
  }

  debitTokens(position: number, outcome: Outcome, amount: Units): void {
    takeFrom(this.#positions.doubles, free(position, outcome), amount, FREE);
    this.#closeIfEmpty(position);
  }

  /** Changes the free tokens by an amount of any size. */
  changeTokens(account: number, market: number, outcome: Outcome, change: Micro): void {
    if (change === 0n) return;
    const position = this.opened(account, market);
    changeMicro(this.#positions.doubles, free(position, outcome), change, FREE);
    this.#closeIfEmpty(position);
  }

  /** Holds tokens that are free. */
  holdTokens(position: number, outcome: Outcome, amount: Units): void {
    takeFrom(this.#positions.doubles, free(position, outcome), amount, FREE);
    this.addHeldTokens(position, outcome, amount);
  }

  /** Holds new tokens, from a snapshot. */
  addHeldTokens(position: number, outcome: Outcome, amount: Units): void {
    addTo(this.#positions.doubles, held(position, outcome), amount);
  }

  /** Frees held tokens. */
  releaseTokens(position: number, outcome: Outcome, amount: Units): void {
    takeFrom(this.#positions.doubles, held(position, outcome), amount, HELD_TOKENS);
    this.creditTokens(position, outcome, amount);
  }

  /** Delivers held tokens. */
  deliverTokens(position: number, outcome: Outcome, amount: Units): void {
    takeFrom(this.#positions.doubles, held(position, outcome), amount, HELD_TOKENS);
    this.#closeIfEmpty(position);
  }

  #open(account: number, market: number): number {
    const position = this.#newPosition();
    const { ints } = this.#positions;
    const at = position * INTS;
    const next = this.firstPosition(account);
    ints[at + ACCOUNT] = account;
    ints[at + MARKET] = market;
    ints[at + BEFORE] = NONE;
    ints[at + AFTER] = next;
    if (next !== NONE) ints[next * INTS + BEFORE] = position;
    this.#setFirstPosition(account, position);
    this.#index.add(hashOf(account, market), position);
    return position;
  }

  #setFirstPosition(account: number, position: number): void {
    this.#accounts.ints[account * ACCOUNT_INTS + FIRST_POSITION] = position;
  }

  #newPosition(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.nextPosition(free);
      return free;
    }
    const position = this.#count;
    this.#count += 1;
    this.#positions.reserve(position);
    return position;
  }

  #isEmpty(position: number): boolean {
    const { doubles } = this.#positions;
    const at = position * WORDS;
    for (let cell = YES; cell <= NO_HELD; cell += CELL) if (!isEmpty(doubles, at + cell)) return false;
    return true;
  }

  #closeIfEmpty(position: number): void {
    if (!this.#isEmpty(position)) return;
    const { ints } = this.#positions;
    const at = position * INTS;
    const account = ints[at + ACCOUNT]!;
    const before = ints[at + BEFORE]!;
    const after = ints[at + AFTER]!;
    if (before === NONE) this.#setFirstPosition(account, after);
    else ints[before * INTS + AFTER] = after;
    if (after !== NONE) ints[after * INTS + BEFORE] = before;
    this.#index.remove(hashOf(account, ints[at + MARKET]!), position);
    ints[at + AFTER] = this.#free;
    this.#free = position;
  }
}

const free = (position: number, outcome: Outcome): number =>
  position * WORDS + (outcome === 'YES' ? YES : NO);
const held = (position: number, outcome: Outcome): number =>
  position * WORDS + (outcome === 'YES' ? YES_HELD : NO_HELD);

const hashOf = (account: number, market: number): number => mixed(Math.imul(account, 0x9e3779b1) ^ market);
