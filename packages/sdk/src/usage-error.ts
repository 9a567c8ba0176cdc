/**
 * Names options that a caller left out or mixed up, in a sentence before anything is signed or sent. TypeScript finds most of it at
 * compile time; programs in JavaScript, and values that come from an environment, find it here.
 */

/** A call of the SDK lacks something. The message names the option, never its value: it may be a secret. */
export class BellwetherUsageError extends Error {
  override readonly name = 'BellwetherUsageError';
}

export interface Need {
  /** Completes "needs <name>: …". */
  readonly what: string;
  fits(value: unknown): boolean;
}

const has =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && names.every((name) => name in value);

const text = (what: string): Need => ({ what, fits: (value) => typeof value === 'string' && value !== '' });

/** The kinds of options that calls have in common. */
export const NEED = {
  text,
  oneOf: (...words: readonly string[]): Need => ({
    what: words.map((word) => `"${word}"`).join(' or '),
    fits: (value) => words.includes(value as string),
  }),
  object: (what: string, ...names: readonly string[]): Need => ({ what, fits: has(...names) }),
  number: {
    what: 'a number, or a decimal as text',
    fits: (value) => typeof value === 'number' || (typeof value === 'string' && value !== ''),
  },
  bytes: { what: 'bytes (Uint8Array)', fits: (value) => value instanceof Uint8Array },
  signer: { what: 'a Signer', fits: has('signDigest') },
  solanaSigner: { what: 'a SolanaSigner', fits: has('signTransaction') },
  client: { what: 'a BellwetherClient', fits: has('baseUrl') },
  market: {
    what: 'a market, as listMarkets and getMarket return it',
    fits: has('conditionId', 'question', 'clobTokenIds', 'tickSize'),
  },
  url: text('an address that begins with http:// or https://'),
} as const satisfies Readonly<Record<string, Need | ((...args: string[]) => Need)>>;

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value === '') return 'an empty text';
  if (Array.isArray(value)) return 'a list';
  return (
    { object: 'an object', string: 'another text', number: 'a number', bigint: 'a bigint' }[
      typeof value as string
    ] ?? `a ${typeof value}`
  );
}

/** @throws BellwetherUsageError */
export function needValue(call: string, name: string, value: unknown, { what, fits }: Need): void {
  if (!fits(value)) throw new BellwetherUsageError(`${call} needs ${name}: ${what}; it is ${kindOf(value)}.`);
}

/** @throws BellwetherUsageError for the first option that is missing or of another kind */
export function needOptions(call: string, given: unknown, needs: Readonly<Record<string, Need>>): void {
  const isObject = typeof given === 'object' && given !== null;
  if (!isObject) {
    const names = Object.keys(needs).join(', ');
    throw new BellwetherUsageError(`${call} needs ${names}; its options are ${kindOf(given)}.`);
  }
  for (const [name, need] of Object.entries(needs))
    needValue(call, name, (given as Readonly<Record<string, unknown>>)[name], need);
}
