/**
 * Audits a state: recomputes every sum from its parts and compares. It shares no code with the code that moves money.
 * Its cost grows with the state, so it is for tests, recovery and occasional audits.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { microAt, microOf } from './amounts.ts';
import { AVAILABLE, HELD } from './ledger.ts';
import { BACKING, type Market, NO_SUPPLY, YES_SUPPLY } from './market.ts';
import { NONE, OWNERS_NEXT, REMAINING, VALUE } from './orders.ts';
import { backingOf } from './sets.ts';
import type { EngineState } from './state.ts';

/** @throws Error that names the sum and both figures. */
export function checkConservation(state: EngineState): void {
  const supplies = checkAccounts(state);
  let backing = 0n;
  let resting = 0;
  for (const market of state.markets.values()) {
    const id = market.spec.conditionId;
    const supply = supplies.get(market.row) ?? { yes: 0n, no: 0n };
    supplies.delete(market.row);
    const [yes, no] = [microAt(market.totals, YES_SUPPLY), microAt(market.totals, NO_SUPPLY)];
    const backs = microAt(market.totals, BACKING);
    same(`YES tokens of ${id}`, yes, supply.yes);
    same(`NO tokens of ${id}`, no, supply.no);
    if (market.payout === undefined) same(`YES and NO tokens of ${id}`, supply.yes, supply.no);
    same(`backing of ${id}`, backs, backingOf(market));
    backing += backs;
    resting += checkBook(state, market);
  }
  if (supplies.size > 0) throw new Error('conservation violated: tokens are held of a market that is gone');
  same('orders on the books', BigInt(state.orders.size), BigInt(resting));
  const { ledger } = state;
  let collateral = 0n;
  for (let account = 0; account < ledger.size; account += 1)
    collateral += ledger.money(account, AVAILABLE) + ledger.money(account, HELD);
  same('collateral, backing and fees', collateral + backing + microAt(ledger.fees, 0), ledger.deposits);
}

interface Supply {
  yes: Micro;
  no: Micro;
}

/** Checks every account against its open orders; returns the tokens found, by market. */
function checkAccounts(state: EngineState): Map<number, Supply> {
  const { ledger } = state;
  const supplies = new Map<number, Supply>();
  const counts = { owned: 0, timed: 0 };
  for (let account = 0; account < ledger.size; account += 1) {
    const held = checkOrders(state, account, counts);
    same(`collateral held of ${ledger.id(account)}`, ledger.money(account, HELD), held.collateral);
    if (ledger.money(account, AVAILABLE) < 0n)
      throw new Error(`conservation violated: ${ledger.id(account)} has a negative balance`);
    checkPositions(state, account, held.tokens, supplies);
  }
  same('orders of all accounts', BigInt(counts.owned), BigInt(state.orders.size));
  same('orders waiting to expire', BigInt(state.expiry.size), BigInt(counts.timed));
  return supplies;
}

/** Returns what an account's open orders must hold: collateral, and tokens by outcome and market. */
function checkOrders(
  { orders, ledger }: EngineState,
  account: number,
  counts: { owned: number; timed: number },
): { readonly collateral: Micro; readonly tokens: Map<string, Micro> } {
  let collateral = 0n;
  const tokens = new Map<string, Micro>();
  for (let at = ledger.firstOrder(account); at !== NONE; at = orders.link(at, OWNERS_NEXT)) {
    const id = orders.id(at);
    const [remaining, value] = [BigInt(orders.amount(at, REMAINING)), BigInt(orders.amount(at, VALUE))];
    counts.owned += 1;
    if (orders.isGtd(at)) counts.timed += 1;
    same(`order ${id} in the index`, BigInt(orders.find(id)), BigInt(at));
    same(`owner of ${id}`, BigInt(orders.owner(at)), BigInt(account));
    same(`value of ${id}`, value, (remaining * BigInt(orders.limit(at))) / 10_000n);
    if (orders.isBuy(at)) collateral += value;
    else {
      const key = `${orders.outcome(at)} ${orders.market(at)}`;
      tokens.set(key, (tokens.get(key) ?? 0n) + remaining);
    }
  }
  return { collateral, tokens };
}

function checkPositions(
  state: EngineState,
  account: number,
  tokensHeld: Map<string, Micro>,
  supplies: Map<number, Supply>,
): void {
  const { ledger } = state;
  const name = ledger.id(account);
  for (let at = ledger.firstPosition(account); at !== NONE; at = ledger.nextPosition(at)) {
    const market = ledger.marketOf(at);
    same(`position of ${name} in the index`, BigInt(ledger.position(account, market)), BigInt(at));
    const [yes, no] = [ledger.freeTokens(at, 'YES'), ledger.freeTokens(at, 'NO')];
    const [yesHeld, noHeld] = [ledger.heldTokens(at, 'YES'), ledger.heldTokens(at, 'NO')];
    same(`YES held of ${name}`, yesHeld, tokensHeld.get(`YES ${market}`) ?? 0n);
    same(`NO held of ${name}`, noHeld, tokensHeld.get(`NO ${market}`) ?? 0n);
    tokensHeld.delete(`YES ${market}`);
    tokensHeld.delete(`NO ${market}`);
    if (yes < 0n || no < 0n) throw new Error(`conservation violated: ${name} has ${yes} YES, ${no} NO`);
    const supply = supplies.get(market) ?? { yes: 0n, no: 0n };
    supply.yes += yes + yesHeld;
    supply.no += no + noHeld;
    supplies.set(market, supply);
  }
  for (const [key, amount] of tokensHeld) same(`${key} behind orders of ${name}`, 0n, amount);
}

/** Checks levels, liquidity and that the book is not crossed; returns the number of orders on it. */
function checkBook(state: EngineState, market: Market): number {
  const { orders } = state;
  const { book } = market;
  const id = market.spec.conditionId;
  if (book.bids.best !== -1 && book.asks.best !== -1 && book.bids.best >= book.asks.best)
    throw new Error(`conservation violated: the book of ${id} is crossed`);
  let count = 0;
  let liquidity = 0n;
  const sizes = new Map<number, Micro>();
  for (const side of [book.bids, book.asks]) {
    for (const order of book.orders(side)) {
      count += 1;
      const remaining = microOf(orders.amount(order, REMAINING));
      liquidity += microOf(orders.amount(order, VALUE));
      if (remaining <= 0n) throw new Error(`conservation violated: ${orders.id(order)} rests with nothing`);
      const tick = orders.tick(order);
      sizes.set(tick, (sizes.get(tick) ?? 0n) + remaining);
    }
  }
  for (const [tick, size] of sizes) same(`level ${tick} of ${id}`, book.sizeAt(tick), size);
  same(`liquidity of ${id}`, book.liquidity, liquidity);
  if (state.emptying.has(id) !== (market.status !== 'open' && count > 0))
    throw new Error(
      `conservation violated: ${id} is shut with orders that are not being removed, or the reverse`,
    );
  return count;
}

function same(what: string, recorded: bigint, recomputed: bigint): void {
  if (recorded !== recomputed)
    throw new Error(`conservation violated: ${what}: recorded ${recorded}, recomputed ${recomputed}`);
}
