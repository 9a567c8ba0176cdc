import {
  approvalPasskeyOptions,
  approveTrade,
  declineTrade,
  getOwnerApproval,
  listOwnerApprovals,
} from '@bellwether/contract';
import * as approvals from '../app/approvals.ts';
import { type AskQuoteNeeds, askQuoteApproval } from '../app/orders/quoted/approve-quote.ts';
import type { Bind } from './routes.ts';
import { bindUseCases } from './use-cases.ts';

export function bindApprovals(
  bind: Bind,
  needs: approvals.ReadApprovalsNeeds & approvals.DecideNeeds & AskQuoteNeeds,
): void {
  bindUseCases(bind, {
    listApprovals: ({ caller, query }) => approvals.listApprovals(needs, caller, query),
    getApproval: ({ caller, params }) => approvals.getApproval(needs, caller, params.approvalId),
    askQuoteApproval: ({ caller, body }) => askQuoteApproval(needs, caller, body),
  });
  bind(listOwnerApprovals, ({ owner, query, reply }) => {
    reply.header('cache-control', 'no-store');
    return approvals.listOwnerApprovals(needs, owner, query);
  });
  bind(getOwnerApproval, ({ owner, params, reply }) => {
    reply.header('cache-control', 'no-store');
    return approvals.getOwnerApproval(needs, owner, params.approvalId);
  });
  bind(approvalPasskeyOptions, ({ owner, params }) =>
    approvals.beginApproval(needs, owner, params.approvalId),
  );
  bind(approveTrade, ({ owner, params, body }) => approvals.approve(needs, owner, params.approvalId, body));
  bind(declineTrade, ({ owner, params, body }) =>
    approvals.decline(needs, owner, params.approvalId, body?.reason),
  );
}
