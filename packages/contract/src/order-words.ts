/** The words on the wire for an order's status and for why a venue refused it. */
import { Type } from 'typebox';
import { VENUE_REFUSALS } from './venue-refusals.ts';

/**
 * One of these texts; a later version may add some.
 * @example
 * const status = words(['open', 'closed'], 'of a market');
 */
export const words = (all: readonly string[], description: string) =>
  Type.String({ enum: [...all], description });

/** Statuses of a signed order, in records. */
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
  'settlement_failed',
  'delayed',
  'unmatched',
] as const;
/** Statuses of a quoted order. */
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

export const VenueRefusalCode = words(
  Object.keys(VENUE_REFUSALS),
  `why the venue refused. ${Object.entries(VENUE_REFUSALS)
    .map(([code, { message }]) => `\`${code}\`: ${message}`)
    .join(' ')}`,
);

/** Added by an answer with success: false. */
export const refusedBecause = {
  errorCode: Type.Optional(VenueRefusalCode),
  errorMessage: Type.Optional(Type.String()),
  fix: Type.Optional(Type.String({ description: 'what to do next' })),
};
