/**
 * The user channel: the orders and trades of an API key's accounts. Wire reference 4.2. Nothing is repeated after a lost connection:
 * a client that connects again asks `/data/orders` and `/data/trades`.
 *
 * Only durable entries are shown. A trade is sent at its match and again with every status that it reaches while somebody listens.
 */
import type { AccountId, ConditionId, EngineEvent, Entry, NewOrder, OrderId } from '../../paper-exchange.ts';
import type { TradeRecord } from '../../trade-history.ts';
import { type Charge, CLOSE, type SocketHandler, type SocketPeer } from '../web-sockets.ts';
import { openLine } from './faults.ts';
import {
  cancelledStatus,
  KILLED_TEXTS,
  type KnownOrder,
  knownFromNew,
  knownFromOpen,
  type OrderEventType,
  orderEvent,
  tradeEvent,
} from './feed-events.ts';
import {
  Attachment,
  type ClientFrame,
  type FeedExchange,
  type FeedListener,
  type FrameAuth,
  handlerOf,
  MOST_SUBSCRIPTIONS,
  mustSubscribe,
} from './feeds.ts';
import type { FeedOptions } from './market-feed.ts';
import { accountsOf } from './requests.ts';
import type { VenueKeys } from './venue-keys.ts';
import type { Viewer } from './wire.ts';

const SUBSCRIBE_WITHIN_MS = 10_000;
/** A key that was revoked meanwhile ends its sockets. */
const VERIFY_EVERY_MS = 30_000;
/** Tokens that a wrong key costs its address. */
const TOKENS_OF_A_KEY = 5;
/** Trades whose next status is awaited; beyond it their settlement is only in `/data/trades`. */
const MOST_SETTLING = 20_000;

interface Listener extends FeedListener {
  /** The key's account, once a key was named. */
  viewer: Viewer | undefined;
  auth: FrameAuth | undefined;
  /** `null`: all. */
  markets: Set<ConditionId> | null;
}

export interface UserFeedOptions extends FeedOptions {
  readonly keys: Pick<VenueKeys, 'verify'>;
}

export class UserFeed {
  readonly #options: UserFeedOptions;
  readonly #attachment: Attachment;
  readonly #byAccount = new Map<AccountId, Set<Listener>>();
  /** Open orders of the accounts that somebody listens for. */
  readonly #orders = new Map<OrderId, KnownOrder>();
  readonly #settling = new Set<NodeJS.Timeout>();
  /** Trades that were shown as RETRYING, by number. */
  readonly #retrying = new Map<number, TradeRecord>();
  readonly #listeners = new Set<Listener>();
  #verifying: NodeJS.Timeout | undefined;

