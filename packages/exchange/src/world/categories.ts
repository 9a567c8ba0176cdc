/** The categories of the paper world and their taker fees (the venue's own table, exponent 1). */
import type { Micro } from '@bellwether/contract/decimals';

/** Taker fee rates in millionths of shares × p(1−p). */
export const CATEGORY_FEE_RATES = {
  Politics: 40_000n,
  Sports: 50_000n,
  Crypto: 70_000n,
  Finance: 40_000n,
  Economics: 50_000n,
  Tech: 40_000n,
  Culture: 50_000n,
  Weather: 50_000n,
  Geopolitics: 0n,
} as const satisfies Record<string, Micro>;

export type Category = keyof typeof CATEGORY_FEE_RATES;

export const FEE_EXPONENT = 1;
