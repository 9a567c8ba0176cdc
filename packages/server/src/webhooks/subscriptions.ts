/** Webhook endpoints of an agent, their log, and callbacks that come in. Sending is another file's work. */
import {
  type NewWebhook,
  type RecordedEvent,
  WEBHOOK_EVENTS,
  WEBHOOK_LIMITS,
  type Webhook,
  type WebhookDelivery,
  WebhookEvent,
  type WebhookRequest,
} from '@bellwether/contract';
import { hexToBytes, verifyWebhookSignature } from '@bellwether/protocol';
import type { ActingAgent } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { WebhookSender } from './sender.ts';
import type { DeliveryRow, EndpointRow, WebhookStore } from './store.ts';

export interface WebhookNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly webhooks: WebhookStore;
  readonly webhookSender: WebhookSender;
  readonly inboundSources: InboundSources;
}

/** Binds a sealed secret to its row. */
export const webhookSecretIdentity = (agentId: string, id: string): string => `webhooks/${agentId}/${id}`;

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function webhookRecord(row: EndpointRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: [...row.events],
    description: row.description,
    status: row.enabled ? 'enabled' : 'disabled',
    consecutiveFailures: row.failures,
    failingSince: iso(row.failingSince),
    lastSuccessAt: iso(row.lastSuccessAt),
    disabledAt: iso(row.disabledAt),
    pendingDeliveries: row.pending,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}

/** Made from the row alone, so that it is the same in every attempt. */
export const recordedEvent = (row: DeliveryRow): RecordedEvent => ({
  id: row.eventId,
  type: row.type,
  createdAt: new Date(row.createdAt).toISOString(),
  agentId: row.agentId,
  data: { ...row.data },
});

const deliveryRecord = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id.toString(),
  webhookId: row.endpointId,
  event: recordedEvent(row),
  status: row.status,
  attempts: row.attempts,
  lastAttemptAt: iso(row.lastAttemptAt),
  nextAttemptAt: iso(row.nextAttemptAt),
  responseStatus: row.responseStatus,
  error: row.error,
});

export async function createWebhook(
  needs: WebhookNeeds,
  caller: ActingAgent,
  request: WebhookRequest,
): Promise<NewWebhook> {
  const fault = needs.webhookSender.refuse(request.url);
  if (fault !== null) throw refusal('webhook_url_refused', fault, { path: 'url' });
  const id = needs.secrets.newId();
  const secret = `whsec_${needs.secrets.newToken()}`;
  const endpoint = {
    id,
    agentId: caller.agentId,
    url: request.url,
    events: request.events,
    description: request.description ?? '',
    secret: needs.secrets.seal(secret, webhookSecretIdentity(caller.agentId, id)),
    createdAt: needs.clock.now(),
  };
  if (!(await needs.webhooks.add(endpoint, WEBHOOK_LIMITS.endpointsPerAgent))) {
    throw refusal(
      'webhook_limit_reached',
      `An agent has at most ${WEBHOOK_LIMITS.endpointsPerAgent} webhooks.`,
    );
  }
  return { ...webhookRecord(await requireWebhook(needs, caller, id)), secret };
}

export const listWebhooks = async (needs: WebhookNeeds, caller: ActingAgent): Promise<Webhook[]> =>
  (await needs.webhooks.list(caller.agentId)).map(webhookRecord);

async function requireWebhook(needs: WebhookNeeds, caller: ActingAgent, id: string): Promise<EndpointRow> {
  const row = await needs.webhooks.byId(caller.agentId, id);
  if (row === null) throw refusal('webhook_not_found');
  return row;
}

export async function deleteWebhook(
  needs: WebhookNeeds,
  caller: ActingAgent,
  id: string,
): Promise<{ success: true; id: string }> {
  if (!(await needs.webhooks.remove(caller.agentId, id))) throw refusal('webhook_not_found');
  return { success: true, id };
}

export async function enableWebhook(needs: WebhookNeeds, caller: ActingAgent, id: string): Promise<Webhook> {
  await needs.webhooks.enable(caller.agentId, id, needs.clock.now());
  return webhookRecord(await requireWebhook(needs, caller, id));
}

