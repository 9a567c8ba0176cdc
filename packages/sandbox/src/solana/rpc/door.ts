/**
 * The sandbox chain's JSON-RPC door: a Solana node's answers for the methods that a desk, a wallet or a fee collector
 * needs. It accepts requests, charges for them and forwards them to the chain's thread, which answers them; in this
 * thread the cost of a request is proportional to its bytes.
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
import { type Relay, type SocketBounds, Sockets, socketRoute } from '@bellwether/exchange/doors/web-sockets';
import type {
  FastifyError,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import { ChainBusy, type RpcLimits, type SandboxChain, SandboxChainUnavailable } from '../chain-interface.ts';
import { toJson } from '../exact-json.ts';
import { AIRDROP_PER_DAY, answerBody } from './answer.ts';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  nodeUnhealthy,
  PARSE_ERROR,
  RpcError,
  TOO_MANY_REQUESTS,
} from './requests.ts';
import { Subscriptions } from './subscriptions.ts';

interface SolanaRpcDoorOptions {
  /** `null` while no chain is open: the door then answers as an unhealthy node. */
  readonly chain: () => SandboxChain | null;
  readonly guard: Guarded;
  /** For sockets, where another process may lead the chain. */
  readonly relay?: Relay | undefined;
  readonly bounds?: SocketBounds;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const MAX_BATCH = 10;
/** Lamports per UTC day that the faucet gives to all addresses of one caller. */
const AIRDROP_PER_CALLER_AND_DAY = 50_000_000_000n;
/** Seconds after which an overloaded chain should have capacity again. */
const BUSY_RETRY_S = 1;

/** The cost of a method, in tokens of the caller's bucket; the default for other methods. */
const TOKENS: ReadonlyMap<unknown, number> = new Map([
  ['sendTransaction', 10],
  ['requestAirdrop', 10],
  ['simulateTransaction', 5],
  ['getMultipleAccounts', 5],
  ['getTokenAccountsByOwner', 5],
  ['getSignatureStatuses', 2],
  ['getTransaction', 2],
]);

export const solanaRpcDoor: FastifyPluginAsync<SolanaRpcDoorOptions> = async (door, options) => {
  acceptAnyBodyAsText(door);
  answerErrorsAsANode(door);
  const { guard } = options;
  guardDoor(door, guard);
  bindSockets(door, options);

  door.post('/', async (request, reply) => {
    const body = String(request.body ?? '');
    const calls = callsOf(body);
    if (calls instanceof RpcError) return reply.type('application/json').send(refusalJson(calls));
    if (calls.some((call) => methodOf(call) === 'requestAirdrop') && isForeign(request))
      return reply.code(403).type('application/json').send(refusalJson(NO_AIRDROPS));
    await charge(guard, request, tokensOf(calls) - 1);
    const limits = limitsOf(guard, request, calls.length);
    try {
      const answer = await answerFrom(options.chain(), { body, limits, door });
      return answer === null ? reply.code(204).send() : reply.type('application/json').send(answer);
    } catch (error) {
      if (error instanceof ChainBusy) return sayBusy(reply);
      throw error;
    }
  });
};

/** On the door's own address and below it: clients derive the one from the address of the node, or are given the other. */
function bindSockets(door: FastifyInstance, { chain, guard, relay, bounds }: SolanaRpcDoorOptions): void {
  const subscriptions = new Subscriptions({
    chain,
    onFault: (error) => door.log.error({ err: error }, 'a socket of the Solana door failed'),
  });
  const sockets = new Sockets(bounds);
  for (const path of ['/', '/ws'])
    socketRoute(door, path, { guard, sockets, relay, open: (peer, pay) => subscriptions.open(peer, pay) });
}

interface AskedRpc {
  readonly body: string;
  readonly limits: RpcLimits;
  readonly door: FastifyInstance;
}

/** @throws ChainBusy */
async function answerFrom(
  chain: SandboxChain | null,
  { body, limits, door }: AskedRpc,
): Promise<Buffer | string | null> {
  let reason: SandboxChainUnavailable | null = null;
  if (chain !== null) {
    try {
      const answer = await chain.rpc(body, limits);
      return answer === null ? null : Buffer.from(answer.buffer);
    } catch (error) {
      if (!(error instanceof SandboxChainUnavailable)) throw error;
      reason = error;
    }
  }
  return answerBody(body, {
    find: () => {
      throw reason ?? nodeUnhealthy();
    },
    limits,
    onFault: (error) => door.log.error({ err: error }, 'the Solana door failed'),
  });
}

function limitsOf(guard: Guarded, request: FastifyRequest, calls: number): RpcLimits {
  const perDay = AIRDROP_PER_DAY;
  if (guard === null) return { caller: 'desk', calls, airdrops: { perDay } };
  const caller = { source: guard.sourceOf(request), perDay: AIRDROP_PER_CALLER_AND_DAY };
  return { caller: 'external', calls, airdrops: { perDay, caller } };
}

const NO_AIRDROPS = new RpcError(INVALID_REQUEST, 'Airdrops are not given to pages of other origins.');

/** A page of another origin asks: it must not draw gifts on behalf of who looks at it. */
const isForeign = ({ headers: { origin, host } }: FastifyRequest): boolean =>
  origin !== undefined && origin.replace(/^https?:\/\//, '') !== host;

const methodOf = (call: unknown): unknown => (call as { readonly method?: unknown } | null)?.method;

const refusalJson = ({ code, message }: RpcError): string =>
  toJson({ jsonrpc: '2.0', error: { code, message }, id: null });

/** The calls of a body, for pricing; an invalid body is refused as a whole. */
function callsOf(body: string): readonly unknown[] | RpcError {
  let calls: unknown;
  try {
    calls = JSON.parse(body);
  } catch {
    return new RpcError(PARSE_ERROR, 'Parse error');
  }
  if (!Array.isArray(calls)) return [calls];
  if (calls.length > 0 && calls.length <= MAX_BATCH) return calls;
  return new RpcError(INVALID_REQUEST, `Invalid request: a batch has between 1 and ${MAX_BATCH} calls`);
}

const tokensOf = (calls: readonly unknown[]): number =>
  calls.reduce<number>((sum, call) => sum + (TOKENS.get(methodOf(call)) ?? 1), 0);

/** The chain's queue is full: every caller is asked to retry later. */
function sayBusy(reply: FastifyReply): FastifyReply {
  const refused = new RpcError(TOO_MANY_REQUESTS, `The node has too much to do: wait ${BUSY_RETRY_S} s.`);
  return sayWhen(reply.type('application/json'), { retryAfterS: BUSY_RETRY_S }).send(refusalJson(refused));
}

function acceptAnyBodyAsText(door: FastifyInstance): void {
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
}

/** Errors of the whole request: the body was not read, so the answer has no id. */
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
