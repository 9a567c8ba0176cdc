import type { Job } from '../platform/scheduler.ts';

export interface WalletJobsNeeds {
  readonly clock: { now(): number };
  readonly walletLinks: { sweep(at: number): Promise<unknown> };
}

export const walletJobs = ({ clock, walletLinks }: WalletJobsNeeds): readonly Job[] => [
  { name: 'sweep links', everyMs: 3_600_000, run: () => walletLinks.sweep(clock.now()) },
];
