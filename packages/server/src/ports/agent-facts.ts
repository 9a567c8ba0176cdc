/**
 * What an agent's heartbeat and its look before a trade need from the desk's books, each in one trip to the database
 * and bounded by what the agent holds and has open, not by its past.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SolanaAddress } from '@bellwether/protocol';
import type { AddressFamily } from '../domain/addresses.ts';
import type { OrderKind } from '../domain/orders/lifecycle.ts';
import type { Usage } from '../domain/safeguards.ts';
import type { Caller, OrderRow, PositionRow, SettingsRow, WalletAddress } from './stores.ts';

/** The safeguards, and what today has taken of them. */
export type Limits = SettingsRow & { readonly usage: Usage; readonly realizedToday: Micro };

/** The agent's own open orders in one market. */
export interface OpenOrders {
  readonly venue: string;
  readonly conditionId: string;
  readonly marketId: string;
  readonly count: number;
  /** Open for longer than asked about, oldest first; at most a few. */
  readonly stale: readonly string[];
  readonly staleCount: number;
  /** Nobody knows yet what became of them; at most a few. */
  readonly inDoubt: readonly string[];
  readonly inDoubtCount: number;
}

export interface BriefingFacts {
  readonly name: string;
  readonly claimed: boolean;
  /** The one that the agent registered last. */
  readonly walletAddress: Address | null;
  readonly solAddress: SolanaAddress | null;
  /**
   * The wallet asked for, else all that the agent reaches: EVM wallets with the accounts that pay for them, Solana
   * wallets as far as they are proved. Empty when there is none.
   */
  readonly wallets: { readonly evm: readonly Address[]; readonly solana: readonly SolanaAddress[] };
  /** The agent may place signed orders: one of the EVM wallets has venue credentials. */
  readonly hasCredentials: boolean;
  readonly limits: Limits;
  /** What the wallets hold. */
  readonly positions: readonly PositionRow[];
  readonly openOrders: readonly OpenOrders[];
  /** Changed since, latest change first; one more than asked for when there are more. */
  readonly changed: readonly OrderRow[];
  /** When an order of the agent last changed, on any venue; `null`: it has none. */
  readonly lastChangeAt: number | null;
  /** What this answer has seen of the database. */
  readonly snapshot: string;
}

/** Orders that were submitted before and have no answer are in doubt. */
export interface DoubtTimes {
  readonly doubtBefore: Readonly<Record<OrderKind, number>>;
}

export interface BriefingQuestion extends DoubtTimes {
  readonly caller: Caller;
  readonly user: WalletAddress | null;
  readonly at: number;
  /** Open orders from before are stale. */
  readonly staleBefore: number;
  /** Changes of this venue's orders alone. */
  readonly venue: string | null;
  /** `null`: the latest changes, whenever they were. */
  readonly changedAfter: number | null;
  /** Leaves out what an earlier answer has seen. */
  readonly notIn: string | null;
  readonly changesLimit: number;
}

export interface ContextFacts {
  /** The wallet asked for, else all of the family that the agent reaches; Solana wallets as far as they are proved. */
  readonly wallets: readonly WalletAddress[];
  /**
   * The account that pays for the wallet asked for, else for the one that the agent names; a Solana wallet also where it
   * is not proved. `null`: no credentials are registered for the EVM wallet.
   */
  readonly funder: WalletAddress | null;
  /** The key behind it. */
  readonly signer: WalletAddress | null;
  readonly claimed: boolean;
  /** What the wallets hold in the market. */
  readonly positions: readonly PositionRow[];
  /** The agent's own in the market. */
  readonly openOrders: OpenOrders | null;
}

export interface ContextQuestion extends DoubtTimes {
  readonly caller: Caller;
  /** Which wallets trade the market. */
  readonly family: AddressFamily;
  readonly user: WalletAddress | null;
  readonly conditionId: string;
  readonly at: number;
}

export interface AgentFacts {
  briefing(question: BriefingQuestion): Promise<BriefingFacts>;
  context(question: ContextQuestion): Promise<ContextFacts>;
}
