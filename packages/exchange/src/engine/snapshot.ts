/**
 * Encodes a state as canonical bytes, and decodes it. Accounts and markets are sorted by id, orders are in priority
 * order; derived values (holds, supplies, liquidity, indexes) are not written, so that they cannot contradict. Empty
 * accounts are omitted: dropping them changes nothing.
 *
 * Layout: magic, version · time, last match, fees, deposits · accounts · markets, each with its positions and its
 * orders (bids, then asks; best price first, oldest first).
 */

import { floorCost } from './amounts.ts';
import type { BookSide } from './book.ts';
import { ByteReader, ByteWriter } from './byte-codec.ts';
import type { Account } from './records.ts';
import { Market, type MarketStatus, RestingOrder } from './records.ts';
import { link } from './resting.ts';
import { backingOf } from './sets.ts';
import { EngineState } from './state.ts';
import type { Outcome, Payout, Side, TimeInForce } from './types.ts';

const MAGIC = 'bellwether-engine';
const VERSION = 2;
/** Without the taker's side of the last trade. */
const OLDER_VERSION = 1;

// The indexes of the words are part of the format: append only.
const STATUSES: readonly MarketStatus[] = ['open', 'closed', 'resolved'];
const PAYOUTS: readonly (Payout | undefined)[] = [undefined, 'YES', 'NO', 'HALF'];
const OUTCOMES: readonly Outcome[] = ['YES', 'NO'];
const SIDES: readonly Side[] = ['BUY', 'SELL'];
const TAKER_SIDES: readonly (Side | undefined)[] = [undefined, 'BUY', 'SELL'];
const TIMES_IN_FORCE: readonly TimeInForce[] = ['GTC', 'GTD'];

const byText = <Key extends string, Value>([a]: [Key, Value], [b]: [Key, Value]): number => (a < b ? -1 : 1);

export function encodeState(state: EngineState): Uint8Array {
  const out = new ByteWriter();
  out.text(MAGIC);
  out.integer(VERSION);
  out.integer(state.now);
  out.integer(state.lastMatchId);
  out.amount(state.ledger.fees);
  out.amount(state.ledger.deposits);

  const accounts = [...state.ledger.accounts].filter(([, account]) => !account.isEmpty).sort(byText);
  const places = new Map<Account, number>();
  const holders = new Map<Market, Account[]>();
  out.integer(accounts.length);
  for (const [id, account] of accounts) {
    places.set(account, places.size);
    out.text(id);
    out.amount(account.available);
    for (const market of account.positions.keys()) {
      const list = holders.get(market);
      if (list === undefined) holders.set(market, [account]);
      else list.push(account);
    }
  }

  const markets = [...state.markets].sort(byText);
  out.integer(markets.length);
  for (const [, market] of markets) {
    encodeMarket(out, market);
    encodePositions(out, market, holders.get(market) ?? [], places);
    encodeOrders(out, market, market.book.bids, places);
    encodeOrders(out, market, market.book.asks, places);
  }
  return out.bytes();
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
  out.word(PAYOUTS, market.payout);
  out.amount(market.volume);
  out.integer(market.lastTrade ?? 0);
  out.word(TAKER_SIDES, market.lastTakerSide);
  out.integer(book.sequence);
  out.integer(book.changedAt);
}

/** Free tokens only: held tokens follow from the orders. */
function encodePositions(
  out: ByteWriter,
  market: Market,
  holders: readonly Account[],
  places: ReadonlyMap<Account, number>,
): void {
  const free = holders.filter((account) => {
    const position = account.positions.get(market)!;
    return position.yes > 0n || position.no > 0n;
  });
  out.integer(free.length);
  for (const account of free) {
    const position = account.positions.get(market)!;
    out.integer(places.get(account)!);
    out.amount(position.yes);
    out.amount(position.no);
  }
}

function encodeOrders(
  out: ByteWriter,
  market: Market,
  side: BookSide,
  places: ReadonlyMap<Account, number>,
): void {
  const orders = [...market.book.orders(side)];
  out.integer(orders.length);
  for (const order of orders) {
    out.text(order.orderId);
    out.integer(places.get(order.owner)!);
    out.word(OUTCOMES, order.outcome);
    out.word(SIDES, order.side);
    out.integer(order.limit);
    out.amount(order.size);
    out.amount(order.remaining);
    out.amount(order.filled);
    out.amount(order.cost);
    out.amount(order.fees);
    out.word(TIMES_IN_FORCE, order.timeInForce);
    if (order.expiresAt !== undefined) out.integer(order.expiresAt);
    out.integer(order.acceptedAt);
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
  state.ledger.fees = input.amount();
  state.ledger.deposits = input.amount();

  const accounts: Account[] = [];
  for (let left = input.integer(); left > 0; left -= 1) {
    const account = state.ledger.open(input.text());
    account.available = input.amount();
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
  accounts: readonly Account[],
): void {
  const market = new Market(
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
  state.markets.set(market.spec.conditionId, market);
  market.status = input.word(STATUSES);
  market.payout = input.word(PAYOUTS);
  market.volume = input.amount();
  market.lastTrade = input.integer() || undefined;
  if (version > OLDER_VERSION) market.lastTakerSide = input.word(TAKER_SIDES);
  const sequence = input.integer();
  const changedAt = input.integer();
  for (let left = input.integer(); left > 0; left -= 1) {
    const account = accountAt(accounts, input.integer());
    const yes = input.amount();
    const no = input.amount();
    account.creditTokens(market, 'YES', yes);
    account.creditTokens(market, 'NO', no);
    market.yesSupply += yes;
    market.noSupply += no;
  }
  for (let side = 0; side < 2; side += 1) {
    for (let left = input.integer(); left > 0; left -= 1) decodeOrder(input, state, market, accounts);
  }
  market.backing = backingOf(market);
  market.book.sequence = sequence;
  market.book.changedAt = changedAt;
}

function decodeOrder(
  input: ByteReader,
  state: EngineState,
  market: Market,
  accounts: readonly Account[],
): void {
  const orderId = input.text();
  const owner = accountAt(accounts, input.integer());
  const outcome = input.word(OUTCOMES);
  const side = input.word(SIDES);
  const limit = input.integer();
  const size = input.amount();
  const [remaining, filled, cost, fees] = [input.amount(), input.amount(), input.amount(), input.amount()];
  const timeInForce = input.word(TIMES_IN_FORCE);
  const expiry = timeInForce === 'GTD' ? { expiresAt: input.integer() } : {};
  const acceptedAt = input.integer();
  const order = new RestingOrder(
    {
      orderId,
      account: owner.id,
      conditionId: market.spec.conditionId,
      outcome,
      side,
      limit,
      size,
      timeInForce,
      postOnly: false,
      ...expiry,
    },
    { owner, market, acceptedAt },
  );
  Object.assign(order, { remaining, filled, cost, fees });
  // Unlike for a new order, the holds are not subtracted from the free amounts: those were written without the holds.
  const value = floorCost(remaining, order.price);
  market.book.add(order, value, acceptedAt);
  link(state, order);
  if (side === 'BUY') {
    owner.held += value;
    return;
  }
  owner.creditTokens(market, outcome, remaining);
  owner.holdTokens(market, outcome, remaining);
  if (outcome === 'YES') market.yesSupply += remaining;
  else market.noSupply += remaining;
}

function accountAt(accounts: readonly Account[], place: number): Account {
  const account = accounts[place];
  if (account === undefined)
    throw new RangeError(`the snapshot names account ${place} of ${accounts.length}`);
  return account;
}
