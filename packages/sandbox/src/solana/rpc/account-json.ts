/** Accounts and token amounts in the format of Solana's RPC. */
import { zstdCompressSync } from 'node:zlib';
import { SOLANA_PROGRAMS, toBase58 } from '@bellwether/protocol';
import { type Mint, readToken, type TokenAccount } from '../token-accounts.ts';
import type { ChainAccount, TokenBalance } from '../types.ts';
import type { MethodContext } from './methods.ts';
import { decimalsIn } from './methods.ts';
import type { Options } from './params.ts';
import { INVALID_REQUEST, RpcError } from './rpc-error.ts';

const ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;
export type AccountEncoding = (typeof ENCODINGS)[number];

/** Most bytes in base58, which is slow to encode; nodes have the same limit. */
const MAX_BASE58_BYTES = 128;
/** The `rentEpoch` of rent-exempt accounts. */
const RENT_EPOCH = 2n ** 64n - 1n;
const IMMUTABLE_OWNER = 7;

/** The caller's format of accounts: `{encoding, dataSlice}`. */
export interface AccountView {
  readonly encoding: AccountEncoding;
  readonly slice: { readonly offset: number; readonly length: number } | null;
}

export function accountViewOf(options: Options, otherwise: AccountEncoding = 'binary'): AccountView {
  const slice = options.nested('dataSlice');
  return {
    encoding: options.choice('encoding', ENCODINGS, otherwise),
    slice:
      slice === undefined
        ? null
        : { offset: Number(slice.whole('offset') ?? 0n), length: Number(slice.whole('length') ?? 0n) },
  };
}

/** @throws RpcError when the request exceeds its budget, before anything is encoded */
export function accountJson(
  account: ChainAccount | null,
  view: AccountView,
  { budget, chain }: MethodContext,
): unknown {
  if (account === null) return null;
  budget.read(account.data.length);
  return {
    data: dataJson(account, view, decimalsIn(chain)),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.owner,
    rentEpoch: RENT_EPOCH,
    space: account.data.length,
  };
}

function dataJson(
  account: ChainAccount,
  { encoding, slice }: AccountView,
  decimalsOf: (mint: string) => number,
): unknown {
  if (encoding === 'jsonParsed') {
    const token = readToken(account);
    if (token !== null) return parsedToken(account, token, decimalsOf);
  }
  const data = Buffer.from(
    slice === null ? account.data : account.data.subarray(slice.offset, slice.offset + slice.length),
  );
  switch (encoding) {
    case 'binary':
      return inBase58(data);
    case 'base58':
      return [inBase58(data), 'base58'];
    case 'base64+zstd':
      return [zstdCompressSync(data).toString('base64'), 'base64+zstd'];
    case 'base64':
    // Data without a parser is returned unparsed.
    case 'jsonParsed':
      return [data.toString('base64'), 'base64'];
  }
}

function inBase58(data: Uint8Array): string {
  if (data.length <= MAX_BASE58_BYTES) return toBase58(data);
  throw new RpcError(
    INVALID_REQUEST,
    'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
  );
}

function parsedToken(
  account: ChainAccount,
  token: TokenAccount | Mint,
  decimalsOf: (mint: string) => number,
): unknown {
  const extensions =
    token.extensions.length === 0
      ? {}
      : {
          extensions: token.extensions.map((kind) => ({
            extension: kind === IMMUTABLE_OWNER ? 'immutableOwner' : 'unparseableExtension',
          })),
        };
  const info = token.kind === 'mint' ? mintInfo(token) : accountInfo(token, decimalsOf(token.mint));
  return {
    program: account.owner === SOLANA_PROGRAMS.token ? 'spl-token' : 'spl-token-2022',
    parsed: { type: token.kind, info: { ...info, ...extensions } },
    space: account.data.length,
  };
}

const mintInfo = (mint: Mint): object => ({
  mintAuthority: mint.mintAuthority,
  supply: String(mint.supply),
  decimals: mint.decimals,
  isInitialized: true,
  freezeAuthority: mint.freezeAuthority,
});

const accountInfo = (token: TokenAccount, decimals: number): object => ({
  mint: token.mint,
  owner: token.owner,
  state: token.state,
  isNative: token.rentExemptReserve !== null,
  tokenAmount: uiTokenAmount(token.amount, decimals),
  ...(token.delegate === null
    ? {}
    : { delegate: token.delegate, delegatedAmount: uiTokenAmount(token.delegatedAmount, decimals) }),
  ...(token.rentExemptReserve === null
    ? {}
    : { rentExemptReserve: uiTokenAmount(token.rentExemptReserve, decimals) }),
  ...(token.closeAuthority === null ? {} : { closeAuthority: token.closeAuthority }),
});

export function uiTokenAmount(amount: bigint, decimals: number): object {
  const digits = String(amount).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`;
  // `uiAmount` is a double in the protocol, and therefore deprecated there.
  return { amount: String(amount), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

export const tokenBalanceJson = (balance: TokenBalance): object => ({
  accountIndex: balance.accountIndex,
  mint: balance.mint,
  owner: balance.owner,
  programId: balance.programId,
  uiTokenAmount: uiTokenAmount(balance.amount, balance.decimals),
});
