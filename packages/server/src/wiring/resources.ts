/** The resources of the interface, each bound to its use cases. One that is added here says by its type what it needs. */

import { bindAgents } from '../agents/routes.ts';
import { bindApprovals } from '../approvals/routes.ts';
import { bindBriefing } from '../briefing/routes.ts';
import { bindAgentReads } from '../console/agent-reads.ts';
import { bindOwnerConsole } from '../console/routes.ts';
import { bindFees } from '../fees/routes.ts';
import { bindMarkets } from '../markets/routes.ts';
import { bindVenues } from '../markets/venue-routes.ts';
import { bindOperator, type OperatorNeeds, type OperatorParts } from '../operator/routes.ts';
import { bindJournal } from '../orders/journal.ts';
import { bindOrders } from '../orders/routes.ts';
import { bindClaims } from '../owners/claims.ts';
import { bindOwners } from '../owners/routes.ts';
import type { Site } from '../platform/http/layout.ts';
import type { Bind, Gate } from '../platform/http/routes.ts';
import { bindChainPositions } from '../positions/chain-positions.ts';
import { bindPositions } from '../positions/routes.ts';
import { bindQuotes } from '../quoting/routes.ts';
import { bindSkills } from '../skills/routes.ts';
import { bindStreams, type Streams } from '../streams/routes.ts';
import { bindBatchTrade } from '../trading/batch-route.ts';
import { bindPrepareTrade } from '../trading/prepare-route.ts';
import { bindTrading } from '../trading/routes.ts';
import { bindWalletLink } from '../wallets/link-routes.ts';
import { bindWallet } from '../wallets/routes.ts';
import { bindWebhooks } from '../webhooks/routes.ts';

const RESOURCES = [
  bindApprovals,
  bindSkills,
  bindWallet,
  bindWalletLink,
  bindWebhooks,
  bindBriefing,
  bindMarkets,
  bindTrading,
  bindOrders,
  bindAgentReads,
  bindOwnerConsole,
  bindBatchTrade,
  bindPrepareTrade,
  bindPositions,
  bindQuotes,
  bindChainPositions,
  bindJournal,
  bindFees,
  bindVenues,
] as const;

/** All that the listed resources need: a union of functions is called with the intersection of their parameters. */
type Listed = (typeof RESOURCES)[number] extends (bind: Bind, needs: infer Needs) => void ? Needs : never;

export type ResourceNeeds = Listed &
  Parameters<typeof bindAgents>[1] &
  Parameters<typeof bindClaims>[1] &
  Parameters<typeof bindOwners>[1] &
  OperatorNeeds;

interface Parts {
  readonly needs: ResourceNeeds;
  readonly gate: Gate;
  /** Makes every replica drop what it remembers of a key. */
  readonly forgetKey: (keyId: bigint) => Promise<void>;
  readonly siteOf: () => Site;
  readonly streams: Streams;
  readonly operator: OperatorParts;
}

export function bindResources(
  bind: Bind,
  { needs, gate, forgetKey, siteOf, streams, operator }: Parts,
): void {
  bindAgents(bind, needs, forgetKey);
  bindClaims(bind, needs, gate, siteOf);
  bindOwners(bind, needs, forgetKey);
  bindStreams(bind, streams);
  bindOperator(bind, needs, operator);
  for (const bindResource of RESOURCES) bindResource(bind, needs);
}
