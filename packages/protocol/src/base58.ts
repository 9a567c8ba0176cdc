/** Base58 as Solana spells keys and signatures: the Bitcoin alphabet, a leading 1 for every leading zero byte. */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE = 58;
/** Longer texts are none of ours, and decoding is quadratic. */
const MAX_CHARS = 128;

export function toBase58(bytes: Uint8Array): string {
  const digits: number[] = [];
  for (const byte of bytes) {
    let carry = byte;
    for (let i = 0; i < digits.length; i++) {
      carry += digits[i]! << 8;
      digits[i] = carry % BASE;
      carry = Math.floor(carry / BASE);
    }
    for (; carry > 0; carry = Math.floor(carry / BASE)) digits.push(carry % BASE);
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  const ones = zeros === -1 ? bytes.length : zeros;
  return (
    '1'.repeat(ones) +
    digits
      .reverse()
      .map((digit) => ALPHABET[digit])
      .join('')
  );
}

/** Bytes of a base58 text, or `null` when it is none. */
export function parseBase58(text: string): Uint8Array | null {
  if (text.length > MAX_CHARS) return null;
  const bytes: number[] = [];
  let ones = 0;
  for (const char of text) {
    const digit = ALPHABET.indexOf(char);
    if (digit === -1) return null;
    if (digit === 0 && bytes.length === 0) {
      ones += 1;
      continue;
    }
    let carry = digit;
    for (let i = 0; i < bytes.length; i++) {
      carry += bytes[i]! * BASE;
      bytes[i] = carry & 255;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 255);
  }
  return Uint8Array.from([...new Array<number>(ones).fill(0), ...bytes.reverse()]);
}
