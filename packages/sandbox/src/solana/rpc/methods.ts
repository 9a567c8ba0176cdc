/** What the methods have in common: what they are given, and the envelope of answers that hold for a slot. */
import { readToken } from '../token-accounts.ts';
import type { AirdropAllowance, LocalChain } from '../types.ts';
import type { Budget } from './budget.ts';
import type { Params } from './params.ts';

/** Of the node whose behaviour this follows. */
export const API_VERSION = '3.0.0';

export interface MethodContext {
  readonly chain: LocalChain;
  /** Of the request that the call belongs to. */
  readonly budget: Budget;
  readonly airdrops: AirdropAllowance;
}

export type Method = (params: Params, context: MethodContext) => unknown;
export type Methods = Readonly<Record<string, Method>>;

export const atSlot = (chain: LocalChain, value: unknown): object => ({
  context: { apiVersion: API_VERSION, slot: chain.slot() },
  value,
});

/** 0 for what is no mint. */
export const decimalsIn =
  (chain: LocalChain) =>
  (mint: string): number => {
    const account = chain.account(mint);
    const token = account === null ? null : readToken(account);
    return token?.kind === 'mint' ? token.decimals : 0;
  };
