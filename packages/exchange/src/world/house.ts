/**
 * The house maker: turns the wanted ladder into orders, with as few cancels and placements as possible, and tracks
 * their outcome. It only buys: YES for its bids, NO for its asks; pairs of both are merged into collateral. It must
 * never run out of collateral: a deposit precedes its placements. Beside it a small crowd trades at random.
 */
import { divide, MICRO, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { AccountId, EngineCommand, EngineEvent, OrderId } from '../engine/commands.ts';
import type { Engine } from '../engine/engine.ts';
import type { Category } from './markets.ts';
import type { Random } from './random.ts';
import {
  CERTAIN,
  MILLIONTHS_PER_PIP,
  type Millionths,
  type Quote,
  type QuoteSide,
  type WorldMarket,
} from './records.ts';

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

// The orders that the house maker wants: a ladder on each side of the hidden probability.
//
// The maker is honest: no bid above the probability, no ask below it, at any inventory or pressure. So trading against
// the house has no expected profit, and paper results are not too good. Half of each side still fills an order of 50
// collateral, counted in the cheaper of the two outcomes.

interface Rung {
  readonly side: QuoteSide;
  /** YES price. */
  readonly price: Pips;
  readonly size: Micro;
}

interface QuoteTerms {
  readonly probability: Millionths;
  readonly tickSize: Pips;
  /** Ticks to back off, per side. */
  readonly pressure: { readonly bid: number; readonly ask: number };
  /** The maker's YES tokens less its NO tokens, in micro-shares. */
  readonly inventory: Micro;
}

/** Collateral value of each rung, in the cheaper outcome, from the best price outwards. */
const RUNG_COLLATERAL = [100, 150, 250, 500] as const;
const BASE_HALF_SPREAD: Millionths = 1_000;
const MID_HALF_SPREAD: Millionths = 7_000;
/** Net tokens that make the maker back off by one more tick on the side that would add to them. */
const INVENTORY_PER_TICK: Micro = 2_000n * MICRO;
const GREATEST_INVENTORY_TICKS = 5;

/** Widest in the middle, where a probability is least informative. */
function halfSpread(probability: Millionths, tickSize: Pips): Millionths {
  // p(1−p) is at most a quarter; in thousandths of that quarter.
  const uncertainty = Math.floor((4 * probability * (CERTAIN - probability)) / (CERTAIN * 1_000));
  const wanted = BASE_HALF_SPREAD + Math.floor((MID_HALF_SPREAD * uncertainty) / 1_000);
  return Math.max(wanted, (tickSize * MILLIONTHS_PER_PIP) >> 1);
}

/** How many ticks one side backs off after it was taken. */
function backOff(probability: Millionths, tickSize: Pips): number {
  return Math.max(1, Math.ceil(halfSpread(probability, tickSize) / (tickSize * MILLIONTHS_PER_PIP)));
}

/** The wanted orders: bids best first, then asks best first; prices distinct, within [tick, 1 − tick]. */
export function ladder(terms: QuoteTerms): Rung[] {
  const { probability, tickSize, pressure } = terms;
  const tick = tickSize * MILLIONTHS_PER_PIP;
  const half = halfSpread(probability, tickSize);
  const steps = clamp(Number(terms.inventory / INVENTORY_PER_TICK), GREATEST_INVENTORY_TICKS);
  const gap = Math.max(1, Math.floor(half / tick)) * tickSize;
  // A side that would reduce the inventory moves at most halfway towards fair.
  const bidHalf = steps < 0 ? half >> 1 : half;
  const askHalf = steps > 0 ? half >> 1 : half;
  const bid = (Math.floor((probability - bidHalf) / tick) - pressure.bid - Math.max(0, steps)) * tickSize;
  const ask = (Math.ceil((probability + askHalf) / tick) + pressure.ask + Math.max(0, -steps)) * tickSize;
  return [...rungs('bid', bid, -gap, tickSize), ...rungs('ask', ask, gap, tickSize)];
}

function rungs(side: QuoteSide, best: Pips, gap: number, tickSize: Pips): Rung[] {
  const wanted: { side: QuoteSide; price: Pips; size: Micro }[] = [];
  for (const [index, collateral] of RUNG_COLLATERAL.entries()) {
    const price = Math.min(PIPS - tickSize, Math.max(tickSize, best + index * gap));
    const cheaper = Math.min(price, PIPS - price);
    const size = BigInt(Math.ceil((collateral * PIPS) / cheaper)) * MICRO;
    const last = wanted.at(-1);
    // At the end of the grid the remaining rungs share the last price.
    if (last?.price === price) last.size += size;
    else wanted.push({ side, price, size });
  }
  return wanted;
}

const clamp = (value: number, greatest: number): number => Math.min(greatest, Math.max(-greatest, value));

// A small noise crowd: it buys and sells small amounts at the best price at random, so that volumes and last trades
// change. Its orders never rest. Its draws do not depend on other accounts.

export const CROWD: readonly AccountId[] = ['ash', 'birch', 'cedar', 'dogwood'].map(
  (name) => `${HOUSE_PREFIX}crowd-${name}`,
);

/** Collateral of one trade. */
const LEAST_SPEND = 2;
const GREATEST_SPEND = 30;
const LEAST_BALANCE: Micro = 10_000n * MICRO;

/** One trade in `market`, by a random member. */
export function crowdTrade(
  engine: Engine,
  market: WorldMarket,
  random: Random,
  newOrderId: () => OrderId,
  run: Run,
): void {
  const account = random.pick(CROWD);
  const outcome = random.sign() > 0 ? 'YES' : 'NO';
  const wantsToSell = random.below(3) === 0;
  const spend = BigInt(random.between(LEAST_SPEND, GREATEST_SPEND)) * MICRO;

  const best = engine.bestPrices(market.conditionId);
  if (best?.bid === undefined || best.ask === undefined) return;
  const held = engine.freeTokens(account, market.conditionId, outcome);
  const common = {
    orderId: newOrderId(),
    account,
    conditionId: market.conditionId,
    outcome,
    timeInForce: 'FAK',
    postOnly: false,
  } as const;
  if (wantsToSell && held > 0n) {
    const limit = outcome === 'YES' ? best.bid : PIPS - best.ask;
    const worth = divide(spend * BigInt(PIPS), BigInt(limit), 'floor');
    run({ kind: 'place', order: { ...common, side: 'SELL', limit, size: worth < held ? worth : held } });
    return;
  }
  if (engine.available(account) < LEAST_BALANCE) run({ kind: 'deposit', account, amount: TOP_UP });
  const limit = outcome === 'YES' ? best.ask : PIPS - best.bid;
  const size = divide(spend * BigInt(PIPS), BigInt(limit), 'floor');
  run({ kind: 'place', order: { ...common, side: 'BUY', limit, size, spend } });
}
