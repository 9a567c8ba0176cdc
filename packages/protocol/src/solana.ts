/**
 * Solana as bytes: addresses and messages signed with their keys (Ed25519), for wallets that are linked by a
 * challenge; the accounts that hold a wallet's tokens; and transactions.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
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
import {
  concatBytes,
  parseBase58,
  parseBase64,
  parseBase64Strict,
  parseHex,
  toBase58,
  utf8,
} from './bytes.ts';

declare const brand: unique symbol;

/** Base58 of 32 bytes; case matters. */
export type SolanaAddress = string & { readonly [brand]: 'SolanaAddress' };

const KEY_BYTES = 32;
export const ED25519_SIGNATURE_BYTES = 64;

/**
 * The address, or `null` when the text is not base58 of 32 bytes.
 * @example
 * parseSolanaAddress('0'); // null
 */
export const parseSolanaAddress = (text: string): SolanaAddress | null =>
  parseBase58(text)?.length === KEY_BYTES ? (text as SolanaAddress) : null;

/**
 * 64 bytes spelled as 0x hex, base58 or base64: wallets differ.
 * @example
 * const signature = parseEd25519Signature(text); // null: neither base58 nor base64 of 64 bytes
 */
export function parseEd25519Signature(text: string): Uint8Array | null {
  const spellings = text.startsWith('0x') ? [parseHex] : [parseBase58, parseBase64];
  for (const parse of spellings) {
    const bytes = parse(text);
    if (bytes?.length === ED25519_SIGNATURE_BYTES) return bytes;
  }
  return null;
}

/** Whether the key signed the bytes. Functions that take one accept a native implementation. */
export type VerifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/**
 * By the strict rules of RFC 8032, as the chain verifies: no second spelling of a signature passes, nor a key of small
 * order. Never throws; about a millisecond and a half.
 * @example
 * const isSigned = verifyEd25519(publicKey, message, signEd25519(secret32, message));
 */
export const verifyEd25519: VerifyEd25519 = (publicKey, message, signature) => {
  if (publicKey.length !== KEY_BYTES || signature.length !== ED25519_SIGNATURE_BYTES) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    // The library throws for a key or signature that is not a point of the curve.
    return false;
  }
};

/**
 * The public key of a 32-byte secret. @throws RangeError, which does not quote it
 * @example
 * const address = solanaAddressOf(secret32);
 */
export function solanaAddressOf(secret: Uint8Array): SolanaAddress {
  if (secret.length !== KEY_BYTES) throw new RangeError('an Ed25519 secret has 32 bytes');
  return toBase58(ed25519.getPublicKey(secret)) as SolanaAddress;
}

/**
 * The 64-byte signature of RFC 8032; the same for the same key and bytes. @throws RangeError, which quotes neither
 * @example
 * const signature = signEd25519(secret32, new TextEncoder().encode('hello'));
 */
export function signEd25519(secret: Uint8Array, message: Uint8Array): Uint8Array {
  if (secret.length !== KEY_BYTES) throw new RangeError('an Ed25519 secret has 32 bytes');
  return ed25519.sign(message, secret);
}

/**
 * Whether the address's key signed the text.
 * @example
 * const isSigned = verifySolanaMessage(solanaAddressOf(secret32), 'hello', bytes);
 */
export function verifySolanaMessage(address: SolanaAddress, message: string, signature: Uint8Array): boolean {
  const publicKey = parseBase58(address);
  return publicKey !== null && verifyEd25519(publicKey, utf8(message), signature);
}

// The programs and mints named in the transactions of quoted orders, and the accounts that hold a wallet's tokens.

/**
 * @throws RangeError when the text is not an address. For constants; input is parsed instead.
 * @example
 * const mint = asSolanaAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
 */
export function asSolanaAddress(text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (address === null) throw new RangeError('a Solana address is base58 of 32 bytes');
  return address;
}

const program = (id: string): SolanaAddress => id as SolanaAddress;

export const SOLANA_PROGRAMS = {
  computeBudget: program('ComputeBudget111111111111111111111111111111'),
  system: program('11111111111111111111111111111111'),
  token: program('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  token2022: program('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
  associatedToken: program('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  memo: program('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  /** DFlow's aggregator: opaque, only a simulation says what it moves. */
  dflowAggregator: program('DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH'),
  /** DFlow's prediction markets: orders are opened in it. */
  dflowMarkets: program('pReDicTmksnPfkfiz33ndSdbe2dY43KYPg4U2dbvHvb'),
} as const;

/** USDC on mainnet, and on the paper chain: classic token program, six decimals. */
export const USDC_MINT = program('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');

const PDA_MARKER = utf8('ProgramDerivedAddress');

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    // As leniently as the chain decompresses points.
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}

/**
 * The program's address for these seeds: the first, counting the bump down from 255, that is not a public key.
 * @throws RangeError when no bump gives one, which does not happen in practice
 * @example
 * const vault = programDerivedAddress(program, [new TextEncoder().encode('vault')]);
 */
export function programDerivedAddress(owner: SolanaAddress, seeds: readonly Uint8Array[]): SolanaAddress {
  const tail = concatBytes(parseBase58(owner)!, PDA_MARKER);
  for (let bump = 255; bump >= 0; bump--) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), tail));
    if (!isOnCurve(hash)) return toBase58(hash) as SolanaAddress;
  }
  throw new RangeError('these seeds have no program derived address');
}

