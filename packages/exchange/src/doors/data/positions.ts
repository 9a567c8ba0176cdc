/**
 * Positions: the facts of their markets (of one that is listed everything, of one that the exchange has forgotten what
 * its history kept), their rows, lists of them, and what they come to in a market.
 */
import { divide, MICRO, type Micro, microToNumber } from '@bellwether/contract/decimals';
import { NO_POSITION, type Payout, paysOf } from '@bellwether/contract/positions';
import { type PositionId, parsePositionId } from '@bellwether/protocol';
import type {
  AccountId,
  HolderView,
  MarketFacts,
  MarketView,
  Outcome,
  PaperExchange,
} from '../../paper-exchange.ts';
import { eventSlugOf } from '../gamma/index.ts';
import { wireAddress } from '../polymarket/index.ts';
import { type Basis, type Holding, holdingKey } from './cost-basis.ts';
import { invalid } from './requests.ts';

/** A price in twenty-thousandths, which a midpoint between two ten-thousandths needs. */
const PRICE_UNIT = 20_000;

interface MarketWords {
  readonly condition_id: string;
  readonly token_id: string;
  readonly opposite_token_id: string;
  readonly outcome: string;
  readonly opposite_outcome: string;
  readonly outcome_index: 0 | 1;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  /** '' where the market is no longer listed. */
  readonly event_id: string;
  readonly event_slug: string;
}

export function wordsOf(facts: MarketFacts, outcome: Outcome, view: MarketView | undefined): MarketWords {
  const [own, other] = outcome === 'YES' ? ([0, 1] as const) : ([1, 0] as const);
  return {
    condition_id: facts.conditionId,
    token_id: facts.tokenIds[own],
    opposite_token_id: facts.tokenIds[other],
    outcome: facts.outcomes[own],
    opposite_outcome: facts.outcomes[other],
    outcome_index: own,
    title: facts.question,
    slug: facts.slug,
    icon: '',
    event_id: view?.eventId ?? '',
    event_slug: view === undefined ? '' : eventSlugOf(view.eventTitle, view.eventId),
  };
}

/** The payout, else the midpoint, the last trade, or one half. In `PRICE_UNIT`s. */
function priceOf(facts: MarketFacts, outcome: Outcome, view: MarketView | undefined): number {
  const payout = view?.payout ?? facts.payout;
  if (payout !== undefined) return Number((paysOf(payout, outcome) * BigInt(PRICE_UNIT)) / MICRO);
  const { bestBid, bestAsk, lastTrade } = view ?? {};
  const yes = bestBid !== undefined && bestAsk !== undefined ? bestBid + bestAsk : 2 * (lastTrade ?? 5_000);
  return outcome === 'YES' ? yes : PRICE_UNIT - yes;
}

const worthOf = (size: Micro, price: number): Micro =>
  divide(size * BigInt(price), BigInt(PRICE_UNIT), 'floor');

/** A ratio of amounts as a JSON number with six decimals; 0 for nothing. */
export const ratio = (amount: Micro, size: Micro, factor = 1n): number =>
  size === 0n ? 0 : Number((amount * factor * 1_000_000n) / size) / 1e6;

/** Facts of a listed market. */
const factsOf = (view: MarketView): MarketFacts => ({
  id: view.id,
  conditionId: view.conditionId,
  tokenIds: view.tokenIds,
  slug: view.slug,
  question: view.question,
  outcomes: view.outcomes,
  endDate: view.endDate,
  ...(view.payout === undefined ? {} : { payout: view.payout }),
});

/** The markets of an event that are listed. */
export function marketsOfEvent(
  exchange: Pick<PaperExchange, 'markets'>,
  eventId: string,
): readonly MarketView[] {
  const found: MarketView[] = [];
  for (const market of exchange.markets()) if (market.eventId === eventId) found.push(market);
  return found;
}

// Positions of an account: sizes as the exchange holds them now, with the cost basis of the history. Where the history
// does not reach back to all tokens, the known average price counts for all of them.

