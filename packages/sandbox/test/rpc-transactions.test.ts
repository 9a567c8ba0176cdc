/** Transactions in parsed form, and fees, as web3.js 1.x reads and validates them. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { address as asAddress, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { Connection, PublicKey, VersionedTransaction } from '@solana/web3.js';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { Executed, SandboxChain } from '../src/solana/chain-interface.ts';
import { solanaRpcDoor } from '../src/solana/rpc/door.ts';
import { SLOT_MS } from '../src/solana/slots.ts';
import { errorSentence, toRpcError } from '../src/solana/transaction-errors.ts';
import {
  build,
  createMint,
  fund,
  migrated,
  openTestChain,
  run,
  SYSTEM,
  TestClock,
  TOKEN,
  tokenAccount,
  transferSol,
  wallet,
} from './chain-fixtures.ts';

let clock: TestClock;
let chain: SandboxChain;
let app: FastifyInstance;
let connection: Connection;
let alice: KeyPairSigner;
let bob: KeyPairSigner;
let paid: Executed;
let tokens: Executed;
let mint: string;

beforeAll(async () => {
  clock = new TestClock();
  chain = await openTestChain(await migrated(await openDeskDatabase()), clock);
  app = fastify();
  await app.register(solanaRpcDoor, { prefix: '/rpc', chain: () => chain, guard: null });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/rpc`;
  connection = new Connection(url, {
    commitment: 'confirmed',
    wsEndpoint: `${url.replace('http', 'ws')}/ws`,
  });
  [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
  clock.ms += 5 * SLOT_MS;
  paid = await run(chain, alice, [transferSol(alice, bob.address, 3_000_000n)]);
  clock.ms += 5 * SLOT_MS;
  const minted = await createMint(chain, alice, TOKEN);
  mint = minted;
  const from = await fund(chain, alice, {
    mint: minted,
    program: TOKEN,
    owner: alice.address,
    amount: 1_000n,
  });
  const to = await tokenAccount(bob.address, minted, TOKEN);
  clock.ms += 5 * SLOT_MS;
  tokens = await run(chain, alice, [
    getCreateAssociatedTokenIdempotentInstruction({
      payer: alice,
      ata: to,
      owner: bob.address,
      mint: asAddress(mint),
    }),
    getTransferCheckedInstruction({
      source: from,
      mint: asAddress(mint),
      destination: to,
      authority: alice,
      amount: 250n,
      decimals: 6,
    }),
  ]);
});
afterAll(async () => {
  await app.close();
  await chain.close();
});

describe('a transaction', () => {
  test('is parsed for the programs that nodes parse, inner instructions included', async () => {
    const transfer = await connection.getParsedTransaction(paid.signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(transfer?.transaction.message.instructions).toMatchObject([
      {
        program: 'system',
        programId: new PublicKey(SYSTEM),
        parsed: {
          type: 'transfer',
          info: { source: alice.address, destination: bob.address, lamports: 3_000_000 },
        },
      },
    ]);
    expect(transfer?.transaction.message.accountKeys[0]).toMatchObject({
      pubkey: new PublicKey(alice.address),
      signer: true,
      writable: true,
      source: 'transaction',
    });
    const moved = await connection.getParsedTransaction(tokens.signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(moved?.transaction.message.instructions).toMatchObject([
      {
        program: 'spl-associated-token-account',
        parsed: { type: 'createIdempotent', info: { source: alice.address, wallet: bob.address, mint } },
      },
      {
        program: 'spl-token',
        parsed: {
          type: 'transferChecked',
          info: { mint, authority: alice.address, tokenAmount: { amount: '250', decimals: 6 } },
        },
      },
    ]);
    const [inner] = moved?.meta?.innerInstructions ?? [];
    expect(inner?.index).toBe(0);
    expect(
      inner?.instructions.map((one) => ('parsed' in one ? one.parsed.type : one.programId.toBase58())),
    ).toEqual(expect.arrayContaining(['createAccount', 'initializeImmutableOwner', 'initializeAccount3']));
  });

  test('keeps its inner instructions in compiled form, too', async () => {
    const landed = await connection.getTransaction(tokens.signature, { maxSupportedTransactionVersion: 0 });
    const keys = landed!.transaction.message.staticAccountKeys;
    const [inner] = landed?.meta?.innerInstructions ?? [];
    expect(inner!.instructions.length).toBeGreaterThan(2);
    for (const { programIdIndex, accounts } of inner!.instructions)
      expect([programIdIndex, ...accounts].every((index) => index < keys.length)).toBe(true);
    expect(
      (await connection.getTransaction(paid.signature, { maxSupportedTransactionVersion: 0 }))?.meta,
    ).toMatchObject({
      innerInstructions: [],
    });
  });

  test('is simulated with inner instructions where they are asked for', async () => {
    const { blockhash } = await chain.latestBlockhash();
    const carol = await generateKeyPairSigner();
    const ata = await tokenAccount(carol.address, asAddress(mint), TOKEN);
    const create = getCreateAssociatedTokenIdempotentInstruction({
      ...{ payer: alice, ata, owner: carol.address, mint: asAddress(mint) },
    });
    const wire = await build(alice, [create], { blockhash });
    const transaction = VersionedTransaction.deserialize(wire);
    const { value } = await connection.simulateTransaction(transaction, { innerInstructions: true });
    expect(value.err).toBeNull();
    expect(value.innerInstructions?.[0]).toMatchObject({ index: 0 });
    expect(JSON.stringify(value.innerInstructions)).toContain('"type":"createAccount"');
    expect((await connection.simulateTransaction(transaction)).value.innerInstructions ?? null).toBeNull();
  });
});

test('fees are named for every recent slot', async () => {
  const fees = await connection.getRecentPrioritizationFees({
    lockedWritableAccounts: [new PublicKey(mint)],
  });
  expect(fees.at(-1)).toEqual({ slot: await connection.getSlot(), prioritizationFee: 0 });
});

const require = createRequire(import.meta.url);
const types = readFileSync(require.resolve('litesvm/dist/internal.d.ts'), 'utf8');

function numbersOf(enumeration: string): [string, number][] {
  const body = new RegExp(`const enum ${enumeration} \\{([^}]*)\\}`).exec(types)?.[1] ?? '';
  return [...body.matchAll(/(\w+) = (\d+)/g)].map(([, name, number]) => [name ?? '', Number(number)]);
}

test('every error without fields has its name', () => {
  const numbers = numbersOf('TransactionErrorFieldless');
  expect(numbers.length).toBeGreaterThan(30);
  for (const [name, number] of numbers) expect(toRpcError(number as never)).toBe(name);
  expect(() => toRpcError(numbers.length as never)).toThrow('unknown number');
});

test('every error of an instruction has its name', () => {
  class TransactionErrorInstructionError {
    index = 3;
    readonly inner: unknown;
    constructor(inner: unknown) {
      this.inner = inner;
    }
    err() {
      return this.inner;
    }
  }
  const rpcErrorOf = (inner: unknown) => toRpcError(new TransactionErrorInstructionError(inner) as never);
  const numbers = numbersOf('InstructionErrorFieldless');
  expect(numbers.length).toBeGreaterThan(50);
  for (const [name, number] of numbers) expect(rpcErrorOf(number)).toEqual({ InstructionError: [3, name] });
  expect(rpcErrorOf({ code: 26 })).toEqual({ InstructionError: [3, { Custom: 26 }] });
  expect(errorSentence(rpcErrorOf({ code: 26 }))).toBe(
    'Error processing Instruction 3: custom program error: 0x1a',
  );
  expect(errorSentence('BlockhashNotFound')).toBe('Blockhash not found');
});
