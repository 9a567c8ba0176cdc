/** Wallets: credentials, links, grants, paper credit. */
export { createHeartbeatLog, createHeartbeatStore, type HeartbeatStore } from './heartbeat-store.ts';
export { walletJobs } from './jobs.ts';
export { bindWalletLink } from './link-routes.ts';
export { createWalletLinkStore } from './link-store.ts';
export {
  evmWallets,
  isReachable,
  ownersEvmWallets,
  ownersSolanaWallets,
  solanaWallets,
} from './reachable-wallets.ts';
export { bindWallet } from './routes.ts';
export { type CredentialRow, createWalletStore, type WalletStore } from './store.ts';
export { credentialIdentity } from './wallets.ts';
