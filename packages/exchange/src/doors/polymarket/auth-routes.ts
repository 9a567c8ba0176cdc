/** The venue's key endpoints. Wire reference 2.3. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { charge } from '../limits.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { authenticateL1, type L1Caller } from './l1-auth.ts';
import type { AuthenticatedKey } from './venue-keys.ts';
import { invalidApiKey, invalidL1, WireError } from './wire-error.ts';

const TOKENS_OF_A_KEY = 10;

/**
 * The paths that a client may have signed, without query: most clients sign the path below their base URL, some (the
 * Rust client) the whole requested path. Both mean the same route of the same door.
 */
export function signedPaths(request: FastifyRequest, mount: string): readonly string[] {
  const [path = ''] = request.url.split('?', 1);
  return mount !== '' && path.startsWith(mount) ? [path.slice(mount.length), path] : [path];
}

/** The exact text of the body; the door's parser leaves it unparsed. */
export const bodyText = (request: FastifyRequest): string =>
  typeof request.body === 'string' ? request.body : '';

export async function requireL2(
  request: FastifyRequest,
  mount: string,
  options: PolymarketDoorOptions,
): Promise<AuthenticatedKey> {
  const signed = { method: request.method, paths: signedPaths(request, mount), body: bodyText(request) };
  const caller = await options.keys.authenticateL2(request.headers, signed);
  if (caller === null) throw invalidApiKey();
  return caller;
}

export function authRoutes(door: FastifyInstance, mount: string, options: PolymarketDoorOptions): void {
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
    const { address } = await requireL2(request, mount, options);
    return { apiKeys: await keys.list(address) };
  });

  door.delete('/auth/api-key', async (request, reply) => {
    const { apiKey } = await requireL2(request, mount, options);
    await keys.revoke(apiKey);
    return reply.type('application/json').send('"OK"');
  });
}