  constructor(options: UserFeedOptions) {
    this.#options = options;
    this.#attachment = new Attachment(options.find, {
      onEntries: (entries) => this.#take(entries),
      onLost: () => this.#endAll(),
    });
  }

  open(peer: SocketPeer, charge: Charge): SocketHandler {
    const listener: Listener = {
      peer,
      line: openLine(peer, this.#options.faults),
      mustAsk: mustSubscribe(peer, SUBSCRIBE_WITHIN_MS),
      viewer: undefined,
      auth: undefined,
      markets: null,
      isClosed: false,
      work: Promise.resolve(),
    };
    return handlerOf(listener, {
      obey: (frame) => this.#obey(listener, frame, charge),
      leave: () => this.#leave(listener),
    });
  }

  async #obey(listener: Listener, frame: ClientFrame, charge: Charge): Promise<void> {
    if (frame.kind === 'change') return this.#change(listener, frame);
    if (frame.kind !== 'user' || listener.viewer !== undefined) return;
    if (!(await charge(TOKENS_OF_A_KEY))) return;
    const known = await this.#options.keys.verify(frame.auth);
    if (known === null) return listener.peer.close(CLOSE.policy, 'Unauthorized/Invalid api key');
    const exchange = this.#attachment.exchange();
    if (exchange === undefined) return listener.peer.close(CLOSE.restart, 'connect again');
    if (listener.isClosed) return this.#leave(listener);
    clearTimeout(listener.mustAsk);
    listener.viewer = { accounts: new Set(accountsOf(known.address)), apiKey: frame.auth.apiKey };
    listener.auth = frame.auth;
    if (frame.markets.length > 0) this.#change(listener, { operation: 'subscribe', markets: frame.markets });
    this.#listeners.add(listener);
    this.#verifying ??= setInterval(() => void this.#verifyAll(), VERIFY_EVERY_MS).unref();
    for (const account of listener.viewer.accounts) this.#listen(exchange, listener, account);
  }

  #change(
    listener: Listener,
    {
      operation,
      markets,
    }: { readonly operation: 'subscribe' | 'unsubscribe'; readonly markets: readonly string[] },
  ): void {
    if (operation === 'unsubscribe') {
      for (const market of markets) listener.markets?.delete(market);
      return;
    }
    listener.markets ??= new Set();
    for (const market of markets) listener.markets.add(market);
    if (listener.markets.size > MOST_SUBSCRIPTIONS)
      listener.peer.close(CLOSE.policy, `at most ${MOST_SUBSCRIPTIONS} markets`);
  }

  #listen(exchange: FeedExchange, listener: Listener, account: AccountId): void {
    const listeners = this.#byAccount.get(account) ?? new Set();
    this.#byAccount.set(account, listeners.add(listener));
    if (listeners.size > 1) return;
    for (const order of exchange.openOrders(account))
      this.#orders.set(order.orderId, knownFromOpen(order, exchange.market(order.conditionId)));
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    for (const account of listener.viewer?.accounts ?? []) {
      const listeners = this.#byAccount.get(account);
      listeners?.delete(listener);
      if (listeners?.size !== 0) continue;
      this.#byAccount.delete(account);
      for (const [orderId, order] of this.#orders)
        if (order.account === account) this.#orders.delete(orderId);
    }
    if (this.#listeners.size > 0) return;
    this.#attachment.detach();
    clearInterval(this.#verifying);
    this.#verifying = undefined;
    for (const timer of this.#settling) clearTimeout(timer);
    this.#settling.clear();
    this.#retrying.clear();
  }

  #endAll(): void {
    for (const { peer } of this.#listeners) peer.close(CLOSE.restart, 'connect again');
  }

  async #verifyAll(): Promise<void> {
    for (const { auth, peer } of [...this.#listeners]) {
      // While the database is away nothing is known about a key.
      const known =
        auth === undefined ? undefined : await this.#options.keys.verify(auth).catch(() => undefined);
      if (known === null) peer.close(CLOSE.policy, 'Unauthorized/Invalid api key');
    }
  }

  #take(entries: readonly Entry[]): void {
    const exchange = this.#attachment.exchange();
    if (exchange === undefined) return;
    for (const entry of entries) {
      if (entry.events.some((event) => 'account' in event && this.#byAccount.has(event.account)))
        this.#show(exchange, entry);
      if (this.#retrying.size > 0) this.#showFates(exchange, entry);
    }
  }

  /** Shows the ends of trades that were retried. */
  #showFates(exchange: FeedExchange, { events, at }: Entry): void {
    for (const event of events) {
      if (event.kind !== 'trade_reversed' && event.kind !== 'reversal_refused') continue;
      const trade = this.#retrying.get(event.trade);
      this.#retrying.delete(event.trade);
      const settlement = trade === undefined ? undefined : exchange.history.settlement(trade, at);
      if (trade !== undefined && settlement !== undefined)
        this.#showTrade(exchange, { ...trade, settlement });
    }
  }

  /** Orders before trades, as they happened: the placement, the trades, then what they did to the orders. */
  #show(exchange: FeedExchange, entry: Entry): void {
    const { command, events, at } = entry;
    const trades = exchange.history.tradesIn(entry);
    const placed = command.kind === 'place' ? this.#note(command.order, entry) : undefined;
    for (const trade of trades) this.#noteTrade(trade, placed);
    if (placed !== undefined) this.#showPlacement(placed, events, at);
    for (const trade of trades) this.#showTrade(exchange, trade);
    for (const event of events) this.#showChange(event, placed, at);
  }

  #note(order: NewOrder, { markets, at }: Entry): KnownOrder | undefined {
    if (!this.#byAccount.has(order.account)) return undefined;
    return knownFromNew(order, markets.get(order.conditionId), at);
  }

  #noteTrade({ id, taker, matches }: TradeRecord, placed: KnownOrder | undefined): void {
    for (const { orderId } of [taker, ...matches]) {
      const order = orderId === placed?.orderId ? placed : this.#orders.get(orderId);
      if (order?.tradeIds.includes(id) === false) order.tradeIds.push(id);
    }
  }

  #showPlacement(order: KnownOrder, events: readonly EngineEvent[], at: number): void {
    const own = events.filter((event) => 'orderId' in event && event.orderId === order.orderId);
    const rejected = own.find((event) => event.kind === 'order_rejected');
    if (rejected !== undefined) {
      const text = KILLED_TEXTS[rejected.reason];
      if (text !== undefined) this.#sendOrder(order, 'CANCELLATION', { status: `CANCELED_${text}`, at });
      return;
    }
    for (const event of own) if (event.kind === 'fill') order.filled += event.size;
    const isOver = own.some((event) => event.kind === 'order_done');
    if (!isOver) this.#orders.set(order.orderId, order);
    this.#sendOrder(order, 'PLACEMENT', { status: isOver ? 'MATCHED' : 'LIVE', at });
  }

  /** Shows a command's changes to orders other than the one it placed. */
  #showChange(event: EngineEvent, placed: KnownOrder | undefined, at: number): void {
    if (event.kind !== 'fill' && event.kind !== 'order_done') return;
    const order = this.#orders.get(event.orderId);
    if (order === undefined || order === placed) return;
    if (event.kind === 'fill') {
      order.filled += event.size;
      const isFull = order.filled >= order.originalSize;
      this.#sendOrder(order, 'UPDATE', { status: isFull ? 'MATCHED' : 'LIVE', at });
      return;
    }
    this.#orders.delete(event.orderId);
    const status = cancelledStatus(event.reason);
    if (status !== null) this.#sendOrder(order, 'CANCELLATION', { status, at });
  }

  #sendOrder(
    order: KnownOrder,
    type: OrderEventType,
    { status, at }: { readonly status: string; readonly at: number },
  ): void {
    for (const { viewer, line } of this.#listenersFor([order.account], order.conditionId))
      line.send(JSON.stringify(orderEvent(order, type, { status, at, apiKey: viewer.apiKey })));
  }

  #showTrade(exchange: FeedExchange, trade: TradeRecord): void {
    const accounts = [trade.taker.account, ...trade.matches.map(({ account }) => account)];
    const listeners = this.#listenersFor(accounts, trade.conditionId);
    if (listeners.length === 0) return;
    for (const { viewer, line } of listeners) line.send(JSON.stringify(tradeEvent(trade, viewer)));
    if (trade.settlement.status === 'RETRYING' && this.#retrying.size < MOST_SETTLING)
      this.#retrying.set(trade.number, trade);
    else if (trade.settlement.status === 'MATCHED' || trade.settlement.status === 'MINED')
      this.#await(exchange, trade);
  }

  /** Shows the trade again when it has reached its next status. */
  #await(exchange: FeedExchange, trade: TradeRecord): void {
    if (this.#settling.size >= MOST_SETTLING) return;
    const { minedAfterMs, confirmedAfterMs } = exchange.history.delays;
    const { status, since } = trade.settlement;
    const dueAt = status === 'MATCHED' ? since + minedAfterMs : since + confirmedAfterMs - minedAfterMs;
    const timer = setTimeout(
      () => {
        this.#settling.delete(timer);
        const settlement = exchange.history.settlement(trade, dueAt);
        if (settlement.status !== trade.settlement.status)
          this.#showTrade(exchange, { ...trade, settlement });
      },
      Math.max(0, dueAt - this.#options.now()),
    );
    this.#settling.add(timer.unref());
  }

  #listenersFor(
    accounts: readonly AccountId[],
    conditionId: ConditionId,
  ): (Listener & { readonly viewer: Viewer })[] {
    const found = new Set<Listener>();
    for (const account of accounts) for (const one of this.#byAccount.get(account) ?? []) found.add(one);
    return [...found].filter(
      (one): one is Listener & { readonly viewer: Viewer } =>
        one.viewer !== undefined && (one.markets === null || one.markets.has(conditionId)),
    );
  }
}