export interface Position {
  readonly account: AccountId;
  readonly facts: MarketFacts;
  readonly view: MarketView | undefined;
  readonly outcome: Outcome;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly bought: Micro;
  readonly boughtCost: Micro;
  readonly realized: Micro;
  /** In PRICE_UNITs. */
  readonly price: number;
  readonly value: Micro;
  readonly isResolved: boolean;
  readonly isMergeable: boolean;
  /** Epoch milliseconds. */
  readonly lastAt: number;
}

type PositionReads = Pick<PaperExchange, 'account' | 'market'>;

/** Open ones, and those that were given away again. */
export function positionsOf(exchange: PositionReads, account: AccountId, basis: Basis): readonly Position[] {
  const positions: Position[] = [];
  const { tokens } = exchange.account(account);
  for (const [conditionId, { yes, no, yesHeld, noHeld }] of tokens) {
    const view = exchange.market(conditionId);
    if (view === undefined) continue;
    const sizes = { YES: yes + yesHeld, NO: no + noHeld };
    for (const outcome of ['YES', 'NO'] as const) {
      if (sizes[outcome] === 0n) continue;
      const held = basis.holdings.get(holdingKey(conditionId, outcome));
      const isMergeable = sizes.YES > 0n && sizes.NO > 0n && view.payout === undefined;
      const size = sizes[outcome];
      positions.push(positionOf({ account, outcome, size, held, facts: factsOf(view), view, isMergeable }));
    }
  }
  for (const held of basis.holdings.values()) {
    const { conditionId } = held.market;
    const now = tokens.get(conditionId);
    const { outcome } = held;
    if (now !== undefined && (outcome === 'YES' ? now.yes + now.yesHeld : now.no + now.noHeld) > 0n) continue;
    const view = exchange.market(conditionId);
    const facts = view === undefined ? held.market : factsOf(view);
    positions.push(positionOf({ account, outcome, size: 0n, held, facts, view, isMergeable: false }));
  }
  return positions;
}

interface FoundPosition {
  readonly account: AccountId;
  readonly outcome: Outcome;
  readonly size: Micro;
  readonly held: Holding | undefined;
  readonly facts: MarketFacts;
  readonly view: MarketView | undefined;
  readonly isMergeable: boolean;
}

function positionOf({ account, outcome, size, held, facts, view, isMergeable }: FoundPosition): Position {
  const price = priceOf(facts, outcome, view);
  const value = worthOf(size, price);
  const {
    size: known,
    cost,
    boughtSize,
    boughtCost,
    realized,
  } = held?.position ?? {
    ...NO_POSITION,
    ...{ boughtSize: size, boughtCost: value },
  };
  const scaled = (amount: Micro): Micro =>
    known === size || known === 0n ? amount : (amount * size) / known;
  return {
    ...{ account, facts, view, outcome, size, price, value, isMergeable },
    // Tokens of which nothing is known have neither gained nor lost.
    cost: size === 0n ? 0n : known === 0n ? value : scaled(cost),
    fees: size === 0n ? 0n : scaled(held?.fees ?? 0n),
    bought: boughtSize,
    boughtCost,
    realized,
    isResolved: (view?.payout ?? facts.payout) !== undefined,
    lastAt: held?.lastAt ?? view?.createdAt ?? 0,
  };
}

export const unrealizedOf = ({ value, cost }: Position): Micro => value - cost;
export const totalOf = (position: Position): Micro => unrealizedOf(position) + position.realized;
export const isRedeemable = ({ size, isResolved }: Position): boolean => size > 0n && isResolved;
const isLost = (position: Position): boolean => isRedeemable(position) && position.price === 0;

const statusOf = (position: Position): string => {
  if (position.size === 0n) return 'CLOSED';
  if (!isRedeemable(position)) return 'OPEN';
  return isLost(position) ? 'REDEEMABLE_LOST' : 'REDEEMABLE';
};

/** Average price of what is left, else of the closed position's purchases. */
const averageOf = ({ size, cost, bought, boughtCost }: Position): number =>
  size > 0n ? ratio(cost, size) : ratio(boughtCost, bought);

