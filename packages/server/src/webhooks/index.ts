/** Webhooks: outgoing events of agents, and callbacks that come in. */
export { createWebhookCourier } from './deliver.ts';
export { deliverWebhooksJob } from './job-deliver.ts';
export { openapiWebhooks } from './openapi.ts';
export { bindInbound, bindWebhooks, takeRawBodies } from './routes.ts';
export { createWebhookSender } from './sender.ts';
export { createWebhookStore } from './store.ts';
export {
  enableWebhook,
  type InboundNeeds,
  listWebhookDeliveries,
  listWebhooks,
  type WebhookNeeds,
} from './subscriptions.ts';
export { sweepWebhooksJob } from './sweep-webhooks.ts';
export { trimWebhooksJob } from './trim-webhooks.ts';
