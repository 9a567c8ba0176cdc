/** The venue's key endpoints. Wire reference 2.3. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PolymarketDoorOptions } from './door.ts';
import { authenticateL1, type L1Caller } from './l1-auth.ts';
import type { AuthenticatedKey } from './venue-keys.ts';
import { invalidApiKey, invalidL1, WireError } from './wire-error.ts';

/** The path as clients sign it: no host, no query, and nothing of where the door is mounted. */
export function signedPath(request: FastifyRequest, mount: string): string {
  const [path = ''] = request.url.split('?', 1);
  return mount !== '' && path.startsWith(mount) ? path.slice(mount.length) : path;
}

/** The exact text of the body; the door's parser leaves it unparsed. */
export const bodyText = (request: FastifyRequest): string =>
  typeof request.body === 'string' ? request.body : '';

export async function requireL2(
  request: FastifyRequest,
  mount: string,
  options: PolymarketDoorOptions,
): Promise<AuthenticatedKey> {
  const path = signedPath(request, mount);
  const caller = await options.keys.authenticateL2(request.headers, request.method, path, bodyText(request));
  if (caller === null) throw invalidApiKey();
  return caller;
}

export function authRoutes(door: FastifyInstance, mount: string, options: PolymarketDoorOptions): void {
  const { keys } = options;

  const requireL1 = (request: FastifyRequest): L1Caller => {
    const caller = authenticateL1(request.headers, options);
    if (caller === null) throw invalidL1();
    return caller;
  };

  door.post('/auth/api-key', async (request) => {
    const { address, nonce } = requireL1(request);
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