const percent = (part: Micro, whole: Micro): number => ratio(part, whole, 100n);

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const NO_PROFILE = { name: '', profile_image: '' } as const;

/** The row of version 2. */
export function positionRow(position: Position) {
  const { facts, view, outcome, size, cost, fees, value, realized, bought, boughtCost } = position;
  const total = totalOf(position);
  return {
    proxy_wallet: position.account,
    ...wordsOf(facts, outcome, view),
    current_size: microToNumber(size),
    avg_price: averageOf(position),
    entry_cost_usdc: microToNumber(cost),
    entry_fees_usdc: microToNumber(fees),
    total_cost_usdc: microToNumber(cost + fees),
    current_price: position.price / PRICE_UNIT,
    current_value: microToNumber(value),
    total_size: microToNumber(bought),
    realized_pnl: microToNumber(realized),
    unrealized_pnl: microToNumber(unrealizedOf(position)),
    total_pnl: microToNumber(total),
    percent_pnl: percent(total, boughtCost),
    percent_realized_pnl: percent(realized, boughtCost),
    status: statusOf(position),
    redeemable: isRedeemable(position),
    mergeable: position.isMergeable,
    negative_risk: view?.negRisk ?? false,
    archived: view === undefined,
    end_date: dayOf(facts.endDate),
    last_event_at: Math.floor(position.lastAt / 1000),
    ...NO_PROFILE,
    verified: false,
  };
}

/** The row of version 1. */
export function legacyPositionRow(position: Position) {
  const { facts, view, outcome, cost, value } = position;
  const words = wordsOf(facts, outcome, view);
  const gain = unrealizedOf(position);
  return {
    proxyWallet: position.account,
    asset: words.token_id,
    conditionId: words.condition_id,
    size: microToNumber(position.size),
    avgPrice: averageOf(position),
    initialValue: microToNumber(cost),
    grossInitialValue: microToNumber(cost + position.fees),
    entryFeesUsdc: microToNumber(position.fees),
    currentValue: microToNumber(value),
    cashPnl: microToNumber(gain),
    percentPnl: percent(gain, cost),
    totalBought: microToNumber(position.bought),
    realizedPnl: microToNumber(position.realized),
    percentRealizedPnl: percent(position.realized, position.boughtCost),
    curPrice: position.price / PRICE_UNIT,
    redeemable: isRedeemable(position),
    mergeable: position.isMergeable,
    title: words.title,
    slug: words.slug,
    icon: '',
    eventSlug: words.event_slug,
    outcome: words.outcome,
    outcomeIndex: words.outcome_index,
    oppositeOutcome: words.opposite_outcome,
    oppositeAsset: words.opposite_token_id,
    endDate: dayOf(facts.endDate),
    negativeRisk: view?.negRisk ?? false,
  };
}

// Which positions a list shows, in which order, and the cursor of version 2.

export const POSITION_STATUSES = ['OPEN', 'REDEEMABLE', 'REDEEMABLE_LOST', 'MERGEABLE', 'CLOSED'] as const;
type PositionStatus = (typeof POSITION_STATUSES)[number];

/** OPEN is everything that is held, redeemable tokens included. */
const FITS: Readonly<Record<PositionStatus, (position: Position) => boolean>> = {
  OPEN: ({ size }) => size > 0n,
  REDEEMABLE: isRedeemable,
  REDEEMABLE_LOST: isLost,
  MERGEABLE: ({ isMergeable }) => isMergeable,
  CLOSED: ({ size }) => size === 0n,
};

export const hasStatus = (position: Position, status: PositionStatus): boolean => FITS[status](position);

export const POSITION_SORTS = [
  'CURRENT_VALUE',
  'TOKENS',
  'UNREALIZED_PNL',
  'REALIZED_PNL',
  'TOTAL_PNL',
  'TIMESTAMP',
] as const;
type PositionSort = (typeof POSITION_SORTS)[number];

