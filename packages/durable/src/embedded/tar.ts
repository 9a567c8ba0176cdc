/**
 * Archives in the tar format (ustar), so that a backup can be looked into with the system's own tools. Only regular files
 * and folders; what else an archive contains is refused.
 */
import { createHash } from 'node:crypto';

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const FOLDER = '5';
const FILE = '0';

export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  readonly size: number;
}

/** The archive is not one that was written here, or not all of it is there. */
export class BrokenArchive extends Error {
  override readonly name = 'BrokenArchive';
}

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

function checksumOf(header: Buffer): number {
  let sum = 0;
  // The checksum's own field counts as spaces.
  for (let at = 0; at < BLOCK_BYTES; at++) sum += at >= 148 && at < 156 ? 32 : (header[at] ?? 0);
  return sum;
}

export function headerOf({ name, kind, size }: Entry): Buffer {
  const path = kind === 'folder' ? `${name}/` : name;
  if (Buffer.byteLength(path) > MAX_NAME_BYTES)
    throw new Error(`the name ${path} is too long for an archive`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(octal(kind === 'folder' ? 0o700 : 0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  // Files of a database have at most 1 GB, the format's field takes eight times that.
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(kind === 'folder' ? FOLDER : FILE, 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  header.write(octal(checksumOf(header), 6), 148);
  header.write(' ', 155);
  return header;
}

/** Padding after a file's content, up to the next block. */
export const paddingOf = (size: number): Buffer =>
  Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/** Two empty blocks end an archive. */
export const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK_BYTES);

function entryOf(header: Buffer): Entry {
  const text = (from: number, bytes: number): string =>
    header.toString('utf8', from, from + bytes).split('\0', 1)[0] ?? '';
  const kind = text(156, 1);
  const size = Number.parseInt(text(124, 12), 8);
  const isSound =
    Number.parseInt(text(148, 8), 8) === checksumOf(header) &&
    (kind === FILE || kind === FOLDER) &&
    Number.isSafeInteger(size);
  if (!isSound) throw new BrokenArchive('it contains a header that is not sound');
  return {
    name: text(0, MAX_NAME_BYTES).replace(/\/$/, ''),
    kind: kind === FOLDER ? 'folder' : 'file',
    size,
  };
}

export interface OpenEntry extends Entry {
  /** SHA-256 of the archive up to this entry. */
  digestBefore(): string;
  /** The content in pieces; to be read to its end before the next entry. */
  content(): AsyncGenerator<Buffer>;
}

/** @throws BrokenArchive when the bytes end before the archive does */
export async function* readArchive(bytes: AsyncIterable<Buffer>): AsyncGenerator<OpenEntry> {
  const source = pieces(bytes);
  const hash = createHash('sha256');
  for (;;) {
    const header = await source.exactly(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return;
    const entry = entryOf(header);
    const before = hash.copy();
    hash.update(header);
    async function* content(): AsyncGenerator<Buffer> {
      for (let left = entry.size; left > 0; ) {
        const piece = await source.some(left);
        left -= piece.length;
        hash.update(piece);
        yield piece;
      }
      const padding = paddingOf(entry.size).length;
      if (padding > 0) hash.update(await source.exactly(padding));
    }
    yield { ...entry, content, digestBefore: () => before.digest('hex') };
  }
}

function pieces(bytes: AsyncIterable<Buffer>) {
  const iterator = bytes[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const some = async (atMost: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const next = await iterator.next();
      if (next.done === true) throw new BrokenArchive('it ends too early');
      rest = next.value;
    }
    const piece = rest.subarray(0, atMost);
    rest = rest.subarray(piece.length);
    return piece;
  };
  return {
    some,
    async exactly(count: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for (let left = count; left > 0; ) {
        const piece = await some(left);
        left -= piece.length;
        parts.push(piece);
      }
      return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    },
  };
}
