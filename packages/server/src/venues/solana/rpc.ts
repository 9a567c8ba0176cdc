/**
 * Solana's JSON-RPC 2.0: one call, one checked answer. Reads may be repeated; a send happens once. The URL may contain
 * the provider's key, so no error contains it.
 */

import { parseBase64Strict, SOLANA_PROGRAMS, type SolanaAddress, toBase58 } from '@bellwether/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import { ChainUnavailable } from '../../domain/unavailable.ts';
import {
  checkedBy,
  createHttp,
  type HttpOptions,
  type HttpReply,
  type HttpSend,
  protectCalls,
  tryJson,
} from '../../platform/outbound/http.ts';
import type { SendAnswer, TokenAccount } from '../chain.ts';

const SERVICE = 'the Solana RPC';

const READ_TIMEOUT_MS = 8_000;
const SEND_TIMEOUT_MS = 6_000;

/** The node refused the call. */
class RpcError extends Error {
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
type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

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

// The parts of a node's answers that the desk reads. Additional fields differ between versions and are accepted.

/** An unsigned 64-bit number: beyond 2^53 it arrives as a bigint. */
const U64 = Type.Union([Type.Integer({ minimum: 0 }), Type.BigInt({ minimum: 0n })]);

const at = <T extends TSchema>(value: T) => Type.Object({ context: Type.Object({ slot: U64 }), value });

const WireAccountSchema = Type.Object({
  lamports: U64,
  owner: Type.String(),
  data: Type.Tuple([Type.String(), Type.Literal('base64')]),
});
const MaybeAccount = Type.Union([Type.Null(), WireAccountSchema]);

type WireAccount = Static<typeof WireAccountSchema>;

const TokenBalance = Type.Object({
  accountIndex: Type.Integer({ minimum: 0 }),
  uiTokenAmount: Type.Object({ amount: Type.String({ pattern: '^\\d{1,20}$' }) }),
});

const optional = <T extends TSchema>(item: T) => Type.Optional(Type.Union([Type.Null(), Type.Array(item)]));

const Simulated = Type.Object({
  err: Type.Unknown(),
  accounts: optional(MaybeAccount),
  preBalances: optional(U64),
  preTokenBalances: optional(TokenBalance),
});

export type WireSimulation = Static<typeof Simulated>;

const Status = Type.Union([
  Type.Null(),
  Type.Object({
    slot: U64,
    confirmations: Type.Union([Type.Null(), U64]),
    err: Type.Unknown(),
    confirmationStatus: Type.Optional(Type.Union([Type.Null(), Type.String()])),
  }),
]);

export type WireStatus = Static<typeof Status>;

export const CHECKS = {
  number: checkedBy(U64),
  text: checkedBy(Type.String()),
  balance: checkedBy(at(U64)),
  account: checkedBy(at(MaybeAccount)),
  accounts: checkedBy(at(Type.Array(MaybeAccount))),
  owned: checkedBy(at(Type.Array(Type.Object({ pubkey: Type.String(), account: WireAccountSchema })))),
  statuses: checkedBy(at(Type.Array(Status))),
  simulation: checkedBy(at(Simulated)),
  samples: checkedBy(
    Type.Array(Type.Object({ numSlots: U64, samplePeriodSecs: Type.Integer({ minimum: 1 }) })),
  ),
  blockhash: checkedBy(at(Type.Object({ blockhash: Type.String(), lastValidBlockHeight: U64 }))),
} as const;

// Reads token accounts, mints and lookup tables from their bytes. Source: reference §4.1. Pure.

export interface Account {
  readonly lamports: bigint;
  readonly owner: string;
  readonly data: Uint8Array;
}

/** `null` when the data is not base64. */
export function accountOf(wire: WireAccount): Account | null {
  const data = parseBase64Strict(wire.data[0]);
  return data === null ? null : { lamports: BigInt(wire.lamports), owner: wire.owner, data };
}

/** A token account with the authorities that could take it from its owner. */
export interface TokenAccountState extends TokenAccount {
  readonly closeAuthority: SolanaAddress | null;
}

const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
const KEY_BYTES = 32;
/** Token-2022 pads mints to the length of accounts; the byte after that says which kind it is. */
const KIND_OFFSET = TOKEN_ACCOUNT_BYTES;
const KIND = { mint: 1, account: 2 } as const;
const FROZEN = 2;
const INITIALIZED = 1;
const TABLE_HEADER_BYTES = 56;
const TABLE_KIND = 1;

const TOKEN_PROGRAMS: readonly string[] = [SOLANA_PROGRAMS.token, SOLANA_PROGRAMS.token2022];

const keyAt = (data: Uint8Array, offset: number): SolanaAddress =>
  toBase58(data.subarray(offset, offset + KEY_BYTES)) as SolanaAddress;
const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);
const optionalKeyAt = (data: Uint8Array, offset: number): SolanaAddress | null =>
  viewOf(data).getUint32(offset, true) === 1 ? keyAt(data, offset + 4) : null;

