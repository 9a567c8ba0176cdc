/** Trades that wait for their owner's approval. Times are epoch milliseconds. */
import type { Approval, ApprovalStatus } from '@bellwether/contract';
import type { BoundTerms } from '../domain/orders/draft.ts';

/** What the owner judges by, as it is shown. Fixed when it is asked. */
export type ApprovalTerms = { readonly binds: BoundTerms } & Omit<
  Approval,
  | keyof BoundTerms
  | 'approvalId'
  | 'agentId'
  | 'agentName'
  | 'orderId'
  | 'status'
  | 'askedAt'
  | 'waitsUntil'
  | 'orderEndsAt'
  | 'decidedAt'
  | 'approvedUntil'
  | 'declineReason'
>;

export interface NewApproval {
  readonly approvalId: string;
  readonly agentId: string;
  readonly orderId: string;
  readonly askedAt: number;
  readonly waitsUntil: number;
  readonly orderEndsAt: number | null;
  readonly terms: ApprovalTerms;
}

export interface ApprovalRow extends NewApproval {
  readonly agentName: string;
  /** At the time that the reader names. */
  readonly status: ApprovalStatus;
  readonly decidedAt: number | null;
  /** The owner who decided. */
  readonly decidedBy: bigint | null;
  readonly approvedUntil: number | null;
  readonly declineReason: string | null;
}

/** Whose approvals are meant. An owner's are those of the agents that the owner has now. */
export type ApprovalScope = { readonly agentId: string } | { readonly userId: bigint };

export interface ApprovalBounds {
  readonly waiting: number;
  readonly kept: number;
  readonly told: number;
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  /** Of an owner's agents. */
  readonly agentId?: string;
  readonly limit: number;
  readonly at: number;
}

export interface Decision {
  readonly approvalId: string;
  readonly owner: bigint;
  readonly verdict: 'approved' | 'declined';
  readonly at: number;
  /** Of an approval: the order can be sent until then, unless it ends before. */
  readonly until: number;
  readonly reason: string | null;
}

export interface ApprovalStore {
  /** @returns the order's own row if it is not over, else the new one; over all replicas */
  ask(approval: NewApproval, bounds: ApprovalBounds): Promise<ApprovalRow>;
  /** The latest of an order with these terms; one that declined the order with any terms comes first. */
  ofOrder(
    order: { readonly agentId: string; readonly orderId: string; readonly binds: BoundTerms },
    at: number,
  ): Promise<ApprovalRow | null>;
  byId(approvalId: string, scope: ApprovalScope, at: number): Promise<ApprovalRow | null>;
  list(
    scope: ApprovalScope,
    filter: ApprovalFilter,
  ): Promise<{ readonly approvals: readonly ApprovalRow[]; readonly total: number }>;
  /** @returns false when it was decided before, is over, or is not of an agent of this owner */
  decide(decision: Decision): Promise<boolean>;
}
