/** The interface of the paper exchange, and the entries of its journal. */
import type { Pips } from '@bellwether/contract/decimals';
import type { Tag, Tx } from '@bellwether/durable';
import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  EngineEvent,
  HolderView,
  NewOrder,
  OpenOrder,
  OrderId,
  Outcome,
  PostedLabel,
  SetOrder,
  TokenId,
} from './engine/commands.ts';
import type { Catalogue, MarketFacts, MarketView, PublicCommand } from './world/markets.ts';

export type * from './engine/commands.ts';
export type {
  Catalogue,
  MarketFacts,
  MarketLife,
  MarketView,
  OutcomeNames,
  PublicCommand,
} from './world/markets.ts';

/**
 * One journalled command with its events, in order, except internal events of the house: the acceptance and end of its
 * quotes, its deposits, merges and redemptions. Every fill is included, also the house's own.
 */
export interface Entry {
  /** Position in the journal; counts up by one. */
  readonly seq: number;
  readonly at: number;
  readonly command: PublicCommand | { readonly kind: 'step' };
  readonly events: readonly EngineEvent[];
  /**
   * The markets of the events, as of the command: by the time the entry is durable the exchange may have archived them.
   */
  readonly markets: ReadonlyMap<ConditionId, MarketFacts>;
}

/**
 * Takes part in the journal's group commit. It receives every entry once, in order, before callers and subscribers do, and
 * may first read, behind everything that the term has committed. What it returns issues its statements in the commit's transaction, so its
 * rows exist exactly when the entries do; it must not await between them.
 */
export type Recorder = (
  entries: readonly Entry[],
  reading: Reading,
) => RecorderStatements | Promise<RecorderStatements>;

export type RecorderStatements = (tx: Tx) => readonly PromiseLike<unknown>[];

export interface Reading {
  /** On the journal's connection. */
  readonly sql: Tag;
  /** While it lasts, no other process writes the journal. What is kept in memory beside it ends with it. */
  readonly term: bigint;
}

/** A command that has an id among those of orders. */
export type PlacedCommand = { readonly kind: 'place'; readonly order: NewOrder } | SetOrder;

/** One commit of the journal, in the hands of its holder, who reads, places orders according to what it read, and records. */
export interface JournalTurn {
  /** The commit's transaction. What is issued before `begin` resolves reads behind the commit before. */
  readonly tx: Tx;
  /** See `Reading`. */
  readonly term: bigint;
  /**
   * Resolves when the commit before is durable and this process is known to lead: from then until `entries`, or `giveUp`, the exchange
   * is the holder's, who must not wait for anything. @throws ExchangeUnavailable, or the database's error: to be given up then
   */
  begin(): Promise<void>;
  /** The holder must have proof that the order's id never reached the exchange. */
  place(order: PlacedCommand): readonly EngineEvent[];
  /** Everything that this commit journals, which its holder records in place of the `Recorder`; no order is placed afterwards. */
  entries(): readonly Entry[];
  /** Sends the commit before it returns. Resolves when all of it is durable. @throws ExchangeUnavailable */
  commit(): Promise<void>;
  /** Ends the turn in place of `commit`. Where an order was placed, the exchange recovers from its journal. */
  giveUp(cause: unknown): Promise<void>;
}

export interface ExecuteOptions {
  /**
   * With a command that has an order id: the caller has proof, such as its own unique key, that this order id never reached the exchange. It
   * saves a query of the record of all orders.
   */
  readonly isNew?: boolean;
  /** With `isNew`: the order was sent to the leader of an earlier term before. If that one executed it, its record is the answer. */
  readonly isSentAgain?: boolean;
}