/** Whether the account is of that kind, by program and length. */
function isKind({ owner, data }: Account, kind: keyof typeof KIND, bytes: number): boolean {
  if (!TOKEN_PROGRAMS.includes(owner)) return false;
  if (data.length === bytes) return true;
  return owner === SOLANA_PROGRAMS.token2022 && data[KIND_OFFSET] === KIND[kind];
}

/** `null` when it is not an initialised token account. */
export function tokenAccountOf(address: SolanaAddress, account: Account): TokenAccountState | null {
  if (!isKind(account, 'account', TOKEN_ACCOUNT_BYTES)) return null;
  const { data } = account;
  const view = viewOf(data);
  const state = data[108]!;
  if (state !== INITIALIZED && state !== FROZEN) return null;
  const delegate = optionalKeyAt(data, 72);
  return {
    address,
    mint: keyAt(data, 0),
    owner: keyAt(data, 32),
    amount: view.getBigUint64(64, true),
    delegate,
    delegatedAmount: delegate === null ? 0n : view.getBigUint64(121, true),
    frozen: state === FROZEN,
    closeAuthority: optionalKeyAt(data, 129),
  };
}

/** `null` when it is not an initialised mint. */
export function mintOf(account: Account): { readonly decimals: number } | null {
  if (!isKind(account, 'mint', MINT_BYTES) || account.data[45] !== 1) return null;
  return { decimals: account.data[44]! };
}

const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';

/** The addresses in a lookup table; `null` when the account is not a lookup table. */
export function tableOf({ owner, data }: Account): readonly SolanaAddress[] | null {
  const sane =
    owner === LOOKUP_TABLE_PROGRAM &&
    data.length >= TABLE_HEADER_BYTES &&
    (data.length - TABLE_HEADER_BYTES) % KEY_BYTES === 0 &&
    viewOf(data).getUint32(0, true) === TABLE_KIND;
  if (!sane) return null;
  const count = (data.length - TABLE_HEADER_BYTES) / KEY_BYTES;
  return Array.from({ length: count }, (_, index) => keyAt(data, TABLE_HEADER_BYTES + index * KEY_BYTES));
}

// Reads accounts from a node, at commitment `confirmed`.

export const COMMITMENT = 'confirmed';
const ENCODING = 'base64';
const ACCOUNTS_PER_CALL = 100;

/** @throws ChainUnavailable when the bytes cannot be read: an unreadable account is not a missing one */
function decoded(wire: WireAccount): Account {
  const account = accountOf(wire);
  if (account === null) throw new ChainUnavailable("the Solana RPC's account data are no base64");
  return account;
}

export async function readAccount(rpc: Rpc, address: string): Promise<Account | null> {
  const { value } = await rpc.read(
    'getAccountInfo',
    [address, { encoding: ENCODING, commitment: COMMITMENT }],
    CHECKS.account,
  );
  return value === null ? null : decoded(value);
}

/** In the order of the addresses. */
export async function readAccounts(
  rpc: Rpc,
  addresses: readonly string[],
): Promise<readonly (Account | null)[]> {
  const found: (Account | null)[] = [];
  for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_CALL) {
    const asked = addresses.slice(start, start + ACCOUNTS_PER_CALL);
    const { value } = await rpc.read(
      'getMultipleAccounts',
      [asked, { encoding: ENCODING, commitment: COMMITMENT }],
      CHECKS.accounts,
    );
    if (value.length !== asked.length) throw new ChainUnavailable('the Solana RPC left accounts out');
    found.push(...value.map((account) => (account === null ? null : decoded(account))));
  }
  return found;
}

