/**
 * Empties the webhooks' outbox. Any replica may: an endpoint is leased to one of them at a time, which sends what is
 * due one event after another. A process that dies between sending and noting it sends again: at least once.
 */
import { WEBHOOK_LIMITS } from '@bellwether/contract';
import { utf8, WEBHOOK_SIGNATURE_HEADER, webhookSignature } from '@bellwether/protocol';
import type { Job } from '../platform/scheduler.ts';
import type { SendResult } from './sender.ts';
import type { DeliveryRow, LeasedEndpoint } from './store.ts';
import { recordedEvent, type WebhookNeeds, webhookSecretIdentity } from './subscriptions.ts';

/** Endpoints that one process sends to at the same time; each takes a database connection now and then. */
const ENDPOINTS_AT_ONCE = 32;
/** The most endpoints of one agent, over all processes: an agent whose receivers are slow must not hold up the others. */
const ENDPOINTS_OF_AGENT = 2;
const DELIVERIES_PER_TURN = 20;
const LEASE_MS = 60_000;
/**
 * No attempt begins later in a turn than this. A turn ends well within the lease, and a slow receiver goes to the end of
 * the queue after it.
 */
const SEND_WITHIN_MS = 5_000;
/** How long the log, and callbacks that came in, are kept. */
const KEEP_MS = 7 * 24 * 3_600_000;

interface WebhookCourier {
  /** Starts sending to all endpoints that are due, up to the limit; does not wait for it. */
  tick(): Promise<void>;
  /** Breaks off what is under way, which is sent again later, and waits until nothing is. */
  stop(): Promise<void>;
  sweep(): Promise<void>;
  /** Gives up the oldest of what too many events wait for. */
  trim(): Promise<void>;
}

interface Log {
  warn(context: object, message: string): void;
}

export function createWebhookCourier(needs: WebhookNeeds, log: Log): WebhookCourier {
  const underWay = new Set<Promise<void>>();
  const ending = new AbortController();
  return {
    async tick() {
      const free = ENDPOINTS_AT_ONCE - underWay.size;
      if (free <= 0 || ending.signal.aborted) return;
      for (const endpoint of await needs.webhooks.claim({
        at: needs.clock.now(),
        leaseMs: LEASE_MS,
        limit: free,
        perAgent: ENDPOINTS_OF_AGENT,
      })) {
        const turn = serve(needs, endpoint, ending.signal)
          .catch((error: unknown) =>
            log.warn({ err: error, webhook: endpoint.id }, 'a webhook was not served'),
          )
          .finally(() => underWay.delete(turn));
        underWay.add(turn);
      }
    },
    async stop() {
      ending.abort();
      await Promise.all(underWay);
    },
    async sweep() {
      const now = needs.clock.now();
      await needs.webhooks.sweep(now, now - GIVE_UP_AFTER_MS, now - KEEP_MS);
    },
    async trim() {
      await needs.webhooks.trim(WEBHOOK_LIMITS.pendingPerEndpoint, needs.clock.now());
    },
  };
}

async function serve(needs: WebhookNeeds, endpoint: LeasedEndpoint, signal: AbortSignal): Promise<void> {
  const secret = needs.secrets.open(endpoint.secret, webhookSecretIdentity(endpoint.agentId, endpoint.id));
  const until = needs.clock.now() + SEND_WITHIN_MS;
  let run = { failures: endpoint.failures, failingSince: endpoint.failingSince };
  for (const delivery of await needs.webhooks.due(endpoint.id, needs.clock.now(), DELIVERIES_PER_TURN)) {
    if (signal.aborted || needs.clock.now() >= until) break;
    const result = await needs.webhookSender.send(requestFor(needs, endpoint, secret, delivery), signal);
    if (result.kind === 'aborted') break;
    const at = needs.clock.now();
    if (result.kind === 'answered' && result.status >= 200 && result.status < 300) {
      await needs.webhooks.delivered(delivery, result.status, at);
      run = { failures: 0, failingSince: null };
      continue;
    }
    run = { failures: run.failures + 1, failingSince: run.failingSince ?? at };
    const next = afterFailure({
      at,
      attempts: delivery.attempts + 1,
      createdAt: delivery.createdAt,
      failures: run.failures,
      failingSince: run.failingSince ?? at,
      retryAfterMs: result.kind === 'answered' ? result.retryAfterMs : null,
      chance: Math.random(),
    });
    await needs.webhooks.failed(delivery, {
      at,
      ...next,
      responseStatus: result.kind === 'answered' ? result.status : null,
      error: reasonOf(result),
    });
    if (next.holdUntil !== null || next.switchOff) break;
  }
  await needs.webhooks.release(endpoint);
}

