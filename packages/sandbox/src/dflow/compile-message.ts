/**
 * Compiles instructions into the message of a version 0 transaction, without lookup tables. Kit's own compiler takes a
 * millisecond for each of the venue's messages, a third of all that the main thread does for a quote; this one takes some
 * ten microseconds. A test compares them.
 */
import { parseBase58, type SolanaAddress } from '@bellwether/protocol';
import type { Instruction } from '@solana/kit';

export interface Compiled {
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

const keys = new Map<string, Uint8Array>();

/** @throws RangeError for anything but base58 of 32 bytes */
function keyOf(address: string): Uint8Array {
  let key = keys.get(address);
  if (key === undefined) {
    key = parseBase58(address) ?? undefined;
    if (key?.length !== KEY_BYTES) throw new RangeError(`${address} is no Solana address`);
    if (keys.size >= KEYS_KEPT) keys.clear();
    keys.set(address, key);
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
