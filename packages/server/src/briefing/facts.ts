/** Facts that the briefing and the context of a market read from the database, and the questions for them. */
import type { Briefing } from '@bellwether/contract';
import type { Address, SolanaAddress } from '@bellwether/protocol';
import type { Limits } from '../agents/index.ts';
import type { AddressFamily, WalletAddress } from '../domain/addresses.ts';
import type { inDoubtBefore } from '../domain/lifecycle.ts';
import type { ActingAgent, ListedOrder, PositionRow, Standing } from '../domain/records.ts';
import type { RepeatedRefusal, Silence } from '../domain/risk-alerts.ts';

/** The agent's own open orders in one market. */
export interface OpenOrders {
  readonly venue: string;
  readonly conditionId: string;
  readonly marketId: string;
  readonly count: number;
  /** Open for longer than asked about, oldest first; at most a few. */
  readonly stale: readonly string[];
  readonly staleCount: number;
  /** Their outcome is not known yet; at most a few. */
  readonly inDoubt: readonly string[];
  readonly inDoubtCount: number;
}

/** As it is shown. */
export type OpenApproval = Briefing['approvals'][number];

export interface BriefingFacts {
  readonly name: string;
  readonly claimed: boolean;
  /** The one that the agent registered last. */
  readonly walletAddress: Address | null;
  readonly solAddress: SolanaAddress | null;
  /**
   * The requested wallet, else all wallets within the agent's reach: EVM wallets with the accounts that pay for them,
   * and proved Solana wallets. Empty when there are none.
   */
  readonly wallets: { readonly evm: readonly Address[]; readonly solana: readonly SolanaAddress[] };
  /** The agent may place signed orders: one of the EVM wallets has venue credentials. */
  readonly hasCredentials: boolean;
  /** It has left guarded exits, ended ones among them. */
  readonly hasExits: boolean;
  readonly limits: Limits;
  readonly silence: Silence | null;
  /** See `RiskFacts`. */
  readonly away: string | null;
  readonly repeatedRefusal: RepeatedRefusal | null;
  /** Positions of the wallets. */
  readonly positions: readonly PositionRow[];
  readonly openOrders: readonly OpenOrders[];
  /** Waiting for the owner, or approved and not sent yet; newest first. */
  readonly approvals: readonly OpenApproval[];
  /** Changed since then, latest change first; one more than requested when there are more. */
  readonly changed: readonly ListedOrder[];
  /** When an order of the agent last changed, on any venue; `null`: it has none. */
  readonly lastChangeAt: number | null;
  /** The database snapshot that this answer was read from. */
  readonly snapshot: string;
}

/** Orders submitted before this time that have no answer are in doubt. */
export interface DoubtTimes {
  readonly doubtBefore: ReturnType<typeof inDoubtBefore>;
}

export interface BriefingQuestion extends DoubtTimes {
  readonly caller: ActingAgent;
  readonly user: WalletAddress | null;
  readonly at: number;
  /** Open orders created before this time are stale. */
  readonly staleBefore: number;
  /** Only changes of this venue's orders. */
  readonly venue: string | null;
  /** `null`: the latest changes, whenever they were. */
  readonly changedAfter: number | null;
  /** Leaves out what an earlier answer's snapshot contained. */
  readonly notIn: string | null;
  readonly changesLimit: number;
}

export interface ContextFacts {
  /** The requested wallet, else all of the family within the agent's reach; Solana wallets only if proved. */
  readonly wallets: readonly WalletAddress[];
  /**
   * The account that pays for the requested wallet, else for the wallet in the agent's profile; a Solana wallet even if it
   * is not proved. `null`: no credentials are registered for the EVM wallet.
   */
  readonly funder: WalletAddress | null;
  /** The wallet's key. */
  readonly signer: WalletAddress | null;
  readonly claimed: boolean;
  /** Positions of the wallets in the market. */
  readonly positions: readonly PositionRow[];
  /** The agent's own orders in the market. */
  readonly openOrders: OpenOrders | null;
  /**
   * Standing by which a trade of the proved wallet in the market would be judged; without a proved wallet, the agent's own part of
   * it. `null` where other owners' locks bind the wallet: the trade ledger knows what they leave.
   */
  readonly standing: Standing | null;
  /** Guarded exits of the agent, in all markets, that have not ended. */
  readonly openExits: number;
}

export interface ContextQuestion extends DoubtTimes {
  readonly caller: ActingAgent;
  /** The address family of the wallets that trade the market. */
  readonly family: AddressFamily;
  readonly user: WalletAddress | null;
  readonly conditionId: string;
  /** [YES, NO] of the market. */
  readonly tokenIds: readonly [string, string];
  readonly at: number;
}
