/**
 * Builds the venue's transactions from kit's instructions. Loaded when the sandbox opens, not before: kit is large. It signs nothing
 * for a user; `signed` is for the venue's own keys.
 */
import { concatBytes, SOLANA_PROGRAMS, type SolanaAddress, utf8 } from '@bellwether/protocol';
import { AccountRole, type Address, createNoopSigner, type Instruction } from '@solana/kit';
import {
  getBurnCheckedInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { type Compiled, compileMessage } from './compile-message.ts';
import type { VenueSigner } from './keys.ts';
import { tokenProgramOf } from './token-addresses.ts';
import { DECIMALS } from './token-state.ts';

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
