/** The words in which orders are told: their statuses, and why a venue refused them. */
import { Type } from 'typebox';
import { VENUE_REFUSALS } from './venue-refusals.ts';

/** A text that is one of these; a later version may add words. */
export const words = (all: readonly string[], description: string) =>
  Type.String({ enum: [...all], description });

/** An order of venue A, in records. */
export const ORDER_STATUS_WORDS = [
  'submitting',
  'unknown',
  'live',
  'partially_filled',
  'matched',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
  'delayed',
  'unmatched',
] as const;
/** An order of venue B. */
export const CHAIN_STATUS_WORDS = [
  'submitted',
  'open',
  'filled',
  'partially_filled',
  'reverted',
  'expired',
  'failed',
  'canceled',
] as const;

export const VenueRefusalCode = words(Object.keys(VENUE_REFUSALS), 'why the venue refused');

/** What an answer with success: false adds. */
export const refusedBecause = {
  errorCode: Type.Optional(VenueRefusalCode),
  errorMessage: Type.Optional(Type.String()),
  fix: Type.Optional(Type.String({ description: 'what to do next' })),
};
