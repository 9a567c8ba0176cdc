import type { WebhookCourier } from '../app/deliver-webhooks.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 3_600_000;

export const sweepWebhooksJob = (courier: Pick<WebhookCourier, 'sweep'>): Job => ({
  name: 'sweep webhooks',
  everyMs: EVERY_MS,
  run: courier.sweep,
});
