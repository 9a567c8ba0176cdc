/** What the paper exchange offers to the process that embeds it, and what it tells of each command. */
import type { Tx } from '@bellwether/durable';
import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  EngineEvent,
  OpenOrder,
  OrderId,
  Outcome,
  TokenId,
} from './engine/types.ts';
import type { MarketFacts, MarketView, PublicCommand } from './world/types.ts';

export type * from './engine/types.ts';
export type { MarketFacts, MarketView, PublicCommand } from './world/types.ts';

/**
 * One journalled command with everything that it caused, in order; except what concerns nobody but the house: the
 * acceptance and end of its quotes, its deposits, merges and redemptions. Every fill is there, the house's own too.
 */
export interface Entry {
  /** Position in the journal; counts up by one. */
  readonly seq: number;
  readonly at: number;
  readonly command: PublicCommand | { readonly kind: 'step' };
  readonly events: readonly EngineEvent[];
  /**
   * The markets of the events, as they stood when the command was applied: by the time the entry is durable the
   * exchange may have archived them.
   */
  readonly markets: ReadonlyMap<ConditionId, MarketFacts>;
}

/**
 * Takes part in the journal's group commit: its statements are sent on the journal's connection inside the same
 * transaction, so what it writes is there exactly when the entries are. It must issue its statements without
 * awaiting between them and return their promises. It sees every entry once, in order, before anybody is told.
 */
export type Recorder = (tx: Tx, entries: readonly Entry[]) => readonly PromiseLike<unknown>[];

export interface ExecuteOptions {
  /**
   * With `place`: the caller has proof, such as a unique key of its own, that this order id never reached the exchange.
   * It saves a look into the record of all orders.
   */
  readonly isNew?: boolean;
}

export interface PaperExchange {
  /**
   * Applies a command and resolves with its events once they are durable.
   * @throws ExchangeUnavailable when there is no telling whether it was recorded (lost database), or before that
   *   when the exchange is not open; `executed` says which.
   */
  execute(command: PublicCommand, options?: ExecuteOptions): Promise<readonly EngineEvent[]>;
  /** Every market ever listed that is not yet archived, newest last. */
  markets(): Iterable<MarketView>;
  market(conditionId: ConditionId): MarketView | undefined;
  /** Also gives which outcome the token is. */
  marketByToken(tokenId: TokenId): { readonly market: MarketView; readonly outcome: Outcome } | undefined;
  book(conditionId: ConditionId, outcome: Outcome, depth?: number): BookView | undefined;
  account(account: AccountId): AccountView;
  openOrder(orderId: OrderId): OpenOrder | undefined;
  openOrders(account: AccountId): readonly OpenOrder[];
  /**
   * The durable record of an order that ever reached the exchange: proof of what became of it, or `undefined` as
   * proof that it never did (nothing of it is in flight when this resolves).
   */
  orderRecord(orderId: OrderId): Promise<OrderRecord | undefined>;
  /**
   * Calls back with every batch of entries once it is durable, in order, until the returned function is called. For
   * streams; what must not be lost belongs to the `Recorder`.
   */
  subscribe(listener: (entries: readonly Entry[]) => void): () => void;
  /** SHA-256 of the canonical state, hex. */
  stateHash(): string;
  /** Finishes what is in flight, writes a snapshot, gives up the lead. */
  close(): Promise<void>;
}

export interface OrderRecord {
  readonly orderId: OrderId;
  readonly account: AccountId;
  /** The events of this order, oldest first. */
  readonly events: readonly EngineEvent[];
}