const SORT_KEYS: Readonly<Record<PositionSort, (position: Position) => Micro>> = {
  CURRENT_VALUE: ({ value }) => value,
  TOKENS: ({ size }) => size,
  UNREALIZED_PNL: unrealizedOf,
  REALIZED_PNL: ({ realized }) => realized,
  TOTAL_PNL: totalOf,
  TIMESTAMP: ({ lastAt }) => BigInt(lastAt),
};

const tokenOf = ({ facts, outcome }: Position): string => facts.tokenIds[outcome === 'YES' ? 0 : 1];
/** Name that orders equal positions, so that pages fit together. */
const nameOf = (position: Position): string => `${tokenOf(position)} ${position.account}`;

export interface PositionOrder {
  readonly status: PositionStatus;
  readonly sort: PositionSort;
  readonly ascending: boolean;
}

interface Mark extends PositionOrder {
  readonly key: Micro;
  readonly name: string;
}

export function positionPage(
  positions: readonly Position[],
  order: PositionOrder,
  { limit, after }: { readonly limit: number; readonly after: Mark | undefined },
): { readonly page: readonly Position[]; readonly next?: string } {
  const keyOf = SORT_KEYS[order.sort];
  const direction = order.ascending ? 1 : -1;
  const compare = (a: Pick<Mark, 'key' | 'name'>, b: Pick<Mark, 'key' | 'name'>): number =>
    a.key === b.key
      ? a.name < b.name
        ? -1
        : Number(a.name > b.name)
      : a.key < b.key
        ? -direction
        : direction;
  const sorted = positions
    .map((position) => ({ position, key: keyOf(position), name: nameOf(position) }))
    .sort(compare);
  const first = after === undefined ? 0 : sorted.findIndex((one) => compare(one, after) > 0);
  const shown = first < 0 ? [] : sorted.slice(first, first + limit);
  const last = shown.at(-1);
  const page = shown.map(({ position }) => position);
  if (last === undefined || first + shown.length >= sorted.length) return { page };
  return { page, next: encodeCursor({ ...order, key: last.key, name: last.name }) };
}

const encodeCursor = ({ status, sort, ascending, key, name }: Mark): string =>
  Buffer.from(JSON.stringify([status, sort, ascending, String(key), name])).toString('base64url');

/** A cursor pins status and order. @throws DataError */
export function readCursor(cursor: string): Mark {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [status, sort, ascending, key, name] = Array.isArray(parts) ? parts : [];
    const isOurs =
      POSITION_STATUSES.includes(status) &&
      POSITION_SORTS.includes(sort) &&
      typeof ascending === 'boolean' &&
      /^-?\d{1,40}$/.test(key);
    if (isOurs && typeof name === 'string') return { status, sort, ascending, key: BigInt(key), name };
  } catch {
    // Not ours.
  }
  throw invalid('cursor is not valid', 'cursor');
}

// Rows about markets: holders, resolutions, and sums over positions.

const OUTCOMES = ['YES', 'NO'] as const;

interface HolderRow {
  readonly proxy_wallet: string;
  readonly condition_id: string;
  readonly token_id: string;
  readonly outcome_index: number;
  readonly amount: number;
}

/** Each outcome's holders, those with most first. */
export function holderRows(market: MarketView, holders: readonly HolderView[], least: Micro): HolderRow[] {
  return OUTCOMES.flatMap((outcome, index) => {
    const sizeOf = ({ yes, no }: HolderView): Micro => (outcome === 'YES' ? yes : no);
    return holders
      .filter((holder) => sizeOf(holder) >= least && sizeOf(holder) > 0n)
      .toSorted((a, b) => (sizeOf(a) < sizeOf(b) ? 1 : sizeOf(a) > sizeOf(b) ? -1 : 0))
      .map((holder) => ({
        proxy_wallet: wireAddress(holder.account),
        condition_id: market.conditionId,
        token_id: market.tokenIds[index] ?? '',
        outcome_index: index,
        amount: microToNumber(sizeOf(holder)),
        ...{ name: '', pseudonym: '', bio: '', profile_image: '' },
      }));
  });
}

