/**
 * Empties the webhooks' outbox. Any replica may: an endpoint is leased to one of them at a time, which sends what is
 * due one event after another. A process that dies between sending and noting it sends again: at least once.
 */
import { WEBHOOK_LIMITS } from '@bellwether/contract';
import { utf8, WEBHOOK_SIGNATURE_HEADER, webhookSignature } from '@bellwether/protocol';
import type { Clock } from '../platform/clock.ts';
import type { Secrets } from '../platform/secrets.ts';
import { afterFailure, GIVE_UP_AFTER_MS } from './rules.ts';
import type { SendResult, WebhookSender } from './sender.ts';
import type { DeliveryRow, LeasedEndpoint, WebhookStore } from './store.ts';
import { recordedEvent, webhookSecretIdentity } from './subscriptions.ts';

export interface DeliverWebhooksNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly webhooks: WebhookStore;
  readonly webhookSender: WebhookSender;
}

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

export interface WebhookCourier {
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

export function createWebhookCourier(needs: DeliverWebhooksNeeds, log: Log): WebhookCourier {
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

async function serve(
  needs: DeliverWebhooksNeeds,
  endpoint: LeasedEndpoint,
  signal: AbortSignal,
): Promise<void> {
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

function requestFor(
  needs: DeliverWebhooksNeeds,
  endpoint: LeasedEndpoint,
  secret: string,
  delivery: DeliveryRow,
) {
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
