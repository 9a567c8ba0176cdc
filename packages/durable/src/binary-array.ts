/**
 * One-dimensional arrays in the server's binary format. The server reads a text array character by character and then
 * parses each element; it only copies the elements of a binary one. Worth it for statements that record many rows.
 */

/** A date is its ISO day, JSON its text. */
export type Element = string | number | bigint | boolean | Date | null;

export type ElementType =
  | 'uuid'
  | 'text'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'bool'
  | 'timestamptz'
  | 'date'
  | 'jsonb';

/** Sent as an array of the type. */
export class BinaryArray {
  readonly type: ElementType;
  readonly #items: readonly unknown[];
  readonly #of: (item: never) => Element;

  constructor(type: ElementType, items: readonly unknown[], of: (item: never) => Element) {
    this.type = type;
    this.#items = items;
    this.#of = of;
  }

  /** @throws TypeError for a value that the type cannot hold; the message does not show the value */
  encode(): Buffer {
    const { type } = this;
    const items = this.#items;
    const { oid, write } = TYPES[type];
    at = 0;
    writeInt32(items.length === 0 ? 0 : 1);
    // Whether there are nulls: known at the end.
    writeInt32(0);
    writeInt32(oid);
    if (items.length > 0) {
      writeInt32(items.length);
      writeInt32(FIRST_INDEX);
    }
    for (const item of items) {
      const value = this.#of(item as never);
      if (value === null) {
        writeInt32(NO_BYTES);
        space[LAST_BYTE_OF_NULLS] = 1;
      } else if (!write(value)) throw new TypeError(`a statement cannot carry ${typeof value} as ${type}`);
    }
    return Buffer.from(space.subarray(0, at));
  }
}

const itself = (value: Element): Element => value;

/**
 * The cast that follows from the type is part of the statement's text, as after other values.
 * @param of an item's element; without it the items are the elements
 */
export function arrayOf(type: ElementType, items: readonly Element[]): BinaryArray;
export function arrayOf<Item>(
  type: ElementType,
  items: readonly Item[],
  of: (item: Item) => Element,
): BinaryArray;
export function arrayOf(
  type: ElementType,
  items: readonly unknown[],
  of: (item: never) => Element = itself,
): BinaryArray {
  return new BinaryArray(type, items, of);
}

const LAST_BYTE_OF_NULLS = 7;
const FIRST_INDEX = 1;
/** The length of null. */
const NO_BYTES = -1;
const JSONB_VERSION = 1;
const MOST_BYTES_OF_A_UNIT = 3;
const MS_OF_2000 = Date.UTC(2000, 0, 1);
const DAY_MS = 86_400_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INT32 = 2 ** 31;

/** Where arrays are written, one at a time. It grows with the longest one. */
let space = Buffer.allocUnsafe(16_384);
let at = 0;

function makeRoom(bytes: number): void {
  if (at + bytes <= space.length) return;
  const larger = Buffer.allocUnsafe(Math.max(2 * space.length, at + bytes));
  space.copy(larger, 0, 0, at);
  space = larger;
}

function writeInt32(value: number): void {
  makeRoom(4);
  space[at] = value >>> 24;
  space[at + 1] = value >>> 16;
  space[at + 2] = value >>> 8;
  space[at + 3] = value;
  at += 4;
}

/** @param value whole, of at most 2^53 */
function writeInt64(value: number): void {
  writeInt32(8);
  writeInt32(Math.floor(value / 2 ** 32));
  writeInt32(value % 2 ** 32);
}

/** @param before bytes that precede the text and count with it */
function writeText(value: string, before = 0): void {
  const start = at + 4 + before;
  makeRoom(4 + before + value.length * MOST_BYTES_OF_A_UNIT);
  const bytes = space.write(value, start);
  writeInt32(before + bytes);
  at = start + bytes;
}

/** @returns false for a value that the type cannot hold */
type Write = (value: NonNullable<Element>) => boolean;

const asText: Write = (value) => {
  if (typeof value !== 'string') return false;
  writeText(value);
  return true;
};

const asJsonb: Write = (value) => {
  if (typeof value !== 'string') return false;
  const from = at;
  writeText(value, 1);
  space[from + 4] = JSONB_VERSION;
  return true;
};

const asUuid: Write = (value) => {
  if (typeof value !== 'string' || !UUID.test(value)) return false;
  writeInt32(16);
  makeRoom(16);
  at += space.write(value.replaceAll('-', ''), at, 'hex');
  return true;
};

const asBool: Write = (value) => {
  if (typeof value !== 'boolean') return false;
  writeInt32(1);
  makeRoom(1);
  space[at] = value ? 1 : 0;
  at += 1;
  return true;
};

const asInt4: Write = (value) => {
  if (!Number.isInteger(value) || (value as number) >= INT32 || (value as number) < -INT32) return false;
  writeInt32(4);
  writeInt32(value as number);
  return true;
};

const asInt2: Write = (value) => {
  if (!Number.isInteger(value) || (value as number) !== ((value as number) << 16) >> 16) return false;
  writeInt32(2);
  makeRoom(2);
  at = space.writeInt16BE(value as number, at);
  return true;
};

function writeBigInt64(value: bigint): void {
  writeInt32(8);
  makeRoom(8);
  at = space.writeBigInt64BE(value, at);
}

const asInt8: Write = (value) => {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) return false;
    writeInt64(value);
    return true;
  }
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) return false;
  writeBigInt64(value);
  return true;
};

const asTimestamp: Write = (value) => {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return false;
  const ms = value.getTime() - MS_OF_2000;
  // From the year 2285 on a double does not hold every microsecond.
  if (Number.isSafeInteger(ms * 1_000)) writeInt64(ms * 1_000);
  else writeBigInt64(BigInt(ms) * 1_000n);
  return true;
};

const asDate: Write = (value) => {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms) || ms % DAY_MS !== 0) return false;
  writeInt32(4);
  writeInt32((ms - MS_OF_2000) / DAY_MS);
  return true;
};

/** By their OIDs in `pg_type`. */
const TYPES: Readonly<Record<ElementType, { readonly oid: number; readonly write: Write }>> = {
  uuid: { oid: 2950, write: asUuid },
  text: { oid: 25, write: asText },
  int2: { oid: 21, write: asInt2 },
  int4: { oid: 23, write: asInt4 },
  int8: { oid: 20, write: asInt8 },
  bool: { oid: 16, write: asBool },
  timestamptz: { oid: 1184, write: asTimestamp },
  date: { oid: 1082, write: asDate },
  jsonb: { oid: 3802, write: asJsonb },
};
