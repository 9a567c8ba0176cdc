export * from './decimals.ts';
export * from './errors.ts';
export * from './fields.ts';
export * from './operation.ts';
export * from './operations/agents.ts';
export * from './operations/markets.ts';
export * from './operations/trading.ts';
export * from './operations/wallet.ts';
