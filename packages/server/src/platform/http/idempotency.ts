/** Idempotency keys: one effect per key, the first answer again afterwards. */
import type { Clock } from '../clock.ts';
import { type IdempotencyStore, keyInFlight, type Run } from '../database/idempotency-store.ts';
import { type Refusal, refusal } from '../refusal.ts';

/** Between two counts of an agent that is full. */
const FULL_RETRY_S = 30;
const COUNTS_PER_CAP = 40;
const MAX_ROOMS = 50_000;
const MS = 1000;
const OK = 200;

interface Answer {
  readonly status: number;
  /** The body as sent. */
  readonly body: string;
}

interface KeyedRequest {
  /** The agent, or the address and body of a public route. */
  readonly scope: string;
  /** The scope is an agent's, whose keys are counted. */
  readonly isCapped: boolean;
  readonly isSecret: Run['isSecret'];
  readonly route: string;
  readonly key: string;
  readonly bodyHash: Uint8Array;
}

export interface Idempotency {
  /** @returns the first answer, or a run of the request, now in flight. @throws Refusal */
  begin(request: KeyedRequest): Promise<Answer | Run>;
  /** Carries the request out. */
  readonly running: IdempotencyStore['running'];
  /** Only answers given after an effect are kept; secret ones without their body. */
  finish(run: Run, answer: Answer): Promise<void>;
}

interface IdempotencyOptions {
  readonly store: IdempotencyStore;
  readonly clock: Clock;
  /** Kept at a time, of one agent. */
  readonly keysPerAgent: number;
}

export function createIdempotency(needs: IdempotencyOptions): Idempotency {
  const rooms = createRooms(needs);
  return {
    async begin({ scope, isCapped, isSecret, route, key, bodyHash }) {
      const state = await needs.store.begin(scope, route, key, bodyHash, {
        ...{ at: needs.clock.now(), isSecret },
      });
      switch (state.kind) {
        case 'new': {
          const { run } = state;
          if (isSecret && run.kept !== null) {
            // Made by a run before, and known to that run alone.
            await needs.store.answer(run, OK, null);
            throw secretShown();
          }
          if (!isCapped || (await rooms.take(scope))) return run;
          await needs.store.release(run);
          throw refusal(
            'idempotency_limit_reached',
            `This agent has ${needs.keysPerAgent} idempotency keys that are younger than 24 hours.`,
            { retryAfterS: FULL_RETRY_S },
          );
        }
        case 'replay':
          return { status: state.status, body: state.body };
        case 'in_flight':
          throw keyInFlight();
        case 'other_body':
          throw refusal(
            'idempotency_key_reused',
            'This Idempotency-Key belongs to a request with another body.',
          );
        case 'secret':
          throw secretShown();
      }
    },
    running: needs.store.running,
    async finish(run, { status, body }) {
      if (status >= 200 && status < 300) await needs.store.answer(run, status, run.isSecret ? null : body);
      else if (await needs.store.release(run)) rooms.giveBack(run.scope);
    },
  };
}

const secretShown = (): Refusal =>
  refusal(
    'secret_already_shown',
    'The request with this Idempotency-Key was carried out. Its answer carried a secret, which is sent once.',
  );

interface Room {
  left: number;
  readonly countedAt: number;
}

/**
 * How many more keys an agent may use. Counting is a walk over its rows, so it is done once for many keys: each process
 * takes a part of what is free at a time, and replicas together may pass the cap by one part each.
 */
function createRooms({ store, clock, keysPerAgent }: IdempotencyOptions) {
  const rooms = new Map<string, Room>();
  const part = Math.max(1, Math.floor(keysPerAgent / COUNTS_PER_CAP));
  return {
    async take(scope: string): Promise<boolean> {
      const known = rooms.get(scope);
      const now = clock.now();
      if (known !== undefined && known.left > 0) {
        known.left -= 1;
        return true;
      }
      if (known !== undefined && known.left < 0 && now - known.countedAt < FULL_RETRY_S * MS) return false;
      if (rooms.size >= MAX_ROOMS) rooms.clear();
      // The key that asks is counted already.
      const free = keysPerAgent - (await store.count(scope, now, keysPerAgent + 1));
      rooms.set(scope, { left: free < 0 ? -1 : Math.min(free, part), countedAt: now });
      return free >= 0;
    },
    giveBack(scope: string): void {
      const room = rooms.get(scope);
      if (room !== undefined && room.left >= 0) room.left += 1;
    },
  };
}
