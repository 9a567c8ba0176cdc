/** Landed transactions, instructions and accounts in the formats of Solana's RPC. */

import { zstdCompressSync } from 'node:zlib';
import {
  isWritable,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaInstruction,
  type SolanaTransaction,
  toBase58,
} from '@bellwether/protocol';
import type {
  BalanceSheet,
  ChainAccount,
  InnerInstructions,
  LandedTransaction,
  LoadedAddresses,
  ReturnData,
  TokenBalance,
} from '../chain-interface.ts';
import { type Mint, readToken, type TokenAccount } from '../token-accounts.ts';
import {
  decimalsIn,
  INVALID_REQUEST,
  type MethodContext,
  type Options,
  RpcError,
  versionNotSupported,
} from './requests.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const;
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** An account of a message, by its index. */
interface Key {
  readonly pubkey: string;
  readonly signer: boolean;
  readonly writable: boolean;
  readonly source: 'transaction' | 'lookupTable';
}

export function keysOf(tx: SolanaTransaction, { writable, readonly }: LoadedAddresses): readonly Key[] {
  const loaded = (pubkey: string, isWritableOne: boolean): Key => ({
    ...{ pubkey, signer: false, writable: isWritableOne, source: 'lookupTable' },
  });
  return [
    ...tx.accountKeys.map(
      (pubkey, index): Key => ({
        pubkey,
        signer: index < tx.requiredSignatures,
        writable: isWritable(tx, index),
        source: 'transaction',
      }),
    ),
    ...writable.map((pubkey) => loaded(pubkey, true)),
    ...readonly.map((pubkey) => loaded(pubkey, false)),
  ];
}

const nameOf = (keys: readonly Key[], index: number): string => keys[index]?.pubkey ?? '';

export const sheetJson = (when: 'pre' | 'post', sheet: BalanceSheet): object => ({
  [`${when}Balances`]: sheet.lamports,
  [`${when}TokenBalances`]: sheet.tokens.map(tokenBalanceJson),
});

export const returnDataJson = (returned: ReturnData | null): unknown =>
  returned === null
    ? null
    : { programId: returned.programId, data: [Buffer.from(returned.data).toString('base64'), 'base64'] };

export const resultJson = (err: unknown): object => (err === null ? { Ok: null } : { Err: err });

interface TransactionView {
  readonly encoding: TransactionEncoding;
  /** The newest version that the caller reads. */
  readonly newest: bigint | undefined;
}

/** @throws RpcError for a version that the caller does not read */
export function landedJson(landed: LandedTransaction, { encoding, newest }: TransactionView): object {
  const { meta, wire, err } = landed;
  const tx = readTransaction(wire);
  if (tx.version === 0 && newest === undefined) throw versionNotSupported(tx.version);
  const keys = keysOf(tx, meta.loadedAddresses);
  return {
    ...(newest === undefined ? {} : { version: tx.version }),
    transaction: transactionJson(wire, keys, encoding),
    meta: {
      err,
      status: resultJson(err),
      fee: meta.fee,
      ...sheetJson('pre', meta.pre),
      ...sheetJson('post', meta.post),
      innerInstructions: innerJson(meta, keys, encoding),
      logMessages: meta.logs,
      rewards: [],
      computeUnitsConsumed: meta.unitsConsumed,
      ...(tx.version === 0 && encoding !== 'jsonParsed' ? { loadedAddresses: meta.loadedAddresses } : {}),
      ...(meta.returnData === null ? {} : { returnData: returnDataJson(meta.returnData) }),
    },
  };
}

function transactionJson(wire: Uint8Array, keys: readonly Key[], encoding: TransactionEncoding): unknown {
  if (encoding === 'base64') return [Buffer.from(wire).toString('base64'), encoding];
  if (encoding === 'base58') return [toBase58(wire), encoding];
  const tx = readTransaction(wire);
  const lookups =
    tx.version === 0
      ? {
          addressTableLookups: tx.lookups.map(({ table, writable, readonly }) => ({
            accountKey: table,
            writableIndexes: writable,
            readonlyIndexes: readonly,
          })),
        }
      : {};
  const { recentBlockhash } = tx;
  const message =
    encoding === 'jsonParsed'
      ? {
          accountKeys: keys,
          recentBlockhash,
          instructions: tx.instructions.map((one) => parsedOf(one, keys)),
        }
      : {
          header: {
            numRequiredSignatures: tx.requiredSignatures,
            numReadonlySignedAccounts: tx.readonlySigners,
            numReadonlyUnsignedAccounts: tx.readonlyOthers,
          },
          accountKeys: tx.accountKeys,
          recentBlockhash,
          instructions: tx.instructions.map(({ program, accounts, data }) => ({
            programIdIndex: tx.accountKeys.indexOf(program),
            accounts,
            data: toBase58(data),
            stackHeight: 1,
          })),
        };
  return { signatures: tx.signatures.map(toBase58), message: { ...message, ...lookups } };
}

