import type { Job } from '../platform/scheduler.ts';
import { type FollowNeeds, followChainOrders } from './follow.ts';

const EVERY_MS = 300;

export const followChainOrdersJob = (needs: FollowNeeds): Job => ({
  name: 'follow',
  everyMs: EVERY_MS,
  run: () => followChainOrders(needs),
});
