import {
  approvalPasskeyOptions,
  approveTrade,
  declineAllTrades,
  declineTrade,
  getOwnerApproval,
  listOwnerApprovals,
} from '@bellwether/contract';
import { sendPage } from '../platform/http/page.ts';
import { type Bind, bindUseCases } from '../platform/http/routes.ts';
import * as approvals from './decide.ts';

export function bindApprovals(bind: Bind, needs: approvals.ApprovalNeeds): void {
  bindUseCases(bind, {
    listApprovals: ({ caller, query }) => approvals.listApprovals(needs, caller, query),
    getApproval: ({ caller, params }) => approvals.getApproval(needs, caller, params.approvalId),
  });
  bind(listOwnerApprovals, async ({ owner, query, request, reply }) => {
    reply.header('cache-control', 'no-store');
    return sendPage(request, reply, query, await approvals.listOwnerApprovals(needs, owner, query));
  });
  bind(getOwnerApproval, ({ owner, params, reply }) => {
    reply.header('cache-control', 'no-store');
    return approvals.getOwnerApproval(needs, owner, params.approvalId);
  });
  bind(approvalPasskeyOptions, ({ owner, params }) =>
    approvals.beginApproval(needs, owner, params.approvalId),
  );
  bind(approveTrade, ({ owner, params, body }) => approvals.approve(needs, owner, params.approvalId, body));
  bind(declineAllTrades, ({ owner, params, body }) =>
    approvals.declineAll(needs, owner, params.agentId, body?.reason),
  );
  bind(declineTrade, ({ owner, params, body }) =>
    approvals.decline(needs, owner, params.approvalId, body?.reason),
  );
}
