/**
 * Answers the body of a JSON-RPC request: one call, or a batch. It runs in the chain's thread; where there is no chain
 * to ask, the door itself uses it to say so, call by call.
 */
import { parseJson, toJson } from '../exact-json.ts';
import { type LocalChain, type RpcLimits, SandboxChainUnavailable } from '../types.ts';
import { ACCOUNT_METHODS } from './account-methods.ts';
import { Budget } from './budget.ts';
import { CLUSTER_METHODS } from './cluster-methods.ts';
import type { Method } from './methods.ts';
import { Params } from './params.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  nodeUnhealthy,
  RpcError,
} from './rpc-error.ts';
import { TRANSACTION_METHODS } from './transaction-methods.ts';

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...CLUSTER_METHODS, ...ACCOUNT_METHODS, ...TRANSACTION_METHODS }),
);

/** Methods that may have changed the chain although no answer came. */
const MAY_LAND: ReadonlySet<unknown> = new Set(['sendTransaction', 'requestAirdrop']);

export interface Answering {
  /** The chain for a call of the method. @throws RpcError, SandboxChainUnavailable */
  readonly find: () => LocalChain;
  readonly limits: RpcLimits;
  /** Told of what is a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

/** @param body valid JSON. @returns JSON; `null` when there is nothing to answer */
export async function answerBody(body: string, answering: Answering): Promise<string | null> {
  const calls = parseJson(body);
  const isStranger = answering.limits.caller === 'stranger';
  const budget = isStranger ? new Budget() : Budget.unlimited();
  const many = Array.isArray(calls) ? calls : [calls];
  const texts = await inTurns(many, (call) => answerCall(call, answering, budget));
  const told = texts.filter((text) => text !== null);
  if (told.length === 0) return null;
  return Array.isArray(calls) ? `[${told.join(',')}]` : (told[0] ?? null);
}

/** The JSON of the answer; `null` for a notification. */
async function answerCall(call: unknown, answering: Answering, budget: Budget): Promise<string | null> {
  const { find, limits } = answering;
  const id = idOf(call);
  try {
    const { method, params } = readCall(call);
    const result = await method(params, { chain: find(), budget, airdrops: limits.airdrops });
    if (id === undefined) return null;
    const text = toJson({ jsonrpc: '2.0', result, id });
    budget.answer(text);
    return text;
  } catch (error) {
    // A request that names no id is a notification, unless it is none at all.
    if (id === undefined && !isInvalidRequest(error)) return null;
    return toJson({ jsonrpc: '2.0', error: errorJson(error, call, answering), id: id ?? null });
  }
}

/**
 * Side by side, so that what is sent in one batch shares a commit; but each begins in a turn of its own, so that the
 * thread serves others in between.
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

function errorJson(error: unknown, call: unknown, { onFault }: Answering): object {
  const told = asRpcError(error, call);
  if (told === null) {
    onFault(error);
    return { code: INTERNAL_ERROR, message: 'Internal error' };
  }
  const { code, message, data } = told;
  return data === undefined ? { code, message } : { code, message, data };
}

/** `null` for what is a fault of ours. */
function asRpcError(error: unknown, call: unknown): RpcError | null {
  if (error instanceof RpcError) return error;
  if (!(error instanceof SandboxChainUnavailable)) return null;
  // What only reads has certainly not landed, whatever became of its neighbours in the batch.
  const { method } = call as { readonly method?: unknown };
  if (error.landed === 'no' || !MAY_LAND.has(method)) return nodeUnhealthy();
  return new RpcError(
    INTERNAL_ERROR,
    'Internal error: it is not known whether the transaction landed; ask for its status',
  );
}
