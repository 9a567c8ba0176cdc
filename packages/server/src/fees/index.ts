/** The platform's fees on venue B: charged, signed, followed to their end. */
export { feeJobs } from './charge-fee.ts';
export { createFireblocksSigning } from './fireblocks.ts';
export { bindFees } from './routes.ts';
export type { FireblocksSettings } from './settings.ts';
export { createLocalSigning, type SigningProvider } from './signing-provider.ts';
export { createFeeStore } from './store.ts';
