/** Base64 in its spellings, without Node's `Buffer`: read in any of them, or in the canonical one alone. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Bytes of a base64 text in either alphabet, padded or not; `null` when it is none. */
export function parseBase64(text: string): Uint8Array | null {
  if (!BASE64.test(text)) return null;
  const digits = text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
  if (digits.length % 4 === 1) return null;
  const bytes = new Uint8Array((digits.length * 3) >> 2);
  let buffer = 0;
  let bits = 0;
  let offset = 0;
  for (const digit of digits) {
    buffer = ((buffer << 6) | ALPHABET.indexOf(digit)) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[offset++] = (buffer >> bits) & 255;
    }
  }
  return bytes;
}

/** The url-safe alphabet, with padding: the spelling of venue A's secrets and signatures. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b, c] = [bytes[i]!, bytes[i + 1], bytes[i + 2]];
    const word = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    text += ALPHABET[word >> 18]! + ALPHABET[(word >> 12) & 63]!;
    text += b === undefined ? '=' : ALPHABET[(word >> 6) & 63]!;
    text += c === undefined ? '=' : ALPHABET[word & 63]!;
  }
  return text;
}

/** The standard alphabet, with padding: the canonical spelling. */
export const toBase64 = (bytes: Uint8Array): string =>
  toBase64Url(bytes).replaceAll('-', '+').replaceAll('_', '/');

/** Bytes of a text in the canonical spelling; `null` for any other, so that no value has two. */
export function parseBase64Strict(text: string): Uint8Array | null {
  const bytes = parseBase64(text);
  return bytes !== null && toBase64(bytes) === text ? bytes : null;
}
