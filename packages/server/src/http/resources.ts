/** The resources of the interface, each bound to its use cases. One that is added here says by its type what it needs. */
import { bindAgentReads } from './agent-reads.ts';
import { bindAgents } from './agents.ts';
import { bindApprovals } from './approvals.ts';
import { bindBatchTrade } from './batch-trade.ts';
import { bindBriefing } from './briefing.ts';
import { bindChainPositions } from './chain-positions.ts';
import { bindClaims } from './claims.ts';
import { bindFees } from './fees.ts';
import { bindJournal } from './journal.ts';
import { bindMarkets } from './markets.ts';
import { bindOperator, type OperatorNeeds, type OperatorParts } from './operator.ts';
import { bindOrders } from './orders.ts';
import { bindOwnerConsole } from './owner-console.ts';
import { bindOwners } from './owners.ts';
import type { Site } from './pages/layout.ts';
import { bindPositions } from './positions.ts';
import { bindPrepareTrade } from './prepare-trade.ts';
import { bindQuotes } from './quotes.ts';
import type { Bind, Gate } from './routes.ts';
import { bindSkills } from './skills.ts';
import { bindStreams, type Streams } from './streams.ts';
import { bindTrading } from './trading.ts';
import { bindVenues } from './venues.ts';
import { bindWallet } from './wallet.ts';
import { bindWalletLink } from './wallet-link.ts';
import { bindWebhooks } from './webhooks.ts';

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
