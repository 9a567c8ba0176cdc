/**
 * Which token an outcome is, as this machine knows it: what a person confirmed, what the venue's own host said, and what was bought by
 * either. The desk writes nothing here. A line for each, only appended to; the last one of an outcome counts. A market of venue B goes
 * by its ticker, one of venue A by its condition id, about which a person alone is believed.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import {
  createFile,
  type DeskPlace,
  type Environment,
  KeystoreError,
  requirePrivateFile,
  requirePrivateFolder,
} from './private-files.ts';

export type MintSource = 'person' | 'venue' | 'purchase';

export interface KnownMint {
  /** Of venue A: the condition id. */
  readonly ticker: string;
  readonly side: 'YES' | 'NO';
  /** Base58; of venue A in decimal. */
  readonly mint: string;
  readonly source: MintSource;
}

const SOURCES: readonly unknown[] = ['person', 'venue', 'purchase'] satisfies MintSource[];
const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const TOKEN = /^\d{1,78}$/;
const CONDITION = /^0x[0-9a-f]{64}$/i;

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

  /**
   * The [YES, NO] tokens of a market of venue A, as a person confirmed one of them last; where the desk says others, a pair that fits none.
   * @throws KeystoreError `keystore_permissions`, `keystore_damaged`
   */
  tokensOf({
    conditionId,
    clobTokenIds,
  }: {
    readonly conditionId: string;
    readonly clobTokenIds: readonly string[];
  }): readonly [yes: string, no: string] | undefined {
    const name = conditionId.toLowerCase();
    const said = this.#read().findLast(({ ticker, source }) => source === 'person' && ticker === name);
    if (said === undefined) return undefined;
    const [first, second] = clobTokenIds;
    const other = said.mint === first ? second : said.mint === second ? first : '';
    return said.side === 'YES' ? [said.mint, other ?? ''] : [other ?? '', said.mint];
  }

  /** @throws KeystoreError `keystore_permissions`, `keystore_damaged` */
  remember(known: KnownMint): void {
    const { side, mint, source } = known;
    const isOfA = CONDITION.test(known.ticker) && source === 'person';
    const ticker = isOfA ? known.ticker.toLowerCase() : known.ticker;
    // Of a market of venue A the last word counts, about whichever outcome it was.
    if (!isOfA && this.find(ticker, side)?.mint === mint) return;
    requirePrivateFolder(this.#folder);
    if (!requirePrivateFile(this.#path)) createFile(this.#path, '');
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
      (MINT.test(value.mint ?? '') || TOKEN.test(value.mint ?? '')) &&
      SOURCES.includes(value.source);
    if (isWhole) return value as KnownMint;
  } catch {
    // Damaged, as anything else that is no line of ours.
  }
  throw new KeystoreError(
    'keystore_damaged',
    `${path} is damaged, so it is not known which tokens are meant, and nothing is signed that depends on them.`,
    'Restore the file from a copy, or delete it and confirm the tokens again: bellwether mint confirm <ticker> <outcome> <mint>.',
  );
}

// Which tokens the outcomes of a market of venue B are, from the venue's own public metadata; never through the service.

/** The collateral of the markets that are traded here. */
const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** DFlow's metadata of real markets that needs no key. */
const VENUE_METADATA_ORIGIN = 'https://dev-prediction-markets-api.dflow.net';

const TIMEOUT_MS = 5_000;

interface VenueMintOptions {
  /** Default the venue's own host. */
  readonly metadataUrl?: string;
  readonly fetch?: typeof fetch;
}

/** @returns [YES, NO], or `null` when the venue does not answer, or does not list the market */
async function venueMints(
  ticker: string,
  { metadataUrl = VENUE_METADATA_ORIGIN, fetch: send = fetch }: VenueMintOptions = {},
): Promise<readonly [yes: string, no: string] | null> {
  try {
    const url = `${metadataUrl.replace(/\/+$/, '')}/api/v1/market/${encodeURIComponent(ticker)}`;
    const response = await send(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return null;
    const market = (await response.json()) as {
      readonly ticker?: unknown;
      readonly accounts?: Readonly<Record<string, { readonly yesMint?: unknown; readonly noMint?: unknown }>>;
    };
    const { yesMint, noMint } = market.accounts?.[USDC_MINT] ?? {};
    const isMint = (value: unknown): value is string => typeof value === 'string' && MINT.test(value);
    return market.ticker === ticker && isMint(yesMint) && isMint(noMint) && yesMint !== noMint
      ? [yesMint, noMint]
      : null;
  } catch {
    return null;
  }
}

// Where a program on this machine knows a token of venue B from: its own notes, else the venue itself.

interface MintOutcome {
  readonly ticker: string;
  readonly side: 'YES' | 'NO';
}

/**
 * @param env `BELLWETHER_DFLOW_METADATA` names another address of the venue's metadata, never the desk's own
 * @returns `undefined` when neither knows it @throws KeystoreError
 * @example
 * const mint = await findMint(place, { ticker: 'KXTEST-1', side: 'YES' });
 */
export async function findMint(
  place: DeskPlace,
  { ticker, side }: MintOutcome,
  env: Environment = process.env,
): Promise<string | undefined> {
  const mints = new KnownMints(place);
  const known = mints.find(ticker, side);
  if (known !== null) return known.mint;
  const metadataUrl = env.BELLWETHER_DFLOW_METADATA ?? '';
  if (metadataUrl !== '' && !URL.canParse(metadataUrl))
    throw new KeystoreError(
      'environment_invalid',
      'BELLWETHER_DFLOW_METADATA is no address.',
      'Correct it, or leave it out.',
    );
  if (metadataUrl !== '' && new URL(metadataUrl).origin === new URL(place.url).origin)
    throw new KeystoreError(
      'environment_invalid',
      'BELLWETHER_DFLOW_METADATA names the desk itself, whose word does not count for this.',
      "Set the venue's own address, or leave it out.",
    );
  const found = await venueMints(ticker, metadataUrl === '' ? {} : { metadataUrl });
  return found?.[side === 'YES' ? 0 : 1];
}

/**
 * After a purchase was signed for a token that was known.
 * @example
 * rememberPurchase(place, { ticker: 'KXTEST-1', side: 'YES', mint: '3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh' });
 */
export const rememberPurchase = (place: DeskPlace, outcome: MintOutcome & { readonly mint: string }): void =>
  new KnownMints(place).remember({ ...outcome, source: 'purchase' });
