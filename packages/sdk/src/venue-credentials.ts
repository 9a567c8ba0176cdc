/**
 * Obtains the venue's API credentials for a key by the venue's signed challenge. This is the venue's own protocol:
 * it works against the service's paper door (`<base>/paper/clob`) and against the venue itself.
 */
import type { CredentialRequest } from '@bellwether/contract';
import type { SignatureType } from '@bellwether/protocol';
import { INSPECT } from './inspect.ts';
import type { DepositKind, Signer } from './signer.ts';
import type { Fetch } from './transport.ts';
import { NEED, needOptions, needValue } from './usage-error.ts';
import { requireMayLogin, venueLogin } from './venue-login.ts';

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
