/**
 * Solana transactions as bytes: legacy and version 0, nothing else. A strict reader on top of Kit's decoders: one
 * transaction has one spelling, and what the chain's own sanitising would refuse is refused here. It never decides what a transaction *does*; that
 * is `solana-effects.ts`.
 */
import {
  addDecoderSizePrefix,
  createDecoder,
  type Decoder,
  fixDecoderSize,
  getArrayDecoder,
  getBytesDecoder,
  getShortU16Codec,
  getStructDecoder,
  getU8Decoder,
  type ReadonlyUint8Array,
  transformDecoder,
} from '@solana/codecs';
import { parseBase58, toBase58 } from './base58.ts';
import { parseBase64Strict } from './base64.ts';
import { ED25519_SIGNATURE_BYTES, type SolanaAddress, type VerifyEd25519, verifyEd25519 } from './solana.ts';

/** The size of one network packet: the limit of both versions read here. */
export const MAX_TRANSACTION_BYTES = 1232;
/** Base64 of the largest version 1, so that version 1 is refused as such and not as malformed. */
const MAX_BASE64_CHARS = 5464;
const MAX_ACCOUNTS = 256;
const KEY_BYTES = 32;
const MAX_LENGTH_BYTES = 3;
const VERSION_FLAG = 0x80;
/** First byte of version 1, whose message precedes its signatures. No valid signature count begins with it. */
const FIRST_BYTE_OF_VERSION_1 = 0x81;

export interface SolanaInstruction {
  readonly program: SolanaAddress;
  /** Indices into `accountKeys`, and beyond them into the lookups: all writable ones first, then all read-only. */
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

export interface SolanaLookup {
  readonly table: SolanaAddress;
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
}

export interface SolanaTransaction {
  readonly version: 'legacy' | 0;
  /** 64 bytes each, in the order of the signing keys; all zero where one is missing. */
  readonly signatures: readonly Uint8Array[];
  /** The exact bytes that are signed. */
  readonly message: Uint8Array;
  readonly requiredSignatures: number;
  /** How many of the signing keys, counted from the end, are read-only. */
  readonly readonlySigners: number;
  /** How many of `accountKeys`, counted from the end, are read-only. */
  readonly readonlyOthers: number;
  /** Those named in the message itself; the first pays the fee, the first `requiredSignatures` sign. */
  readonly accountKeys: readonly SolanaAddress[];
  readonly recentBlockhash: string;
  readonly instructions: readonly SolanaInstruction[];
  readonly lookups: readonly SolanaLookup[];
}

export type TransactionFault =
  /** Not base64, or not in its canonical spelling. */
  | 'not_base64'
  | 'too_long'
  | 'truncated'
  | 'trailing_bytes'
  /** A length that is not in its shortest form, or beyond 65535. */
  | 'bad_length_prefix'
  /** Counts of signers and keys that contradict each other, or a key that occurs twice. */
  | 'bad_header'
  /** An instruction points at an account or program that is not there. */
  | 'bad_index'
  | 'version_not_supported';

const SENTENCES: Readonly<Record<TransactionFault, string>> = {
  not_base64: 'the transaction is not canonical base64',
  too_long: `a transaction has at most ${MAX_TRANSACTION_BYTES} bytes`,
  truncated: 'the transaction ends too early',
  trailing_bytes: 'bytes follow the end of the transaction',
  bad_length_prefix: 'a length in the transaction is not in its shortest form',
  bad_header: "the transaction's header contradicts its keys or signatures",
  bad_index: 'an instruction points at an account that is not there',
  version_not_supported: 'only legacy and version 0 transactions are supported',
};

export class MalformedTransaction extends Error {
  override readonly name = 'MalformedTransaction';
  readonly fault: TransactionFault;

