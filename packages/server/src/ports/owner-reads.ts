/** What an owner's pages read over all agents at once. */
import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SolanaAddress } from '@bellwether/protocol';

export interface OwnedAgentRow {
  readonly agentId: string;
  readonly description: string;
  readonly claimedAt: number;
  readonly lastCalledAt: number;
}

/** What an agent realised on a UTC day. */
export interface DayRow {
  readonly agentId: string;
  /** As 2026-11-22. */
  readonly day: string;
  readonly realized: Micro;
  readonly fees: Micro;
}

export interface OwnerReads {
  /** Claimed agents, the latest claim first, and how many of all the owner has paused. */
  agents(
    userId: bigint,
    limit: number,
  ): Promise<{ readonly rows: readonly OwnedAgentRow[]; readonly total: number; readonly paused: number }>;
  /** Days with a result, of every agent of the owner or of one. */
  days(userId: bigint, agentId: string | null, since: string): Promise<readonly DayRow[]>;
  /** All wallets that are proved to be the owner's, with the accounts that pay for them. */
  wallets(
    userId: bigint,
  ): Promise<{ readonly evm: readonly Address[]; readonly solana: readonly SolanaAddress[] }>;
  /** Agents that have or had something in a market, the latest claim first. */
  agentsIn(userId: bigint, conditionId: string, limit: number): Promise<readonly string[]>;
}
