/**
 * Solana's JSON-RPC 2.0: one call, one checked answer. Reads may be repeated; a send happens once. The URL may contain
 * the provider's key, so no error contains it.
 */
import { Type } from 'typebox';
import { ChainUnavailable } from '../../domain/unavailable.ts';
import { createHttp, type HttpOptions, protectCalls } from '../../platform/outbound/http.ts';
import { checkedBy, tryJson } from '../../platform/outbound/json.ts';
import type { HttpReply, HttpSend } from '../../platform/outbound/outbound.ts';

const SERVICE = 'the Solana RPC';

const READ_TIMEOUT_MS = 8_000;
const SEND_TIMEOUT_MS = 6_000;

/** The node refused the call. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** One call to a node that is part of the service. Rejects when there was no answer. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

export type RpcOptions = Pick<HttpOptions, 'clock' | 'log' | 'arrived'> &
  (HttpNode | { readonly ask: AskNode });

interface HttpNode {
  readonly url: string;
  readonly send: HttpSend;
}

export interface Rpc {
  /** @throws ChainUnavailable */
  read<T>(method: string, params: readonly unknown[], check: (result: unknown) => T | null): Promise<T>;
  /** Sends once. @throws RpcError when the node refuses, ChainUnavailable when the outcome is unknown */
  once<T>(method: string, params: readonly unknown[], check: (result: unknown) => T | null): Promise<T>;
  status(): string;
}

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly timeoutMs: number;
  readonly repeatable: boolean;
}

interface Transport {
  /** @throws RpcError, ChainUnavailable */
  call(request: RpcCall): Promise<unknown>;
  status(): string;
}

export function createRpc(options: RpcOptions): Rpc {
  const transport = 'ask' in options ? ownNode(options, options.ask) : httpNode(options, options);

  const call = async <T>(
    request: Omit<RpcCall, 'timeoutMs'>,
    check: (result: unknown) => T | null,
  ): Promise<T> => {
    const timeoutMs = request.repeatable ? READ_TIMEOUT_MS : SEND_TIMEOUT_MS;
    const result = check(await transport.call({ ...request, timeoutMs }));
    if (result === null)
      throw new ChainUnavailable(`the Solana RPC's answer to ${request.method} has another shape`);
    return result;
  };

  return {
    async read(method, params, check) {
      try {
        return await call({ method, params, repeatable: true }, check);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        throw new ChainUnavailable(`the Solana RPC refused ${method} (${error.code})`);
      }
    },
    once: (method, params, check) => call({ method, params, repeatable: false }, check),
    status: transport.status,
  };
}

const unavailable = (error: unknown): never => {
  throw new ChainUnavailable((error as Error).message);
};

const Fault = Type.Object({
  code: Type.Integer(),
  message: Type.String(),
  data: Type.Optional(Type.Unknown()),
});

const answerOf = checkedBy(
  Type.Object({ result: Type.Optional(Type.Unknown()), error: Type.Optional(Fault) }),
);

const envelopeOf = checkedBy(
  Type.Object({
    jsonrpc: Type.Literal('2.0'),
    id: Type.Unknown(),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(Fault),
  }),
);

function ownNode({ clock, log, arrived }: Omit<RpcOptions, 'ask'>, ask: AskNode): Transport {
  const calls = protectCalls({ service: SERVICE, clock, log, arrived });
  return {
    async call({ method, params, ...limits }) {
      const answer = answerOf(await calls.run(limits, () => ask(method, params)).catch(unavailable));
      if (answer === null) throw new ChainUnavailable(`the Solana RPC's answer to ${method} is not JSON-RPC`);
      return resultOf(answer);
    },
    status: calls.status,
  };
}

function httpNode({ clock, log }: Pick<RpcOptions, 'clock' | 'log'>, { url, send }: HttpNode): Transport {
  const http = createHttp({ service: SERVICE, send, clock, log });
  let calls = 0;
  return {
    async call({ method, params, ...limits }) {
      const id = ++calls;
      const reply = await http
        .call({
          method: 'POST',
          url,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
          ...limits,
        })
        .catch(unavailable);
      return resultOf(answerTo(reply, method, id));
    },
    status: http.status,
  };
}

type Envelope = NonNullable<ReturnType<typeof answerOf>>;

/** @throws ChainUnavailable */
function answerTo(reply: HttpReply, method: string, id: number): Envelope {
  const answer = envelopeOf(tryJson(reply.body));
  if (answer === null)
    throw new ChainUnavailable(`the Solana RPC's answer to ${method} is not JSON-RPC (${reply.status})`);
  if (answer.error === undefined && answer.id !== id)
    throw new ChainUnavailable('the Solana RPC answered another request');
  return answer;
}

/** @throws RpcError */
function resultOf({ result, error }: Envelope): unknown {
  if (error !== undefined) throw new RpcError(error.code, error.message, error.data);
  return result;
}
