/**
 * The form of a recovery code: 28 random characters (140 bits) and two that check them, in six groups of five. The check finds
 * every wrong character and every two that were swapped, so a misspelt code is known as such without asking the desk.
 */

/** Crockford's base 32: no I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_CHARS = 28;
const CHECK_CHARS = 2;
const GROUP_CHARS = 5;
/** The largest prime that two characters can hold; no difference of one or two characters is a multiple of it. */
const MODULUS = 1021;

const digitOf = (char: string): number => ALPHABET.indexOf(char);

function checkOf(random: string): string {
  let sum = 0;
  for (const char of random) sum = (sum * ALPHABET.length + digitOf(char)) % MODULUS;
  return `${ALPHABET[Math.floor(sum / ALPHABET.length)]}${ALPHABET[sum % ALPHABET.length]}`;
}

/**
 * Makes a printed code.
 * @param random at least 28 random bytes
 * @example
 * const code = makeRecoveryCode(new Uint8Array(28));
 */
export function makeRecoveryCode(random: Uint8Array): string {
  if (random.length < RANDOM_CHARS) throw new RangeError('a recovery code needs 28 random bytes');
  const chars = [...random.subarray(0, RANDOM_CHARS)]
    .map((byte) => ALPHABET[byte % ALPHABET.length])
    .join('');
  return inGroups(chars + checkOf(chars));
}

const inGroups = (chars: string): string =>
  (chars.match(new RegExp(`.{${GROUP_CHARS}}`, 'g')) ?? []).join('-');

/**
 * Reads a code as people type it: small letters, any spaces and hyphens, O for 0, I and L for 1.
 * @returns its one form; `null`: misspelt, or no code
 * @example
 * const code = readRecoveryCode('7k2qd-m9xtr-3vb8n-0pwzc-e5h1j-7k2q6');
 */
export function readRecoveryCode(typed: string): string | null {
  const chars = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (chars.length !== RANDOM_CHARS + CHECK_CHARS || [...chars].some((char) => digitOf(char) < 0))
    return null;
  const random = chars.slice(0, RANDOM_CHARS);
  return checkOf(random) === chars.slice(RANDOM_CHARS) ? inGroups(chars) : null;
}
