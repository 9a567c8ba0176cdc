/**
 * What an account paid for its tokens, and what it earned with those that it gave away. Pure, in micro-units: costs are
 * moving averages, a part that leaves takes its share of the cost, rounded down, and the last part takes the rest; so the
 * sums are exact. Costs and results are before fees; fees stand beside them.
 *
 * A split makes a token of each outcome for half a collateral each, a merge uses them up for the same.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { AccountId, ConditionId, MarketFacts, Outcome, Side } from '../../paper-exchange.ts';
import type { MoveRecord, TradeRecord } from '../../trade-history.ts';

export interface Holding {
  readonly market: MarketFacts;
  readonly outcome: Outcome;
  readonly size: Micro;
  /** Of the tokens that are left. */
  readonly cost: Micro;
  readonly fees: Micro;
  /** Over all time. */
  readonly bought: Micro;
  readonly boughtCost: Micro;
  readonly realized: Micro;
  readonly lastAt: number;
}

export interface Basis {
  readonly holdings: ReadonlyMap<string, Holding>;
  /** Collateral traded. */
  readonly volume: Micro;
}

export const NOTHING: Basis = { holdings: new Map(), volume: 0n };

export const holdingKey = (conditionId: ConditionId, outcome: Outcome): string => `${conditionId} ${outcome}`;

/** An account's part in a trade: one leg as its taker, or one for each of its orders that the taker met. */
export interface Leg {
  readonly outcome: Outcome;
  readonly side: Side;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
}

/** Of `account`, or of everybody, the taker first. */
export function legsOf(
  trade: TradeRecord,
  account?: AccountId,
): readonly (Leg & { readonly account: AccountId })[] {
  const { taker, matches } = trade;
  const sum = (pick: (match: TradeRecord['matches'][number]) => Micro): Micro =>
    matches.reduce((total, match) => total + pick(match), 0n);
  const takers = {
    account: taker.account,
    outcome: taker.outcome,
    side: taker.side,
    size: sum(({ size }) => size),
    cost: sum(({ takerCost }) => takerCost),
    fee: sum(({ takerFee }) => takerFee),
  };
  const makers = matches.map(({ account: maker, outcome, side, size, cost }) => {
    return { account: maker, outcome, side, size, cost, fee: 0n };
  });
  const legs = [takers, ...makers];
  return account === undefined ? legs : legs.filter((leg) => leg.account === account);
}

/** Changes a basis in place of the one that it was made from. */
export class BasisChange {
  readonly #holdings: Map<string, Holding>;
  #volume: Micro;

  constructor(from: Basis) {
    this.#holdings = new Map(from.holdings);
    this.#volume = from.volume;
  }

  get basis(): Basis {
    return { holdings: this.#holdings, volume: this.#volume };
  }

  trade(trade: TradeRecord, account: AccountId): void {
    const { market, at } = trade;
    for (const leg of legsOf(trade, account)) {
      this.#volume += leg.cost;
      if (leg.side === 'BUY') this.#receive({ ...leg, market, at });
      else this.#give({ ...leg, market, at });
    }
  }

  move(move: MoveRecord): void {
    const { kind, market, at, collateral, yes, no } = move;
    if (market === undefined || kind === 'deposit') return;
    const worth = worthOf(move, market);
    const parts = [
      { outcome: 'YES', size: yes, cost: worth, fee: 0n, market, at },
      { outcome: 'NO', size: no, cost: collateral - worth, fee: 0n, market, at },
    ] as const;
    for (const part of parts) {
      if (part.size === 0n) continue;
      if (kind === 'split') this.#receive(part);
      else this.#give(part);
    }
  }

  #receive({ market, outcome, size, cost, fee, at }: Change): void {
    const key = holdingKey(market.conditionId, outcome);
    const before = this.#holdings.get(key) ?? emptyHolding(market, outcome);
    this.#holdings.set(key, {
      ...before,
      size: before.size + size,
      cost: before.cost + cost,
      fees: before.fees + fee,
      bought: before.bought + size,
      boughtCost: before.boughtCost + cost,
      lastAt: at,
    });
  }

  #give({ market, outcome, size, cost: proceeds, at }: Change): void {
    const key = holdingKey(market.conditionId, outcome);
    const before = this.#holdings.get(key) ?? emptyHolding(market, outcome);
    // Tokens from before the history have no known cost: their result is taken as nothing.
    const known = size < before.size ? size : before.size;
    const [cost, fees] =
      known === 0n ? [0n, 0n] : [before.cost, before.fees].map((all) => (all * known) / before.size);
    const earned = size === 0n ? 0n : (proceeds * known) / size;
    this.#holdings.set(key, {
      ...before,
      market,
      size: before.size - known,
      cost: before.cost - (cost ?? 0n),
      fees: before.fees - (fees ?? 0n),
      realized: before.realized + earned - (cost ?? 0n),
      lastAt: at,
    });
  }
}

type Change = Omit<Leg, 'side'> & { readonly market: MarketFacts; readonly at: number };

const emptyHolding = (market: MarketFacts, outcome: Outcome): Holding => ({
  ...{ market, outcome, lastAt: 0 },
  ...{ size: 0n, cost: 0n, fees: 0n, bought: 0n, boughtCost: 0n, realized: 0n },
});

/** The YES tokens' part of the collateral of a move. */
function worthOf({ kind, yes, no, collateral }: MoveRecord, { payout }: MarketFacts): Micro {
  if (kind !== 'redeem') return collateral / 2n;
  if (payout === 'YES') return collateral;
  if (payout === 'NO') return 0n;
  return yes + no === 0n ? 0n : (collateral * yes) / (yes + no);
}