export interface PaperExchange {
  /**
   * Applies a command and resolves with its events once they are durable.
   * @throws ExchangeUnavailable when it is unknown whether the command was recorded (lost database), or when the
   *   exchange is not open; `executed` distinguishes the two.
   */
  execute(command: PublicCommand, options?: ExecuteOptions): Promise<readonly EngineEvent[]>;
  /** Every market ever listed that is not yet archived, newest last. */
  markets(): Iterable<MarketView>;
  /** Another object after the exchange was reopened. */
  readonly catalogue: Catalogue;
  market(conditionId: ConditionId): MarketView | undefined;
  /** Also returns the token's outcome. */
  marketByToken(tokenId: TokenId): { readonly market: MarketView; readonly outcome: Outcome } | undefined;
  book(conditionId: ConditionId, outcome: Outcome, depth?: number): BookView | undefined;
  account(account: AccountId): AccountView;
  /** Every account with tokens of the market, the house's too. Its cost grows with all positions: for occasional reads. */
  holders(conditionId: ConditionId): readonly HolderView[];
  /** Free collateral, without the view of a whole account. */
  available(account: AccountId): bigint;
  /** Free tokens of one market, without the view of a whole account. */
  freeTokens(account: AccountId, conditionId: ConditionId, outcome: Outcome): bigint;
  openOrder(orderId: OrderId): OpenOrder | undefined;
  openOrders(account: AccountId): readonly OpenOrder[];
  /**
   * The durable record of an order that reached the exchange: proof of its outcome. `undefined` is proof that it never
   * reached the exchange (no command of it is in flight when this resolves).
   */
  orderRecord(orderId: OrderId): Promise<OrderRecord | undefined>;
  /**
   * The durable record of an order. One that never reached the exchange is refused for good first, in the journal: no process
   * can execute it afterwards, in this term or a later one. Only for orders with an id of the caller's own.
   * @throws ExchangeUnavailable as `execute` does
   */
  refuseUnplaced(order: UnplacedOrder): Promise<OrderRecord>;
  /** Durable state of those orders; unlike `orderRecord`, a missing one proves nothing. */
  orderRecords(orderIds: readonly OrderId[]): Promise<ReadonlyMap<OrderId, OrderRecord>>;
  /** Those ids of them that were posted at a door, in any state by now. */
  postedOrders(orderIds: readonly OrderId[]): Promise<ReadonlyMap<OrderId, PostedOrder>>;
  /**
   * Calls back with every batch of entries once it is durable, in order, until the returned function is called. For
   * streams; data that must not be lost belongs to the `Recorder`.
   */
  subscribe(listener: (entries: readonly Entry[]) => void): () => void;
  /** SHA-256 of the canonical state, hex. */
  stateHash(): string;
  /** Finishes commands in flight, writes a snapshot, releases the lead. */
  close(): Promise<void>;
}

/** Knowledge about an order that the exchange may never have received. */
export interface UnplacedOrder {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly conditionId: ConditionId;
}

/** An order that was posted at a door, as it was placed, and when. */
export interface PostedOrder {
  readonly order: NewOrder & { readonly posted: PostedLabel };
  readonly at: number;
}

export interface OrderRecord {
  readonly orderId: OrderId;
  readonly account: AccountId;
  /** The events of this order, oldest first. */
  readonly events: readonly EngineEvent[];
}

/** Prices of YES tokens as they were recorded. Times are epoch milliseconds, prices pips. */
export interface PricePoint {
  readonly at: number;
  readonly price: Pips;
}

export interface PriceRange {
  /** The market's YES token. */
  readonly tokenId: string;
  /** Both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Width of a bucket; buckets begin at its multiples since the epoch. */
  readonly bucketMs: number;
  /** Maximum number of points; one more is returned when there are more. */
  readonly limit: number;
}

export interface PriceHistory {
  /** Locates a token's history, also of archived markets; `null` when the token never had a price. */
  locate(
    tokenId: string,
  ): Promise<{ readonly yesTokenId: string; readonly mirrored: boolean; readonly first: number } | null>;
  /** The last price of every bucket that has one, oldest first, and the last price before the range. */
  read(
    range: PriceRange,
  ): Promise<{ readonly before: PricePoint | null; readonly points: readonly PricePoint[] }>;
}
