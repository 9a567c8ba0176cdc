/** Idempotency keys: one effect per key, the first answer again afterwards. */
import type { Clock } from '../ports/clock.ts';
import type { IdempotencyStore } from '../ports/stores.ts';
import { refusal } from './refusal.ts';

const IN_FLIGHT_RETRY_S = 1;

export interface Answer {
  readonly status: number;
  /** The body as sent. */
  readonly body: string;
}

export interface KeyedRequest {
  /** The agent, or the address of a public route. */
  readonly scope: string;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: Uint8Array;
}

export interface Idempotency {
  /** @returns the first answer, or `null` when the request is new and now in flight. @throws Refusal */
  begin(request: KeyedRequest): Promise<Answer | null>;
  /** Only answers given after an effect are kept; `secret` ones without their body. */
  finish(request: KeyedRequest, answer: Answer, secret: boolean): Promise<void>;
}

export function createIdempotency(deps: { store: IdempotencyStore; clock: Clock }): Idempotency {
  return {
    async begin({ scope, route, key, bodyHash }) {
      const state = await deps.store.begin(scope, route, key, bodyHash, deps.clock.now());
      switch (state.kind) {
        case 'new':
          return null;
        case 'replay':
          return { status: state.status, body: state.body };
        case 'in_flight':
          throw refusal('idempotency_in_flight', 'A request with this Idempotency-Key is in flight.', {
            retryAfterS: IN_FLIGHT_RETRY_S,
          });
        case 'other_body':
          throw refusal(
            'idempotency_key_reused',
            'This Idempotency-Key belongs to a request with another body.',
          );
        case 'secret':
          throw refusal(
            'secret_already_shown',
            'The first answer to this Idempotency-Key carried a secret, which is shown once.',
          );
      }
    },
    async finish({ scope, route, key }, { status, body }, secret) {
      if (status >= 200 && status < 300)
        await deps.store.keep(scope, route, key, status, secret ? null : body);
      else await deps.store.release(scope, route, key);
    },
  };
}
