/** Reads token accounts, mints and lookup tables from their bytes. Source: reference §4.1. Pure. */
import { parseBase64Strict, SOLANA_PROGRAMS, type SolanaAddress, toBase58 } from '@bellwether/protocol';
import type { TokenAccount } from '../chain.ts';
import type { WireAccount } from './wire.ts';

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
