/** The venue's language: what is signed, who signed it, which wallets follow. Pure; curve arithmetic can be handed in. */
export * from './address.ts';
export * from './base58.ts';
export * from './bytes.ts';
export * from './clob-auth.ts';
export * from './deposit-signature.ts';
export * from './eip712.ts';
export * from './l2.ts';
export * from './order.ts';
export * from './personal-message.ts';
export * from './signature.ts';
export * from './solana.ts';
export * from './wallets.ts';
export * from './webhook-signature.ts';