/** A wallet's accounts under one token program. */
export async function readOwned(
  rpc: Rpc,
  owner: SolanaAddress,
  programId: SolanaAddress,
): Promise<readonly TokenAccountState[]> {
  const { value } = await rpc.read(
    'getTokenAccountsByOwner',
    [owner, { programId }, { encoding: ENCODING, commitment: COMMITMENT }],
    CHECKS.owned,
  );
  return value
    .map(({ pubkey, account }) => tokenAccountOf(pubkey as SolanaAddress, decoded(account)))
    .filter((account) => account !== null && account.owner === owner) as TokenAccountState[];
}

// A node's transaction errors, and which of them prove that a transaction cannot land. Reference §3.4.

/** The name of an `InstructionError`, or the text itself; `null` for anything else. */
function nameOf(err: unknown): string | null {
  if (typeof err === 'string') return err;
  if (err === null || typeof err !== 'object') return null;
  return Object.keys(err)[0] ?? null;
}

/** A TransactionError in RPC JSON as one line: "instruction 2: Custom 1", "BlockhashNotFound". */
export function reasonOf(err: unknown): string {
  const name = nameOf(err);
  if (name === null) return 'an error without a name';
  const detail = typeof err === 'string' ? undefined : (err as Record<string, unknown>)[name];
  if (name !== 'InstructionError' || !Array.isArray(detail)) return name;
  const [index, inner] = detail as [unknown, unknown];
  const custom = (inner as { Custom?: unknown } | null)?.Custom;
  return `instruction ${Number(index)}: ${custom === undefined ? (nameOf(inner) ?? 'an error') : `Custom ${Number(custom)}`}`;
}

/** Temporary errors, and errors of the node rather than the transaction. */
const PASSING = new Set([
  'BlockhashNotFound',
  'AccountInUse',
  'ClusterMaintenance',
  'AlreadyProcessed',
  'WouldExceedMaxBlockCostLimit',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'ResanitizationNeeded',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
]);

/** Permanent errors of a preflight. A name that is not listed proves nothing. */
const LASTING = new Set([
  'InstructionError',
  'InsufficientFundsForFee',
  'InsufficientFundsForRent',
  'SignatureFailure',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InvalidAccountForFee',
  'InvalidAccountIndex',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'MissingSignatureForFee',
  'AccountLoadedTwice',
  'InvalidWritableAccount',
  'InvalidRentPayingAccount',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'MaxLoadedAccountsDataSizeExceeded',
  'UnsupportedVersion',
  'UnbalancedTransaction',
  'DuplicateInstruction',
]);

/** Whether a simulation with this error says nothing about the transaction itself. */
export const isPassing = (err: unknown): boolean => PASSING.has(nameOf(err) ?? '');

const PREFLIGHT_FAILED = -32002;
const SIGNATURE_WRONG = -32003;
const PRECOMPILE_FAILED = -32006;
const SIGNATURES_MISCOUNTED = -32013;

/** Proof in the error of a send. */
export function sendAnswerOf(error: unknown): SendAnswer {
  if (!(error instanceof RpcError)) return { kind: 'unknown' };
  switch (error.code) {
    case SIGNATURE_WRONG:
      return { kind: 'refused', reason: 'SignatureFailure' };
    case PRECOMPILE_FAILED:
      return { kind: 'refused', reason: 'a precompiled program refuses it' };
    case SIGNATURES_MISCOUNTED:
      return { kind: 'refused', reason: 'its signatures do not fit its message' };
    case PREFLIGHT_FAILED: {
      const err = (error.data as { err?: unknown } | null | undefined)?.err;
      const name = nameOf(err) ?? '';
      if (name === 'AlreadyProcessed') return { kind: 'sent' };
      return LASTING.has(name) ? { kind: 'refused', reason: reasonOf(err) } : { kind: 'unknown' };
    }
    default:
      return { kind: 'unknown' };
  }
}
