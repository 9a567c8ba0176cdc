import type { Job } from '../platform/scheduler.ts';
import { type AutoRedeemNeeds, autoRedeem } from './auto-redeem.ts';

const EVERY_MS = 1_000;

export const autoRedeemJob = (needs: AutoRedeemNeeds): Job => ({
  name: 'redeem',
  everyMs: EVERY_MS,
  run: () => autoRedeem(needs),
});
