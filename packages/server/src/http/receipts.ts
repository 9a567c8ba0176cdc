import { getOwnerOrderReceipt, listOwnerAgentReceipts } from '@bellwether/contract';
import {
  type OwnersReceiptsNeeds,
  orderReceipt,
  ownersAgent,
  receiptPage,
} from '../app/receipts/read-receipts.ts';
import type { Bind } from './routes.ts';
import { bindUseCases } from './use-cases.ts';

export function bindReceipts(bind: Bind, needs: OwnersReceiptsNeeds): void {
  bindUseCases(bind, {
    getOrderReceipt: ({ caller, params }) => orderReceipt(needs, caller, params.orderId),
    listReceipts: ({ caller, query }) => receiptPage(needs, caller, query),
  });
  bind(getOwnerOrderReceipt, async ({ owner, params, reply }) => {
    reply.header('cache-control', 'no-store');
    return orderReceipt(needs, await ownersAgent(needs, owner, params.agentId), params.orderId);
  });
  bind(listOwnerAgentReceipts, async ({ owner, params, query, reply }) => {
    reply.header('cache-control', 'no-store');
    return receiptPage(needs, await ownersAgent(needs, owner, params.agentId), query);
  });
}
