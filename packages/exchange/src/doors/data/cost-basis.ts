/**
 * Computes what an account paid for its tokens, and what it earned with those that it gave away. Pure, in micro-units. The arithmetic is that
 * of every position (`step`); fees stand beside it, for this door tells those of the tokens that are left.
 *
 * A split makes a token of each outcome for half a collateral each, a merge uses them up for the same. A conversion gives its NO
 * tokens away for their worth, and takes the YES tokens for the same.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { NO_POSITION, type Position, redeemedFor, step } from '@bellwether/contract/positions';
import type { AccountId, ConditionId, MarketFacts, Outcome, Side } from '../../paper-exchange.ts';
import type { MoveRecord, TradeRecord } from '../../trade-history.ts';

export interface Holding {
  readonly market: MarketFacts;
  readonly outcome: Outcome;
  readonly position: Position;
  /** Fees of the tokens that are left: a part that leaves takes its share of them along. */
  readonly fees: Micro;
  readonly lastAt: number;
}

export interface Basis {
  readonly holdings: ReadonlyMap<string, Holding>;
  /** Collateral traded. */
  readonly volume: Micro;
  /** Shares traded. */
  readonly shares: Micro;
  /** Fills, of which a taker has one for each of its orders. */
  readonly fills: number;
  /** Epoch milliseconds; `null`: nothing happened yet. */
  readonly firstAt: number | null;
}

export const NOTHING: Basis = { holdings: new Map(), volume: 0n, shares: 0n, fills: 0, firstAt: null };

export const holdingKey = (conditionId: ConditionId, outcome: Outcome): string => `${conditionId} ${outcome}`;

/** An account's part in a trade: one leg as its taker, or one for each of its orders that the taker met. */
interface Leg {
  readonly outcome: Outcome;
  readonly side: Side;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
}

/** Legs of `account`, or of all accounts, the taker first. */
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
  #shares: Micro;
  #fills: number;
  #firstAt: number | null;

  constructor({ holdings, volume, shares, fills, firstAt }: Basis) {
    this.#holdings = new Map(holdings);
    this.#volume = volume;
    this.#shares = shares;
    this.#fills = fills;
    this.#firstAt = firstAt;
  }

  get basis(): Basis {
    return {
      holdings: this.#holdings,
      ...{ volume: this.#volume, shares: this.#shares, fills: this.#fills, firstAt: this.#firstAt },
    };
  }

  trade(trade: TradeRecord, account: AccountId): void {
    const { market, at } = trade;
    this.#firstAt ??= at;
    for (const leg of legsOf(trade, account)) {
      this.#volume += leg.cost;
      this.#shares += leg.size;
      this.#fills += 1;
      this.#change({ ...leg, market, at });
    }
  }

  move(move: MoveRecord): void {
    const { kind, market, at, collateral, yes, no } = move;
    this.#firstAt ??= at;
    if (market === undefined || kind === 'deposit') return;
    const worth = worthOf(move, market);
    const side = kind === 'split' || (kind === 'convert' && yes > 0n) ? 'BUY' : 'SELL';
    const parts = [
      { outcome: 'YES', size: yes, cost: worth },
      { outcome: 'NO', size: no, cost: collateral - worth },
    ] as const;
    for (const part of parts) if (part.size > 0n) this.#change({ ...part, side, fee: 0n, market, at });
  }

  /** Tokens from before the history have no known cost: what they bring counts as no result. */
  #change(change: Leg & { readonly market: MarketFacts; readonly at: number }): void {
    const { market, outcome, side, fee, at } = change;
    const key = holdingKey(market.conditionId, outcome);
    const { position: before, fees } = this.#holdings.get(key) ?? { position: NO_POSITION, fees: 0n };
    const { position, known } = step(before, change);
    const left = side === 'BUY' ? fees + fee : known === 0n ? fees : fees - (fees * known) / before.size;
    this.#holdings.set(key, { market, outcome, position, fees: left, lastAt: at });
  }
}

/** The YES tokens' part of the collateral of a move. */
function worthOf({ kind, yes, no, collateral }: MoveRecord, { payout }: MarketFacts): Micro {
  if (kind === 'convert') return yes > 0n ? collateral : 0n;
  if (kind !== 'redeem') return collateral / 2n;
  if (payout !== undefined) return redeemedFor(payout, 'YES', yes);
  return yes + no === 0n ? 0n : (collateral * yes) / (yes + no);
}
