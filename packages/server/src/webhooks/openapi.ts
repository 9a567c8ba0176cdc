/** The events that the service sends, as the OpenAPI document's `webhooks`. */
import { WEBHOOK_EVENTS, WebhookEvent } from '@bellwether/contract';

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
