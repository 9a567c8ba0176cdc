import type { Job } from '../platform/scheduler.ts';
import type { WebhookCourier } from './deliver.ts';

export const webhookJobs = (courier: Omit<WebhookCourier, 'stop'>): readonly Job[] => [
  { name: 'webhooks', everyMs: 500, run: courier.tick },
  { name: 'sweep webhooks', everyMs: 3_600_000, run: courier.sweep },
  { name: 'trim webhooks', everyMs: 10_000, run: courier.trim },
];
