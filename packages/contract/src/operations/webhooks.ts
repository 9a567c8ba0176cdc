import { type Static, Type } from 'typebox';
import { RecordedEvent, WEBHOOK_SUBSCRIPTIONS } from '../events.ts';
import { formed, Iso, lines, Nullable, pageQuery, Uuid } from '../fields.ts';
import { operation } from '../operation.ts';

export const WEBHOOK_LIMITS = {
  urlChars: 2000,
  descriptionChars: 200,
  endpointsPerAgent: 10,
  deliveriesPerPage: 100,
  /** Events that wait for one endpoint; beyond it, the oldest are given up. */
  pendingPerEndpoint: 5_000,
} as const;

// A union that is made from a list has no type of its own.
const Subscription = Type.Unsafe<(typeof WEBHOOK_SUBSCRIPTIONS)[number]>(
  Type.Union(
    WEBHOOK_SUBSCRIPTIONS.map((name) => Type.Literal(name)),
    { description: '`*` for everything, `order.*` for every status of orders' },
  ),
);

export const WebhookRequest = Type.Object({
  url: formed('^[!-~]+$', 'a URL in ASCII without spaces', {
    minLength: 1,
    maxLength: WEBHOOK_LIMITS.urlChars,
    description: 'https, on port 443, on a public address',
    examples: ['https://hooks.example.com/bellwether'],
  }),
  events: Type.Array(Subscription, {
    minItems: 1,
    maxItems: WEBHOOK_SUBSCRIPTIONS.length,
    uniqueItems: true,
  }),
  description: Type.Optional(lines(WEBHOOK_LIMITS.descriptionChars)),
});

const record = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: Type.String(),
  status: Type.Union([Type.Literal('enabled'), Type.Literal('disabled')], {
    description: 'switched off after repeated failure; POST /webhooks/{id}/enable switches it on again',
  }),
  consecutiveFailures: Type.Integer({ description: 'failed attempts since the last that succeeded' }),
  failingSince: Nullable(Iso),
  lastSuccessAt: Nullable(Iso),
  disabledAt: Nullable(Iso),
  pendingDeliveries: Type.Integer({
    description: 'events that wait to be delivered; beyond 5,000 the oldest are given up',
  }),
  createdAt: Iso,
};

export const Webhook = Type.Object(record);
export const NewWebhook = Type.Object({
  ...record,
  secret: Type.String({
    description: 'signs what is sent: x-signature is the hex HMAC-SHA256 of the raw body; shown once',
  }),
});

export const WebhookDelivery = Type.Object({
  id: Type.String({ description: 'rises with the order in which events were recorded' }),
  webhookId: Type.String(),
  event: RecordedEvent,
  status: Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')], {
    description: 'failed: given up after 24 hours, or because too many newer events waited',
  }),
  attempts: Type.Integer(),
  lastAttemptAt: Nullable(Iso),
  nextAttemptAt: Nullable(Iso),
  responseStatus: Nullable(Type.Integer({ description: "the last answer's HTTP status" })),
  error: Nullable(Type.String({ description: 'why the last attempt failed' })),
});

const WebhookId = Type.Object({
  id: Uuid,
});

const shared = { tag: 'webhooks', permission: 'agent', rateClass: 'read', status: 200 } as const;

/** The answer's `secret` is shown once: keep it for `verifyWebhook`. */
export const createWebhook = operation({
  ...shared,
  id: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  summary: "Register a URL for the agent's events",
  description:
    'Each event is one POST with a JSON body {id, type, createdAt, agentId, data} and the headers x-signature (hex HMAC-SHA256 of the raw body with the endpoint’s secret), x-event-id, x-event-type and x-timestamp (epoch milliseconds of the attempt). Any 2xx within 10 seconds is a delivery; redirects are not followed. Anything else is tried again with growing pauses for 24 hours. Delivery is at least once: the id is the key by which a receiver ignores repeats. Events go out one at a time in the order in which they were recorded; one that fails holds back those behind it for its first five attempts, about two minutes, and is overtaken after that.',
  idempotent: true,
  secretAnswer: true,
  body: WebhookRequest,
  response: NewWebhook,
  errors: ['webhook_url_refused', 'webhook_limit_reached'],
});

export const listWebhooks = operation({
  ...shared,
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  summary: "List the agent's webhooks and the state of their deliveries",
  response: Type.Array(Webhook),
  errors: [],
});

export const deleteWebhook = operation({
  ...shared,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/{id}',
  summary: 'Delete a webhook and its waiting events',
  idempotent: true,
  params: WebhookId,
  response: Type.Object({ success: Type.Literal(true), id: Type.String() }),
  errors: ['webhook_not_found'],
});

/** Switches it on again after repeated failure. */
export const enableWebhook = operation({
  ...shared,
  id: 'enableWebhook',
  method: 'POST',
  path: '/webhooks/{id}/enable',
  summary: 'Switch a webhook on again, and deliver its waiting events at once',
  idempotent: true,
  params: WebhookId,
  response: Webhook,
  errors: ['webhook_not_found'],
});

export const testWebhook = operation({
  ...shared,
  id: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{id}/test',
  summary: 'Send a webhook.test event; the delivery log shows the outcome',
  idempotent: true,
  params: WebhookId,
  response: WebhookDelivery,
  errors: ['webhook_not_found', 'webhook_disabled'],
});

export const listWebhookDeliveries = operation({
  ...shared,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  summary: 'The delivery log of a webhook, newest first; kept for seven days',
  params: WebhookId,
  query: Type.Object({
    status: Type.Optional(
      Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')]),
    ),
    ...pageQuery(WEBHOOK_LIMITS.deliveriesPerPage, 20),
    before: Type.Optional(
      formed('^[0-9]{1,18}$', 'the id of a delivery, in digits', {
        description: 'only deliveries with a smaller id',
      }),
    ),
  }),
  unknownFields: 'refuse',
  response: Type.Array(WebhookDelivery),
  errors: ['webhook_not_found', 'contradictory_filter'],
});

export const receiveWebhook = operation({
  ...shared,
  permission: 'public',
  id: 'receiveWebhook',
  method: 'POST',
  path: '/webhooks/inbound/{source}',
  summary: "Take a venue's or signing provider's callback",
  description:
    'Header x-signature: hex HMAC-SHA256 of the raw body with the secret configured for the source. A body that came before is answered alike and stored once.',
  idempotent: true,
  params: Type.Object({ source: Type.String({ minLength: 1, maxLength: 100 }) }),
  unknownFields: 'ignore',
  body: Type.Unknown({ description: 'any media type: the bytes are what is signed and stored' }),
  response: Type.Object({ received: Type.Literal(true) }),
  errors: ['webhook_signature_invalid'],
});

export type WebhookRequest = Static<typeof WebhookRequest>;
export type Webhook = Static<typeof Webhook>;
export type NewWebhook = Static<typeof NewWebhook>;
export type WebhookDelivery = Static<typeof WebhookDelivery>;
