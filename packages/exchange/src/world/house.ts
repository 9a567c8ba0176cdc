/**
 * The house maker: turns the wanted ladder into orders, with as few cancels and placements as possible, and tracks
 * their outcome. It only buys: YES for its bids, NO for its asks; pairs of both are merged into collateral. It must
 * never run out of collateral: a deposit precedes its placements.
 */
import { MICRO, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { Engine } from '../engine/engine.ts';
import type { AccountId, EngineCommand, EngineEvent, OrderId } from '../engine/types.ts';
import type { Category } from './categories.ts';
import { backOff, ladder, type Rung } from './quoting.ts';
import type { Quote, QuoteSide, WorldMarket } from './records.ts';

/** Applies a command and returns its events; its creator also collects them. */
export type Run = (command: EngineCommand) => readonly EngineEvent[];

export const HOUSE_PREFIX = 'house:';
export const isHouse = (account: AccountId): boolean => account.startsWith(HOUSE_PREFIX);
export const makerOf = (category: Category): AccountId => `${HOUSE_PREFIX}${category.toLowerCase()}`;

/** Gives YES shares for NO shares, and holds the NO shares of all markets of an event until it is resolved. */
export const CONVERSIONS: AccountId = `${HOUSE_PREFIX}conversions`;

/** Smallest top-up of a house account, in micro collateral. */
export const TOP_UP: Micro = 2_000_000n * MICRO;
/** Least pairs of one merge, in micro-shares. */
const MERGE_FROM: Micro = 50n * MICRO;

export class HouseMaker {
  readonly #engine: Engine;
  /** Every quote on the book by its order id. */
  readonly #open = new Map<OrderId, { market: WorldMarket; quote: Quote }>();
  #nextOrder: number;

  constructor(engine: Engine, nextOrder: number, markets: Iterable<WorldMarket>) {
    this.#engine = engine;
    this.#nextOrder = nextOrder;
    for (const market of markets) {
      for (const quote of market.quotes) this.#open.set(quote.orderId, { market, quote });
    }
  }

  get nextOrder(): number {
    return this.#nextOrder;
  }

  newOrderId(): OrderId {
    const id = `${HOUSE_PREFIX}${this.#nextOrder}`;
    this.#nextOrder += 1;
    return id;
  }

  /** Must receive every event of the engine. */
  observe(event: EngineEvent): void {
    if (event.kind === 'fill') {
      const known = this.#open.get(event.orderId);
      if (known !== undefined) known.quote.remaining -= event.size;
    } else if (event.kind === 'order_done' || event.kind === 'order_rejected') {
      const known = this.#open.get(event.orderId);
      if (known === undefined) return;
      this.#open.delete(event.orderId);
      const { quotes } = known.market;
      quotes.splice(quotes.indexOf(known.quote), 1);
    }
  }

  /** The sides of which more than half was filled since they were last quoted. */
  thinSides(market: WorldMarket): QuoteSide[] {
    const left = { bid: 0n, ask: 0n };
    for (const quote of market.quotes) left[quote.side] += quote.remaining;
    return (['bid', 'ask'] as const).filter((side) => left[side] * 2n < market.quoted[side]);
  }

  /** Requotes immediately, further from fair on the sides that were filled. */
  react(market: WorldMarket, category: Category, run: Run): boolean {
    const thin = market.status === 'open' ? this.thinSides(market) : [];
    if (thin.length === 0) return false;
    const further = backOff(market.probability, market.tickSize);
    for (const side of thin) {
      market.pressure[side] = Math.min(PIPS / market.tickSize, market.pressure[side] + further);
    }
    this.#quote(market, category, run);
    return true;
  }

  /** The regular visit: pressure decays by a quarter, then the ladder follows the probability. */
  requote(market: WorldMarket, category: Category, run: Run): void {
    for (const side of ['bid', 'ask'] as const)
      market.pressure[side] = Math.floor((market.pressure[side] * 3) / 4);
    this.#quote(market, category, run);
  }

  #quote(market: WorldMarket, category: Category, run: Run): void {
    const maker = makerOf(category);
    const yes = this.#engine.freeTokens(maker, market.conditionId, 'YES');
    const no = this.#engine.freeTokens(maker, market.conditionId, 'NO');
    const pairs = yes < no ? yes : no;
    if (pairs >= MERGE_FROM)
      run({ kind: 'merge', account: maker, conditionId: market.conditionId, amount: pairs });

    const wanted = ladder({
      probability: market.probability,
      tickSize: market.tickSize,
      pressure: market.pressure,
      inventory: yes - no,
    });
    const missing = this.#withdraw(market, maker, wanted, run);
    const orders = missing.map((rung) => ({ ...rung, size: rung.size + this.#crossing(market, rung) }));
    const cost = orders.reduce((sum, rung) => sum + notional(rung.size, limitOf(rung), 'ceil'), 0n);
    this.#topUp(maker, cost, run);
    for (const rung of orders) this.#place(market, maker, rung, run);
    market.quoted = { bid: 0n, ask: 0n };
    for (const rung of wanted) market.quoted[rung.side] += rung.size;
  }

  /** Cancels quotes that do not fit the ladder; returns the rungs without a quote. */
  #withdraw(market: WorldMarket, maker: AccountId, wanted: readonly Rung[], run: Run): Rung[] {
    const missing = new Set(wanted);
    const stale: OrderId[] = [];
    for (const quote of market.quotes) {
      const rung = wanted.find((one) => one.side === quote.side && one.price === quote.price);
      if (rung !== undefined && missing.has(rung) && stillFits(quote, rung)) missing.delete(rung);
      else stale.push(quote.orderId);
    }
    if (stale.length > 0) run({ kind: 'cancel', account: maker, orderIds: stale });
    return [...missing];
  }

  /**
   * Shares that other accounts offer at this price or better. They are taken in addition, so that the rung itself rests
   * on the book afterwards: a stale order of another account must not reduce the depth.
   */
  #crossing(market: WorldMarket, rung: Rung): Micro {
    const best = this.#engine.bestPrices(market.conditionId);
    const opposite = rung.side === 'ask' ? best?.bid : best?.ask;
    if (opposite === undefined) return 0n;
    const crosses = (price: Pips) => (rung.side === 'ask' ? price >= rung.price : price <= rung.price);
    if (!crosses(opposite)) return 0n;
    const book = this.#engine.book(market.conditionId, 'YES');
    const levels = (rung.side === 'ask' ? book?.bids : book?.asks) ?? [];
    return levels.reduce((sum, [price, size]) => (crosses(price) ? sum + size : sum), 0n);
  }

  #topUp(maker: AccountId, cost: Micro, run: Run): void {
    // Twice the cost leaves room for taker fees, which are a few percent at most.
    const needed = 2n * cost;
    if (this.#engine.available(maker) < needed)
      run({ kind: 'deposit', account: maker, amount: needed + TOP_UP });
  }

  #place(market: WorldMarket, maker: AccountId, rung: Rung, run: Run): void {
    const orderId = this.newOrderId();
    const quote: Quote = { orderId, ...rung, remaining: rung.size };
    market.quotes.push(quote);
    this.#open.set(orderId, { market, quote });
    run({
      kind: 'place',
      order: {
        orderId,
        account: maker,
        conditionId: market.conditionId,
        outcome: rung.side === 'bid' ? 'YES' : 'NO',
        side: 'BUY',
        limit: limitOf(rung),
        size: rung.size,
        timeInForce: 'GTC',
        postOnly: false,
      },
    });
  }
}

const limitOf = (rung: Rung): Pips => (rung.side === 'bid' ? rung.price : PIPS - rung.price);

/** Keeping a quote keeps its place in the queue; one that lost two fifths is replaced, one far too big is reduced. */
const stillFits = (quote: Quote, rung: Rung): boolean =>
  quote.remaining * 5n >= rung.size * 3n && quote.remaining * 2n <= rung.size * 3n;
