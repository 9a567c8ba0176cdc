/**
 * Logs a `risk` fact when an alert of the briefing is raised: once while it stands, again when it comes back. Looked at are the
 * agents of which somebody may read it: by a stream that is open or may be resumed, or by a webhook. Replicas divide them, and
 * a turn has a bound, so however many listen, their watch takes no more than its share of a process.
 */
import type { RiskAlert } from '@bellwether/contract';
import type { ActingAgent } from '../domain/records.ts';
import { type BriefingNeeds, briefing } from './briefing.ts';
import type { RiskWatches } from './risk-watches.ts';

export interface WatchRisksNeeds extends BriefingNeeds {
  readonly riskWatches: RiskWatches;
}

/** Briefings that are asked for together share their statement. */
const AGENTS_AT_ONCE = 10;
const AGENTS_PER_TURN = 1_000;

/** Name that an alert keeps while it stands: its figures may change. */
const nameOf = (alert: RiskAlert): string => `${alert.code} ${alert.marketId ?? ''}`;

async function watch(needs: WatchRisksNeeds, agent: ActingAgent): Promise<void> {
  const { riskAlerts } = await briefing(needs, agent, { includeMarkets: false });
  const alerts = new Map(riskAlerts.map((alert) => [nameOf(alert), { ...alert }]));
  await needs.riskWatches.raise(agent.agentId, alerts, needs.clock.now());
}

/** @param everyMs agents that somebody looked at since then wait for a later turn */
export async function watchRisks(needs: WatchRisksNeeds, everyMs = 0): Promise<void> {
  const at = needs.clock.now();
  const due = [...(await needs.riskWatches.claim({ at, dueBefore: at - everyMs, limit: AGENTS_PER_TURN }))];
  const work = async () => {
    for (let agent = due.pop(); agent !== undefined; agent = due.pop()) await watch(needs, agent);
  };
  await Promise.all(Array.from({ length: AGENTS_AT_ONCE }, work));
}
