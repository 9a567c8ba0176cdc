import { type FollowNeeds, followChainOrders } from '../app/orders/quoted/follow.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 300;

export const followChainOrdersJob = (needs: FollowNeeds): Job => ({
  name: 'follow',
  everyMs: EVERY_MS,
  run: () => followChainOrders(needs),
});
