/** A trade that asks to be admitted, and what it is judged by. Times are epoch milliseconds, money micro-units. */

import type { Micro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import type { Caller, Checked, NewOrder, OrderRow, Standing, WalletAddress } from '../domain/records.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import type { JoinedVenue, VenueAnswer, VenueOrder, VenueSet } from '../venues/venue.ts';
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
  readonly way: Way;
}

/**
 * How an order reaches its venue. It joins the venue's commit, which executes and answers it: then it is judged by what the venue has
 * now. Or it is recorded first, and its caller sends it.
 */
type Way = Pick<JoinedVenue, 'kind' | 'balance' | 'book'> | { readonly kind: 'recorded' };

export type TradingCredential = Pick<CredentialRow, 'walletAddress' | 'signatureType' | 'apiKeyHash'>;

/** A trade that asks to be admitted. `Answer`: to the same order, where it was placed before. */
export interface Admission<Order extends NewOrder = NewOrder, Answer = unknown> extends StandingQuestion {
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
  /** Must not wait for anything. Called again when the facts had to be read again. @throws what `admit` then throws */
  judge(scope: TradeScope): Judgement<Order, Answer>;
  readonly trace?: TradeTrace | undefined;
  /** The order as its venue takes it. Missing: the order is recorded here, and sent later. */
  toVenue?(order: Order): VenueOrder | VenueSet;
}

/** An order to record, or one that was placed before: nothing is recorded, and it is answered once the lock is free. */
export type Judgement<Order extends NewOrder = NewOrder, Answer = unknown> =
  | { readonly kind: 'recorded'; readonly recorded: Recorded<Order> }
  | { readonly kind: 'same'; answer(): Promise<Answer> };

/** What a trade became that was not refused; `joined`: it was recorded in one commit with what its venue says. */
export type Admitted<Order extends NewOrder = NewOrder, Answer = unknown> =
  | Judgement<Order, Answer>
  | { readonly kind: 'joined'; readonly recorded: Recorded<Order>; readonly answer: VenueAnswer };

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
   * Where this process keeps the venue's journal in the same database, the order joins its venue's commit.
   * @throws VenueUnavailable when the commit with the venue failed: nothing was recorded
   */
  admit<Order extends NewOrder, Answer>(
    admission: Admission<Order, Answer>,
  ): Promise<Admitted<Order, Answer>>;
  /** Reads the standing of a trade, without locking or reserving anything. */
  look(question: StandingQuestion): Promise<Standing>;
  /** Reads what a trade would be judged by, without locking, reserving or recording anything. */
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
