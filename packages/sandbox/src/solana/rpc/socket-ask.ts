/** Reads the frames of a JSON-RPC socket. Pure. */
import { parseJson } from '../exact-json.ts';
import { Params } from './params.ts';
import { INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError } from './rpc-error.ts';

export const COMMITMENT_RANK = { processed: 0, confirmed: 1, finalized: 2 } as const;
export type Commitment = keyof typeof COMMITMENT_RANK;
const COMMITMENTS = Object.keys(COMMITMENT_RANK) as readonly Commitment[];
const ENCODINGS = ['base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;

export type Wanted =
  | { readonly kind: 'slot' | 'root' }
  | {
      readonly kind: 'signature';
      readonly signature: string;
      readonly commitment: Commitment;
      readonly wantsReceived: boolean;
    }
  | {
      readonly kind: 'account';
      readonly address: string;
      readonly commitment: Commitment;
      /** Options of `getAccountInfo`. */
      readonly options: Readonly<Record<string, unknown>>;
    };

type Id = string | number | bigint | null;

export type SocketAsk =
  /** A notification: clients keep their sockets alive with some. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly id: Id; readonly error: RpcError }
  | { readonly kind: 'begin'; readonly id: Id; readonly what: Wanted; readonly tokens: number }
  | { readonly kind: 'end'; readonly id: Id; readonly subscription: number; readonly tokens: number };

const BEGIN: Readonly<
  Record<string, { readonly tokens: number; readonly read: (params: Params) => Wanted }>
> = {
  slotSubscribe: { tokens: 1, read: () => ({ kind: 'slot' }) },
  rootSubscribe: { tokens: 1, read: () => ({ kind: 'root' }) },
  signatureSubscribe: { tokens: 2, read: signatureOf },
  accountSubscribe: { tokens: 2, read: accountOf },
};
const END: ReadonlySet<string> = new Set(Object.keys(BEGIN).map((name) => name.replace('Sub', 'Unsub')));
const SOCKET_METHODS: readonly string[] = [...Object.keys(BEGIN), ...END];

function signatureOf(params: Params): Wanted {
  const options = params.options(1, Number.MAX_SAFE_INTEGER);
  return {
    kind: 'signature',
    signature: params.signature(0),
    // The protocol's default.
    commitment: options.choice('commitment', COMMITMENTS, 'finalized'),
    wantsReceived: options.flag('enableReceivedNotification'),
  };
}

function accountOf(params: Params): Wanted {
  const options = params.options(1, Number.MAX_SAFE_INTEGER);
  const slice = options.nested('dataSlice');
  return {
    kind: 'account',
    address: params.address(0),
    commitment: options.choice('commitment', COMMITMENTS, 'finalized'),
    options: {
      // Base58, the protocol's default, holds small accounts only.
      encoding: options.choice('encoding', ENCODINGS, 'base64'),
      ...(slice === undefined
        ? {}
        : { dataSlice: { offset: slice.whole('offset') ?? 0n, length: slice.whole('length') ?? 0n } }),
    },
  };
}

export function readAsk(frame: string): SocketAsk {
  let call: unknown;
  try {
    call = parseJson(frame);
  } catch {
    return { kind: 'refused', id: null, error: new RpcError(PARSE_ERROR, 'Parse error') };
  }
  const { jsonrpc, id, method, params = [] } = (call ?? {}) as Readonly<Record<string, unknown>>;
  const isId = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' || id === null;
  if (typeof call === 'object' && typeof method === 'string' && id === undefined) return { kind: 'ignored' };
  const own: Id = isId ? id : null;
  if (typeof call !== 'object' || jsonrpc !== '2.0' || typeof method !== 'string' || !isId)
    return { kind: 'refused', id: own, error: new RpcError(INVALID_REQUEST, 'Invalid request') };
  try {
    return askOf(method, own, params);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { kind: 'refused', id: own, error };
  }
}

/** @throws RpcError */
function askOf(method: string, id: Id, values: unknown): SocketAsk {
  if (!Array.isArray(values)) throw new RpcError(INVALID_REQUEST, '`params` should be an array');
  const params = new Params(values);
  const begin = Object.hasOwn(BEGIN, method) ? BEGIN[method] : undefined;
  if (begin !== undefined) return { kind: 'begin', id, what: begin.read(params), tokens: begin.tokens };
  if (END.has(method)) return { kind: 'end', id, subscription: Number(params.whole(0)), tokens: 0 };
  throw new RpcError(METHOD_NOT_FOUND, 'Method not found', { supported: SOCKET_METHODS });
}
