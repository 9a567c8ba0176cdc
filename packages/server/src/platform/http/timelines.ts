/**
 * What replicas tell each other of a database of several hosts: the latest timeline of PostgreSQL that each has seen. A replica that reaches only a
 * primary which was replaced, and still answers, learns of its successor from those that use it (docs/decisions/database.md).
 */
import type { Sql } from '../database/connection.ts';
import type { ReplicaWatch } from '../database/replica-watch.ts';
import { REPLICA_HEADER, REPLICA_PATHS, readBounded } from './replicas.ts';

export interface TimelinesNeeds {
  readonly sql: Sql;
  readonly others: Pick<ReplicaWatch, 'introduce' | 'addresses'>;
  /** Proves to another replica that a call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  readonly log: { error(context: object, message: string): void };
}

export interface Timelines {
  /** Makes this replica known to the others, at its address, and exchanges timelines with each of them. */
  tell(): Promise<void>;
  /** Answers another replica that tells its own. */
  answer(text: string): Promise<string>;
}

const PATH = REPLICA_PATHS.timeline;
const ANSWER_WITHIN_MS = 2_000;
/** A timeline, or another service's page that says that it knows no such route. */
const MAX_ANSWER_BYTES = 64 * 1024;

export function createTimelines({ sql, others, sign, log }: TimelinesNeeds): Timelines {
  const hear = (told: string, from: string): void => {
    if (sql.hearTimeline(told))
      log.error(
        { from, timeline: told },
        'another replica uses a database that was promoted: connections to earlier ones are given up',
      );
  };

  const ask = async (url: string): Promise<void> => {
    const body = sql.timeline();
    const response = await fetch(url + PATH, {
      method: 'POST',
      headers: {
        [REPLICA_HEADER]: sign({ method: 'POST', path: PATH, body }),
        'content-type': 'text/plain',
      },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await readBounded(response, MAX_ANSWER_BYTES);
    if (response.ok) hear(text, url);
  };

  return {
    async tell() {
      if (sql.timeline() === '') return;
      // One that does not answer, or a database that does not, keeps nothing from the others.
      await Promise.allSettled([others.introduce(), ...others.addresses().map(ask)]);
    },
    async answer(text) {
      hear(text, 'a replica that asked');
      return sql.timeline();
    },
  };
}
