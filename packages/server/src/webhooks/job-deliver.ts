import type { Job } from '../platform/scheduler.ts';
import type { WebhookCourier } from './deliver.ts';

const EVERY_MS = 500;

export const deliverWebhooksJob = (courier: Pick<WebhookCourier, 'tick'>): Job => ({
  name: 'webhooks',
  everyMs: EVERY_MS,
  run: courier.tick,
});
