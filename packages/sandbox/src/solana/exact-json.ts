/**
 * JSON with exact integers: Solana's RPC writes u64 as JSON numbers, which a double cannot always represent. A bigint
 * is written as a number, and an integer that no double represents is read as a bigint.
 */

/** Node 24 has these functions; the project's TypeScript library does not declare them yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
type Reviver = (this: unknown, key: string, value: unknown) => unknown;

export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? rawJSON(String(part)) : part));

/** @throws SyntaxError */
export const parseJson = (text: string): unknown => JSON.parse(text, exactly as unknown as Reviver);

const WHOLE = /^-?\d+$/;

function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return WHOLE.test(source) ? BigInt(source) : value;
}
