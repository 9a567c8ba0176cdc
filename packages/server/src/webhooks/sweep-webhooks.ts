import type { Job } from '../platform/scheduler.ts';
import type { WebhookCourier } from './deliver.ts';

const EVERY_MS = 3_600_000;

export const sweepWebhooksJob = (courier: Pick<WebhookCourier, 'sweep'>): Job => ({
  name: 'sweep webhooks',
  everyMs: EVERY_MS,
  run: courier.sweep,
});
