/**
 * Solana's JSON-RPC 2.0: one call, one checked answer. Reads may be repeated; a send happens once. The URL may contain
 * the provider's key, so no error contains it.
 */
import { Type } from 'typebox';
import { ChainUnavailable } from '../../domain/unavailable.ts';
import type { HttpReply, HttpSend } from '../../ports/outbound.ts';
import { createHttp, type HttpOptions } from '../outbound/http.ts';
import { checkedBy, tryJson } from '../outbound/json.ts';

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

export interface RpcOptions extends Pick<HttpOptions, 'clock' | 'log'> {
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

const envelope = checkedBy(
  Type.Object({
    jsonrpc: Type.Literal('2.0'),
    id: Type.Unknown(),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(
      Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
    ),
  }),
);

export function createRpc({ url, send, clock, log }: RpcOptions): Rpc {
  const http = createHttp({ service: 'the Solana RPC', send, clock, log });
  let calls = 0;

  const call = async <T>(
    request: { readonly method: string; readonly params: readonly unknown[]; readonly repeatable: boolean },
    check: (result: unknown) => T | null,
  ): Promise<T> => {
    const { method, params, repeatable } = request;
    const id = ++calls;
    const reply = await http
      .call({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        timeoutMs: repeatable ? READ_TIMEOUT_MS : SEND_TIMEOUT_MS,
        repeatable,
      })
      .catch((error: unknown) => {
        throw new ChainUnavailable((error as Error).message);
      });
    const result = check(resultOf(reply, method, id));
    if (result === null) throw new ChainUnavailable(`the Solana RPC's answer to ${method} has another shape`);
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
    status: http.status,
  };
}

/** @throws RpcError, ChainUnavailable */
function resultOf(reply: HttpReply, method: string, id: number): unknown {
  const answer = envelope(tryJson(reply.body));
  if (answer === null)
    throw new ChainUnavailable(`the Solana RPC's answer to ${method} is not JSON-RPC (${reply.status})`);
  if (answer.error !== undefined)
    throw new RpcError(answer.error.code, answer.error.message, answer.error.data);
  if (answer.id !== id) throw new ChainUnavailable('the Solana RPC answered another request');
  return answer.result;
}
