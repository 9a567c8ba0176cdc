/**
 * Positions of an account: sizes as the exchange holds them now, with the cost basis of the history. Where the history
 * does not reach back to all tokens, the known average price counts for all of them.
 */
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import { NO_POSITION } from '@bellwether/contract/positions';
import type { AccountId, MarketFacts, MarketView, Outcome, PaperExchange } from '../../paper-exchange.ts';
import { type Basis, type Holding, holdingKey } from './cost-basis.ts';
import { factsOf, PRICE_UNIT, priceOf, ratio, wordsOf, worthOf } from './market-facts.ts';

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

type Reads = Pick<PaperExchange, 'account' | 'market'>;

/** Open ones, and those that were given away again. */
export function positionsOf(exchange: Reads, account: AccountId, basis: Basis): readonly Position[] {
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
export const isLost = (position: Position): boolean => isRedeemable(position) && position.price === 0;

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
