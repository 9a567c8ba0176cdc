/** Proofs of a venue, in the desk's terms. One row per order and batch; amounts are what this batch adds. */
import type { Micro } from '@bellwether/contract/decimals';
import type { Fill, Payout } from '@bellwether/contract/positions';
import type { OrderStatus } from './lifecycle.ts';
import type { VenueId } from './market.ts';

/** The first answer to the agent; a replay returns it again. */
export interface FirstAnswer {
  readonly success: boolean;
  readonly status: string;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly errorCode: string | null;
  /** The venue's own words, where the desk has no code for them; or what the desk knows of the reason. */
  readonly detail?: string;
}

export interface OutcomeEvidence {
  readonly orderId: string;
  /** The new status. */
  readonly status: OrderStatus;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly errorCode: string | null;
  /** Set by the evidence that answers the submission. */
  readonly first: FirstAnswer | null;
  /** A refusal after which the venue would take the same order: while an exit waits to send it, it is an attempt and no answer. */
  readonly isRepeatable?: boolean;
  /** It has no effect where the order was sent after this time, epoch milliseconds: what was proved is older. */
  readonly sentBefore?: number;
  readonly journal: readonly {
    readonly at: number;
    readonly event: string;
    readonly status: OrderStatus;
    readonly detail?: string;
  }[];
  readonly at: number;
}

/** A fill, or what else moved a position. */
export type FillEvidence = Fill;

/** A market that an account of the desk has traded. Kept permanently, because the venue forgets it. */
export interface MarketEvidence {
  readonly conditionId: string;
  readonly marketId: string;
  readonly slug: string;
  readonly question: string;
  /** `null`: not known. */
  readonly outcomes: readonly string[] | null;
  readonly endDate: number | null;
  readonly venue: VenueId;
}

export interface ResolutionEvidence {
  readonly conditionId: string;
  readonly payout: Payout;
  readonly at: number;
}

/** For venues without a database transaction that their evidence can join. */
export interface EvidenceLog {
  /** Resolves when the batch is committed: all of it, or nothing. */
  record(evidence: Evidence): Promise<void>;
}

/** Paper money credited to a wallet. */
interface DepositEvidence {
  readonly wallet: string;
  readonly amount: Micro;
  readonly reason: 'simulation' | 'faucet';
  readonly at: number;
}

export interface Evidence {
  readonly outcomes: readonly OutcomeEvidence[];
  /** In the order in which they happened. */
  readonly fills: readonly FillEvidence[];
  /** The markets of the fills. */
  readonly markets: readonly MarketEvidence[];
  /** Resolutions of any market; markets without trades here are ignored. */
  readonly resolutions: readonly ResolutionEvidence[];
  readonly deposits: readonly DepositEvidence[];
}
