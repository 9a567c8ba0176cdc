/** An agent reads its receipts by key, its owner by session. */
import {
  getOwnerOrderReceipt,
  listOwnerAgentReceipts,
  listReceipts,
  type ReceiptPage,
} from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import { paginate } from '../platform/http/page.ts';
import { type Bind, bindUseCases, type Input } from '../platform/http/routes.ts';
import { refusal } from '../platform/refusal.ts';
import { type Agent, orderReceipt, type ReceiptNeeds, receiptPage } from './read.ts';

export function bindReceipts(bind: Bind, needs: ReceiptNeeds): void {
  bindUseCases(bind, {
    getOrderReceipt: ({ caller, params }) => orderReceipt(needs, caller, params.orderId),
  });
  const page = async (
    agent: Agent,
    { query, request, reply }: Pick<Input<typeof listReceipts>, 'query' | 'request' | 'reply'>,
  ): Promise<ReceiptPage> => {
    const found = await receiptPage(needs, agent, query);
    paginate(request, reply, found.head.sequence, { name: 'after', previous: null, next: found.next });
    return found;
  };
  bind(listReceipts, (input) => page(input.caller, input));
  bind(getOwnerOrderReceipt, async ({ owner, params, reply }) => {
    reply.header('cache-control', 'no-store');
    return orderReceipt(needs, await ownersAgent(needs, owner, params.agentId), params.orderId);
  });
  bind(listOwnerAgentReceipts, async ({ owner, params, ...asked }) => {
    asked.reply.header('cache-control', 'no-store');
    return page(await ownersAgent(needs, owner, params.agentId), asked);
  });
}

/** @throws Refusal agent_not_found, for other people's agents too */
async function ownersAgent(
  { agents }: Pick<ReceiptNeeds, 'agents'>,
  { userId }: Owner,
  agentId: string,
): Promise<Agent> {
  const row = await agents.byId(agentId);
  if (row === null || !row.claimed || row.userId !== userId) throw refusal('agent_not_found');
  return row;
}
