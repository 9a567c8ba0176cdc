/** An agent reads its receipts by key, its owner by session. */
import { getOwnerOrderReceipt, listOwnerAgentReceipts } from '@bellwether/contract';
import type { AgentStore } from '../agents/index.ts';
import type { Owner } from '../domain/records.ts';
import type { Bind } from '../platform/http/routes.ts';
import { bindUseCases } from '../platform/http/use-cases.ts';
import { refusal } from '../platform/refusal.ts';
import { type Agent, orderReceipt, type ReadReceiptsNeeds, receiptPage } from './read.ts';

type OwnersReceiptsNeeds = ReadReceiptsNeeds & { readonly agents: Pick<AgentStore, 'byId'> };

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

/** @throws Refusal agent_not_found, for other people's agents too */
async function ownersAgent(
  { agents }: Pick<OwnersReceiptsNeeds, 'agents'>,
  { userId }: Owner,
  agentId: string,
): Promise<Agent> {
  const row = await agents.byId(agentId);
  if (row === null || !row.claimed || row.userId !== userId) throw refusal('agent_not_found');
  return row;
}
