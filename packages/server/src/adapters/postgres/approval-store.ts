/** Approvals: their rules are SQL functions (functions/approvals.sql), so that they hold over all replicas. */
import type {
  ApprovalRow,
  ApprovalScope,
  ApprovalStore,
  ApprovalTerms,
  NewApproval,
} from '../../ports/approvals.ts';
import type { Fragment, Sql } from './connection.ts';
import type { AgentsRow, ApprovalsRow } from './rows.generated.ts';
import { ms, msOrNull, only } from './rows.ts';

type Row = ApprovalsRow & Pick<AgentsRow, 'name'> & { readonly status: ApprovalRow['status'] };

export function createApprovalStore(sql: Sql): ApprovalStore {
  const of = (at: number): Fragment => sql`from approvals a join agents g using (agent_id)
    cross join lateral (select approval_status(a, ${new Date(at)}) as status offset 0) s`;
  const read = (at: number, where: Fragment) =>
    sql<Row[]>`select a.*, g.name, s.status ${of(at)} where ${where}`;
  const within = (scope: ApprovalScope): Fragment =>
    'agentId' in scope
      ? sql`a.agent_id = ${scope.agentId}`
      : sql`g.user_id = ${scope.userId} and g.claimed_at is not null`;

  return {
    async ask(approval, bounds) {
      const { id } = only(
        await sql<{ readonly id: string }[]>`
          select ask_approval(jsonb_populate_record(null::approvals, ${sql.json(columnsOf(approval))}),
            ${sql.json({ ...bounds })}) as id`,
      );
      return approvalRow(only(await read(approval.askedAt, sql`a.approval_id = ${id}`)));
    },

    async ofOrder({ agentId, orderId, binds }, at) {
      const [row] = await read(
        at,
        sql`a.approval_id = approval_of_order(${agentId}::uuid, ${orderId}, ${sql.json({ ...binds })})`,
      );
      return row === undefined ? null : approvalRow(row);
    },

    async byId(approvalId, scope, at) {
      const [row] = await read(at, sql`a.approval_id = ${approvalId} and ${within(scope)}`);
      return row === undefined ? null : approvalRow(row);
    },

    async list(scope, { status, agentId, limit, at }) {
      const where = sql`${within(scope)} and ${agentId === undefined ? sql`true` : sql`a.agent_id = ${agentId}`}
        and ${status === undefined ? sql`true` : sql`s.status = ${status}`}`;
      const [rows, counted] = await Promise.all([
        read(at, sql`${where} order by a.asked_at desc, a.approval_id desc limit ${limit}`),
        sql<{ total: number }[]>`select count(*)::int as total ${of(at)} where ${where}`,
      ]);
      return { approvals: rows.map(approvalRow), total: only(counted).total };
    },

    async decide({ approvalId, owner, verdict, at, until, reason }) {
      const { decided } = only(
        await sql<{ readonly decided: boolean }[]>`
          select decide_approval(${approvalId}, ${owner}, ${verdict}, ${new Date(at)}, ${new Date(until)}, ${reason})
            as decided`,
      );
      return decided;
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
