/**
 * JSON whose integers are exact: u64 of Solana's RPC are JSON numbers beyond what a double holds. A bigint is written
 * as a number, and a whole number that no double holds is read as a bigint.
 */

/** Of the language as Node 24 has it; its types come with a later TypeScript library than the project's. */
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
