import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 3_600_000;

export interface SweepWalletLinksNeeds {
  readonly clock: { now(): number };
  readonly walletLinks: { sweep(at: number): Promise<unknown> };
}

export const sweepWalletLinksJob = ({ clock, walletLinks }: SweepWalletLinksNeeds): Job => ({
  name: 'sweep links',
  everyMs: EVERY_MS,
  run: () => walletLinks.sweep(clock.now()),
});
