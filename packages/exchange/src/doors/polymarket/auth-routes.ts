/** The venue's key endpoints. Wire reference 2.3. */
import { parseAddress } from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { charge } from '../limits.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { UUID } from './key-uuid.ts';
import { authenticateL1, type L1Caller } from './l1-auth.ts';
import { bodyText, type L2 } from './l2-auth.ts';
import { jsonOf, parameter } from './request-parts.ts';
import { invalidApiKey, invalidL1, WireError } from './wire-error.ts';

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
