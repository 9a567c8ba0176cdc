/** Reads of the venue's own API, with and without the account's credential. Headers never reach an error. */
import { l2Signature, toChecksumAddress } from '@bellwether/protocol';
import type { Signer } from './signer.ts';
import type { Fetch } from './transport.ts';
import type { VenueCredentials } from './venue-credentials.ts';
import { isLiveClob } from './venue-login.ts';

export interface VenueReaderOptions {
  /** The venue's address, e.g. `http://127.0.0.1:8080/paper/clob`. */
  readonly clobUrl: string;
  readonly fetch?: Fetch;
  /** Default 15,000. */
  readonly timeoutMs?: number;
}

export interface VenueRead {
  /** 0 when no answer came. */
  readonly status: number;
  /** The decoded body; its text when it is not JSON. */
  readonly body: unknown;
}

export class VenueReader {
  readonly #options: VenueReaderOptions;

  get clobUrl(): string {
    return this.#options.clobUrl;
  }

  /** It is the live venue's own. */
  get isLive(): boolean {
    return isLiveClob(this.#options.clobUrl);
  }

  constructor(options: VenueReaderOptions) {
    this.#options = options;
  }

  /** @param path below the base, without its query */
  async get(
    path: string,
    query: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<VenueRead> {
    const { clobUrl, fetch: send = fetch, timeoutMs = 15_000 } = this.#options;
    const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`;
    try {
      const response = await send(clobUrl.replace(/\/+$/, '') + path + search, {
        headers: { accept: 'application/json', 'user-agent': 'bellwether', ...headers },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, body: decoded(await response.text()) };
    } catch {
      return { status: 0, body: null };
    }
  }

  /** @param timestampS the venue's clock */
  async getSigned(
    path: string,
    query: Readonly<Record<string, string>>,
    as: { readonly signer: Signer; readonly credentials: VenueCredentials; readonly timestampS: number },
  ): Promise<VenueRead> {
    const { signer, credentials } = as;
    const timestamp = String(as.timestampS);
    return this.get(path, query, {
      POLY_ADDRESS: toChecksumAddress(signer.address),
      POLY_API_KEY: credentials.apiKey,
      POLY_PASSPHRASE: credentials.apiPassphrase,
      POLY_TIMESTAMP: timestamp,
      POLY_SIGNATURE: l2Signature(credentials.apiSecret, { timestamp, method: 'GET', path }),
    });
  }
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
