/** Approvals: their rules are SQL functions (functions/approvals.sql), so that they hold over all replicas. */

import type { Approval, ApprovalStatus } from '@bellwether/contract';
import type { BoundTerms } from '../domain/draft.ts';
import { type Fragment, ms, msOrNull, only, type Sql } from '../platform/database/connection.ts';
import type { AgentsRow, ApprovalsRow } from '../platform/database/rows.generated.ts';
import type { Place } from '../platform/http/page.ts';

type Row = ApprovalsRow & Pick<AgentsRow, 'name'> & { readonly status: ApprovalRow['status'] };

export function createApprovalStore(sql: Sql) {
  const of = (at: number): Fragment => sql`from approvals a join agents g using (agent_id)
    cross join lateral (select approval_status(a, ${new Date(at)}) as status offset 0) s`;
  const read = (at: number, where: Fragment) =>
    sql<Row[]>`select a.*, g.name, s.status ${of(at)} where ${where}`;
  const within = (scope: ApprovalScope): Fragment =>
    'agentId' in scope
      ? sql`a.agent_id = ${scope.agentId}`
      : sql`g.user_id = ${scope.userId} and g.claimed_at is not null`;

  return {
    /** @returns the order's own row if it is not over, else the new one; `null`: as many wait as may wait; over all replicas */
    async ask(approval: NewApproval, bounds: ApprovalBounds): Promise<ApprovalRow | null> {
      const { id } = only(
        await sql<{ readonly id: string | null }[]>`
          select ask_approval(jsonb_populate_record(null::approvals, ${sql.json(columnsOf(approval))}),
            ${sql.json({ ...bounds })}) as id`,
      );
      return id === null ? null : approvalRow(only(await read(approval.askedAt, sql`a.approval_id = ${id}`)));
    },

    /** The latest of an order with these terms; one that declined the order with any terms comes first. */
    async ofOrder(
      {
        agentId,
        orderId,
        binds,
      }: { readonly agentId: string; readonly orderId: string; readonly binds: BoundTerms },
      at: number,
    ): Promise<ApprovalRow | null> {
      const [row] = await read(
        at,
        sql`a.approval_id = approval_of_order(${agentId}::uuid, ${orderId}, ${sql.json({ ...binds })})`,
      );
      return row === undefined ? null : approvalRow(row);
    },

    async byId(approvalId: string, scope: ApprovalScope, at: number): Promise<ApprovalRow | null> {
      const [row] = await read(at, sql`a.approval_id = ${approvalId} and ${within(scope)}`);
      return row === undefined ? null : approvalRow(row);
    },

    async list(
      scope: ApprovalScope,
      { status, agentId, limit, offset, after, at }: ApprovalFilter,
    ): Promise<{ readonly approvals: readonly ApprovalRow[]; readonly total: number }> {
      const where = sql`${within(scope)} and ${agentId === undefined ? sql`true` : sql`a.agent_id = ${agentId}`}
        and ${status === undefined ? sql`true` : sql`s.status = ${status}`}`;
      const [rows, counted] = await Promise.all([
        read(
          at,
          sql`${where} and ${
            after === undefined
              ? sql`true`
              : sql`(a.asked_at, a.approval_id) < (${new Date(after.at)}, ${after.id}::uuid)`
          }
            order by a.asked_at desc, a.approval_id desc limit ${limit} offset ${offset}`,
        ),
        sql<{ total: number }[]>`select count(*)::int as total ${of(at)} where ${where}`,
      ]);
      return { approvals: rows.map(approvalRow), total: only(counted).total };
    },

    /** @returns false when it was decided before, is over, or is not of an agent of this owner */
    async decide({ approvalId, owner, verdict, at, until, reason }: Decision): Promise<boolean> {
      const { decided } = only(
        await sql<{ readonly decided: boolean }[]>`
          select decide_approval(${approvalId}, ${owner}, ${verdict}, ${new Date(at)}, ${new Date(until)}, ${reason})
            as decided`,
      );
      return decided;
    },

    /** @returns how many were declined: all that waited */
    async declineWaiting({
      agentId,
      owner,
      at,
      reason,
    }: Pick<Decision, 'owner' | 'at' | 'reason'> & { readonly agentId: string }): Promise<number> {
      const { declined } = only(
        await sql<{ readonly declined: number }[]>`
          select decline_waiting(${agentId}::uuid, ${owner}, ${new Date(at)}, ${reason}) as declined`,
      );
      return declined;
    },
  };
}

const columnsOf = (approval: NewApproval) => ({
  approval_id: approval.approvalId,
  agent_id: approval.agentId,
  order_id: approval.orderId,
  asked_at: new Date(approval.askedAt).toISOString(),
  waits_until: new Date(approval.waitsUntil).toISOString(),
  order_ends_at: approval.orderEndsAt === null ? null : new Date(approval.orderEndsAt).toISOString(),
  terms: approval.terms,
});

const approvalRow = (row: Row): ApprovalRow => ({
  approvalId: row.approval_id,
  agentId: row.agent_id,
  agentName: row.name,
  orderId: row.order_id,
  status: row.status,
  askedAt: ms(row.asked_at),
  waitsUntil: ms(row.waits_until),
  orderEndsAt: msOrNull(row.order_ends_at),
  terms: row.terms as ApprovalTerms,
  decidedAt: msOrNull(row.decided_at),
  decidedBy: row.decided_by,
  approvedUntil: msOrNull(row.approved_until),
  declineReason: row.decline_reason,
});

/** Terms by which the owner judges, as they are shown. Fixed when the approval is asked for. */
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

interface NewApproval {
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

interface ApprovalBounds {
  readonly waiting: number;
  readonly kept: number;
  readonly told: number;
}

interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  /** One of the owner's agents. */
  readonly agentId?: string;
  readonly limit: number;
  readonly offset: number;
  /** Only those after this one in the list, which is newest first. */
  readonly after?: Place;
  readonly at: number;
}

export interface Decision {
  readonly approvalId: string;
  readonly owner: bigint;
  readonly verdict: 'approved' | 'declined';
  readonly at: number;
  /** End of an approval: the order can be sent until then, unless it ends before. */
  readonly until: number;
  readonly reason: string | null;
}

export type ApprovalStore = ReturnType<typeof createApprovalStore>;
