/**
 * Who asks: both levels of the venue's authentication, and the endpoints of its keys. Wire reference 2.1 to 2.3.
 *
 * At the first level the account signs EIP-712 data. A refusal names the wrong header and shows the data to sign, which
 * is public and which a caller could not guess.
 */
import {
  type Address,
  bytesToHex,
  CLOB_AUTH_DOMAIN_NAME,
  CLOB_AUTH_MESSAGE,
  clobAuthDigest,
  parseAddress,
  type RecoverPublicKey,
  recoverAddress,
} from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { charge } from '../limits.ts';
import {
  invalidApiKey,
  invalidL1,
  jsonOf,
  type PolymarketDoorOptions,
  parameter,
  WireError,
} from './requests.ts';
import {
  AUTH_TOLERANCE_S,
  type AuthenticatedKey,
  type AuthHeaders,
  headerText,
  isFresh,
  MAX_KEY_NONCE,
  UUID,
} from './venue-keys.ts';

interface L1Caller {
  readonly address: Address;
  readonly nonce: bigint;
}

interface L1Fault {
  /** In the spelling that clients use. */
  readonly header: string;
  /** The fault, and how to fix it. */
  readonly message: string;
  /** The data to sign, as far as the headers determine it. */
  readonly typedData: unknown;
  /** EIP-712 digest of it; only when every header but the signature can be read. */
  readonly digest?: string;
}

type L1Verdict =
  | { readonly ok: true; readonly caller: L1Caller }
  | { readonly ok: false; readonly fault: L1Fault };

interface L1Venue {
  readonly chainId: number;
  readonly recover: RecoverPublicKey;
  readonly now: () => number;
}

const NONCE = /^[0-9]{1,19}$/;

function authenticateL1(headers: AuthHeaders, venue: L1Venue): L1Verdict {
  const address = parseAddress(headerText(headers, 'poly_address'));
  const timestamp = headerText(headers, 'poly_timestamp');
  // 0 is the default nonce of the venue's clients.
  const nonceText = headerText(headers, 'poly_nonce') || '0';
  const nonce = NONCE.test(nonceText) ? BigInt(nonceText) : null;
  const now = Math.floor(venue.now() / 1000);

  const typedData = typedDataOf({ address, timestamp, nonce, chainId: venue.chainId, now });
  const refused = (header: string, message: string, digest?: Uint8Array): L1Verdict => ({
    ok: false,
    fault: { header, message, typedData, ...(digest === undefined ? {} : { digest: bytesToHex(digest) }) },
  });
  if (address === null)
    return refused(
      'POLY_ADDRESS',
      'POLY_ADDRESS must be the address of the signing key: 0x and 40 hex digits.',
    );
  if (!isFresh(timestamp, venue.now()))
    return refused(
      'POLY_TIMESTAMP',
      `POLY_TIMESTAMP must be epoch seconds within ${AUTH_TOLERANCE_S} s of this clock, which says ${now} (GET /time).`,
    );
  if (nonce === null || nonce > MAX_KEY_NONCE)
    return refused(
      'POLY_NONCE',
      `POLY_NONCE must be a whole number from 0 to ${MAX_KEY_NONCE}; 0 when left out.`,
    );
  const digest = clobAuthDigest({ address, timestamp, nonce, chainId: venue.chainId });
  const signer = recoverAddress(venue.recover, digest, headerText(headers, 'poly_signature'));
  if (signer.ok && signer.address === address) return { ok: true, caller: { address, nonce } };
  const found = signer.ok
    ? `it was made by ${signer.address}, or over other data`
    : `it is no signature (${signer.reason})`;
  return refused(
    'POLY_SIGNATURE',
    `POLY_SIGNATURE must be the 65-byte signature of typedData by ${address} (eth_signTypedData_v4); ${found}.`,
    digest,
  );
}

interface Claimed {
  readonly address: Address | null;
  readonly timestamp: string;
  readonly nonce: bigint | null;
  readonly chainId: number;
  readonly now: number;
}

const NOTHING_READABLE = '<your address>';
const MAX_TIMESTAMP_CHARS = 12;

/** In the format of `eth_signTypedData_v4`. */
function typedDataOf({ address, timestamp, nonce, chainId, now }: Claimed): unknown {
  const isSane = timestamp !== '' && timestamp.length <= MAX_TIMESTAMP_CHARS;
  return {
    domain: { name: CLOB_AUTH_DOMAIN_NAME, version: '1', chainId },
    types: {
      ClobAuth: [
        { name: 'address', type: 'address' },
        { name: 'timestamp', type: 'string' },
        { name: 'nonce', type: 'uint256' },
        { name: 'message', type: 'string' },
      ],
    },
    primaryType: 'ClobAuth',
    message: {
      address: address ?? NOTHING_READABLE,
      timestamp: isSane ? timestamp : String(now),
      nonce: String(nonce ?? 0n),
      message: CLOB_AUTH_MESSAGE,
    },
  };
}