/** Derived addresses, oldest first: one quote needs the same few about a dozen times. */
const derived = new Map<string, SolanaAddress>();
const MAX_DERIVED = 10_000;

/**
 * Where a wallet keeps its tokens of a mint. The mint's token program is part of the address: never assume it.
 * About half a millisecond the first time, remembered after that.
 * @example
 * const account = associatedTokenAddress(solana, mint, tokenProgram);
 */
export function associatedTokenAddress(
  owner: SolanaAddress,
  mint: SolanaAddress,
  tokenProgram: SolanaAddress,
): SolanaAddress {
  const key = `${owner} ${mint} ${tokenProgram}`;
  let address = derived.get(key);
  if (address === undefined) {
    const seeds = [owner, tokenProgram, mint].map((seed) => parseBase58(seed)!);
    address = programDerivedAddress(SOLANA_PROGRAMS.associatedToken, seeds);
    const [oldest] = derived.keys();
    if (derived.size >= MAX_DERIVED && oldest !== undefined) derived.delete(oldest);
    derived.set(key, address);
  }
  return address;
}

const PAPER_ESCROW_SEED = utf8('bellwether paper escrow');
const paperEscrows = new Map<SolanaAddress, SolanaAddress>();

/**
 * Where a paper chain keeps the input of open orders: one account for each mint, at an address that has no key and
 * that no other chain can open an account at. A transfer to it fails on a live chain, so it can be allowed without believing
 * anybody's word that a chain is paper.
 * @example
 * const escrow = paperEscrowAddress(mint);
 */
export function paperEscrowAddress(mint: SolanaAddress): SolanaAddress {
  let address = paperEscrows.get(mint);
  if (address === undefined) {
    address = programDerivedAddress(SOLANA_PROGRAMS.dflowMarkets, [PAPER_ESCROW_SEED, parseBase58(mint)!]);
    if (paperEscrows.size >= MAX_DERIVED) paperEscrows.clear();
    paperEscrows.set(mint, address);
  }
  return address;
}

// Solana transactions as bytes: legacy and version 0, nothing else. A strict reader on top of Kit's decoders: one
// transaction has one spelling, and what the chain's own sanitising would refuse is refused here. It never decides what a transaction *does*; that
// is `solana-effects.ts`.

/** The size of one network packet: the limit of both versions read here. */
export const MAX_TRANSACTION_BYTES = 1232;
/** Base64 of the largest version 1, so that version 1 is refused as such and not as malformed. */
const MAX_BASE64_CHARS = 5464;
const MAX_ACCOUNTS = 256;
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

const FAULT_SENTENCES: Readonly<Record<TransactionFault, string>> = {
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
    super(FAULT_SENTENCES[fault]);
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
const byteDecoder = getU8Decoder();
const keyDecoder = transformDecoder(bytesOf(KEY_BYTES), (bytes) => toBase58(bytes) as SolanaAddress);
const dataDecoder = transformDecoder(addDecoderSizePrefix(getBytesDecoder(), shortestLength), (bytes) =>
  Uint8Array.from(bytes),
);
const indicesDecoder = transformDecoder(dataDecoder, (bytes) => [...bytes]);

const signaturesDecoder = listOf(bytesOf(ED25519_SIGNATURE_BYTES));
const messageDecoder = getStructDecoder([
  ['requiredSignatures', byteDecoder],
  ['readonlySigners', byteDecoder],
  ['readonlyOthers', byteDecoder],
  ['accountKeys', listOf(keyDecoder)],
  ['recentBlockhash', transformDecoder(keyDecoder, String)],
  [
    'instructions',
    listOf(
      getStructDecoder([
        ['program', byteDecoder],
        ['accounts', indicesDecoder],
        ['data', dataDecoder],
      ]),
    ),
  ],
]);
const lookupsDecoder = listOf(
  getStructDecoder([
    ['table', keyDecoder],
    ['writable', indicesDecoder],
    ['readonly', indicesDecoder],
  ]),
);

/** @returns the value, and the offset behind it. @throws MalformedTransaction */
function readWith<T>(decoder: Decoder<T>, bytes: Uint8Array, offset: number): readonly [T, number] {
  try {
    return decoder.read(bytes, offset);
  } catch (error) {
    if (error instanceof MalformedTransaction) throw error;
    // Parts of a fixed size can only be cut short.
    throw new MalformedTransaction('truncated');
  }
}

type MessageAccounts = Pick<
  SolanaTransaction,
  'accountKeys' | 'requiredSignatures' | 'readonlySigners' | 'readonlyOthers'
>;

function checkHeader({
  requiredSignatures,
  readonlySigners,
  readonlyOthers,
  accountKeys,
}: MessageAccounts): void {
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
  const [fields, fieldsEnd] = readWith(messageDecoder, message, version === 0 ? 1 : 0);
  checkHeader(fields);
  const [lookups, end] = version === 0 ? readWith(lookupsDecoder, message, fieldsEnd) : [[], fieldsEnd];
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
  const [signatures, end] = readWith(signaturesDecoder, wire, 0);
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
export const isSigner = (tx: MessageAccounts, index: number): boolean =>
  index >= 0 && index < tx.requiredSignatures;

/**
 * Whether the account is writable; only for accounts named in the message itself.
 * @example
 * const isPayerWritable = isWritable(parseTransaction(base64), 0);
 */
export function isWritable(tx: MessageAccounts, index: number): boolean {
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
