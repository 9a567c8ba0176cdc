/**
 * Hex and bytes, and nothing more. Written without Node's `Buffer`, so that the package runs wherever an agent does.
 */

const HEX_DIGITS = '0123456789abcdef';

/** Value of an ASCII hex digit, or -1. */
function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  if (code >= 65 && code <= 70) return code - 55;
  return -1;
}

/** Bytes of a hex text with or without `0x`, either case; `null` when it is no hex or of odd length. */
export function parseHex(text: string): Uint8Array | null {
  const start = text.startsWith('0x') || text.startsWith('0X') ? 2 : 0;
  const digits = text.length - start;
  if (digits % 2 !== 0) return null;
  const bytes = new Uint8Array(digits / 2);
  return readHexInto(text, start, bytes, 0, bytes.length) ? bytes : null;
}

/** Writes `count` bytes from the hex digits of `text` at `start` into `target`; false when a digit is none. */
export function readHexInto(
  text: string,
  start: number,
  target: Uint8Array,
  offset: number,
  count: number,
): boolean {
  for (let i = 0; i < count; i++) {
    const high = nibble(text.charCodeAt(start + 2 * i));
    const low = nibble(text.charCodeAt(start + 2 * i + 1));
    // NaN (past the end) is no digit either: nibble answers -1 for it.
    if (high < 0 || low < 0) return false;
    target[offset + i] = high * 16 + low;
  }
  return true;
}

/** @throws RangeError when `text` is no hex. The text itself is not quoted: it may be a secret. */
export function hexToBytes(text: string): Uint8Array {
  const bytes = parseHex(text);
  if (bytes === null) throw new RangeError('not a hex text of whole bytes');
  return bytes;
}

/** Lower-case hex with `0x`. */
export function bytesToHex(bytes: Uint8Array): `0x${string}` {
  let text = '';
  for (const byte of bytes) text += HEX_DIGITS[byte >> 4]! + HEX_DIGITS[byte & 15]!;
  return `0x${text}`;
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Compares in a time that depends on the lengths alone, for secrets and signatures. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

const UINT64_MASK = 0xffff_ffff_ffff_ffffn;

/**
 * Writes a uint256, big-endian, into the 32 bytes at `offset`.
 * @throws RangeError when the value is negative or does not fit.
 */
export function writeUint256(view: DataView, offset: number, value: bigint): void {
  if (value < 0n) throw new RangeError('a uint256 cannot be negative');
  if (value <= UINT64_MASK) {
    // Amounts, salts and times: the upper 24 bytes are zero.
    view.setBigUint64(offset, 0n);
    view.setBigUint64(offset + 8, 0n);
    view.setBigUint64(offset + 16, 0n);
    view.setBigUint64(offset + 24, value);
    return;
  }
  if (value >> 256n !== 0n) throw new RangeError('a uint256 has at most 256 bits');
  view.setBigUint64(offset, value >> 192n);
  view.setBigUint64(offset + 8, (value >> 128n) & UINT64_MASK);
  view.setBigUint64(offset + 16, (value >> 64n) & UINT64_MASK);
  view.setBigUint64(offset + 24, value & UINT64_MASK);
}

/** A uint256 as 32 big-endian bytes. */
export function uint256(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  writeUint256(new DataView(bytes.buffer), 0, value);
  return bytes;
}
