/** A wallet, its accounts and the terms of a quote, for the tests of what transactions do. */
import type { Address, Instruction, KeyPairSigner } from '@solana/kit';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { beforeAll } from 'vitest';
import {
  associatedTokenAddress,
  overreaches,
  paperEscrowAddress,
  parseTransaction,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  USDC_MINT,
} from '../src/index.ts';
import { ours, signedBase64, signerOf, someAddress, theirs } from './solana-kit.ts';

export const MAX_INPUT = 5_000_000n;

export const DECIMALS = { decimals: 6 };

export const OUTCOME_MINT = ours(someAddress(40));

export const ESCROW = theirs(paperEscrowAddress(USDC_MINT));

export const STRANGER = someAddress(42);

export const NONCE_ACCOUNT = someAddress(43);

export const TOKEN_2022 = { programAddress: theirs(SOLANA_PROGRAMS.token2022) };

export let wallet: KeyPairSigner;

export let other: KeyPairSigner;

export let usdcAccount: Address;

export let outcomeAccount: Address;

export let terms: QuoteTerms;

export const read = async (instructions: readonly Instruction[], signers = [wallet]) =>
  parseTransaction(await signedBase64({ version: 0, signers, instructions }));

export const codes = async (
  instructions: readonly Instruction[],
  more: Partial<QuoteTerms> = {},
  signers = [wallet],
) => overreaches(await read(instructions, signers), { ...terms, ...more }).map(({ code }) => code);

export const pay = (amount: bigint, mint: SolanaAddress = USDC_MINT): Instruction =>
  getTransferCheckedInstruction({
    source: usdcAccount,
    mint: theirs(mint),
    destination: ESCROW,
    authority: wallet,
    amount,
    ...DECIMALS,
  });

export const createAccount = (owner: Address, ata: Address): Instruction =>
  getCreateAssociatedTokenIdempotentInstruction({
    payer: wallet,
    ata,
    owner,
    mint: theirs(OUTCOME_MINT),
    tokenProgram: theirs(SOLANA_PROGRAMS.token2022),
  });

export const raw = (
  program: SolanaAddress,
  data: Uint8Array,
  accounts: Instruction['accounts'] = [],
): Instruction => ({
  programAddress: theirs(program),
  data,
  accounts: accounts ?? [],
});

export const number = (bytes: number, value: bigint): number[] =>
  Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

export const computeLimit = (units: number) =>
  raw(SOLANA_PROGRAMS.computeBudget, Uint8Array.of(2, ...number(4, BigInt(units))));

export const computePrice = (microLamports: bigint) =>
  raw(SOLANA_PROGRAMS.computeBudget, Uint8Array.of(3, ...number(8, microLamports)));

export const memo = raw(SOLANA_PROGRAMS.memo, new TextEncoder().encode('order 1'));

/** Call it at the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    wallet = await signerOf(1);
    other = await signerOf(2);
    usdcAccount = theirs(associatedTokenAddress(ours(wallet.address), USDC_MINT, SOLANA_PROGRAMS.token));
    outcomeAccount = theirs(
      associatedTokenAddress(ours(wallet.address), OUTCOME_MINT, SOLANA_PROGRAMS.token2022),
    );
    terms = {
      wallet: ours(wallet.address),
      inputMint: USDC_MINT,
      outputMint: OUTCOME_MINT,
      maxInput: MAX_INPUT,
      minOutput: 0n,
      destination: null,
      maxLamports: 10_000_000n,
      collateralMint: USDC_MINT,
    };
  });
}
