/** Arguments and figures that several tools share. */
import type { SpendingStanding } from '@bellwether/sdk/keystore';
import { z } from 'zod';
import { money } from '../facts.ts';

export const MARKET = z
  .string()
  .min(1)
  .max(200)
  .describe('id from search_markets; or condition id, token id, ticker');
export const VENUE = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,50}$/)
  .optional()
  .describe('default: the first venue');
export const EITHER_VENUE = VENUE.describe('default: all venues');
export const OUTCOME = z.string().min(1).max(100).describe('YES, NO, or its name in untrusted.texts');
export const SIDE = z.enum(['BUY', 'SELL']);
export const limitOf = (fallback: number, most: number) => z.int().min(1).max(most).default(fallback);
export const CLIENT_ORDER_ID = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/)
  .optional();

export const CANCEL_AFTER_MS = z.int().min(100).max(604_800_000).optional();

export const REASONING = z.string().max(1000).optional().describe("why, for the owner's journal");
const MILLIONTHS = 1e6;
export const quantityOf = (most: number) =>
  z
    .number()
    .positive()
    .max(most)
    .refine((value) => Number((value * MILLIONTHS).toFixed(3)) % 1 === 0, 'has at most six decimals');
export const QUANTITY = quantityOf(1e12);

/** The limit of this machine for a UTC day. `spent` is reserved by the orders of the day, also by those that were canceled. */
export const spendingOf = ({ day, limit, spent, left }: SpendingStanding) => ({
  day,
  limit: money(limit),
  spent: money(spent),
  left: money(left),
});
