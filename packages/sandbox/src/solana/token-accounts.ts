/**
 * Reads token accounts and mints of both token programs from bytes, and indexes them by wallet. The layouts are the
 * programs' own. Length, or the byte after the base layout, distinguishes a Token-2022 account from a mint.
 */
import { parseBase58, SOLANA_PROGRAMS, toBase58 } from '@bellwether/protocol';
import type { ChainAccount } from './chain-interface.ts';

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

/** The token accounts that a wallet owns. Keys are hex: base58 is fifty times slower. */
export class TokenIndex {
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #ownerOf = new Map<string, string>();

  /** @param account `null` when it was deleted */
  note(address: string, account: ChainAccount | null): void {
    const before = this.#ownerOf.get(address);
    const after = account === null ? undefined : ownerIn(account);
    if (before === after) return;
    if (before !== undefined) {
      const addresses = this.#byOwner.get(before);
      addresses?.delete(address);
      if (addresses?.size === 0) this.#byOwner.delete(before);
      this.#ownerOf.delete(address);
    }
    if (after === undefined) return;
    this.#ownerOf.set(address, after);
    const addresses = this.#byOwner.get(after);
    if (addresses === undefined) this.#byOwner.set(after, new Set([address]));
    else addresses.add(address);
  }

  ofOwner(owner: string): readonly string[] {
    return [...(this.#byOwner.get(hexOf(owner)) ?? [])];
  }
}

/** `undefined` for what is no token account. */
function ownerIn(account: ChainAccount): string | undefined {
  const { data } = account;
  return kindOf(account) !== 'account' || data[STATE] === 0 ? undefined : hexAt(data, OWNER);
}

const hexAt = (data: Uint8Array, at: number): string =>
  Buffer.from(data.buffer, data.byteOffset + at, KEY_BYTES).toString('hex');
const hexOf = (address: string): string => Buffer.from(parseBase58(address) ?? []).toString('hex');