// Second level of authentication: who may read an account's data, and who may trade for it. Wire reference 2.2.

/** Whose private data a request may read. `apiKey`: '' when it came with a read-only key. */
export type Reader = Pick<AuthenticatedKey, 'address' | 'apiKey'>;

export interface L2 {
  /** @throws WireError */
  key(request: FastifyRequest): Promise<AuthenticatedKey>;
  /** A key, or a read-only key. @throws WireError */
  reader(request: FastifyRequest): Promise<Reader>;
}

/**
 * The paths that a client may have signed, without query: most clients sign the path below their base URL, some (the
 * Rust client) the whole requested path. Both mean the same route of the same door.
 */
function signedPaths(request: FastifyRequest, mount: string): readonly string[] {
  const [path = ''] = request.url.split('?', 1);
  return mount !== '' && path.startsWith(mount) ? [path.slice(mount.length), path] : [path];
}

/** The exact text of the body; the door's parser leaves it unparsed. */
export const bodyText = (request: FastifyRequest): string =>
  typeof request.body === 'string' ? request.body : '';

export function l2Of(mount: string, { keys }: Pick<PolymarketDoorOptions, 'keys'>): L2 {
  const key = async (request: FastifyRequest): Promise<AuthenticatedKey> => {
    const signed = { method: request.method, paths: signedPaths(request, mount), body: bodyText(request) };
    const caller = await keys.authenticateL2(request.headers, signed);
    if (caller === null) throw invalidApiKey();
    return caller;
  };
  return {
    key,
    reader: async (request) => {
      const readonly = headerText(request.headers, 'poly_readonly_api_key').toLowerCase();
      if (readonly === '') return key(request);
      const address: Address | null = parseAddress(headerText(request.headers, 'poly_address'));
      const isGood =
        address !== null && UUID.test(readonly) && (await keys.readonlyKeys.isOf(address, readonly));
      if (!isGood) throw invalidApiKey();
      return { address, apiKey: '' };
    },
  };
}

// The endpoints of keys. Wire reference 2.3.

const TOKENS_OF_A_KEY = 10;

export function authRoutes(door: FastifyInstance, l2: L2, options: PolymarketDoorOptions): void {
  const { keys } = options;

  const requireL1 = (request: FastifyRequest): L1Caller => {
    const verdict = authenticateL1(request.headers, options);
    if (!verdict.ok) throw invalidL1({ ...verdict.fault });
    return verdict.caller;
  };

  door.post('/auth/api-key', async (request) => {
    const { address, nonce } = requireL1(request);
    // It is stored permanently.
    await charge(options.guard, request, TOKENS_OF_A_KEY - 1);
    const credentials = await keys.create(address, nonce);
    if (credentials === null) throw new WireError(400, 'Could not create api key');
    return credentials;
  });

  door.get('/auth/derive-api-key', async (request) => {
    const { address, nonce } = requireL1(request);
    const credentials = await keys.derive(address, nonce);
    if (credentials === null) throw new WireError(400, 'Could not derive api key!');
    return credentials;
  });

  door.get('/auth/api-keys', async (request) => {
    const { address } = await l2.key(request);
    return { apiKeys: await keys.list(address) };
  });

  door.delete('/auth/api-key', async (request, reply) => {
    const { apiKey } = await l2.key(request);
    await keys.revoke(apiKey);
    return reply.type('application/json').send('"OK"');
  });

  readonlyRoutes(door, l2, options);
}

function readonlyRoutes(door: FastifyInstance, l2: L2, { keys, guard }: PolymarketDoorOptions): void {
  const { readonlyKeys } = keys;

  door.post('/auth/readonly-api-key', async (request) => {
    const { address } = await l2.key(request);
    await charge(guard, request, TOKENS_OF_A_KEY - 1);
    const apiKey = await readonlyKeys.create(address);
    if (apiKey === null) throw new WireError(400, 'Could not create api key');
    return { apiKey };
  });

  door.get('/auth/readonly-api-keys', async (request) => readonlyKeys.list((await l2.key(request)).address));

  door.delete('/auth/readonly-api-key', async (request) => {
    const { address } = await l2.key(request);
    const { key } = (jsonOf(bodyText(request)) ?? {}) as { readonly key?: unknown };
    if (typeof key !== 'string' || !UUID.test(key)) throw new WireError(400, 'Invalid payload');
    return readonlyKeys.revoke(address, key);
  });

  /** Answers with the address of a key that is good. */
  door.get('/auth/validate-readonly-api-key', async (request, reply) => {
    const address = parseAddress(parameter(request, 'address'));
    const key = parameter(request, 'key').toLowerCase();
    const isGood = address !== null && UUID.test(key) && (await readonlyKeys.isOf(address, key));
    if (!isGood) throw invalidApiKey();
    return reply.type('application/json').send(JSON.stringify(address));
  });
}
