/**
 * Builds the venue's transactions from kit's instructions. Loaded when the sandbox opens, not before: kit is large. It signs nothing
 * for a user; `signed` is for the venue's own keys.
 */
import { concatBytes, parseBase58, SOLANA_PROGRAMS, type SolanaAddress, utf8 } from '@bellwether/protocol';
import { AccountRole, type Address, createNoopSigner, type Instruction } from '@solana/kit';
import {
  getBurnCheckedInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { DECIMALS, tokenProgramOf, type VenueSigner } from './tokens.ts';

export type { Instruction } from '@solana/kit';

export interface Draft {
  readonly feePayer: SolanaAddress;
  readonly lifetime: { readonly blockhash: string; readonly lastValidBlockHeight: number };
  readonly instructions: readonly Instruction[];
}

const SIGNATURE_BYTES = 64;

export const compile = ({ feePayer, lifetime, instructions }: Draft): Compiled =>
  compileMessage({ feePayer, blockhash: lifetime.blockhash, instructions });

const wireOf = (message: Uint8Array, signatures: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.of(signatures.length), ...signatures, message);

/** Leaves every signature empty. */
export const unsigned = ({ message, signers }: Compiled): Uint8Array =>
  wireOf(
    message,
    signers.map(() => new Uint8Array(SIGNATURE_BYTES)),
  );

/** @throws Error when a signer is missing. */
export function signed({ message, signers }: Compiled, keys: readonly VenueSigner[]): Uint8Array {
  const signatures = signers.map((address) => {
    const key = keys.find((one) => one.address === address);
    if (key === undefined) throw new Error(`the venue has no key of ${address}`);
    return key.sign(message);
  });
  return wireOf(message, signatures);
}

const at = (address: SolanaAddress): Address => address as string as Address;
const signer = (address: SolanaAddress) => createNoopSigner(at(address));

const program = (mint: SolanaAddress) => ({ programAddress: at(tokenProgramOf(mint)) });

export const transfer = (move: {
  readonly mint: SolanaAddress;
  readonly from: SolanaAddress;
  readonly to: SolanaAddress;
  readonly authority: SolanaAddress;
  readonly amount: bigint;
}): Instruction =>
  getTransferCheckedInstruction(
    {
      source: at(move.from),
      mint: at(move.mint),
      destination: at(move.to),
      authority: signer(move.authority),
      amount: move.amount,
      decimals: DECIMALS,
    },
    program(move.mint),
  );

export const mintTo = (to: {
  readonly mint: SolanaAddress;
  readonly account: SolanaAddress;
  readonly authority: SolanaAddress;
  readonly amount: bigint;
}): Instruction =>
  getMintToCheckedInstruction(
    {
      mint: at(to.mint),
      token: at(to.account),
      mintAuthority: signer(to.authority),
      amount: to.amount,
      decimals: DECIMALS,
    },
    program(to.mint),
  );

export const burn = (from: {
  readonly mint: SolanaAddress;
  readonly account: SolanaAddress;
  readonly authority: SolanaAddress;
  readonly amount: bigint;
}): Instruction =>
  getBurnCheckedInstruction(
    {
      account: at(from.account),
      mint: at(from.mint),
      authority: signer(from.authority),
      amount: from.amount,
      decimals: DECIMALS,
    },
    program(from.mint),
  );

/** Creates the owner's token account of the mint unless it exists. */
export const openAccount = (of: {
  readonly payer: SolanaAddress;
  readonly owner: SolanaAddress;
  readonly mint: SolanaAddress;
  readonly account: SolanaAddress;
}): Instruction =>
  getCreateAssociatedTokenIdempotentInstruction({
    payer: signer(of.payer),
    ata: at(of.account),
    owner: at(of.owner),
    mint: at(of.mint),
    tokenProgram: at(tokenProgramOf(of.mint)),
  });

/** Instruction data of the compute budget and system programs: a tag byte or word, then a little-endian number. */
function tagged(
  tag: readonly number[],
  write: (view: DataView, offset: number) => void,
  bytes: number,
): Uint8Array {
  const data = new Uint8Array(tag.length + bytes);
  data.set(tag);
  write(new DataView(data.buffer), tag.length);
  return data;
}

export const computeLimit = (units: number): Instruction => ({
  programAddress: at(SOLANA_PROGRAMS.computeBudget),
  data: tagged([2], (data, offset) => data.setUint32(offset, units, true), 4),
});

export const computePrice = (microLamports: bigint): Instruction => ({
  programAddress: at(SOLANA_PROGRAMS.computeBudget),
  data: tagged([3], (data, offset) => data.setBigUint64(offset, microLamports, true), 8),
});

export const sendLamports = (from: SolanaAddress, to: SolanaAddress, lamports: bigint): Instruction => ({
  programAddress: at(SOLANA_PROGRAMS.system),
  accounts: [
    { address: at(from), role: AccountRole.WRITABLE_SIGNER },
    { address: at(to), role: AccountRole.WRITABLE },
  ],
  data: tagged([2, 0, 0, 0], (data, offset) => data.setBigUint64(offset, lamports, true), 8),
});

export const memo = (text: string): Instruction => ({
  programAddress: at(SOLANA_PROGRAMS.memo),
  data: utf8(text),
});

// Compiles instructions into the message of a version 0 transaction, without lookup tables. Kit's own compiler takes a
// millisecond for each of the venue's messages, a third of all that the main thread does for a quote; this one takes some
// ten microseconds. A test compares them.

interface Compiled {
  readonly message: Uint8Array;
  /** Addresses of the required signers, in order. */
  readonly signers: readonly SolanaAddress[];
}

export interface MessageDraft {
  readonly feePayer: SolanaAddress;
  readonly blockhash: string;
  readonly instructions: readonly Instruction[];
}

/** Kit's roles are sums of these. */
const WRITABLE = 1;
const SIGNER = 2;
const VERSION_0 = 0x80;
const KEY_BYTES = 32;
const MAX_ACCOUNTS = 256;
/** About 100 bytes each. */
const KEYS_KEPT = 10_000;

const knownKeys = new Map<string, Uint8Array>();

/** @throws RangeError for anything but base58 of 32 bytes */
function keyOf(address: string): Uint8Array {
  let key = knownKeys.get(address);
  if (key === undefined) {
    key = parseBase58(address) ?? undefined;
    if (key?.length !== KEY_BYTES) throw new RangeError(`${address} is no Solana address`);
    if (knownKeys.size >= KEYS_KEPT) knownKeys.clear();
    knownKeys.set(address, key);
  }
  return key;
}

/** Every account once, with the most that an instruction asks of it; the fee payer first. */
function rolesOf({ feePayer, instructions }: MessageDraft): ReadonlyMap<string, number> {
  const roles = new Map<string, number>([[feePayer, WRITABLE | SIGNER]]);
  const note = (address: string, role: number) => roles.set(address, (roles.get(address) ?? 0) | role);
  for (const { programAddress, accounts = [] } of instructions) {
    note(programAddress, 0);
    for (const { address, role } of accounts) note(address, role);
  }
  return roles;
}

export function compileMessage(draft: MessageDraft): Compiled {
  const roles = rolesOf(draft);
  const withRole = (role: number) => [...roles].filter(([, own]) => own === role).map(([address]) => address);
  const [readonly, writable] = [withRole(0), withRole(WRITABLE)];
  const [readonlySigners, writableSigners] = [withRole(SIGNER), withRole(WRITABLE | SIGNER)];
  const signers = [...writableSigners, ...readonlySigners];
  const accounts = [...signers, ...writable, ...readonly];
  if (accounts.length > MAX_ACCOUNTS) throw new RangeError(`a message has at most ${MAX_ACCOUNTS} accounts`);
  const indexOf = new Map(accounts.map((address, index) => [address, index]));
  const bytes: number[] = [VERSION_0, signers.length, readonlySigners.length, readonly.length];
  writeLength(bytes, accounts.length);
  for (const address of accounts) bytes.push(...keyOf(address));
  // Not kept: there is a new one with every block.
  bytes.push(...(parseBase58(draft.blockhash) ?? []));
  writeLength(bytes, draft.instructions.length);
  for (const { programAddress, accounts: named = [], data = [] } of draft.instructions) {
    bytes.push(indexOf.get(programAddress)!);
    writeLength(bytes, named.length);
    for (const { address } of named) bytes.push(indexOf.get(address)!);
    writeLength(bytes, data.length);
    bytes.push(...data);
  }
  writeLength(bytes, 0);
  return { message: Uint8Array.from(bytes), signers: signers as SolanaAddress[] };
}

/** Seven bits a byte, the lowest first. */
function writeLength(bytes: number[], length: number): void {
  let left = length;
  while (left > 0x7f) {
    bytes.push((left & 0x7f) | 0x80);
    left >>= 7;
  }
  bytes.push(left);
}
