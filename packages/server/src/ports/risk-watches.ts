/** Whose risk alerts somebody may read of, and which of these alerts stand. Times are epoch milliseconds. */
import type { ActingAgent } from '../domain/records.ts';

export interface RiskWatches {
  /** Streams of these agents are open, and may be resumed until then. */
  listen(agents: readonly string[], until: number): Promise<void>;
  /**
   * At most `limit` agents that nobody has looked at since `dueBefore`, the one that waited longest first. Another caller gets
   * others.
   */
  claim(due: {
    readonly at: number;
    readonly dueBefore: number;
    readonly limit: number;
  }): Promise<readonly ActingAgent[]>;
  /** Records which alerts of an agent stand, by name, and logs those that were not there the last time. */
  raise(
    agentId: string,
    alerts: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
    at: number,
  ): Promise<void>;
  /** Forgets agents whom nobody listens for any more. */
  sweep(at: number): Promise<void>;
}
