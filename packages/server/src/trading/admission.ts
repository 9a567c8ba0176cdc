/** A trade that asks to be admitted, and what it is judged by. Times are epoch milliseconds, money micro-units. */

import type { Micro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { Book, VenueId } from '../domain/market.ts';
import type { Caller, Checked, NewOrder, OrderRow, Standing, WalletAddress } from '../domain/records.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import type { Balance, VenueAnswer, VenueOrder, VenueSet } from '../venues/venue.ts';
import type { CredentialRow } from '../wallets/index.ts';

export interface StandingQuestion {
  readonly caller: Pick<Caller, 'agentId'>;
  readonly funder: WalletAddress;
  /** The wallet's key: its EOA, or the Solana wallet itself. */
  readonly signer: WalletAddress;
  /** [YES, NO] of the market. */
  readonly tokenIds: readonly [string, string];
  readonly conditionId: string;
  readonly at: number;
}

/** An order to record, and the budget that it reserves: none for a redemption. */
export interface Recorded<Order extends NewOrder = NewOrder> {
  readonly order: Order;
  readonly reserves: Micro;
  /** Figures by which it was judged, for its journal. */
  readonly checked: Checked;
  /** The transaction of a quoted order. */
  readonly transaction?: NewChainOrder;
}

/** Facts by which a trade is judged, under the lock of its agent. */
export interface TradeScope extends Standing {
  readonly keyActive: boolean;
  /** The agent's current owner. */
  readonly userId: bigint;
  /** Credentials of those of the requested wallets that the agent may use. */
  readonly credentials: readonly TradingCredential[];
  /** The owner has a credential for one of the requested wallets that this agent may not use. */
  readonly hasUnreachable: boolean;
  /** The order with the requested id, of any agent. */
  readonly existing: OrderRow | null;
  /** The recorded order that has the requested client order id; `null`: the name is free. */
  readonly namedOrder: string | null;
  /** The agent has withdrawn the quote. */
  readonly quoteWithdrawn: boolean;
  /**
   * Free balance of an account, after every trade that was judged before; `null` where the order does not reach its venue
   * in the same commit.
   */
  readonly balance: ((account: Address) => Balance) | null;
  /** The book of an outcome, likewise; its second `null`: the market has none. */
  readonly book: ((conditionId: string, outcome: 'YES' | 'NO') => Book | null) | null;
}

export type TradingCredential = Pick<CredentialRow, 'walletAddress' | 'signatureType' | 'apiKeyHash'>;

/** A trade that asks to be admitted. */
export interface Admission<Order extends NewOrder = NewOrder> extends StandingQuestion {
  readonly caller: Caller;
  readonly venue: VenueId;
  readonly orderId: string;
  readonly clientOrderId: string | null;
  readonly wallets: readonly Address[];
  /** The tokens that it sells; missing: it buys. */
  readonly sells?: readonly string[];
  /** Quoted orders only. */
  readonly quoteId?: string;
  /** Throws when the request has ended. Called when the trade's turn comes, which may be long after this call. */
  readonly requireTime?: () => void;
  /**
   * Must not wait for anything. Called again when the facts had to be read again.
   * @returns what to record; `null`: nothing @throws what `admit` then throws
   */
  judge(scope: TradeScope): Recorded<Order> | null;
  readonly trace?: TradeTrace | undefined;
  /** The order as its venue takes it. Missing: the order is recorded here, and sent later. */
  toVenue?(order: Order): VenueOrder | VenueSet;
}

/** Counts as a trade; a redemption and a merge do not: they only turn what is held into collateral. */
export const isTrade = (order: NewOrder): boolean =>
  order.kind === 'quoted' ? !order.isRedemption : order.kind !== 'merge';

/** Waits at its venue, or may: an order of sets is executed at once or refused. */
export const mayRest = ({ kind }: Pick<NewOrder, 'kind'>): boolean => kind === 'signed' || kind === 'quoted';

/** Key of a client order id among those of all agents. */
export const nameKey = (agentId: string, clientOrderId: string): string => `${agentId} ${clientOrderId}`;

type PreviewQuestion = StandingQuestion & Pick<Admission, 'caller' | 'orderId' | 'clientOrderId' | 'wallets'>;

export interface TradeLedger {
  /**
   * Judges a trade under its agent's lock; reserves its budget and records its order when `judge` returns one. Trades
   * that arrive at the same time share a transaction: those of one agent are judged one after another, and one that is
   * refused leaves the others alone.
   *
   * Where this process keeps the venue's journal in the same database, the order reaches its venue in the same commit.
   * @returns the venue's answer; `null`: the order, if there is one, was recorded and not sent to its venue
   * @throws VenueUnavailable when the commit with the venue failed: nothing was recorded
   */
  admit<Order extends NewOrder>(admission: Admission<Order>): Promise<VenueAnswer | null>;
  /** Reads the standing of a trade, without locking or reserving anything. */
  look(question: StandingQuestion): Promise<Standing>;
  /** Reads what a trade would be judged by, without locking, reserving or recording anything. Its `balance` is `null`. */
  preview(question: PreviewQuestion): Promise<TradeScope>;
}

/** A signed transaction, recorded before it is sent to any node. */
export interface NewChainOrder {
  readonly orderId: string;
  /** Base58 of the first signature. */
  readonly signature: string;
  readonly wire: Uint8Array;
  /** When the follower takes it up, if no other process has done so. */
  readonly dueAt: number;
}
