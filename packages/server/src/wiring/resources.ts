/** The resources of the interface, each bound to its use cases. One that is added here says by its type what it needs. */

import { bindAgents } from '../agents/index.ts';
import { bindApprovals } from '../approvals/index.ts';
import { bindBriefing } from '../briefing/index.ts';
import { bindAgentReads, bindOwnerConsole } from '../console/index.ts';
import { bindExits } from '../exits/index.ts';
import { bindFees } from '../fees/index.ts';
import { bindMarkets, bindVenues } from '../markets/index.ts';
import { bindOperator, type OperatorNeeds, type OperatorParts } from '../operator/index.ts';
import { bindJournal, bindOrders } from '../orders/index.ts';
import { bindClaims, bindOwners } from '../owners/index.ts';
import type { Revocations } from '../platform/database/revocations.ts';
import type { Site } from '../platform/http/layout.ts';
import type { Bind, Gate } from '../platform/http/routes.ts';
import { bindChainPositions, bindPositions } from '../positions/index.ts';
import { bindQuotes } from '../quoting/index.ts';
import { bindSkills } from '../skills/index.ts';
import { bindStreams, type Streams } from '../streams/index.ts';
import { bindBatchTrade, bindPrepareTrade, bindSets, bindTrading } from '../trading/index.ts';
import { bindWallet, bindWalletLink } from '../wallets/index.ts';
import { bindWebhooks } from '../webhooks/index.ts';

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
  bindSets,
  bindExits,
  bindPositions,
  bindQuotes,
  bindChainPositions,
  bindJournal,
  bindFees,
  bindVenues,
] as const;

/** All that the listed resources need: a union of functions is called with the intersection of their parameters. */
type NeedsOfEach = (typeof RESOURCES)[number] extends (bind: Bind, needs: infer Needs) => void
  ? Needs
  : never;

export type ResourceNeeds = NeedsOfEach &
  Parameters<typeof bindAgents>[1] &
  Parameters<typeof bindClaims>[1] &
  Parameters<typeof bindOwners>[1] &
  OperatorNeeds;

interface Parts {
  readonly needs: ResourceNeeds;
  readonly gate: Gate;
  /** Makes every replica drop what it remembers of a key. */
  readonly revocations: Pick<Revocations, 'announce'>;
  readonly siteOf: () => Site;
  readonly streams: Streams;
  readonly operator: OperatorParts;
}

export function bindResources(
  bind: Bind,
  { needs, gate, revocations, siteOf, streams, operator }: Parts,
): void {
  bindAgents(bind, needs, revocations.announce);
  bindClaims(bind, needs, gate, siteOf);
  bindOwners(bind, needs, { announce: revocations.announce, rateLimits: gate.rateLimits });
  bindStreams(bind, streams);
  bindOperator(bind, needs, operator);
  for (const bindResource of RESOURCES) bindResource(bind, needs);
}
