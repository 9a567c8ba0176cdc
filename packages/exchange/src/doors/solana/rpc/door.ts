/**
 * The sandbox chain's JSON-RPC door: what a Solana node answers, for the methods that a desk, a wallet or a fee
 * collector needs. It holds no state and decides nothing about transactions; the chain behind it does.
 *
 * Register it with Fastify under a prefix of your choice. Errors are JSON-RPC's, with HTTP status 200, as nodes do.
 */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { parseJson, toJson } from '../exact-json.ts';
import { type SandboxChain, SandboxChainUnavailable } from '../types.ts';
import { ACCOUNT_METHODS } from './account-methods.ts';
import { CLUSTER_METHODS } from './cluster-methods.ts';
import type { Method } from './methods.ts';
import { Params } from './params.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  nodeUnhealthy,
  PARSE_ERROR,
  RpcError,
} from './rpc-error.ts';
import { TRANSACTION_METHODS } from './transaction-methods.ts';

export interface SolanaRpcDoorOptions {
  /** `null` while there is none to ask: the door then answers as an unhealthy node. */
  readonly chain: () => SandboxChain | null;
  /** Lamports that the faucet gives an address on a UTC day. */
  readonly airdropPerDay?: bigint;
}

const BODY_LIMIT_BYTES = 512 * 1024;
const MAX_BATCH = 100;
const DEFAULT_AIRDROP_PER_DAY = 10_000_000_000n;

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...CLUSTER_METHODS, ...ACCOUNT_METHODS, ...TRANSACTION_METHODS }),
);

export const solanaRpcDoor: FastifyPluginAsync<SolanaRpcDoorOptions> = async (door, options) => {
  acceptAnyBodyAsText(door);
  const airdropPerDay = options.airdropPerDay ?? DEFAULT_AIRDROP_PER_DAY;

  const answer = async (call: unknown): Promise<object | null> => {
    const id = idOf(call);
    try {
      const { method, params } = readCall(call);
      const chain = options.chain();
      if (chain === null) throw nodeUnhealthy();
      const result = await method(params, { chain, airdropPerDay });
      return id === undefined ? null : { jsonrpc: '2.0', result, id };
    } catch (error) {
      // A request that names no id is a notification, unless it is none at all.
      if (id === undefined && !isInvalidRequest(error)) return null;
      return { jsonrpc: '2.0', error: errorJson(error, door), id: id ?? null };
    }
  };

  door.post('/', async (request, reply) => {
    const answers = await answerBody(request.body, answer);
    if (answers === null) return reply.code(204).send();
    return reply.type('application/json').send(toJson(answers));
  });
};

async function answerBody(
  body: unknown,
  answer: (call: unknown) => Promise<object | null>,
): Promise<object | null> {
  let calls: unknown;
  try {
    calls = parseJson(String(body ?? ''));
  } catch {
    return { jsonrpc: '2.0', error: { code: PARSE_ERROR, message: 'Parse error' }, id: null };
  }
  if (!Array.isArray(calls)) return answer(calls);
  if (calls.length === 0 || calls.length > MAX_BATCH) {
    const message = `Invalid request: a batch has between 1 and ${MAX_BATCH} calls`;
    return { jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null };
  }
  // Side by side, so that what is sent in one batch shares a commit; each starts in its turn.
  const answers = (await Promise.all(calls.map(answer))).filter((one) => one !== null);
  return answers.length === 0 ? null : answers;
}

/** `undefined` for a notification. */
function idOf(call: unknown): string | number | bigint | null | undefined {
  const id = (call as { readonly id?: unknown } | null)?.id;
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' || id === null
    ? id
    : undefined;
}

function readCall(call: unknown): { method: Method; params: Params } {
  const { jsonrpc, method: name, params = [], id } = (call ?? {}) as Record<string, unknown>;
  const isId = id === undefined || idOf(call) !== undefined;
  if (typeof call !== 'object' || jsonrpc !== '2.0' || typeof name !== 'string' || !isId)
    throw new RpcError(INVALID_REQUEST, 'Invalid request');
  const method = METHODS.get(name);
  if (method === undefined)
    throw new RpcError(METHOD_NOT_FOUND, 'Method not found', { supported: [...METHODS.keys()] });
  if (!Array.isArray(params)) throw new RpcError(INVALID_PARAMS, '`params` should be an array');
  return { method, params: new Params(params) };
}

const isInvalidRequest = (error: unknown): boolean =>
  error instanceof RpcError && error.code === INVALID_REQUEST;

function errorJson(error: unknown, door: FastifyInstance): object {
  const told = asRpcError(error);
  if (told === null) {
    door.log.error({ err: error }, 'the Solana door failed');
    return { code: INTERNAL_ERROR, message: 'Internal error' };
  }
  const { code, message, data } = told;
  return data === undefined ? { code, message } : { code, message, data };
}

/** `null` for what is a fault of ours. */
function asRpcError(error: unknown): RpcError | null {
  if (error instanceof RpcError) return error;
  if (!(error instanceof SandboxChainUnavailable)) return null;
  if (error.landed === 'no') return nodeUnhealthy();
  return new RpcError(
    INTERNAL_ERROR,
    'Internal error: it is not known whether the transaction landed; ask for its status',
  );
}

function acceptAnyBodyAsText(door: FastifyInstance): void {
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
}
