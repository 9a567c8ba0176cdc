/**
 * Tells endpoints that subscribe to `risk` when an alert of the briefing is raised: once while it stands, again when it
 * comes back. Agents that nobody listens for cost nothing.
 */
import type { RiskAlert } from '@bellwether/contract';
import type { ActingAgent } from '../ports/stores.ts';
import type { WebhookStore } from '../ports/webhooks.ts';
import { type BriefingNeeds, briefing } from './briefing.ts';

export interface WatchRisksNeeds extends BriefingNeeds {
  readonly webhooks: WebhookStore;
}

const AGENTS_AT_ONCE = 4;

/** What keeps its name while an alert stands: its figures may change. */
const nameOf = (alert: RiskAlert): string => `${alert.code} ${alert.marketId ?? ''}`;

async function watch(needs: WatchRisksNeeds, agent: ActingAgent): Promise<void> {
  const { riskAlerts } = await briefing(needs, agent, { includeMarkets: false });
  const alerts = new Map(riskAlerts.map((alert) => [nameOf(alert), { ...alert }]));
  await needs.webhooks.raise(agent.agentId, alerts, needs.clock.now());
}

export async function watchRisks(needs: WatchRisksNeeds): Promise<void> {
  const listeners = [...(await needs.webhooks.listeners('risk'))];
  const work = async () => {
    for (let agent = listeners.pop(); agent !== undefined; agent = listeners.pop()) await watch(needs, agent);
  };
  await Promise.all(Array.from({ length: AGENTS_AT_ONCE }, work));
}
