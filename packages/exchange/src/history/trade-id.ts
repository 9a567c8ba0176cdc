/**
 * Ids of trades in the venue's form, a UUID. An id follows from the world's seed and the trade's number, and says both: it
 * needs no column and no index, and one that this exchange never made is recognised.
 */
import { createHash } from 'node:crypto';

/** Bytes that carry the number. */
const NUMBER_BYTES = 6;
const GREATEST = 2 ** (8 * NUMBER_BYTES) - 1;

const digest = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Version and variant bits of a random UUID, and ten bytes that follow from the number. */
function tailOf(seed: string, number: number): Buffer {
  const tail = digest('trade id', '\0', seed, '\0', String(number)).subarray(0, 16 - NUMBER_BYTES);
  tail[0] = (tail[0]! & 0x0f) | 0x40;
  tail[2] = (tail[2]! & 0x3f) | 0x80;
  return tail;
}

const masked = (seed: string, tail: Buffer, head: Buffer): Buffer => {
  const mask = digest('trade number', '\0', seed, '\0', tail);
  return Buffer.from(head.map((byte, at) => byte ^ mask[at]!));
};

export function tradeIdOf(seed: string, number: number): string {
  if (!Number.isSafeInteger(number) || number < 1 || number > GREATEST)
    throw new RangeError(`no trade has the number ${number}`);
  const tail = tailOf(seed, number);
  const head = Buffer.alloc(NUMBER_BYTES);
  head.writeUIntBE(number, 0, NUMBER_BYTES);
  const hex = Buffer.concat([masked(seed, tail, head), tail]).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** @returns undefined for an id that this exchange never made */
export function tradeNumberOf(seed: string, tradeId: string): number | undefined {
  const id = tradeId.toLowerCase();
  if (!UUID.test(id)) return undefined;
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  const tail = bytes.subarray(NUMBER_BYTES);
  const number = masked(seed, tail, bytes.subarray(0, NUMBER_BYTES)).readUIntBE(0, NUMBER_BYTES);
  return number >= 1 && tailOf(seed, number).equals(tail) ? number : undefined;
}
