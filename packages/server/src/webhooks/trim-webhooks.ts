import type { Job } from '../platform/scheduler.ts';
import type { WebhookCourier } from './deliver.ts';

const EVERY_MS = 10_000;

export const trimWebhooksJob = (courier: Pick<WebhookCourier, 'trim'>): Job => ({
  name: 'trim webhooks',
  everyMs: EVERY_MS,
  run: courier.trim,
});
