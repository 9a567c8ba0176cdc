/** Results of agents and their positions, and the refused attempts. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { OrderKind, OrderStatus } from '../domain/orders/lifecycle.ts';

/** An order, or an attempt that the desk refused. */
export interface AttemptRow {
  readonly at: number;
  readonly conditionId: string;
  readonly question: string;
  readonly skillCode: string | null;
  readonly skillSlug: string | null;
  readonly source: string | null;
  readonly reasoning: string | null;
  readonly venue: string;
  readonly side: string;
  readonly outcome: string;
  readonly shares: Micro;
  readonly money: Micro;
  readonly walletAddress: string;
  /** `null`: the desk refused it. */
  readonly placed: {
    readonly orderId: string;
    readonly kind: OrderKind;
    readonly status: OrderStatus;
    readonly price: Pips;
    readonly timeInForce: string;
    readonly filled: Micro;
    readonly cost: Micro;
    readonly fees: Micro;
  } | null;
  readonly errorCode: string | null;
  readonly detail: string | null;
}

export interface StrategyRow {
  readonly source: string | null;
  readonly skillSlug: string | null;
  readonly trades: number;
  readonly volume: Micro;
  readonly fees: Micro;
  readonly realized: Micro;
}

export interface StandingRow {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly claimed: boolean;
  readonly walletAddress: Address | null;
  readonly createdAt: number;
  readonly lastCalledAt: number;
  readonly lastTradeAt: number | null;
  /** Realised, after fees. */
  readonly pnl: Micro;
  readonly trades: number;
  readonly wins: number;
  readonly losses: number;
}

export interface ResultStore {
  attempts(
    agentId: string,
    /** `venue: null`: all venues. */
    page: { readonly limit: number; readonly offset: number; readonly venue: string | null },
  ): Promise<{ readonly attempts: readonly AttemptRow[]; readonly total: number }>;
  byStrategy(agentId: string): Promise<readonly StrategyRow[]>;
  /** Agents that have traded, best first; at most as many as the leaderboard shows. A few seconds old at most. */
  standings(): Promise<{ readonly rows: readonly StandingRow[]; readonly totalAgents: number }>;
}
