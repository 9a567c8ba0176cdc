/** Converts commands to JSON texts and back. Amounts are decimal strings, recognised by the field's name. */
import type { PublicCommand } from '../world/types.ts';

/**
 * A journalled command. `speed` in thousandths; with a step only when it changes. `slots`: their number in the plan of
 * the world's founding; absent for the first plan.
 */
export type JournalCommand =
  | PublicCommand
  | { readonly kind: 'begin'; readonly seed: string; readonly speed: number; readonly slots?: number }
  | { readonly kind: 'step'; readonly speed?: number };

const AMOUNTS: ReadonlySet<string> = new Set([
  'amount',
  'size',
  'spend',
  'cost',
  'fee',
  'fees',
  'filled',
  'remaining',
  'needed',
  'available',
  'yes',
  'no',
  'payout',
]);
/** `payout` is an amount when redeemed and a word when resolved. */
const DIGITS = /^\d+$/;

const write = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));

const read = (text: string): unknown =>
  JSON.parse(text, (name, part: unknown) =>
    typeof part === 'string' && AMOUNTS.has(name) && DIGITS.test(part) ? BigInt(part) : part,
  );

export const encodeCommand = (command: JournalCommand): string => write(command);
export const decodeCommand = (text: string): JournalCommand => read(text) as JournalCommand;
