/**
 * The house of a mirrored market: it offers what rests on the live book, so that paper orders fill against real depth and
 * wait in a real queue.
 *
 * Each live level is one or more quotes, oldest first. What paper orders take of a quote stays taken: the live venue goes
 * on showing it, because nothing was taken there. A level that grows gets another quote, behind the paper orders that
 * wait at that price. A level that shrinks loses its newest quotes first, so that cancellations there never move a paper
 * order forward. A live trade is a taker of its own account: it takes what rests before a paper order, then the paper
 * order, each at its own price.
 */
import { MICRO, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { Engine } from '../engine/engine.ts';
import type { AccountId, EngineEvent, OrderId, Payout, Side } from '../engine/types.ts';
import { HOUSE_PREFIX, type Run, TOP_UP } from './house.ts';
import type { MirroredLevel } from './mirror-changes.ts';
import type { Quote, QuoteSide, WorldMarket } from './records.ts';

const MAKER: AccountId = `${HOUSE_PREFIX}mirror`;
/** Trades of the live venue. Another account, because no account trades with itself. */
const TAPE: AccountId = `${HOUSE_PREFIX}tape`;
const MIRROR_ACCOUNTS: readonly AccountId[] = [MAKER, TAPE];
const MERGE_FROM: Micro = 1_000n * MICRO;

export class MirrorMaker {
  readonly #engine: Engine;
  readonly #newOrderId: () => OrderId;
  /** Quotes with something on the book, by order id. */
  readonly #open = new Map<OrderId, { market: WorldMarket; quote: Quote }>();

  constructor(engine: Engine, newOrderId: () => OrderId, markets: Iterable<WorldMarket>) {
    this.#engine = engine;
    this.#newOrderId = newOrderId;
    for (const market of markets)
      for (const quote of market.quotes)
        if (quote.remaining > 0n) this.#open.set(quote.orderId, { market, quote });
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
      // Taken amounts are remembered as long as the live level has them; all else is gone.
      if (event.kind === 'order_done' && event.reason === 'filled') return;
      const { quotes } = known.market;
      const at = quotes.indexOf(known.quote);
      if (at >= 0) quotes.splice(at, 1);
    }
  }

  /** @param isWhole levels that are not named are gone */
  change(market: WorldMarket, levels: readonly MirroredLevel[], isWhole: boolean, run: Run): void {
    // The last word counts where a level is named twice.
    const named = new Map(levels.map((level) => [`${level[0]} ${level[1]}`, level]));
    const gone = isWhole ? market.quotes.filter(({ side, price }) => !named.has(`${side} ${price}`)) : [];
    // Removals go first: otherwise quotes of one moment would meet quotes of the one before.
    for (const quote of gone) this.#drop(market, quote, run);
    const grown: MirroredLevel[] = [];
    for (const level of named.values()) {
      const known = sizeAt(market, level);
      if (level[2] < known) this.#shrink(market, level, run);
      else if (level[2] > known) grown.push([level[0], level[1], level[2] - known]);
    }
    this.#mergePairs(market, run);
    for (const [side, price, size] of grown) this.#quote(market, { side, price, size }, run);
  }

  /** A live taker: what the live book had at better prices is gone by then. */
  trade(market: WorldMarket, trade: { side: Side; price: Pips; size: Micro }, run: Run): void {
    const { side, price, size } = trade;
    const isSell = side === 'SELL';
    const gone = market.quotes.filter((quote) =>
      isSell ? quote.side === 'bid' && quote.price > price : quote.side === 'ask' && quote.price < price,
    );
    for (const quote of gone) this.#drop(market, quote, run);
    const outcome = isSell ? 'YES' : 'NO';
    const held = this.#engine.freeTokens(TAPE, market.conditionId, outcome);
    if (held < size) this.#split(market, size - held, run);
    run({
      kind: 'place',
      order: {
        orderId: this.#newOrderId(),
        account: TAPE,
        conditionId: market.conditionId,
        // The tape sells, because a sale has no least amount: selling NO at 1 − p takes the offers of YES at p.
        outcome,
        side: 'SELL',
        limit: isSell ? price : PIPS - price,
        size,
        timeInForce: 'FAK',
        postOnly: false,
      },
    });
  }

  /** The house redeems what it holds, so that the market can be archived one day. */
  resolve(market: WorldMarket, payout: Payout, run: Run): void {
    const { conditionId } = market;
    market.quotes = [];
    run({ kind: 'resolve', conditionId, payout });
    for (const account of MIRROR_ACCOUNTS) {
      const free = (outcome: 'YES' | 'NO') => this.#engine.freeTokens(account, conditionId, outcome);
      if (free('YES') + free('NO') > 0n) run({ kind: 'redeem', account, conditionId });
    }
  }

  #split(market: WorldMarket, amount: Micro, run: Run): void {
    if (this.#engine.available(TAPE) < amount)
      run({ kind: 'deposit', account: TAPE, amount: amount + TOP_UP });
    run({ kind: 'split', account: TAPE, conditionId: market.conditionId, amount });
  }

  #shrink(market: WorldMarket, [side, price, size]: MirroredLevel, run: Run): void {
    let excess = sizeAt(market, [side, price, size]) - size;
    for (const quote of quotesAt(market, side, price).reverse()) {
      if (excess === 0n) return;
      const cut = quote.size < excess ? quote.size : excess;
      excess -= cut;
      if (cut === quote.size) {
        this.#drop(market, quote, run);
        continue;
      }
      quote.size -= cut;
      const left = quote.remaining < quote.size ? quote.remaining : quote.size;
      if (left < quote.remaining)
        run({ kind: 'reduce', account: MAKER, orderId: quote.orderId, size: quote.remaining - left });
      quote.remaining = left;
    }
  }

  #drop(market: WorldMarket, quote: Quote, run: Run): void {
    if (this.#open.has(quote.orderId)) run({ kind: 'cancel', account: MAKER, orderIds: [quote.orderId] });
    const at = market.quotes.indexOf(quote);
    if (at >= 0) market.quotes.splice(at, 1);
  }

  #quote(market: WorldMarket, level: { side: QuoteSide; price: Pips; size: Micro }, run: Run): void {
    const { side, price, size } = level;
    const limit = side === 'bid' ? price : PIPS - price;
    // Twice the cost leaves room for a taker's fee where a paper order is in the way.
    const needed = 2n * notional(size, limit, 'ceil');
    if (this.#engine.available(MAKER) < needed)
      run({ kind: 'deposit', account: MAKER, amount: needed + TOP_UP });
    const orderId = this.#newOrderId();
    const quote: Quote = { orderId, side, price, size, remaining: size };
    market.quotes.push(quote);
    this.#open.set(orderId, { market, quote });
    run({
      kind: 'place',
      order: {
        orderId,
        account: MAKER,
        conditionId: market.conditionId,
        outcome: side === 'bid' ? 'YES' : 'NO',
        side: 'BUY',
        limit,
        size,
        timeInForce: 'GTC',
        postOnly: false,
      },
    });
  }

  #mergePairs(market: WorldMarket, run: Run): void {
    const { conditionId } = market;
    for (const account of MIRROR_ACCOUNTS) {
      const [yes, no] = (['YES', 'NO'] as const).map((one) =>
        this.#engine.freeTokens(account, conditionId, one),
      );
      const pairs = yes! < no! ? yes! : no!;
      if (pairs >= MERGE_FROM) run({ kind: 'merge', account, conditionId, amount: pairs });
    }
  }
}

const quotesAt = (market: WorldMarket, side: QuoteSide, price: Pips): Quote[] =>
  market.quotes.filter((quote) => quote.side === side && quote.price === price);

/** Size of the live level at its last news. */
const sizeAt = (market: WorldMarket, [side, price]: MirroredLevel): Micro =>
  quotesAt(market, side, price).reduce((sum, quote) => sum + quote.size, 0n);
