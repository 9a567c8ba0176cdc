/**
 * The sandbox chain's JSON-RPC door: what a Solana node answers, for the methods that a desk, a wallet or a fee
 * collector needs. It holds no state and decides nothing about transactions; the chain behind it does.
 *
 * Register it with Fastify under a prefix of your choice. Errors are JSON-RPC's, with HTTP status 200, as nodes do.
 */

import {
  charge,
  type Guarded,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '@bellwether/exchange/doors/limits';
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { parseJson, toJson } from '../exact-json.ts';
import { type SandboxChain, SandboxChainUnavailable } from '../types.ts';
import { ACCOUNT_METHODS } from './account-methods.ts';
import { Budget } from './budget.ts';
import { CLUSTER_METHODS } from './cluster-methods.ts';
import type { Method, MethodContext } from './methods.ts';
import { Params } from './params.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  nodeUnhealthy,
  PARSE_ERROR,
  RpcError,
  TOO_MANY_REQUESTS,
} from './rpc-error.ts';
import { TRANSACTION_METHODS } from './transaction-methods.ts';

export interface SolanaRpcDoorOptions {
  /** `null` while there is none to ask: the door then answers as an unhealthy node. */
  readonly chain: () => SandboxChain | null;
  readonly guard: Guarded;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const MAX_BATCH = 10;
/** Lamports that the faucet gives an address, and all addresses that one caller asks for, on a UTC day. */
const AIRDROP_PER_DAY = 10_000_000_000n;
const AIRDROP_PER_CALLER_AND_DAY = 50_000_000_000n;

/** What a method costs the process, in tokens of the caller's bucket; any other one. */
const TOKENS: ReadonlyMap<unknown, number> = new Map([
  ['sendTransaction', 10],
  ['requestAirdrop', 10],
  ['simulateTransaction', 5],
  ['getMultipleAccounts', 5],
  ['getTokenAccountsByOwner', 5],
  ['getTokenAccountsByDelegate', 5],
  ['getSignatureStatuses', 2],
  ['getTransaction', 2],
]);

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...CLUSTER_METHODS, ...ACCOUNT_METHODS, ...TRANSACTION_METHODS }),
);

export const solanaRpcDoor: FastifyPluginAsync<SolanaRpcDoorOptions> = async (door, options) => {
  acceptAnyBodyAsText(door);
  answerErrorsAsANode(door);
  const { guard } = options;
  guardDoor(door, guard);

  /** The JSON of the answer; `null` for a notification. */
  const answer = async (call: unknown, { budget, airdrops }: Limits): Promise<string | null> => {
    const id = idOf(call);
    try {
      const { method, params } = readCall(call);
      const chain = options.chain();
      if (chain === null) throw nodeUnhealthy();
      const result = await method(params, { chain, budget, airdrops });
      if (id === undefined) return null;
      const text = toJson({ jsonrpc: '2.0', result, id });
      budget.answer(text);
      return text;
    } catch (error) {
      // A request that names no id is a notification, unless it is none at all.
      if (id === undefined && !isInvalidRequest(error)) return null;
      return toJson({ jsonrpc: '2.0', error: errorJson(error, door), id: id ?? null });
    }
  };

  door.post('/', async (request, reply) => {
    const calls = callsOf(request.body);
    if (calls instanceof RpcError) return reply.type('application/json').send(refusalJson(calls));
    const many = Array.isArray(calls) ? calls : [calls];
    await charge(guard, request, tokensOf(many) - 1);
    const limits = limitsOf(guard, request);
    const texts = await inTurns(many, (call) => answer(call, limits));
    const told = texts.filter((text) => text !== null);
    if (told.length === 0) return reply.code(204).send();
    return reply.type('application/json').send(Array.isArray(calls) ? `[${told.join(',')}]` : told[0]);
  });
};

type Limits = Pick<MethodContext, 'budget' | 'airdrops'>;

/** Of one request, for all of its calls together. */
function limitsOf(guard: Guarded, request: FastifyRequest): Limits {
  const perDay = AIRDROP_PER_DAY;
  if (guard === null) return { budget: Budget.unlimited(), airdrops: { perDay } };
  const caller = { source: guard.sourceOf(request), perDay: AIRDROP_PER_CALLER_AND_DAY };
  return { budget: new Budget(), airdrops: { perDay, caller } };
}

const refusalJson = ({ code, message }: RpcError): string =>
  toJson({ jsonrpc: '2.0', error: { code, message }, id: null });

/** The call, or the calls of a batch; what is neither is answered as a whole. */
function callsOf(body: unknown): unknown {
  let calls: unknown;
  try {
    calls = parseJson(String(body ?? ''));
  } catch {
    return new RpcError(PARSE_ERROR, 'Parse error');
  }
  if (Array.isArray(calls) && (calls.length === 0 || calls.length > MAX_BATCH))
    return new RpcError(INVALID_REQUEST, `Invalid request: a batch has between 1 and ${MAX_BATCH} calls`);
  return calls;
}

const tokensOf = (calls: readonly unknown[]): number =>
  calls.reduce<number>(
    (sum, call) => sum + (TOKENS.get((call as { readonly method?: unknown } | null)?.method) ?? 1),
    0,
  );

/**
 * Side by side, so that what is sent in one batch shares a commit; but each begins in a turn of its own, so that the
 * process serves others in between.
 */
async function inTurns<T>(calls: readonly unknown[], answer: (call: unknown) => Promise<T>): Promise<T[]> {
  const answers: Promise<T>[] = [];
  for (const call of calls) {
    if (answers.length > 0) await new Promise((turn) => setImmediate(turn));
    answers.push(answer(call));
  }
  return Promise.all(answers);
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

/** Faults of the request as a whole: the body was not read, so there is no id to answer to. */
function answerErrorsAsANode(door: FastifyInstance): void {
  door.setErrorHandler((error: FastifyError | TooManyRequests | NulInUrl, request: FastifyRequest, reply) => {
    reply.type('application/json');
    if (error instanceof TooManyRequests)
      return sayWhen(reply, error).send(refusalJson(new RpcError(TOO_MANY_REQUESTS, error.message)));
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    if (status >= 500) {
      request.log.error({ err: error }, 'the Solana door failed');
      return reply.code(500).send(refusalJson(new RpcError(INTERNAL_ERROR, 'Internal error')));
    }
    const message =
      status === 413 ? `Invalid request: a body has at most ${BODY_LIMIT_BYTES} bytes` : error.message;
    return reply.code(status).send(refusalJson(new RpcError(INVALID_REQUEST, message)));
  });
}