export async function testWebhook(
  needs: WebhookNeeds,
  caller: ActingAgent,
  id: string,
): Promise<WebhookDelivery> {
  const endpoint = await requireWebhook(needs, caller, id);
  if (!endpoint.enabled)
    throw refusal('webhook_disabled', 'The webhook was switched off after repeated failure.');
  const row = await needs.webhooks.tellEndpoint(id, needs.secrets.newId(), {
    agentId: caller.agentId,
    type: 'webhook.test',
    data: { webhookId: id, message: 'A test, asked for with POST /webhooks/{id}/test.' },
    at: needs.clock.now(),
  });
  return deliveryRecord(row);
}

interface DeliveriesQuery extends PageQuery {
  readonly status?: DeliveryRow['status'];
  readonly before?: string;
}

const cursorOfDelivery = ({ createdAt, id }: DeliveryRow): string =>
  cursorOf({ at: createdAt, id: id.toString() });

export async function listWebhookDeliveries(
  needs: WebhookNeeds,
  caller: ActingAgent,
  id: string,
  query: DeliveriesQuery,
): Promise<Page<WebhookDelivery>> {
  await requireWebhook(needs, caller, id);
  const { status, before } = query;
  const { after, ...window } = windowOf(query, PLACES.byNumber);
  if (after !== undefined && before !== undefined)
    throw refusal('contradictory_filter', 'cursor and before both say where the page begins.', {
      path: 'before',
    });
  const from = after?.id ?? before;
  const { rows, total } = await needs.webhooks.deliveries(caller.agentId, id, {
    ...window,
    ...(status === undefined ? {} : { status }),
    ...(from === undefined ? {} : { before: BigInt(from) }),
  });
  return { ...pageOf(rows, query, deliveryRecord, cursorOfDelivery), total };
}

interface Callback {
  readonly source: string;
  readonly signature: string | undefined;
  /** The bytes as they came. */
  readonly body: Uint8Array;
}

/** Checked in place of the secret of a source that is not configured, so that both take the same time. */
const NO_SECRET = 'no such source, and this secret belongs to none';

/** @throws Refusal webhook_signature_invalid: the same for a wrong signature and for a source that is not configured */
export async function receiveWebhook(
  needs: WebhookNeeds,
  { source, signature, body }: Callback,
): Promise<{ received: true }> {
  const secret = needs.inboundSources.secretOf(source);
  const signed = verifyWebhookSignature(secret ?? NO_SECRET, body, signature);
  if (secret === null || !signed || signature === undefined)
    throw refusal('webhook_signature_invalid', 'The signature does not fit the body and the source.');
  await needs.webhooks.receive({
    source,
    signature: hexToBytes(signature),
    body,
    at: needs.clock.now(),
  });
  return { received: true };
}

/** The sources that may call in, and their secrets. */
interface InboundSources {
  secretOf(source: string): string | null;
}

// The events that the service sends, as the OpenAPI document's `webhooks`.

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const PARAMETERS = [
  header('x-signature', 'hex HMAC-SHA256 of the raw body with the secret of the endpoint'),
  header('x-event-id', 'the same as `id` in the body, in every attempt'),
  header('x-event-type', 'the same as `type` in the body'),
  header('x-timestamp', 'epoch milliseconds of this attempt'),
  header('x-delivery-id', 'rises with the order in which events were recorded'),
  header('x-delivery-attempt', '1 for the first attempt'),
];

export const openapiWebhooks = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(WEBHOOK_EVENTS).map(([type, { description, data }]) => [
      type,
      {
        post: {
          operationId: `on_${type.replaceAll('.', '_')}`,
          summary: description,
          tags: ['webhooks'],
          security: [],
          parameters: PARAMETERS,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  ...WebhookEvent,
                  properties: { ...WebhookEvent.properties, type: { const: type, type: 'string' }, data },
                },
              },
            },
          },
          responses: {
            '2XX': { description: 'Taken. Anything else, or nothing within 10 seconds, is tried again.' },
          },
        },
      },
    ]),
  );