/** Collateral behind the tokens: as many YES as NO tokens exist while a market is open. */
export function openInterestOf(holders: readonly HolderView[]): Micro {
  const yes = holders.reduce((sum, holder) => sum + holder.yes, 0n);
  const no = holders.reduce((sum, holder) => sum + holder.no, 0n);
  return yes > no ? yes : no;
}

/** Value of the tokens that an account holds. */
export function portfolioValue(
  exchange: Pick<PaperExchange, 'account' | 'market'>,
  account: AccountId,
  conditions: readonly string[] | null,
): Micro {
  const wanted = conditions === null ? null : new Set(conditions);
  let value = 0n;
  for (const [conditionId, { yes, no, yesHeld, noHeld }] of exchange.account(account).tokens) {
    const view = exchange.market(conditionId);
    if (view === undefined || wanted?.has(conditionId) === false) continue;
    const facts = factsOf(view);
    const worth = (outcome: Outcome, size: Micro): Micro => worthOf(size, priceOf(facts, outcome, view));
    value += worth('YES', yes + yesHeld) + worth('NO', no + noHeld);
  }
  return value;
}

/** An account's results, all time, by the API's names; what the paper venue does not pay is zero. */
export function resultRow(positions: readonly Position[]) {
  const sum = (pick: (position: Position) => Micro): number =>
    microToNumber(positions.reduce((total, position) => total + pick(position), 0n));
  const realized = sum((position) => position.realized);
  const all = microToNumber(profitOf(positions));
  const fees = -sum((position) => position.fees);
  return {
    realized_market_pnl: realized,
    ...{ realized_lp_pnl: 0, realized_combo_pnl: 0 },
    unrealized_pnl: all - realized,
    ...{ fees_refunded: 0, maker_rebate: 0, taker_rebate: 0, reward_income: 0, yield_income: 0 },
    ...{ referral_income: 0, deposits: null, withdrawals: null },
    ...{ realized_pnl: realized, wallet_income: 0, position_pnl: all, settled_pnl: realized },
    ...{ economic_pnl: all, trade_pnl: all, sponsored_income: 0, fees, fees_paid: fees, cashflow_net: null },
  };
}

export const profitOf = (positions: readonly Position[]): Micro =>
  positions.reduce((sum, position) => sum + totalOf(position), 0n);

const payoutsOf = (payout: Payout): readonly [Micro, Micro] => [paysOf(payout, 'YES'), paysOf(payout, 'NO')];

export function resolutionRow(facts: MarketFacts | MarketView, view: MarketView | undefined) {
  const { conditionId, payout } = facts;
  const resolvedAt = view?.resolvedAt;
  const position = parsePositionId(BigInt(facts.tokenIds[0]));
  if (position !== null) return positionResolution(position, facts, resolvedAt);
  return {
    condition_id: conditionId,
    question_id: conditionId,
    status:
      payout !== undefined ? 'resolved' : view === undefined || view.status === 'open' ? 'open' : 'proposed',
    payouts: payout === undefined ? [] : payoutsOf(payout).map(String),
    resolved_at: resolvedAt === undefined ? null : Math.floor(resolvedAt / 1000),
  };
}

/** As the venue shows it for Protocol V2. The paper world has neither an oracle nor blocks. */
function positionResolution(
  { module }: PositionId,
  { conditionId, payout }: MarketFacts | MarketView,
  resolvedAt: number | undefined,
) {
  const market_type = module === 1 ? 'BINARY' : 'ATOMIC_NEGRISK';
  if (payout === undefined) return { condition_id: conditionId, status: 'active', market_type };
  return {
    condition_id: conditionId,
    status: 'resolved',
    market_type,
    payouts: payoutsOf(payout).map(Number),
    resolution_source: 'reported',
    reporter: 'UMA_OO',
    resolved_block: 0,
    resolved_at: resolvedAt === undefined ? null : Math.floor(resolvedAt / 1000),
    transaction_hash: '',
    log_index: '',
  };
}
