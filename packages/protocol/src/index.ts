/** The venues' signing rules: what is signed, who signed it, which wallets follow. Pure; callers may pass native curve arithmetic. */
export * from './accounts.ts';
export * from './authentication.ts';
export * from './bytes.ts';
export * from './order.ts';
export * from './order-verification.ts';
export * from './solana.ts';
export * from './solana-effects.ts';
export * from './token-ids.ts';
export * from './typed-data.ts';
export * from './wallet-calls.ts';
export * from './wallets.ts';
