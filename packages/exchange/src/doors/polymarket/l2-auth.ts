/** Second level of authentication: who may read an account's data, and who may trade for it. Wire reference 2.2. */
import type { Address } from '@bellwether/protocol';
import { parseAddress } from '@bellwether/protocol';
import type { FastifyRequest } from 'fastify';
import { headerText } from './auth-headers.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { UUID } from './key-uuid.ts';
import type { AuthenticatedKey } from './venue-keys.ts';
import { invalidApiKey } from './wire-error.ts';

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
