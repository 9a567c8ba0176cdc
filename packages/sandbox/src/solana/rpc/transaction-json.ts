/** Landed transactions in the formats of Solana's RPC. */
import {
  isWritable,
  readTransaction,
  type SolanaInstruction,
  type SolanaTransaction,
  toBase58,
} from '@bellwether/protocol';
import type {
  BalanceSheet,
  InnerInstructions,
  LandedTransaction,
  LoadedAddresses,
  ReturnData,
} from '../types.ts';
import { tokenBalanceJson } from './account-json.ts';
import { parsedInstruction } from './instruction-json.ts';
import { versionNotSupported } from './rpc-error.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const;
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** An account of a message, by its index. */
export interface Key {
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

export interface TransactionView {
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
