/** For tests: a chain on a separate database, a controlled clock, and transactions built and signed by @solana/kit. */

import type { Sql } from '@bellwether/durable';
import { toBase58 } from '@bellwether/protocol';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToCheckedInstruction,
} from '@solana-program/token';
import type { ChainOptions, Executed, SandboxChain } from '../src/solana/chain-interface.ts';
import { SANDBOX_CHAIN_SCHEMA } from '../src/solana/chain-store.ts';
import { openChain } from '../src/solana/index.ts';

export const SOL = 1_000_000_000n;
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address;
export const SYSTEM = '11111111111111111111111111111111' as Address;
export const MINT_SPACE = 82;

export class TestClock {
  ms = Date.parse('2026-11-21T12:00:00Z');
  now(): number {
    return this.ms;
  }
}

/** @param database an empty one */
export async function migrated(sql: Sql): Promise<Sql> {
  await sql.unsafe(SANDBOX_CHAIN_SCHEMA);
  return sql;
}

export const openTestChain = (
  sql: Sql,
  clock: TestClock,
  options: Pick<ChainOptions, 'landing' | 'log'> = {},
): Promise<SandboxChain> => openChain({ sql, seed: 'test seed', clock, ...options });

/** Signed by every signer that the instructions name. */
export async function build(
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  options: { blockhash: string; version?: 'legacy' | 0 },
): Promise<Uint8Array> {
  const { blockhash, version = 0 } = options;
  const message = pipe(
    createTransactionMessage({ version }),
    (m) => setTransactionMessageFeePayerSigner(payer, m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
        m,
      ),
    (m) => appendTransactionMessageInstructions(instructions, m),
  );
  return new Uint8Array(getTransactionEncoder().encode(await signTransactionMessageWithSigners(message)));
}

/** @throws when it does not land and succeed */
export async function run(
  chain: SandboxChain,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<Executed> {
  const { blockhash } = await chain.latestBlockhash();
  const outcome = await chain.send(await build(payer, instructions, { blockhash }));
  if (outcome.kind === 'refused') throw new Error(`${outcome.message} ${JSON.stringify(outcome.data?.logs)}`);
  return outcome.executed;
}

export async function wallet(chain: SandboxChain, lamports = SOL): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  await chain.airdrop(signer.address, lamports);
  return signer;
}

export const transferSol = (source: KeyPairSigner, destination: Address, amount: bigint): Instruction =>
  getTransferSolInstruction({ source, destination, amount });

export async function createMint(
  chain: SandboxChain,
  authority: KeyPairSigner,
  program: Address,
): Promise<Address> {
  const mint = await generateKeyPairSigner();
  await run(chain, authority, [
    getCreateAccountInstruction({
      payer: authority,
      newAccount: mint,
      lamports: await chain.minimumBalanceForRentExemption(MINT_SPACE),
      space: MINT_SPACE,
      programAddress: program,
    }),
    getInitializeMint2Instruction(
      { mint: mint.address, decimals: 6, mintAuthority: authority.address },
      { programAddress: program },
    ),
  ]);
  return mint.address;
}

export async function tokenAccount(owner: Address, mint: Address, tokenProgram: Address): Promise<Address> {
  const [address] = await findAssociatedTokenPda({ owner, mint, tokenProgram });
  return address;
}

/** Makes the owner's account and mints into it. */
export async function fund(
  chain: SandboxChain,
  authority: KeyPairSigner,
  options: { mint: Address; program: Address; owner: Address; amount: bigint },
): Promise<Address> {
  const { mint, program, owner, amount } = options;
  const ata = await tokenAccount(owner, mint, program);
  await run(chain, authority, [
    getCreateAssociatedTokenIdempotentInstruction({
      payer: authority,
      ata,
      owner,
      mint,
      tokenProgram: program,
    }),
    getMintToCheckedInstruction(
      { mint, token: ata, mintAuthority: authority, amount, decimals: 6 },
      { programAddress: program },
    ),
  ]);
  return ata;
}

export const randomBlockhash = (): string => toBase58(crypto.getRandomValues(new Uint8Array(32)));
