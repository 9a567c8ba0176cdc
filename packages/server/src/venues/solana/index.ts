/** The Solana chain, for venues that trade on it. */
export { createSolanaChain } from './solana-chain.ts';
