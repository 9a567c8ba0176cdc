/** Shared by the methods: their inputs, and the envelope of answers that are valid at a slot. */
import { readToken } from '../token-accounts.ts';
import type { AirdropAllowance, LocalChain } from '../types.ts';
import type { Budget } from './budget.ts';
import type { Params } from './params.ts';

/** Version of the node whose behaviour is reproduced. */
export const API_VERSION = '3.0.0';

export interface MethodContext {
  readonly chain: LocalChain;
  /** Budget of the request that contains the call. */
  readonly budget: Budget;
  readonly airdrops: AirdropAllowance;
}

export type Method = (params: Params, context: MethodContext) => unknown;
export type Methods = Readonly<Record<string, Method>>;

export const atSlot = (chain: LocalChain, value: unknown): object => ({
  context: { apiVersion: API_VERSION, slot: chain.slot() },
  value,
});

/** 0 when the account is not a mint. */
export const decimalsIn =
  (chain: LocalChain) =>
  (mint: string): number => {
    const account = chain.account(mint);
    const token = account === null ? null : readToken(account);
    return token?.kind === 'mint' ? token.decimals : 0;
  };