const reasonOf = (result: Exclude<SendResult, { kind: 'aborted' }>): string =>
  result.kind === 'failed'
    ? result.reason
    : result.status >= 300 && result.status < 400
      ? `answered ${result.status}; redirects are not followed`
      : `answered ${result.status}`;

function requestFor(needs: WebhookNeeds, endpoint: LeasedEndpoint, secret: string, delivery: DeliveryRow) {
  const at = needs.clock.now();
  const body = utf8(JSON.stringify({ ...recordedEvent(delivery), sentAt: new Date(at).toISOString() }));
  return {
    url: endpoint.url,
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      [WEBHOOK_SIGNATURE_HEADER]: webhookSignature(secret, body),
      'x-event-id': delivery.eventId,
      'x-event-type': delivery.type,
      'x-timestamp': String(at),
      'x-delivery-id': delivery.id.toString(),
      'x-delivery-attempt': String(delivery.attempts + 1),
    },
  };
}

/**
 * When the next attempt of a webhook follows, and when it is given up. Pauses double from five seconds to an hour and
 * vary by up to a quarter. An event is given up when its next attempt would be more than a day after the event.
 *
 * Order: an endpoint receives one event at a time, oldest first. A failed event holds back later events during its
 * first attempts, so that a short outage does not change the order; after that the later events are sent, so that one
 * event that a receiver cannot process does not block the rest.
 */
export const FIRST_PAUSE_MS = 5_000;
export const LONGEST_PAUSE_MS = 3_600_000;
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** 5 + 10 + 20 + 40 + 80 seconds. */
export const HOLD_ATTEMPTS = 5;
/** An endpoint is switched off after this many failures in a row ... */
export const SWITCH_OFF_AFTER_FAILURES = 20;
/** ... over at least this time: a short outage of a busy agent's receiver must not switch it off. */
export const SWITCH_OFF_AFTER_MS = 6 * 3_600_000;

interface Failure {
  readonly at: number;
  /** Attempts of this event, including the failed one. */
  readonly attempts: number;
  /** Time of the event. */
  readonly createdAt: number;
  /** Consecutive failures of the endpoint, including this one; and the time of the first. */
  readonly failures: number;
  readonly failingSince: number;
  /** The receiver's `Retry-After`. */
  readonly retryAfterMs: number | null;
  /** 0 ≤ chance < 1. */
  readonly chance: number;
}

interface Consequence {
  /** `null`: given up. */
  readonly nextAttemptAt: number | null;
  /** `null`: later events are sent. */
  readonly holdUntil: number | null;
  readonly switchOff: boolean;
}

export function afterFailure(failure: Failure): Consequence {
  const doubled = FIRST_PAUSE_MS * 2 ** Math.min(failure.attempts - 1, 30);
  const pause = Math.min(LONGEST_PAUSE_MS, Math.max(doubled, failure.retryAfterMs ?? 0));
  const next = failure.at + Math.round(pause * (0.75 + failure.chance / 2));
  const givenUp = next > failure.createdAt + GIVE_UP_AFTER_MS;
  return {
    nextAttemptAt: givenUp ? null : next,
    holdUntil: !givenUp && failure.attempts <= HOLD_ATTEMPTS ? next : null,
    switchOff:
      failure.failures >= SWITCH_OFF_AFTER_FAILURES &&
      failure.at - failure.failingSince >= SWITCH_OFF_AFTER_MS,
  };
}

export const webhookJobs = (courier: Omit<WebhookCourier, 'stop'>): readonly Job[] => [
  { name: 'webhooks', everyMs: 500, run: courier.tick },
  { name: 'sweep webhooks', everyMs: 3_600_000, run: courier.sweep },
  { name: 'trim webhooks', everyMs: 10_000, run: courier.trim },
];
