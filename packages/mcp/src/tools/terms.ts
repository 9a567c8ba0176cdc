/** Arguments and figures that several tools share. */
import type { SpendingStanding } from '@bellwether/sdk/keystore';
import { z } from 'zod';
import { money } from '../facts.ts';

export const MARKET = z
  .string()
  .min(1)
  .max(200)
  .describe('market id from search_markets (also condition id, token id, or ticker of venue B)');
export const VENUE = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,50}$/)
  .optional()
  .describe('name of a venue, such as polymarket or kalshi; the first venue when left out');
export const EITHER_VENUE = VENUE.describe('name of a venue; all of them when left out');
export const OUTCOME = z.enum(['YES', 'NO']);
export const SIDE = z.enum(['BUY', 'SELL']);
export const limitOf = (fallback: number, most: number) =>
  z.int().min(1).max(most).default(fallback).describe(`how many, at most ${most}`);
export const REASONING = z
  .string()
  .max(1000)
  .optional()
  .describe('why, for the journal that the owner reads');
export const QUANTITY = z.number().positive().max(1e12);

export const amount = z.number().nullable();
export const time = z.string().nullable();

export const SPENDING = z
  .object({
    day: z.string(),
    limit: z.number(),
    spent: z.number().describe('reserved by orders of this UTC day, also of those that were canceled'),
    left: z.number(),
  })
  .describe('limit of this machine for a UTC day; only a person can raise it, in a terminal');

export const spendingOf = ({ day, limit, spent, left }: SpendingStanding): z.input<typeof SPENDING> => ({
  day,
  limit: money(limit),
  spent: money(spent),
  left: money(left),
});