  constructor(fault: TransactionFault) {
    super(SENTENCES[fault]);
    this.fault = fault;
  }
}

const shortU16 = getShortU16Codec();

function readLength(bytes: ReadonlyUint8Array, offset: number): readonly [number, number] {
  try {
    return shortU16.read(bytes, offset);
  } catch {
    const isThere = bytes.length - offset >= MAX_LENGTH_BYTES;
    throw new MalformedTransaction(isThere ? 'bad_length_prefix' : 'truncated');
  }
}

/**
 * A length in its shortest form: Kit's own decoder accepts longer ones too. All other parts of a transaction have a
 * fixed size, so each transaction has one spelling.
 */
const shortestLength = createDecoder<number>({
  read(bytes, offset) {
    const [value, end] = readLength(bytes, offset);
    if (end - offset !== shortU16.getSizeFromValue(value))
      throw new MalformedTransaction('bad_length_prefix');
    return [value, end];
  },
});
const listOf = <T>(item: Decoder<T>) => {
  const list = getArrayDecoder(item, { size: shortestLength });
  return createDecoder<T[]>({
    read(bytes, offset) {
      // Kit reads the end of the bytes as an empty list.
      if (offset >= bytes.length) throw new MalformedTransaction('truncated');
      return list.read(bytes, offset);
    },
  });
};
const bytesOf = (length: number) =>
  transformDecoder(fixDecoderSize(getBytesDecoder(), length), (bytes) => Uint8Array.from(bytes));
const byte = getU8Decoder();
const key = transformDecoder(bytesOf(KEY_BYTES), (bytes) => toBase58(bytes) as SolanaAddress);
const data = transformDecoder(addDecoderSizePrefix(getBytesDecoder(), shortestLength), (bytes) =>
  Uint8Array.from(bytes),
);
const indices = transformDecoder(data, (bytes) => [...bytes]);

const signaturesDecoder = listOf(bytesOf(ED25519_SIGNATURE_BYTES));
const messageDecoder = getStructDecoder([
  ['requiredSignatures', byte],
  ['readonlySigners', byte],
  ['readonlyOthers', byte],
  ['accountKeys', listOf(key)],
  ['recentBlockhash', transformDecoder(key, String)],
  [
    'instructions',
    listOf(
      getStructDecoder([
        ['program', byte],
        ['accounts', indices],
        ['data', data],
      ]),
    ),
  ],
]);
const lookupsDecoder = listOf(
  getStructDecoder([
    ['table', key],
    ['writable', indices],
    ['readonly', indices],
  ]),
);

/** @returns the value, and the offset behind it. @throws MalformedTransaction */
function read<T>(decoder: Decoder<T>, bytes: Uint8Array, offset: number): readonly [T, number] {
  try {
    return decoder.read(bytes, offset);
  } catch (error) {
    if (error instanceof MalformedTransaction) throw error;
    // Parts of a fixed size can only be cut short.
    throw new MalformedTransaction('truncated');
  }
}

type Accounts = Pick<
  SolanaTransaction,
  'accountKeys' | 'requiredSignatures' | 'readonlySigners' | 'readonlyOthers'
>;

function checkHeader({ requiredSignatures, readonlySigners, readonlyOthers, accountKeys }: Accounts): void {
  const sane =
    requiredSignatures > 0 &&
    // The fee payer is writable.
    readonlySigners < requiredSignatures &&
    requiredSignatures + readonlyOthers <= accountKeys.length &&
    new Set(accountKeys).size === accountKeys.length;
  if (!sane) throw new MalformedTransaction('bad_header');
}

function checkIndices(
  instructions: readonly { readonly program: number; readonly accounts: readonly number[] }[],
  keys: number,
  lookups: readonly SolanaLookup[],
): void {
  const lookedUp = lookups.map(({ writable, readonly }) => writable.length + readonly.length);
  const total = lookedUp.reduce((sum, count) => sum + count, keys);
  const sane =
    total <= MAX_ACCOUNTS &&
    // A lookup table without indexes would be a second spelling of the same message; the chain refuses it too.
    lookedUp.every((count) => count > 0) &&
    instructions.every(
      ({ program, accounts }) => program > 0 && program < keys && accounts.every((index) => index < total),
    );
  if (!sane) throw new MalformedTransaction('bad_index');
}

/** @param message its bytes alone, without signatures */
function readMessage(message: Uint8Array): Omit<SolanaTransaction, 'signatures'> {
  const first = message[0] ?? 0;
  if (first > VERSION_FLAG) throw new MalformedTransaction('version_not_supported');
  const version = first === VERSION_FLAG ? 0 : 'legacy';
  const [fields, fieldsEnd] = read(messageDecoder, message, version === 0 ? 1 : 0);
  checkHeader(fields);
  const [lookups, end] = version === 0 ? read(lookupsDecoder, message, fieldsEnd) : [[], fieldsEnd];
  if (end !== message.length) throw new MalformedTransaction('trailing_bytes');
  const { accountKeys } = fields;
  checkIndices(fields.instructions, accountKeys.length, lookups);
  const instructions = fields.instructions.map((each) => ({ ...each, program: accountKeys[each.program]! }));
  return { ...fields, version, message, instructions, lookups };
}

/**
 * Reads a whole transaction, signatures first. @throws MalformedTransaction
 * @example
 * const tx = readTransaction(parseTransactionBytes(base64));
 */
export function readTransaction(wire: Uint8Array): SolanaTransaction {
  if (wire[0] === FIRST_BYTE_OF_VERSION_1) throw new MalformedTransaction('version_not_supported');
  if (wire.length > MAX_TRANSACTION_BYTES) throw new MalformedTransaction('too_long');
  const [signatures, end] = read(signaturesDecoder, wire, 0);
  const transaction = readMessage(wire.slice(end));
  if (signatures.length !== transaction.requiredSignatures) throw new MalformedTransaction('bad_header');
  return { ...transaction, signatures };
}

/**
 * @param base64 canonical, of at most 1232 bytes. @throws MalformedTransaction
 * @example
 * const tx = parseTransaction(base64);
 */
export function parseTransaction(base64: string): SolanaTransaction {
  return readTransaction(parseTransactionBytes(base64));
}

/**
 * The bytes of a transaction's canonical base64, otherwise unchecked. @throws MalformedTransaction
 * @example
 * const wire = parseTransactionBytes(base64);
 */
export function parseTransactionBytes(base64: string): Uint8Array {
  if (base64.length > MAX_BASE64_CHARS) throw new MalformedTransaction('too_long');
  const wire = parseBase64Strict(base64);
  if (wire === null) throw new MalformedTransaction('not_base64');
  return wire;
}

/**
 * Whether the account must sign. Accounts from lookup tables never do.
 * @example
 * isSigner(parseTransaction(base64), 0); // the payer always signs
 */
export const isSigner = (tx: Accounts, index: number): boolean => index >= 0 && index < tx.requiredSignatures;

/**
 * Whether the account is writable; only for accounts named in the message itself.
 * @example
 * const isPayerWritable = isWritable(parseTransaction(base64), 0);
 */
export function isWritable(tx: Accounts, index: number): boolean {
  if (isSigner(tx, index)) return index < tx.requiredSignatures - tx.readonlySigners;
  return index >= 0 && index < tx.accountKeys.length - tx.readonlyOthers;
}

export interface SolanaSignatureFault {
  readonly kind: 'missing' | 'invalid';
  readonly signer: SolanaAddress;
}

/**
 * The required signatures that are missing (all zero) or wrong; empty when the transaction is fully signed.
 * @param verify strict; the default is plain JavaScript, about a millisecond and a half a signature
 * @example
 * const faults = signatureFaults(parseTransaction(base64));
 */
export function signatureFaults(
  tx: SolanaTransaction,
  verify: VerifyEd25519 = verifyEd25519,
): readonly SolanaSignatureFault[] {
  const faults: SolanaSignatureFault[] = [];
  for (const [index, signature] of tx.signatures.entries()) {
    const signer = tx.accountKeys[index]!;
    if (signature.every((byte) => byte === 0)) faults.push({ kind: 'missing', signer });
    else if (!verify(parseBase58(signer)!, tx.message, signature)) faults.push({ kind: 'invalid', signer });
  }
  return faults;
}

/**
 * The transaction's id: its first signature in base58. Known before anything is sent, once the fee payer has signed.
 * @example
 * const id = transactionId(parseTransaction(base64)); // the first signature, in base58
 */
export const transactionId = (tx: SolanaTransaction): string => toBase58(tx.signatures[0]!);

/**
 * The same transaction with one signature inserted.
 * @throws MalformedTransaction, RangeError when `signer` has nothing to sign in it
 * @example
 * const wire = withSignature(parseTransactionBytes(base64), solana, bytes);
 */
export function withSignature(wire: Uint8Array, signer: SolanaAddress, signature: Uint8Array): Uint8Array {
  const tx = readTransaction(wire);
  const index = tx.accountKeys.indexOf(signer);
  if (!isSigner(tx, index)) throw new RangeError(`${signer} is no signer of this transaction`);
  if (signature.length !== ED25519_SIGNATURE_BYTES) throw new RangeError('a signature has 64 bytes');
  const signed = wire.slice();
  // Fewer than 128 signatures fit, so that their count is one byte.
  signed.set(signature, 1 + index * ED25519_SIGNATURE_BYTES);
  return signed;
}
