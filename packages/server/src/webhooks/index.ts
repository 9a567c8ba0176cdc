/** Webhooks: outgoing events of agents, and callbacks that come in. */
export { createWebhookCourier, webhookJobs } from './deliver.ts';
export { bindInbound, bindWebhooks, takeRawBodies } from './routes.ts';
export { createWebhookSender } from './sender.ts';
export { createWebhookStore } from './store.ts';
export {
  enableWebhook,
  listWebhookDeliveries,
  listWebhooks,
  openapiWebhooks,
  type WebhookNeeds,
} from './subscriptions.ts';
