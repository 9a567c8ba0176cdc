/**
 * Encodes a state as canonical bytes, and decodes it. Accounts and markets are sorted by id, orders are in priority
 * order; derived values (holds, supplies, liquidity, indexes) are not written, so that they cannot contradict. Empty
 * accounts are omitted: dropping them changes nothing.
 *
 * Layout: magic, version · time, last match, fees, deposits · accounts · markets, each with its positions and its
 * orders (bids, then asks; best price first, oldest first).
 */
import { type Payout, payoutOf, paysOf } from '@bellwether/contract/positions';
import { addTo, changeMicro, floorCost, microAt, setMicro, type Units, unitsOf } from './amounts.ts';
import type { Outcome, Side, TimeInForce } from './commands.ts';
import { AVAILABLE } from './ledger.ts';
import {
  BACKING,
  type BookSide,
  type Market,
  type MarketStatus,
  NO_SUPPLY,
  VOLUME,
  YES_SUPPLY,
  yesPrice,
} from './market.ts';
import { COST, FEES, FILLED, NONE, POSITION, REMAINING, SIZE } from './orders.ts';
import { link } from './resting.ts';
import { backingOf } from './sets.ts';
import { EngineState } from './state.ts';

const MAGIC = 'bellwether-engine';
const VERSION = 2;
/** Without the taker's side of the last trade. */
const OLDER_VERSION = 1;

// The indexes of the words are part of the format: append only.
const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved'];
/** Any other payout is a number from the length of this list on: what YES pays, added to it. */
const PAYOUTS: readonly (Payout | undefined)[] = [undefined, 'YES', 'NO', 'HALF'];
const OUTCOMES: readonly Outcome[] = ['YES', 'NO'];
const SIDES: readonly Side[] = ['BUY', 'SELL'];
const TAKER_SIDES: readonly (Side | undefined)[] = [undefined, 'BUY', 'SELL'];
const TIMES_IN_FORCE: readonly TimeInForce[] = ['GTC', 'GTD'];

export function encodeState(state: EngineState): Uint8Array {
  const { ledger } = state;
  const out = new ByteWriter();
  out.text(MAGIC);
  out.integer(VERSION);
  out.integer(state.now);
  out.integer(state.lastMatchId);
  out.amount(microAt(ledger.fees, 0));
  out.amount(ledger.deposits);

  const accounts = usedAccounts(state);
  const places = new Int32Array(ledger.size);
  /** Positions of each market, in the order of their accounts. */
  const holdings = new Map<number, Holding[]>();
  out.integer(accounts.length);
  for (const [place, account] of accounts.entries()) {
    places[account] = place;
    out.text(ledger.id(account));
    out.amount(ledger.money(account, AVAILABLE));
    for (let at = ledger.firstPosition(account); at !== NONE; at = ledger.nextPosition(at)) {
      const market = ledger.marketOf(at);
      const list = holdings.get(market);
      if (list === undefined) holdings.set(market, [{ place, position: at }]);
      else list.push({ place, position: at });
    }
  }

  const markets = [...state.markets].sort(([a], [b]) => (a < b ? -1 : 1));
  out.integer(markets.length);
  for (const [, market] of markets) {
    encodeMarket(out, market);
    encodePositions(out, state, holdings.get(market.row) ?? []);
    encodeOrders(out, state, { market, side: market.book.bids, places });
    encodeOrders(out, state, { market, side: market.book.asks, places });
  }
  return out.bytes();
}

interface Holding {
  readonly place: number;
  readonly position: number;
}

/** Rows, sorted by id. */
function usedAccounts({ ledger }: EngineState): number[] {
  const used: number[] = [];
  for (let account = 0; account < ledger.size; account += 1)
    if (!ledger.isUnused(account)) used.push(account);
  return used.sort((a, b) => (ledger.id(a) < ledger.id(b) ? -1 : 1));
}

function encodePayout(out: ByteWriter, payout: Payout | undefined): void {
  if (payout === undefined || PAYOUTS.includes(payout)) out.word(PAYOUTS, payout);
  else out.integer(PAYOUTS.length + Number(paysOf(payout, 'YES')));
}

function decodePayout(input: ByteReader): Payout | undefined {
  const index = input.integer();
  return index < PAYOUTS.length ? PAYOUTS[index] : payoutOf(BigInt(index - PAYOUTS.length));
}

function encodeMarket(out: ByteWriter, market: Market): void {
  const { spec, book } = market;
  out.text(spec.conditionId);
  out.text(spec.tokenIds[0]);
  out.text(spec.tokenIds[1]);
  out.integer(spec.tickSize);
  out.amount(spec.minOrderSize);
  out.amount(spec.feeRate);
  out.integer(spec.feeExponent);
  out.word(STATUSES, market.status);
  encodePayout(out, market.payout);
  out.amount(microAt(market.totals, VOLUME));
  out.integer(market.lastTrade ?? 0);
  out.word(TAKER_SIDES, market.lastTakerSide);
  out.integer(book.sequence);
  out.integer(book.changedAt);
}

