/**
 * Test helper: the naive model's state and views. Derived values are not stored: holds, supplies and books are sums over
 * the open orders and balances, computed at every read.
 */
import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  Level,
  MarketSpec,
  NewOrder,
  OpenOrder,
  OrderId,
  Outcome,
  Payout,
} from '../../src/engine/commands.ts';

export interface NaiveOrder extends Omit<NewOrder, 'size'> {
  size: bigint;
  readonly arrival: number;
  readonly acceptedAt: number;
  filled: bigint;
  cost: bigint;
  fees: bigint;
  /** Shares on the book. */
  rests: bigint;
}

export interface NaiveMarket {
  readonly spec: MarketSpec;
  status: 'open' | 'closed' | 'resolved';
  payout?: Payout;
  backing: bigint;
  sequence: number;
  changedAt: number;
  volume: bigint;
  last?: number;
  /** Its taker bought YES or sold NO. */
  lastWasBid?: boolean;
}

export interface Totals {
  money: Record<AccountId, bigint>;
  tokens: Record<string, bigint>;
  orders: NaiveOrder[];
  markets: NaiveMarket[];
  matches: number;
  fees: bigint;
  deposits: bigint;
}

export const floor = (size: bigint, price: number): bigint => (size * BigInt(price)) / 10_000n;

const yes = (order: Pick<NewOrder, 'outcome' | 'limit'>): number =>
  order.outcome === 'YES' ? order.limit : 10_000 - order.limit;

export class NaiveState {
  now = 0;
  t: Totals = { money: {}, tokens: {}, orders: [], markets: [], matches: 0, fees: 0n, deposits: 0n };

  market(conditionId: ConditionId): NaiveMarket | undefined {
    return this.t.markets.find((m) => m.spec.conditionId === conditionId);
  }

  protected touch(market: NaiveMarket): void {
    market.sequence += 1;
    market.changedAt = this.now;
  }

  protected pay(account: AccountId, amount: bigint): void {
    this.t.money[account] = (this.t.money[account] ?? 0n) + amount;
  }

  protected give(account: AccountId, conditionId: ConditionId, outcome: Outcome, amount: bigint): void {
    const key = `${account}/${conditionId}/${outcome}`;
    this.t.tokens[key] = (this.t.tokens[key] ?? 0n) + amount;
  }

  protected allTokens(account: AccountId, conditionId: ConditionId, outcome: Outcome): bigint {
    return this.t.tokens[`${account}/${conditionId}/${outcome}`] ?? 0n;
  }

  protected supply(conditionId: ConditionId, outcome: Outcome): bigint {
    return Object.entries(this.t.tokens)
      .filter(([key]) => key.endsWith(`/${conditionId}/${outcome}`))
      .reduce((sum, [, amount]) => sum + amount, 0n);
  }

  protected heldMoney(account: AccountId): bigint {
    return this.t.orders
      .filter((o) => o.account === account && o.side === 'BUY')
      .reduce((sum, o) => sum + floor(o.rests, o.limit), 0n);
  }

  protected heldTokens(account: AccountId, conditionId: ConditionId, outcome: Outcome): bigint {
    return this.t.orders
      .filter((o) => o.account === account && o.conditionId === conditionId)
      .filter((o) => o.outcome === outcome && o.side === 'SELL')
      .reduce((sum, o) => sum + o.rests, 0n);
  }

  protected free(account: AccountId): bigint {
    return (this.t.money[account] ?? 0n) - this.heldMoney(account);
  }

  protected freeTokens(account: AccountId, conditionId: ConditionId, outcome: Outcome): bigint {
    return this.allTokens(account, conditionId, outcome) - this.heldTokens(account, conditionId, outcome);
  }

  /** Bids or asks in YES terms: best first, then oldest. */
  protected ranked(conditionId: ConditionId, bids: boolean): NaiveOrder[] {
    return this.t.orders
      .filter((o) => o.conditionId === conditionId)
      .filter(
        (o) =>
          bids === ((o.outcome === 'YES' && o.side === 'BUY') || (o.outcome === 'NO' && o.side === 'SELL')),
      )
      .sort((a, b) => (bids ? yes(b) - yes(a) : yes(a) - yes(b)) || a.arrival - b.arrival);
  }

  book(conditionId: ConditionId, outcome: Outcome): BookView | undefined {
    const market = this.market(conditionId);
    if (market === undefined) return undefined;
    const levels = (bids: boolean): Level[] => {
      const sizes = new Map<number, bigint>();
      for (const order of this.ranked(conditionId, bids)) {
        const price = outcome === 'YES' ? yes(order) : 10_000 - yes(order);
        sizes.set(price, (sizes.get(price) ?? 0n) + order.rests);
      }
      return [...sizes];
    };
    const last = market.last;
    return {
      conditionId,
      outcome,
      bids: levels(outcome === 'YES'),
      asks: levels(outcome !== 'YES'),
      ...(last === undefined
        ? {}
        : {
            lastTrade: outcome === 'YES' ? last : 10_000 - last,
            lastTakerSide: market.lastWasBid === (outcome === 'YES') ? 'BUY' : 'SELL',
          }),
      sequence: market.sequence,
      changedAt: market.changedAt,
    };
  }

  liquidity(conditionId: ConditionId): bigint {
    return this.t.orders
      .filter((o) => o.conditionId === conditionId)
      .reduce((sum, o) => sum + floor(o.rests, o.limit), 0n);
  }

  account(account: AccountId): AccountView {
    const tokens = new Map<ConditionId, { yes: bigint; no: bigint; yesHeld: bigint; noHeld: bigint }>();
    for (const { spec } of this.t.markets) {
      const id = spec.conditionId;
      if (this.allTokens(account, id, 'YES') + this.allTokens(account, id, 'NO') === 0n) continue;
      tokens.set(id, {
        yes: this.freeTokens(account, id, 'YES'),
        no: this.freeTokens(account, id, 'NO'),
        yesHeld: this.heldTokens(account, id, 'YES'),
        noHeld: this.heldTokens(account, id, 'NO'),
      });
    }
    return { account, available: this.free(account), held: this.heldMoney(account), tokens };
  }

  openOrder(id: OrderId): OpenOrder | undefined {
    const order = this.t.orders.find((o) => o.orderId === id);
    if (order === undefined) return undefined;
    const { orderId, account, conditionId, outcome, side, limit, size, filled, cost, fees } = order;
    return {
      ...{ orderId, account, conditionId, outcome, side, limit, size, filled, cost, fees },
      timeInForce: order.timeInForce,
      ...(order.timeInForce === 'GTD' ? { expiresAt: order.expiresAt! } : {}),
      acceptedAt: order.acceptedAt,
    };
  }

  openOrders(account: AccountId): OpenOrder[] {
    const mine = this.t.orders.filter((o) => o.account === account);
    mine.sort((a, b) => a.acceptedAt - b.acceptedAt || (a.orderId < b.orderId ? -1 : 1));
    return mine.map((o) => this.openOrder(o.orderId)!);
  }
}
