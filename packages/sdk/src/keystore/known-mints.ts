/**
 * Which token an outcome of venue B is, as this machine knows it: what a person confirmed, what the venue's own host said, and
 * what was bought by either. The desk writes nothing here. A line for each, only appended to; the last one of an outcome counts.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { KeystoreError } from './keystore-error.ts';
import { type DeskPlace, requirePrivateFile, requirePrivateFolder } from './place.ts';
import { createFile } from './whole-file.ts';

export type MintSource = 'person' | 'venue' | 'purchase';

export interface KnownMint {
  readonly ticker: string;
  readonly side: 'YES' | 'NO';
  /** Base58. */
  readonly mint: string;
  readonly source: MintSource;
}

const SOURCES: readonly unknown[] = ['person', 'venue', 'purchase'] satisfies MintSource[];
const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export class KnownMints {
  readonly #path: string;
  readonly #folder: string;

  constructor({ limit, folder }: DeskPlace) {
    this.#path = limit.replace(/\.limit\.json$/, '.mints.jsonl');
    this.#folder = folder;
  }

  /** @throws KeystoreError `keystore_permissions`, `keystore_damaged` */
  find(ticker: string, side: 'YES' | 'NO'): KnownMint | null {
    return this.#read().findLast((known) => known.ticker === ticker && known.side === side) ?? null;
  }

  /** @throws KeystoreError `keystore_permissions`, `keystore_damaged` */
  remember(known: KnownMint): void {
    const before = this.find(known.ticker, known.side);
    if (before?.mint === known.mint) return;
    requirePrivateFolder(this.#folder);
    if (!requirePrivateFile(this.#path)) createFile(this.#path, '');
    const { ticker, side, mint, source } = known;
    appendFileSync(this.#path, `\n${JSON.stringify({ ticker, side, mint, source })}\n`, { mode: 0o600 });
  }

  #read(): readonly KnownMint[] {
    if (!requirePrivateFile(this.#path)) return [];
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parsed(line, this.#path));
  }
}

/** @throws KeystoreError */
function parsed(line: string, path: string): KnownMint {
  try {
    const value = JSON.parse(line) as Partial<KnownMint>;
    const isWhole =
      typeof value.ticker === 'string' &&
      (value.side === 'YES' || value.side === 'NO') &&
      MINT.test(value.mint ?? '') &&
      SOURCES.includes(value.source);
    if (isWhole) return value as KnownMint;
  } catch {
    // Damaged, as anything else that is no line of ours.
  }
  throw new KeystoreError(
    'keystore_damaged',
    `${path} is damaged, so it is not known which tokens are meant and nothing of venue B is signed.`,
    'Restore the file from a copy, or delete it and confirm the tokens again: bellwether mint confirm <ticker> <outcome> <mint>.',
  );
}
