/**
 * What clients of the JSON-RPC ask, read strictly: positional parameters (a wrong type is refused with its position or
 * name), frames of sockets, what a method is given, the budget of a request, and errors. Pure.
 */
import { parseBase58, parseSolanaAddress } from '@bellwether/protocol';
import type { AirdropAllowance, LocalChain } from '../chain-interface.ts';
import { parseJson } from '../exact-json.ts';
import { readToken } from '../token-accounts.ts';

const SIGNATURE_BYTES = 64;
export const COMMITMENT_RANK = { processed: 0, confirmed: 1, finalized: 2 } as const;
export type Commitment = keyof typeof COMMITMENT_RANK;
const COMMITMENTS = Object.keys(COMMITMENT_RANK) as readonly Commitment[];

export class Params {
  readonly #values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  text(index: number): string {
    const value = this.#values[index];
    if (typeof value !== 'string') throw invalidParam(`parameter ${index} must be a string`);
    return value;
  }

  address(index: number): string {
    return asAddress(this.#values[index]);
  }

  signature(index: number): string {
    return asSignature(this.#values[index]);
  }

  /** @throws RpcError when there are none, or more than `most` */
  list(index: number, most: number): readonly unknown[] {
    const value = this.#values[index];
    if (!Array.isArray(value)) throw invalidParam(`parameter ${index} must be an array`);
    if (value.length > most) throw invalidParam(`Too many inputs provided; max ${most}`);
    return value;
  }

  whole(index: number): bigint {
    const value = this.#values[index];
    const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
    if (!isWhole || value < 0) throw invalidParam(`parameter ${index} must be a whole number`);
    return BigInt(value);
  }

  has(index: number): boolean {
    return (this.#values[index] ?? null) !== null;
  }

  /** `undefined` when it is missing. */
  maybeWhole(index: number): bigint | undefined {
    return this.has(index) ? this.whole(index) : undefined;
  }

  /**
   * The options, empty when they are missing.
   * @param slot the current slot; a higher `minContextSlot` is refused
   */
  options(index: number, slot: number): Options {
    return new Options(this.#values[index] ?? {}, slot);
  }
}

export class Options {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown, slot?: number) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalidParam('the configuration must be an object');
    this.#fields = value as Record<string, unknown>;
    if (slot === undefined) return;
    for (const name of ['commitment', 'preflightCommitment']) {
      const commitment = this.#fields[name];
      if (
        commitment !== undefined &&
        commitment !== null &&
        !(COMMITMENTS as readonly unknown[]).includes(commitment)
      )
        throw invalidParam(`${name} must be processed, confirmed or finalized`);
    }
    const least = this.whole('minContextSlot');
    if (least !== undefined && least > slot) throw slotNotReached(slot);
  }

  flag(name: string): boolean {
    const value = this.#fields[name] ?? false;
    if (typeof value !== 'boolean') throw invalidParam(`${name} must be true or false`);
    return value;
  }

  whole(name: string): bigint | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new Params([value]).whole(0);
  }

  address(name: string): string | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : asAddress(value);
  }

  choice<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const value = this.#fields[name] ?? otherwise;
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) throw invalidParam(`${name} must be one of ${choices.join(', ')}`);
    return chosen;
  }

  nested(name: string): Options | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new Options(value);
  }

  list(name: string, most: number): readonly unknown[] {
    return new Params([this.#fields[name]]).list(0, most);
  }
}

export function asAddress(value: unknown): string {
  if (typeof value === 'string' && parseSolanaAddress(value) !== null) return value;
  throw invalidParam('WrongSize');
}

export function asSignature(value: unknown): string {
  if (typeof value === 'string' && parseBase58(value)?.length === SIGNATURE_BYTES) return value;
  throw invalidParam('WrongSize');
}

// The frames of a socket.

const SOCKET_ENCODINGS = ['base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;

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

type SocketAsk =
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
      encoding: options.choice('encoding', SOCKET_ENCODINGS, 'base64'),
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

// Shared by the methods: their inputs, and the envelope of answers that are valid at a slot.

/** Version of the node whose behaviour is reproduced. */
export const API_VERSION = '3.0.0';

export interface MethodContext {
  readonly chain: LocalChain;
  /** Budget of the request that contains the call. */
  readonly budget: Budget;
  readonly airdrops: AirdropAllowance;
}

export type Method = (params: Params, context: MethodContext) => unknown;
export type Methods = Readonly<Record<string, Method>>;

export const atSlot = (chain: LocalChain, value: unknown): object => ({
  context: { apiVersion: API_VERSION, slot: chain.slot() },
  value,
});

/** 0 when the account is not a mint. */
export const decimalsIn =
  (chain: LocalChain) =>
  (mint: string): number => {
    const account = chain.account(mint);
    const token = account === null ? null : readToken(account);
    return token?.kind === 'mint' ? token.decimals : 0;
  };

// Limits the data that one request may read and return, over all of its calls.

/** Bytes of accounts, counted before encoding, which is the expensive part. */
const MAX_READ_BYTES = 1024 * 1024;
const MAX_ANSWER_CHARS = 2 * 1024 * 1024;
const MAX_TOKEN_ACCOUNTS = 1_000;

export class Budget {
  /** Most token accounts of one owner that are read. */
  readonly mostTokenAccounts: number;
  #bytes: number;
  #chars: number;

  constructor(bytes = MAX_READ_BYTES, chars = MAX_ANSWER_CHARS, mostTokenAccounts = MAX_TOKEN_ACCOUNTS) {
    this.#bytes = bytes;
    this.#chars = chars;
    this.mostTokenAccounts = mostTokenAccounts;
  }

  /** For the desk's own requests. */
  static unlimited(): Budget {
    const { POSITIVE_INFINITY: all } = Number;
    return new Budget(all, all, all);
  }

  /** @throws RpcError */
  read(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0)
      throw new RpcError(
        INVALID_PARAMS,
        `Invalid param: the calls of one request read at most ${MAX_READ_BYTES} bytes of accounts; ask for fewer at a time`,
      );
  }

  /** @throws RpcError */
  answer(text: string): void {
    this.#chars -= text.length;
    if (this.#chars < 0)
      throw new RpcError(
        INVALID_PARAMS,
        `Invalid param: an answer has at most ${MAX_ANSWER_CHARS} characters; ask for less at a time`,
      );
  }
}

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

const slotNotReached = (contextSlot: number): RpcError =>
  new RpcError(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached', { contextSlot });
