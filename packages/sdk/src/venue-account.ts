/**
 * An account at the venue itself, without the service: its login, its API credentials, and what it reads there. The
 * login names no service: who receives a signature under it can hand it on to the live venue within minutes and gets
 * the account's API credentials there. So it is signed for the venue's own host, or with a key that has nothing there.
 */

import type { CredentialRequest } from '@bellwether/contract';
import { l2Signature, type SignatureType, toChecksumAddress } from '@bellwether/protocol';
import { INSPECT, NEED, needOptions, needValue } from './errors.ts';
import type { ClobAuthHeaders, DepositKind, Signer } from './signer.ts';
import type { Fetch } from './transport.ts';

export const LIVE_CLOB_ORIGIN = 'https://clob.polymarket.com';

/** The key is not for this. Nothing was signed. */
export class KeyNotForThis extends Error {
  override readonly name = 'KeyNotForThis';
}

interface Login {
  readonly signer: Signer;
  readonly clobUrl: string;
  readonly nonce?: number | undefined;
  readonly chainId?: number | undefined;
}

const isLiveClob = (clobUrl: string): boolean =>
  URL.canParse(clobUrl) && new URL(clobUrl).origin === LIVE_CLOB_ORIGIN;

/** @throws KeyNotForThis */
export function requireMayLogin({ signer, clobUrl }: Pick<Login, 'signer' | 'clobUrl'>): void {
  if (isLiveClob(clobUrl) && signer.use === 'paper')
    throw new KeyNotForThis('This key is marked as one for paper, and the venue at that address is live.');
  if (!isLiveClob(clobUrl) && signer.use !== 'paper')
    throw new KeyNotForThis(
      `The venue's login is signed for ${LIVE_CLOB_ORIGIN} alone: elsewhere it could be handed on to it. Only a key that is marked as one for paper (use: 'paper') signs it for another address.`,
    );
}

/**
 * @param venueTimeS what the venue says; only a paper venue is believed, and the live one gets the time of this machine
 * @throws KeyNotForThis
 */
export function venueLogin(login: Login, venueTimeS: number): Promise<ClobAuthHeaders> {
  requireMayLogin(login);
  const { signer, clobUrl, nonce, chainId } = login;
  return signer.clobAuth({
    timestampS: isLiveClob(clobUrl) ? Math.floor(Date.now() / 1000) : venueTimeS,
    ...(nonce === undefined ? {} : { nonce }),
    ...(chainId === undefined ? {} : { chainId }),
  });
}

// Obtains the venue's API credentials for a key by the venue's signed challenge. This is the venue's own protocol:
// it works against the service's paper door (`<base>/paper/clob`) and against the venue itself.

export interface VenueCredentials {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly apiPassphrase: string;
}

/** The venue refused, or what answered was not the venue. */
export class VenueCredentialsError extends Error {
  override readonly name = 'VenueCredentialsError';
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface VenueCredentialsOptions {
  /** The venue's address, e.g. `http://127.0.0.1:8080/paper/clob`. */
  readonly clobUrl: string;
  readonly signer: Signer;
  /** One key has one set of credentials per nonce. Default 0. */
  readonly nonce?: number;
  /** Default 137. */
  readonly chainId?: number;
  readonly fetch?: Fetch;
  /** Default 15,000. */
  readonly timeoutMs?: number;
}

interface KeyAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Derives the credentials, or creates them when there are none yet. Printing the result shows no secret; its
 * fields and its JSON carry them, so that an agent can keep them.
 * @throws VenueCredentialsError; KeyNotForThis for a key that is not for this venue
 * @example
 * const credentials = await createVenueCredentials({ clobUrl: 'http://127.0.0.1:8080/paper/clob', signer });
 */
export async function createVenueCredentials(options: VenueCredentialsOptions): Promise<VenueCredentials> {
  needOptions('createVenueCredentials', options, { clobUrl: NEED.url, signer: NEED.signer });
  requireMayLogin(options);
  const timestampS = await venueTime(options);
  const headers = {
    ...(await venueLogin(options, timestampS)),
    accept: 'application/json',
  };
  // Derive first: a second creation is refused, and most calls are not the first.
  const derived = await ask(options, 'GET', '/auth/derive-api-key', headers);
  const answer = derived.status === 200 ? derived : await ask(options, 'POST', '/auth/api-key', headers);
  const { apiKey, secret, passphrase } = answer.body;
  if (typeof apiKey !== 'string' || typeof secret !== 'string' || typeof passphrase !== 'string') {
    const said = typeof answer.body.error === 'string' ? answer.body.error : 'no credentials in the answer';
    throw new VenueCredentialsError(answer.status, `the venue gave no credentials: ${said.slice(0, 200)}`);
  }
  return concealed({ apiKey, apiSecret: secret, apiPassphrase: passphrase });
}

/**
 * Body of POST /wallet/credentials for the wallet of this type.
 * @example
 * await client.registerCredentials(credentialRequest(signer, credentials));
 */
export function credentialRequest(
  signer: Signer,
  credentials: VenueCredentials,
  signatureType: SignatureType = 0,
  deposit: DepositKind = 'beacon',
): CredentialRequest {
  needValue('credentialRequest', 'signer', signer, NEED.signer);
  needOptions('credentialRequest', credentials, {
    apiKey: NEED.text('what createVenueCredentials returned'),
    apiSecret: NEED.text('what createVenueCredentials returned'),
    apiPassphrase: NEED.text('what createVenueCredentials returned'),
  });
  return {
    walletAddress: signer.wallet(signatureType, deposit),
    apiKey: credentials.apiKey,
    apiSecret: credentials.apiSecret,
    apiPassphrase: credentials.apiPassphrase,
    signatureType,
    polyAddress: signer.address,
  };
}

function concealed(credentials: VenueCredentials): VenueCredentials {
  const shown = () => `VenueCredentials(${credentials.apiKey.slice(0, 8)}…)`;
  return Object.defineProperty(credentials, INSPECT, { value: shown, enumerable: false });
}

/** The venue's clock, so that an agent with a wrong clock can still sign; the local clock when the venue gives none. */
async function venueTime(options: VenueCredentialsOptions): Promise<number> {
  const { status, body } = await ask(options, 'GET', '/time', { accept: 'application/json' });
  const now = body.value;
  return status === 200 && typeof now === 'number' && Number.isSafeInteger(now)
    ? now
    : Math.floor(Date.now() / 1000);
}

async function ask(
  options: VenueCredentialsOptions,
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string>,
): Promise<KeyAnswer> {
  const send = options.fetch ?? fetch;
  let status = 0;
  let text: string;
  try {
    const response = await send(options.clobUrl.replace(/\/+$/, '') + path, {
      method,
      headers,
      // They hold a signature, or the answer a secret: both are for this address alone.
      redirect: 'error',
      signal: AbortSignal.timeout(options.timeoutMs ?? 15_000),
    });
    status = response.status;
    text = await response.text();
  } catch {
    // The original error may quote the signed headers.
    throw new VenueCredentialsError(status, `the venue does not answer ${method} ${path}`);
  }
  try {
    const body: unknown = JSON.parse(text);
    return { status, body: typeof body === 'object' && body !== null ? { ...body } : { value: body } };
  } catch {
    return { status, body: {} };
  }
}

// Reads of the venue's own API, with and without the account's credential. Headers never reach an error.

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
