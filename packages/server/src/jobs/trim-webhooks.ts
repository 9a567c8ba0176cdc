import type { WebhookCourier } from '../app/deliver-webhooks.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 10_000;

export const trimWebhooksJob = (courier: Pick<WebhookCourier, 'trim'>): Job => ({
  name: 'trim webhooks',
  everyMs: EVERY_MS,
  run: courier.trim,
});
