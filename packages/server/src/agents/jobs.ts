import type { Authenticator } from '../platform/http/authenticate.ts';
import type { Job } from '../platform/scheduler.ts';

export interface AgentJobsNeeds {
  readonly authenticator: Pick<Authenticator, 'drainCalls'>;
  readonly agents: { touch(calls: ReturnType<Authenticator['drainCalls']>): Promise<void> };
}

/** Writes when each agent called last: from memory, because a write for each request would cost a trip. */
export async function touchAgents({ authenticator, agents }: AgentJobsNeeds): Promise<void> {
  const calls = authenticator.drainCalls();
  if (calls.size > 0) await agents.touch(calls);
}

export const agentJobs = (needs: AgentJobsNeeds): readonly Job[] => [
  { name: 'touch', everyMs: 5_000, run: () => touchAgents(needs) },
];
