/**
 * Reads token accounts and mints of both token programs from bytes, and indexes them by wallet. The layouts are the
 * programs' own. Length, or the byte after the base layout, distinguishes a Token-2022 account from a mint.
 */
import { parseBase58, SOLANA_PROGRAMS, toBase58 } from '@bellwether/protocol';
import type { ChainAccount } from './types.ts';

export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([
  SOLANA_PROGRAMS.token,
  SOLANA_PROGRAMS.token2022,
]);

const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
const MULTISIG_BYTES = 355;
const KIND_OF_MINT = 1;
const KIND_OF_ACCOUNT = 2;
const KEY_BYTES = 32;
const SUPPLY = 36;
const DECIMALS = 44;
const MINT_INITIALIZED = 45;
const FREEZE_AUTHORITY = 46;
const OWNER = 32;
const AMOUNT = 64;
const DELEGATE = 72;
const STATE = 108;
const IS_NATIVE = 109;
const DELEGATED_AMOUNT = 121;
const CLOSE_AUTHORITY = 129;

export interface TokenAccount {
  readonly kind: 'account';
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | null;
  readonly delegatedAmount: bigint;
  readonly state: 'initialized' | 'frozen';
  /** Lamports reserved for rent, in an account of wrapped SOL. */
  readonly rentExemptReserve: bigint | null;
  readonly closeAuthority: string | null;
  readonly extensions: readonly number[];
}

export interface Mint {
  readonly kind: 'mint';
  readonly mintAuthority: string | null;
  readonly supply: bigint;
  readonly decimals: number;
  readonly freezeAuthority: string | null;
  readonly extensions: readonly number[];
}

const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);
const keyAt = (data: Uint8Array, at: number): string => toBase58(data.subarray(at, at + KEY_BYTES));
/** Four bytes that flag whether a key is present, and the key. */
const optionalKeyAt = (data: Uint8Array, at: number): string | null =>
  viewOf(data).getUint32(at, true) === 1 ? keyAt(data, at + 4) : null;

/** `null` for anything that is neither, or not initialised. */
export function readToken(account: ChainAccount): TokenAccount | Mint | null {
  const { data } = account;
  const kind = kindOf(account);
  if (kind === 'mint' && data[MINT_INITIALIZED] === 1) {
    return {
      kind,
      mintAuthority: optionalKeyAt(data, 0),
      supply: viewOf(data).getBigUint64(SUPPLY, true),
      decimals: data[DECIMALS] ?? 0,
      freezeAuthority: optionalKeyAt(data, FREEZE_AUTHORITY),
      extensions: extensionsOf(data),
    };
  }
  const state = data[STATE];
  if (kind !== 'account' || (state !== 1 && state !== 2)) return null;
  const view = viewOf(data);
  return {
    kind,
    mint: keyAt(data, 0),
    owner: keyAt(data, OWNER),
    amount: view.getBigUint64(AMOUNT, true),
    delegate: optionalKeyAt(data, DELEGATE),
    delegatedAmount: view.getBigUint64(DELEGATED_AMOUNT, true),
    state: state === 1 ? 'initialized' : 'frozen',
    rentExemptReserve: view.getUint32(IS_NATIVE, true) === 1 ? view.getBigUint64(IS_NATIVE + 4, true) : null,
    closeAuthority: optionalKeyAt(data, CLOSE_AUTHORITY),
    extensions: extensionsOf(data),
  };
}

function kindOf({ owner, data }: Pick<ChainAccount, 'owner' | 'data'>): 'mint' | 'account' | null {
  if (!TOKEN_PROGRAMS.has(owner)) return null;
  if (data.length === MINT_BYTES) return 'mint';
  if (data.length === ACCOUNT_BYTES) return 'account';
  if (owner !== SOLANA_PROGRAMS.token2022 || data.length < ACCOUNT_BYTES) return null;
  if (data.length === MULTISIG_BYTES) return null;
  const kind = data[ACCOUNT_BYTES];
  if (kind === KIND_OF_MINT) return 'mint';
  return kind === KIND_OF_ACCOUNT ? 'account' : null;
}

/** Kinds of the extensions after the base layout: two bytes of kind, two of length, the content. */
function extensionsOf(data: Uint8Array): number[] {
  const view = viewOf(data);
  const kinds: number[] = [];
  for (let at = ACCOUNT_BYTES + 1; at + 4 <= data.length; at += 4 + view.getUint16(at + 2, true)) {
    const kind = view.getUint16(at, true);
    if (kind === 0) break;
    kinds.push(kind);
  }
  return kinds;
}

type Keys = Map<string, Set<string>>;

/** The token accounts that a wallet owns or may spend from. Keys are hex: base58 is fifty times slower. */
export class TokenIndex {
  readonly #byOwner: Keys = new Map();
  readonly #byDelegate: Keys = new Map();
  readonly #known = new Map<string, { readonly owner: string; readonly delegate: string | null }>();

  /** @param account `null` when it was deleted */
  note(address: string, account: ChainAccount | null): void {
    const before = this.#known.get(address);
    const after = account === null ? null : keysOf(account);
    if (before !== undefined) {
      if (after !== null && before.owner === after.owner && before.delegate === after.delegate) return;
      remove(this.#byOwner, before.owner, address);
      if (before.delegate !== null) remove(this.#byDelegate, before.delegate, address);
      this.#known.delete(address);
    }
    if (after === null) return;
    this.#known.set(address, after);
    add(this.#byOwner, after.owner, address);
    if (after.delegate !== null) add(this.#byDelegate, after.delegate, address);
  }

  ofOwner(owner: string): readonly string[] {
    return [...(this.#byOwner.get(hexOf(owner)) ?? [])];
  }

  ofDelegate(delegate: string): readonly string[] {
    return [...(this.#byDelegate.get(hexOf(delegate)) ?? [])];
  }
}

function keysOf(account: ChainAccount): { owner: string; delegate: string | null } | null {
  const { data } = account;
  if (kindOf(account) !== 'account' || data[STATE] === 0) return null;
  return {
    owner: hexAt(data, OWNER),
    delegate: viewOf(data).getUint32(DELEGATE, true) === 1 ? hexAt(data, DELEGATE + 4) : null,
  };
}

const hexAt = (data: Uint8Array, at: number): string =>
  Buffer.from(data.buffer, data.byteOffset + at, KEY_BYTES).toString('hex');
const hexOf = (address: string): string => Buffer.from(parseBase58(address) ?? []).toString('hex');

function add(keys: Keys, key: string, address: string): void {
  const addresses = keys.get(key);
  if (addresses === undefined) keys.set(key, new Set([address]));
  else addresses.add(address);
}

function remove(keys: Keys, key: string, address: string): void {
  const addresses = keys.get(key);
  addresses?.delete(address);
  if (addresses?.size === 0) keys.delete(key);
}
