import type { WebhookCourier } from '../app/deliver-webhooks.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 500;

export const deliverWebhooksJob = (courier: Pick<WebhookCourier, 'tick'>): Job => ({
  name: 'webhooks',
  everyMs: EVERY_MS,
  run: courier.tick,
});
