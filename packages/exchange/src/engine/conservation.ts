/**
 * Audits a state: recomputes every sum from its parts and compares. It shares no code with the code that moves money.
 * Its cost grows with the state, so it is for tests, recovery and occasional audits.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Market, RestingOrder } from './records.ts';
import { backingOf } from './sets.ts';
import type { EngineState } from './state.ts';

/** @throws Error that names the sum and both figures. */
export function checkConservation(state: EngineState): void {
  const supplies = checkAccounts(state);
  let backing = 0n;
  let resting = 0;
  for (const market of state.markets.values()) {
    const id = market.spec.conditionId;
    const supply = supplies.get(market) ?? { yes: 0n, no: 0n };
    supplies.delete(market);
    same(`YES tokens of ${id}`, market.yesSupply, supply.yes);
    same(`NO tokens of ${id}`, market.noSupply, supply.no);
    if (market.payout === undefined) same(`YES and NO tokens of ${id}`, supply.yes, supply.no);
    same(`backing of ${id}`, market.backing, backingOf(market));
    backing += market.backing;
    resting += checkBook(market);
  }
  if (supplies.size > 0) throw new Error('conservation violated: tokens are held of a market that is gone');
  same('orders on the books', BigInt(state.orders.size), BigInt(resting));
  let collateral = 0n;
  for (const account of state.ledger.accounts.values()) collateral += account.available + account.held;
  same('collateral, backing and fees', collateral + backing + state.ledger.fees, state.ledger.deposits);
}

/** Checks every account against its open orders; returns the tokens found, by market. */
function checkAccounts(state: EngineState): Map<Market, { yes: Micro; no: Micro }> {
  const supplies = new Map<Market, { yes: Micro; no: Micro }>();
  let owned = 0;
  let timed = 0;
  for (const account of state.ledger.accounts.values()) {
    let held = 0n;
    const tokensHeld = new Map<string, Micro>();
    for (const order of account.orders()) {
      owned += 1;
      if (order.expiresAt !== undefined) timed += 1;
      same(`order ${order.orderId} in the index`, state.orders.get(order.orderId) === order ? 1n : 0n, 1n);
      same(`value of ${order.orderId}`, order.value, (order.remaining * BigInt(order.limit)) / 10_000n);
      if (order.side === 'BUY') held += order.value;
      else {
        const key = `${order.outcome} ${order.market.spec.conditionId}`;
        tokensHeld.set(key, (tokensHeld.get(key) ?? 0n) + order.remaining);
      }
    }
    same(`collateral held of ${account.id}`, account.held, held);
    if (account.available < 0n)
      throw new Error(`conservation violated: ${account.id} has ${account.available}`);
    for (const [market, position] of account.positions) {
      const id = market.spec.conditionId;
      same(`YES held of ${account.id}`, position.yesHeld, tokensHeld.get(`YES ${id}`) ?? 0n);
      same(`NO held of ${account.id}`, position.noHeld, tokensHeld.get(`NO ${id}`) ?? 0n);
      tokensHeld.delete(`YES ${id}`);
      tokensHeld.delete(`NO ${id}`);
      if (position.yes < 0n || position.no < 0n)
        throw new Error(
          `conservation violated: ${account.id} has ${position.yes} YES, ${position.no} NO of ${id}`,
        );
      const supply = supplies.get(market) ?? { yes: 0n, no: 0n };
      supply.yes += position.yes + position.yesHeld;
      supply.no += position.no + position.noHeld;
      supplies.set(market, supply);
    }
    for (const [key, amount] of tokensHeld) same(`${key} behind orders of ${account.id}`, 0n, amount);
  }
  same('orders of all accounts', BigInt(owned), BigInt(state.orders.size));
  same('orders waiting to expire', BigInt(state.expiry.size), BigInt(timed));
  return supplies;
}

/** Checks levels, liquidity and that the book is not crossed; returns the number of orders on it. */
function checkBook(market: Market): number {
  const { book } = market;
  const id = market.spec.conditionId;
  if (book.bids.best !== -1 && book.asks.best !== -1 && book.bids.best >= book.asks.best)
    throw new Error(`conservation violated: the book of ${id} is crossed`);
  let count = 0;
  let liquidity = 0n;
  const sizes = new Map<RestingOrder['level'], Micro>();
  for (const side of [book.bids, book.asks]) {
    for (const order of book.orders(side)) {
      count += 1;
      liquidity += order.value;
      if (order.remaining <= 0n)
        throw new Error(`conservation violated: ${order.orderId} rests with nothing`);
      sizes.set(order.level, (sizes.get(order.level) ?? 0n) + order.remaining);
    }
  }
  for (const [level, size] of sizes) same(`level ${level.pips} of ${id}`, level.size, size);
  same(`liquidity of ${id}`, book.liquidity, liquidity);
  if (market.status !== 'open' && count > 0)
    throw new Error(`conservation violated: ${id} has orders and is shut`);
  return count;
}

function same(what: string, recorded: bigint, recomputed: bigint): void {
  if (recorded !== recomputed)
    throw new Error(`conservation violated: ${what}: recorded ${recorded}, recomputed ${recomputed}`);
}
