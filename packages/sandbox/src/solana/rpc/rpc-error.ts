/** An error in JSON-RPC's form, with the codes and texts of Solana's nodes: clients match on both. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const PREFLIGHT_FAILED = -32002;
export const SIGNATURE_FAILED = -32003;
/** The code that public nodes send with HTTP 429. */
export const TOO_MANY_REQUESTS = 429;
const NODE_UNHEALTHY = -32005;
const VERSION_NOT_SUPPORTED = -32015;
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;

export const invalidParam = (what: string): RpcError =>
  new RpcError(INVALID_PARAMS, `Invalid param: ${what}`);

export const nodeUnhealthy = (): RpcError =>
  new RpcError(NODE_UNHEALTHY, 'Node is unhealthy', { numSlotsBehind: null });

export const versionNotSupported = (version: number): RpcError =>
  new RpcError(
    VERSION_NOT_SUPPORTED,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );

export const slotNotReached = (contextSlot: number): RpcError =>
  new RpcError(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached', { contextSlot });
