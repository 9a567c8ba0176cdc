/** Orders. */

import type { WalletAddress } from '../domain/addresses.ts';
import type { OrderStatus } from '../domain/orders/lifecycle.ts';
import type {
  AgentFillRow,
  FillPlace,
  FillRow,
  ListedOrder,
  OrderRow,
  SignedOrderRow,
} from '../domain/records.ts';
import type { FirstAnswer } from './evidence.ts';

export interface FillFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  /** Only fills that come after this one in the list. */
  readonly after?: FillPlace;
  readonly limit: number;
}

export interface OrderFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  readonly orderStatus?: number;
  /** Only orders after this one in the list, which is newest first. */
  readonly after?: { readonly createdAt: number; readonly orderId: string };
  readonly limit: number;
  readonly offset: number;
}

export interface DayCounts {
  readonly placed: number;
  readonly filled: number;
  readonly open: number;
  /** Canceled or expired without a fill. */
  readonly canceled: number;
  /** Proved never accepted by the venue. */
  readonly givenBack: number;
}

export interface OrderStore {
  byIds(orderIds: readonly string[]): Promise<readonly OrderRow[]>;
  byId(agentId: string, orderId: string): Promise<OrderRow | null>;
  /** @param wallet the account whose position the fills changed */
  fills(wallet: WalletAddress, orderId: string): Promise<readonly FillRow[]>;
  /** Of the agent's orders, under any owner and on any wallet. */
  fillsOfAgent(
    agentId: string,
    filter: FillFilter,
  ): Promise<{ readonly fills: readonly AgentFillRow[]; readonly total: number }>;
  open(
    agentId: string,
    filter: OrderFilter,
  ): Promise<{ readonly orders: readonly ListedOrder[]; readonly total: number }>;
  history(
    agentId: string,
    filter: OrderFilter,
  ): Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }>;
  openOfOwner(userId: bigint): Promise<readonly OrderRow[]>;
  /** What the day's number of trades consists of, for the UTC day of `at`. */
  countsOfDay(agentId: string, at: number): Promise<DayCounts>;
  /** Signed orders only: a job follows the transactions of quoted orders. */
  inDoubt(olderThan: number): Promise<readonly SignedOrderRow[]>;
  /** Records the outcome of an order when the venue's own evidence does not. */
  settle(
    orderId: string,
    outcome: FirstAnswer & { readonly status: OrderStatus; readonly event: string },
    at: number,
  ): Promise<void>;
}
