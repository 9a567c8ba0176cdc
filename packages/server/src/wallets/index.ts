/** Wallets: credentials, links, grants, paper credit. */

export { bindWallet, bindWalletLink } from './routes.ts';
export {
  type CredentialRow,
  createHeartbeatLog,
  createHeartbeatStore,
  createWalletLinkStore,
  createWalletStore,
  evmWallets,
  type HeartbeatStore,
  isReachable,
  ownersEvmWallets,
  ownersSolanaWallets,
  solanaWallets,
  type WalletStore,
} from './store.ts';
export { credentialIdentity, walletJobs } from './wallets.ts';