const parsedOf = ({ program, accounts, data }: SolanaInstruction, keys: readonly Key[]): object =>
  parsedInstruction({
    program,
    accounts: accounts.map((index) => nameOf(keys, index)),
    data,
    stackHeight: 1,
  });

/** Shows what programs called, by the number of the instruction that made them. */
export function innerJson(
  { inner }: { readonly inner: readonly InnerInstructions[] },
  keys: readonly Key[],
  encoding: TransactionEncoding,
): readonly object[] {
  return inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ program, accounts, data, stackHeight }) =>
      encoding === 'jsonParsed'
        ? parsedInstruction({
            program: nameOf(keys, program),
            accounts: accounts.map((account) => nameOf(keys, account)),
            ...{ data, stackHeight },
          })
        : { programIdIndex: program, accounts, data: toBase58(data), stackHeight },
    ),
  }));
}

// Instructions: compiled (indices), or parsed for the programs that nodes parse (system, tokens,
// associated token accounts, memos). What cannot be parsed is shown partially decoded, as nodes do.

interface Instruction {
  readonly program: string;
  /** Addresses. */
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

type Info = Readonly<Record<string, unknown>>;
interface Parsed {
  readonly program: string;
  readonly parsed: unknown;
}

function parsedInstruction(instruction: Instruction): object {
  const { program, accounts, data, stackHeight } = instruction;
  const parsed = parse(instruction);
  if (parsed === null) return { programId: program, accounts, data: toBase58(data), stackHeight };
  return { ...parsed, programId: program, stackHeight };
}

function parse({ program, accounts, data }: Instruction): Parsed | null {
  try {
    const read = new Reader(data, accounts);
    switch (program) {
      case SOLANA_PROGRAMS.system:
        return named('system', systemInstruction(read));
      case SOLANA_PROGRAMS.token:
        return named('spl-token', tokenInstruction(read));
      case SOLANA_PROGRAMS.token2022:
        return named('spl-token-2022', tokenInstruction(read));
      case SOLANA_PROGRAMS.associatedToken:
        return named('spl-associated-token-account', associatedInstruction(read));
      case SOLANA_PROGRAMS.memo:
        return { program: 'spl-memo', parsed: new TextDecoder('utf-8', { fatal: true }).decode(data) };
      default:
        return null;
    }
  } catch (error) {
    // Too short, or no text: not what the program would take either.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

interface Typed {
  readonly type: string;
  readonly info: Info;
}

const named = (program: string, parsed: Typed | null): Parsed | null =>
  parsed === null ? null : { program, parsed };

/** Fields of an instruction's data, and its accounts by position. @throws RangeError when something is missing */
class Reader {
  readonly #bytes: Buffer;
  readonly #accounts: readonly string[];
  #at = 0;

  constructor(data: Uint8Array, accounts: readonly string[]) {
    this.#bytes = Buffer.from(data);
    this.#accounts = accounts;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  get accounts(): readonly string[] {
    return this.#accounts;
  }

  u8(): number {
    this.#at += 1;
    return this.#bytes.readUInt8(this.#at - 1);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  u64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigUInt64LE(this.#at - 8);
  }

  key(): string {
    this.#at += 32;
    if (this.#at > this.#bytes.length) throw new RangeError('too short');
    return toBase58(this.#bytes.subarray(this.#at - 32, this.#at));
  }

  account(index: number): string {
    const account = this.#accounts[index];
    if (account === undefined) throw new RangeError('an account is missing');
    return account;
  }
}

function systemInstruction(read: Reader): Typed | null {
  switch (read.u32()) {
    case 0: {
      const [lamports, space, owner] = [read.u64(), read.u64(), read.key()];
      const info = { source: read.account(0), newAccount: read.account(1), lamports, space, owner };
      return { type: 'createAccount', info };
    }
    case 1:
      return { type: 'assign', info: { account: read.account(0), owner: read.key() } };
    case 2:
      return {
        type: 'transfer',
        info: { source: read.account(0), destination: read.account(1), lamports: read.u64() },
      };
    case 8:
      return { type: 'allocate', info: { account: read.account(0), space: read.u64() } };
    default:
      return null;
  }
}

/** An authority that is a multisig is followed by its signers. */
function authority(read: Reader, name: string, index: number): Info {
  const signers = read.accounts.slice(index + 1);
  if (signers.length === 0) return { [name]: read.account(index) };
  const multisig = `multisig${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { [multisig]: read.account(index), signers };
}

const amountOf = (read: Reader): Info => ({ amount: String(read.u64()) });
const checkedAmountOf = (read: Reader): Info => {
  const amount = read.u64();
  return { tokenAmount: uiTokenAmount(amount, read.u8()) };
};

function tokenInstruction(read: Reader): Typed | null {
  const account = (index: number): string => read.account(index);
  switch (read.u8()) {
    case 3:
      return typed(
        'transfer',
        { source: account(0), destination: account(1), ...amountOf(read) },
        authority(read, 'authority', 2),
      );
    case 4:
      return typed(
        'approve',
        { source: account(0), delegate: account(1), ...amountOf(read) },
        authority(read, 'owner', 2),
      );
    case 5:
      return typed('revoke', { source: account(0) }, authority(read, 'owner', 1));
    case 7:
      return typed(
        'mintTo',
        { mint: account(0), account: account(1), ...amountOf(read) },
        authority(read, 'mintAuthority', 2),
      );
    case 8:
      return typed(
        'burn',
        { account: account(0), mint: account(1), ...amountOf(read) },
        authority(read, 'authority', 2),
      );
    case 9:
      return typed(
        'closeAccount',
        { account: account(0), destination: account(1) },
        authority(read, 'owner', 2),
      );
    case 12:
      return typed(
        'transferChecked',
        { source: account(0), mint: account(1), destination: account(2), ...checkedAmountOf(read) },
        authority(read, 'authority', 3),
      );
    case 13:
      return typed(
        'approveChecked',
        { source: account(0), mint: account(1), delegate: account(2), ...checkedAmountOf(read) },
        authority(read, 'owner', 3),
      );
    case 14:
      return typed(
        'mintToChecked',
        { mint: account(0), account: account(1), ...checkedAmountOf(read) },
        authority(read, 'mintAuthority', 2),
      );
    case 15:
      return typed(
        'burnChecked',
        { account: account(0), mint: account(1), ...checkedAmountOf(read) },
        authority(read, 'authority', 2),
      );
    case 17:
      return typed('syncNative', { account: account(0) });
    case 18:
      return typed('initializeAccount3', { account: account(0), mint: account(1), owner: read.key() });
    case 20:
      return typed('initializeMint2', { mint: account(0), ...newMint(read) });
    case 22:
      return typed('initializeImmutableOwner', { account: account(0) });
    default:
      return null;
  }
}

function newMint(read: Reader): Info {
  const [decimals, mintAuthority] = [read.u8(), read.key()];
  return { decimals, mintAuthority, ...(read.u8() === 1 ? { freezeAuthority: read.key() } : {}) };
}

const typed = (type: string, ...parts: readonly Info[]): Typed => ({
  type,
  info: Object.assign({}, ...parts),
});

function associatedInstruction(read: Reader): Typed | null {
  const tag = read.isEmpty ? 0 : read.u8();
  if (tag > 1) return null;
  const [source, account, wallet, mint] = [0, 1, 2, 3].map((index) => read.account(index));
  const info = {
    source,
    account,
    wallet,
    mint,
    systemProgram: read.account(4),
    tokenProgram: read.account(5),
  };
  return { type: tag === 0 ? 'create' : 'createIdempotent', info };
}

// Accounts and token amounts.

const ACCOUNT_ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;
type AccountEncoding = (typeof ACCOUNT_ENCODINGS)[number];

/** Most bytes in base58, which is slow to encode; nodes have the same limit. */
const MAX_BASE58_BYTES = 128;
/** The `rentEpoch` of rent-exempt accounts. */
const RENT_EPOCH = 2n ** 64n - 1n;
const IMMUTABLE_OWNER = 7;

/** The caller's format of accounts: `{encoding, dataSlice}`. */
interface AccountView {
  readonly encoding: AccountEncoding;
  readonly slice: { readonly offset: number; readonly length: number } | null;
}

export function accountViewOf(options: Options, otherwise: AccountEncoding = 'binary'): AccountView {
  const slice = options.nested('dataSlice');
  return {
    encoding: options.choice('encoding', ACCOUNT_ENCODINGS, otherwise),
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

const tokenBalanceJson = (balance: TokenBalance): object => ({
  accountIndex: balance.accountIndex,
  mint: balance.mint,
  owner: balance.owner,
  programId: balance.programId,
  uiTokenAmount: uiTokenAmount(balance.amount, balance.decimals),
});
