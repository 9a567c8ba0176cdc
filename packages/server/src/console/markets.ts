/** A market as an owner looks at it, with what the owner's agents have in it. */
import { LIMITS, type OwnerMarket } from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import type { ShownMarkets } from '../markets/index.ts';
import { orderBook, requireMarket, untrustedTexts } from '../markets/index.ts';
import { type ListOrdersNeeds, listFills, listOpenOrders } from '../orders/index.ts';
import { holdings, type PositionNeeds, positionRecords } from '../positions/index.ts';
import type { OwnerReads } from './owner-reads.ts';

export interface OwnerMarketNeeds extends ListOrdersNeeds, PositionNeeds {
  readonly ownerReads: OwnerReads;
  readonly shownMarkets: ShownMarkets;
}

/** Agents whose orders and fills are looked for, the latest claimed first. */
const AGENTS_READ = 50;

/** @throws Refusal unknown_venue, market_not_found, service_unavailable */
export async function ownerMarket(
  needs: OwnerMarketNeeds,
  owner: Owner,
  id: string,
  venueName: string | undefined,
): Promise<OwnerMarket> {
  const located = await requireMarket(needs, id, venueName);
  const { venue, market } = located;
  const [agentIds, { evm, solana }, reach] = await Promise.all([
    needs.ownerReads.agentsIn(owner.userId, market.conditionId, AGENTS_READ),
    needs.ownerReads.wallets(owner.userId),
    needs.ownerReads.reach(owner.userId),
  ]);
  const query = { marketConditionId: market.conditionId, limit: LIMITS.ordersPerPage };
  const agents = agentIds.map((agentId) => ({ agentId, userId: owner.userId }));
  const [yes, no, { held }, orders, fills] = await Promise.all([
    orderBook(located, 'YES', market.tokenIds[0]),
    orderBook(located, 'NO', market.tokenIds[1]),
    holdings(needs, [...evm, ...solana], [venue]),
    Promise.all(
      agents.map(async (agent) => ofAgent(agent.agentId, await listOpenOrders(needs, agent, query))),
    ),
    Promise.all(agents.map(async (agent) => ofAgent(agent.agentId, await listFills(needs, agent, query)))),
  ]);
  return {
    market: needs.shownMarkets.plain(venue.id, market),
    books: { yes, no },
    orders: newest(orders.flat(), ({ createdAt }) => createdAt),
    fills: newest(fills.flat(), ({ filledAt }) => filledAt),
    positions: positionRecords(held.filter(({ row }) => row.conditionId === market.conditionId)).map(
      (position) => ({
        ...position,
        agentIds: reach
          .filter(({ wallet }) => wallet.toLowerCase() === position.walletAddress.toLowerCase())
          .map(({ agentId }) => agentId),
      }),
    ),
    untrustedText: untrustedTexts(market),
  };
}

const ofAgent = <T extends object>(agentId: string, { items }: { readonly items: readonly T[] }) =>
  items.map((item) => ({ ...item, agentId }));

/** ISO times of one zone sort as texts. */
const newest = <T>(items: readonly T[], timeOf: (item: T) => string): T[] =>
  items.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(0, LIMITS.ordersPerPage);
