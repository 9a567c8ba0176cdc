/** The platform's fees on venue B: charged, signed, followed to their end. */
export { feeJobs } from './jobs.ts';
export { bindFees } from './routes.ts';
export type { FireblocksSettings } from './settings.ts';
export { createFireblocksSigning } from './signing/fireblocks.ts';
export { createLocalSigning } from './signing/local.ts';
export type { SigningProvider } from './signing-provider.ts';
export { createFeeStore } from './store.ts';
