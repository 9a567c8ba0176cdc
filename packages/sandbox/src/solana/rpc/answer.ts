/**
 * Answers the body of a JSON-RPC request: one call, or a batch. It runs in the chain's thread; without a chain the door
 * uses it to answer every call with an error.
 */

import {
  type LocalChain,
  type RpcAnswer,
  type RpcFault,
  type RpcLimits,
  type SandboxChain,
  SandboxChainUnavailable,
} from '../chain-interface.ts';
import { parseJson, toJson } from '../exact-json.ts';
import { ACCOUNT_METHODS, CLUSTER_METHODS, TRANSACTION_METHODS } from './methods.ts';
import {
  Budget,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type Method,
  nodeUnhealthy,
  Params,
  RpcError,
} from './requests.ts';

/** Lamports per UTC day that the faucet gives to an address. */
export const AIRDROP_PER_DAY = 10_000_000_000n;

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...CLUSTER_METHODS,
    ...ACCOUNT_METHODS,
    ...TRANSACTION_METHODS,
  }),
);

/** Methods that may have changed the chain although no answer arrived. */
const MAY_LAND: ReadonlySet<unknown> = new Set(['sendTransaction', 'requestAirdrop']);

interface Answering {
  /** The chain for a call of the method. @throws RpcError, SandboxChainUnavailable */
  readonly find: () => LocalChain;
  readonly limits: RpcLimits;
  /** Receives internal errors. */
  readonly onFault: (error: unknown) => void;
}

/** @param body valid JSON. @returns JSON; `null` when there is nothing to answer */
export async function answerBody(body: string, answering: Answering): Promise<string | null> {
  const calls = parseJson(body);
  const isExternal = answering.limits.caller === 'external';
  const budget = isExternal ? new Budget() : Budget.unlimited();
  const many = Array.isArray(calls) ? calls : [calls];
  const texts = await inTurns(many, (call) => answerCall(call, answering, budget));
  const answers = texts.filter((text) => text !== null);
  if (answers.length === 0) return null;
  return Array.isArray(calls) ? `[${answers.join(',')}]` : (answers[0] ?? null);
}

/** Answers one call of the desk. */
export async function answerAsk(
  method: string,
  params: readonly unknown[],
  { find, onFault }: Pick<Answering, 'find' | 'onFault'>,
): Promise<RpcAnswer> {
  const call = { jsonrpc: '2.0', id: 0, method, params };
  try {
    const { method: run, params: read } = readCall(call);
    return {
      result: await run(read, {
        chain: find(),
        budget: Budget.unlimited(),
        airdrops: { perDay: AIRDROP_PER_DAY },
      }),
    };
  } catch (error) {
    return { error: errorJson(error, call, onFault) };
  }
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
    // A valid request without an id is a notification.
    if (id === undefined && !isInvalidRequest(error)) return null;
    return toJson({ jsonrpc: '2.0', error: errorJson(error, call, answering.onFault), id: id ?? null });
  }
}

/**
 * Concurrently, so that transactions of one batch share a commit; but each call starts in a separate turn of the event
 * loop, so that the thread serves other callers in between.
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

function errorJson(error: unknown, call: unknown, onFault: Answering['onFault']): RpcFault {
  const rpcError = asRpcError(error, call);
  if (rpcError === null) {
    onFault(error);
    return { code: INTERNAL_ERROR, message: 'Internal error' };
  }
  const { code, message, data } = rpcError;
  return data === undefined ? { code, message } : { code, message, data };
}

/** `null` for an internal error. */
function asRpcError(error: unknown, call: unknown): RpcError | null {
  if (error instanceof RpcError) return error;
  if (!(error instanceof SandboxChainUnavailable)) return null;
  // A reading call has certainly not landed, regardless of the other calls in the batch.
  const { method } = call as { readonly method?: unknown };
  if (error.landed === 'no' || !MAY_LAND.has(method)) return nodeUnhealthy();
  return new RpcError(
    INTERNAL_ERROR,
    'Internal error: it is not known whether the transaction landed; ask for its status',
  );
}

// A call of the desk to the chain: a door's answer, without HTTP and JSON text.

/** @throws anything that is not an answer of a node */
export async function askChain(
  chain: Pick<SandboxChain, 'ask' | 'blocks'>,
  method: string,
  params: readonly unknown[],
): Promise<RpcAnswer> {
  try {
    // The most frequent question needs no thread.
    return method === 'getBlockHeight' ? { result: chain.blocks().slot } : await chain.ask(method, params);
  } catch (error) {
    if (!(error instanceof SandboxChainUnavailable)) throw error;
    const find = () => {
      throw error;
    };
    return answerAsk(method, params, { find, onFault: () => {} });
  }
}