/** Free tokens only: held tokens follow from the orders. */
function encodePositions(out: ByteWriter, { ledger }: EngineState, holdings: readonly Holding[]): void {
  const free = holdings.filter(
    ({ position }) => ledger.freeTokens(position, 'YES') + ledger.freeTokens(position, 'NO') > 0n,
  );
  out.integer(free.length);
  for (const { place, position } of free) {
    out.integer(place);
    out.amount(ledger.freeTokens(position, 'YES'));
    out.amount(ledger.freeTokens(position, 'NO'));
  }
}

function encodeOrders(
  out: ByteWriter,
  { orders }: EngineState,
  from: { readonly market: Market; readonly side: BookSide; readonly places: Int32Array },
): void {
  const rows = [...from.market.book.orders(from.side)];
  out.integer(rows.length);
  for (const row of rows) {
    const isGtd = orders.isGtd(row);
    out.text(orders.id(row));
    out.integer(from.places[orders.owner(row)]!);
    out.word(OUTCOMES, orders.outcome(row));
    out.word(SIDES, orders.side(row));
    out.integer(orders.limit(row));
    for (const amount of [SIZE, REMAINING, FILLED, COST, FEES]) out.integer(orders.amount(row, amount));
    out.word(TIMES_IN_FORCE, isGtd ? 'GTD' : 'GTC');
    if (isGtd) out.integer(orders.expiresAt(row));
    out.integer(orders.acceptedAt(row));
  }
}

/** @throws RangeError when the bytes are not a snapshot, are truncated, or have another version. */
export function decodeState(bytes: Uint8Array): EngineState {
  const input = new ByteReader(bytes);
  if (input.text() !== MAGIC) throw new RangeError('not a snapshot of the engine');
  const version = input.integer();
  if (version !== VERSION && version !== OLDER_VERSION)
    throw new RangeError(`snapshot version ${version}; this engine reads ${VERSION}`);
  const state = new EngineState();
  state.now = input.integer();
  state.lastMatchId = input.integer();
  setMicro(state.ledger.fees, 0, input.amount(), 'fees');
  state.ledger.deposits = input.amount();

  const accounts: number[] = [];
  for (let left = input.integer(); left > 0; left -= 1) {
    const account = state.ledger.open(input.text());
    state.ledger.changeMoney(account, input.amount());
    accounts.push(account);
  }
  for (let left = input.integer(); left > 0; left -= 1) decodeMarket(input, version, state, accounts);
  if (!input.atEnd) throw new RangeError('the snapshot has bytes after its end');
  return state;
}

function decodeMarket(
  input: ByteReader,
  version: number,
  state: EngineState,
  accounts: readonly number[],
): void {
  const market = state.newMarket(
    {
      conditionId: input.text(),
      tokenIds: [input.text(), input.text()],
      tickSize: input.integer(),
      minOrderSize: input.amount(),
      feeRate: input.amount(),
      feeExponent: input.integer(),
    },
    0,
  );
  state.list(market);
  market.status = input.word(STATUSES);
  market.payout = decodePayout(input);
  setMicro(market.totals, VOLUME, input.amount(), 'volume');
  market.lastTrade = input.integer() || undefined;
  if (version > OLDER_VERSION) market.lastTakerSide = input.word(TAKER_SIDES);
  const sequence = input.integer();
  const changedAt = input.integer();
  for (let left = input.integer(); left > 0; left -= 1) {
    const account = accountAt(accounts, input.integer());
    const yes = input.amount();
    const no = input.amount();
    state.ledger.changeTokens(account, market.row, 'YES', yes);
    state.ledger.changeTokens(account, market.row, 'NO', no);
    changeMicro(market.totals, YES_SUPPLY, yes, 'YES supply');
    changeMicro(market.totals, NO_SUPPLY, no, 'NO supply');
  }
  for (let side = 0; side < 2; side += 1) {
    for (let left = input.integer(); left > 0; left -= 1) decodeOrder(input, state, market, accounts);
  }
  if (market.status !== 'open' && (market.book.bids.best !== NONE || market.book.asks.best !== NONE))
    state.emptying.add(market.spec.conditionId);
  setMicro(market.totals, BACKING, backingOf(market), 'backing');
  market.book.sequence = sequence;
  market.book.changedAt = changedAt;
}

