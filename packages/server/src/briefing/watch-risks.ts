/**
 * Logs a `risk` fact when an alert of the briefing is raised: once while it stands, again when it comes back. Looked at are the
 * agents of which somebody may read it: by a stream that is open or may be resumed, or by a webhook. Replicas divide them, and
 * a turn has a bound, so however many listen, their watch takes no more than its share of a process.
 */
import type { RiskAlert } from '@bellwether/contract';
import type { ActingAgent } from '../domain/records.ts';
import type { Job } from '../platform/scheduler.ts';
import { briefing } from './briefing.ts';
import type { BriefingNeeds } from './standing.ts';
import type { RiskWatches } from './store.ts';

/** Briefings that are asked for together share their statement. */
const AGENTS_AT_ONCE = 10;
const AGENTS_PER_TURN = 1_000;

/** Name that an alert keeps while it stands: its figures may change. */
const nameOf = (alert: RiskAlert): string => `${alert.code} ${alert.marketId ?? ''}`;

type WatchNeeds = BriefingNeeds & { readonly riskWatches: RiskWatches };

async function watch(needs: WatchNeeds, agent: ActingAgent): Promise<void> {
  const { riskAlerts } = await briefing(needs, agent, { includeMarkets: false });
  const alerts = new Map(riskAlerts.map((alert) => [nameOf(alert), { ...alert }]));
  await needs.riskWatches.raise(agent.agentId, alerts, needs.clock.now());
}

/** @param everyMs agents that somebody looked at since then wait for a later turn */
export async function watchRisks(needs: WatchNeeds, everyMs = 0): Promise<void> {
  const at = needs.clock.now();
  const due = [...(await needs.riskWatches.claim({ at, dueBefore: at - everyMs, limit: AGENTS_PER_TURN }))];
  const work = async () => {
    for (let agent = due.pop(); agent !== undefined; agent = due.pop()) await watch(needs, agent);
  };
  await Promise.all(Array.from({ length: AGENTS_AT_ONCE }, work));
}

/** Between two looks at an agent; less than three turns, so that the third is not missed by a moment. */
const AGENT_EVERY_MS = 28_000;

/**
 * @param needs.takeListeners tells the agents whose streams were open here since the last call
 * @param needs.retentionMs so long a stream may be resumed
 */
export const briefingJobs = (
  needs: WatchNeeds & { readonly takeListeners: () => readonly string[]; readonly retentionMs: number },
): readonly Job[] => {
  const { riskWatches, clock, takeListeners, retentionMs } = needs;
  return [
    {
      name: 'watch risks',
      // So soon a stream that was just opened gets the alerts that stand.
      everyMs: 10_000,
      async run() {
        await riskWatches.listen(takeListeners(), clock.now() + retentionMs);
        await watchRisks(needs, AGENT_EVERY_MS);
      },
    },
    { name: 'sweep risk watches', everyMs: 3_600_000, run: () => riskWatches.sweep(clock.now()) },
  ];
};
