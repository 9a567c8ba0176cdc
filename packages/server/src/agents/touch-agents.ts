import type { Authenticator } from '../platform/http/authenticate.ts';
import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 5_000;

export interface TouchAgentsNeeds {
  readonly authenticator: Pick<Authenticator, 'drainCalls'>;
  readonly agents: { touch(calls: ReturnType<Authenticator['drainCalls']>): Promise<void> };
}

/** Writes when each agent called last: from memory, because a write for each request would cost a trip. */
export const touchAgentsJob = ({ authenticator, agents }: TouchAgentsNeeds): Job => ({
  name: 'touch',
  everyMs: EVERY_MS,
  async run() {
    const calls = authenticator.drainCalls();
    if (calls.size > 0) await agents.touch(calls);
  },
});