function decodeOrder(
  input: ByteReader,
  state: EngineState,
  market: Market,
  accounts: readonly number[],
): void {
  const { orders, ledger } = state;
  const orderId = input.text();
  const owner = accountAt(accounts, input.integer());
  const outcome = input.word(OUTCOMES);
  const side = input.word(SIDES);
  const limit = input.integer();
  const size = input.amount();
  const [remaining, filled, cost, fees] = [units(input), units(input), units(input), units(input)];
  const timeInForce = input.word(TIMES_IN_FORCE);
  const expiry = timeInForce === 'GTD' ? { expiresAt: input.integer() } : {};
  const acceptedAt = input.integer();
  const terms = {
    orderId,
    account: ledger.id(owner),
    conditionId: market.spec.conditionId,
    outcome,
    side,
    limit,
  };
  const order = orders.add(
    { ...terms, size, timeInForce, postOnly: false, ...expiry },
    {
      owner,
      market: market.row,
      position: side === 'BUY' ? NONE : ledger.opened(owner, market.row),
      tick: market.book.tickOf(yesPrice(outcome, limit)),
      size: unitsOf(size),
      remaining,
      acceptedAt,
    },
  );
  orders.setAmount(order, FILLED, filled);
  orders.setAmount(order, COST, cost);
  orders.setAmount(order, FEES, fees);
  // Unlike for a new order, the holds are not subtracted from the free amounts: those were written without the holds.
  const value = floorCost(remaining, limit);
  market.book.add(order, value, acceptedAt);
  link(state, order);
  if (side === 'BUY') {
    ledger.addHold(owner, value);
    return;
  }
  ledger.addHeldTokens(orders.link(order, POSITION), outcome, remaining);
  addTo(market.totals, outcome === 'YES' ? YES_SUPPLY : NO_SUPPLY, remaining);
}

/** An order of an earlier release may exceed what the engine holds exactly: its snapshot cannot be read. */
const units = (input: ByteReader): Units => unitsOf(input.amount());

function accountAt(accounts: readonly number[], place: number): number {
  const account = accounts[place];
  if (account === undefined)
    throw new RangeError(`the snapshot names account ${place} of ${accounts.length}`);
  return account;
}

// A small canonical binary form: unsigned integers as LEB128, of any size, each with one encoding; texts as their
// length in bytes and UTF-8. Equal values give equal bytes.

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

export class ByteWriter {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  /** A word, encoded as its index in a list. */
  word<Word>(words: readonly Word[], value: Word): void {
    this.integer(words.indexOf(value));
  }

  /** A safe non-negative integer. */
  integer(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`cannot encode ${value}`);
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A non-negative bigint of any size. */
  amount(value: bigint): void {
    // Encoding, not arithmetic: up to 2^53 a number represents the same value.
    if (value >= 0n && value <= SAFE) {
      this.integer(Number(value));
      return;
    }
    if (value < 0n) throw new RangeError(`cannot encode ${value}`);
    let rest = value;
    while (rest >= 0x80n) {
      this.#reserve(1);
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#reserve(1);
    this.#bytes[this.#length++] = Number(rest);
  }

  text(value: string): void {
    const start = this.#length;
    this.integer(value.length);
    this.#reserve(value.length);
    for (let index = 0; index < value.length; index += 1) {
      const unit = value.charCodeAt(index);
      if (unit >= 0x80) {
        this.#length = start;
        this.#encoded(value);
        return;
      }
      this.#bytes[this.#length++] = unit;
    }
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** The rare text that is not plain ASCII. */
  #encoded(value: string): void {
    // A lone surrogate has no UTF-8: two different texts would become equal bytes.
    if (!value.isWellFormed()) throw new RangeError('cannot encode a text with a lone surrogate');
    const bytes = new TextEncoder().encode(value);
    this.integer(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads what a ByteWriter wrote. Every method throws RangeError where the bytes end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  integer(): number {
    const value = this.amount();
    if (value > SAFE) throw new RangeError(`${value} is too large for an integer`);
    return Number(value);
  }

  amount(): bigint {
    // Up to 49 bits are gathered in a number, which is exact; the rest in a bigint.
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 7; count += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
      if (byte < 0x80) return BigInt(value);
    }
    let large = BigInt(value);
    for (let shift = 49n; ; shift += 7n) {
      const byte = this.#byte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return large;
    }
  }

  text(): string {
    const length = this.integer();
    if (this.#position + length > this.#bytes.length) throw new RangeError('the bytes end within a text');
    this.#position += length;
    return this.#decoder.decode(this.#bytes.subarray(this.#position - length, this.#position));
  }

  /** A word of a list, by its index. */
  word<Word>(words: readonly Word[]): Word {
    const place = this.integer();
    if (place >= words.length) throw new RangeError(`index ${place} is outside the list ${words.join(', ')}`);
    return words[place]!;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  #byte(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw new RangeError('the bytes end within a number');
    this.#position += 1;
    return byte;
  }
}
