import { type AutoRedeemNeeds, autoRedeem } from '../app/auto-redeem.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 1_000;

export const autoRedeemJob = (needs: AutoRedeemNeeds): Job => ({
  name: 'redeem',
  everyMs: EVERY_MS,
  run: () => autoRedeem(needs),
});
