/** Webhooks: outgoing events of agents, and callbacks that come in. */
export { createWebhookCourier } from './deliver.ts';
export { webhookJobs } from './jobs.ts';
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
