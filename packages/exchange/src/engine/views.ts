/** Copies for readers in the shapes of types.ts, never the engine's own objects. */
import { yesPrice } from './book.ts';
import { AVAILABLE, HELD } from './ledger.ts';
import type { Market } from './market.ts';
import { COST, FEES, FILLED, NONE, OWNERS_NEXT, REMAINING, SIZE, VALUE } from './orders.ts';
import type { EngineState } from './state.ts';
import { isBehind, isDead } from './sweeps.ts';
import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  HolderView,
  OpenOrder,
  Outcome,
  Side,
} from './types.ts';
import { microOf } from './units.ts';

/** The NO book is the YES book seen from the other side: YES asks are NO bids at the mirrored price. */
export function bookView(market: Market, outcome: Outcome, depth: number): BookView {
  const { book, lastTrade, lastTakerSide } = market;
  // Levels that are left on the book of a market that no longer trades are dead.
  const shown = market.status === 'open' ? depth : 0;
  const [bids, asks] = outcome === 'YES' ? [book.bids, book.asks] : [book.asks, book.bids];
  return {
    conditionId: market.spec.conditionId,
    outcome,
    bids: book.view(bids, outcome, shown),
    asks: book.view(asks, outcome, shown),
    ...(lastTrade === undefined ? {} : { lastTrade: yesPrice(outcome, lastTrade) }),
    ...(lastTakerSide === undefined ? {} : { lastTakerSide: sideOn(outcome, lastTakerSide) }),
    sequence: book.sequence,
    changedAt: book.changedAt,
  };
}

const sideOn = (outcome: Outcome, side: Side): Side =>
  (outcome === 'YES') === (side === 'BUY') ? 'BUY' : 'SELL';

interface Tokens {
  yes: bigint;
  no: bigint;
  yesHeld: bigint;
  noHeld: bigint;
}

export function accountView(state: EngineState, id: AccountId): AccountView {
  const { ledger } = state;
  const account = ledger.find(id);
  const tokens = new Map<ConditionId, Tokens>();
  if (account === NONE) return { account: id, available: 0n, held: 0n, tokens };
  for (let at = ledger.firstPosition(account); at !== NONE; at = ledger.nextPosition(at))
    tokens.set(state.marketOf(ledger.marketOf(at)).spec.conditionId, {
      yes: ledger.freeTokens(at, 'YES'),
      no: ledger.freeTokens(at, 'NO'),
      yesHeld: ledger.heldTokens(at, 'YES'),
      noHeld: ledger.heldTokens(at, 'NO'),
    });
  const dead = isBehind(state) ? releaseDead(state, account, tokens) : 0n;
  return {
    account: id,
    available: ledger.money(account, AVAILABLE) + dead,
    held: ledger.money(account, HELD) - dead,
    tokens,
  };
}

/** Frees the tokens that dead orders hold. @returns the collateral that they hold */
function releaseDead(state: EngineState, account: number, tokens: ReadonlyMap<ConditionId, Tokens>): bigint {
  const { orders } = state;
  let collateral = 0n;
  for (let at = state.ledger.firstOrder(account); at !== NONE; at = orders.link(at, OWNERS_NEXT)) {
    if (!isDead(state, at)) continue;
    if (orders.isBuy(at)) {
      collateral += microOf(orders.amount(at, VALUE));
      continue;
    }
    const held = tokens.get(state.marketOf(orders.market(at)).spec.conditionId)!;
    const amount = microOf(orders.amount(at, REMAINING));
    if (orders.outcome(at) === 'YES') {
      held.yes += amount;
      held.yesHeld -= amount;
    } else {
      held.no += amount;
      held.noHeld -= amount;
    }
  }
  return collateral;
}

export function holderViews({ ledger }: EngineState, market: Market): HolderView[] {
  return Array.from(ledger.positionsIn(market.row), ({ account, position }) => ({
    account: ledger.id(account),
    yes: ledger.freeTokens(position, 'YES') + ledger.heldTokens(position, 'YES'),
    no: ledger.freeTokens(position, 'NO') + ledger.heldTokens(position, 'NO'),
  }));
}

export function openOrderView(state: EngineState, order: number): OpenOrder {
  const { orders } = state;
  const isGtd = orders.isGtd(order);
  return {
    orderId: orders.id(order),
    account: state.ledger.id(orders.owner(order)),
    conditionId: state.marketOf(orders.market(order)).spec.conditionId,
    outcome: orders.outcome(order),
    side: orders.side(order),
    limit: orders.limit(order),
    size: microOf(orders.amount(order, SIZE)),
    filled: microOf(orders.amount(order, FILLED)),
    cost: microOf(orders.amount(order, COST)),
    fees: microOf(orders.amount(order, FEES)),
    timeInForce: isGtd ? 'GTD' : 'GTC',
    ...(isGtd ? { expiresAt: orders.expiresAt(order) } : {}),
    acceptedAt: orders.acceptedAt(order),
  };
}

/** Oldest first; orders of the same time by id. */
export function openOrderViews(state: EngineState, id: AccountId): OpenOrder[] {
  const account = state.ledger.find(id);
  const open: OpenOrder[] = [];
  if (account === NONE) return open;
  for (let at = state.ledger.firstOrder(account); at !== NONE; at = state.orders.link(at, OWNERS_NEXT))
    if (!isDead(state, at)) open.push(openOrderView(state, at));
  return open.sort(compareOpenOrders);
}

const compareOpenOrders = (a: OpenOrder, b: OpenOrder): number =>
  a.acceptedAt - b.acceptedAt || (a.orderId < b.orderId ? -1 : 1);
