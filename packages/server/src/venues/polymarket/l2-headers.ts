/** The venue's authentication of a request by the agent's own credential. The headers must not reach a log or an error. */
import { type Address, l2Signature, type SignatureType, toChecksumAddress } from '@bellwether/protocol';
import type { VenueSecrets } from '../venue.ts';

export interface AccountKeys {
  /** The key that the credential belongs to, never the wallet that it controls. */
  readonly eoa: Address;
  readonly secrets: VenueSecrets;
}

export interface SignedCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL, without a query. */
  readonly path: string;
  /** Byte for byte what is sent. */
  readonly body?: string;
}

/** The credential of an account that the desk may use, of whichever agent. */
export interface OwnedKeys extends AccountKeys {
  readonly signatureType: SignatureType;
}

/** @param now epoch milliseconds @throws RangeError when the secret is not base64; it is not quoted */
export function l2Headers(
  { eoa, secrets }: AccountKeys,
  call: SignedCall,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    POLY_ADDRESS: toChecksumAddress(eoa),
    POLY_API_KEY: secrets.apiKey,
    POLY_PASSPHRASE: secrets.passphrase,
    POLY_TIMESTAMP: timestamp,
    POLY_SIGNATURE: l2Signature(secrets.secret, { timestamp, ...call }),
  };
}
