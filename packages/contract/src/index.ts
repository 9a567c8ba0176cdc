export * from './decimals.ts';
