/** Past blocks, transactions in parsed form, and reads of all accounts, as web3.js 1.x reads and validates them. */
import { address as asAddress, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { Connection, PublicKey, VersionedTransaction } from '@solana/web3.js';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { SLOT_MS } from '../src/solana/block-clock.ts';
import { solanaRpcDoor } from '../src/solana/rpc/door.ts';
import type { Executed, SandboxChain } from '../src/solana/types.ts';
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
let url: string;
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
  url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/rpc`;
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

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client in JavaScript reads them
async function call(method: string, ...params: unknown[]): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return response.json();
}

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

describe('an address', () => {
  test('has its signatures, newest first, in pages', async () => {
    const key = new PublicKey(bob.address);
    const found = await connection.getSignaturesForAddress(key);
    expect(found.map(({ signature }) => signature)).toEqual([tokens.signature, paid.signature]);
    expect(found[1]).toMatchObject({
      slot: paid.slot,
      err: null,
      memo: null,
      blockTime: expect.any(Number),
      confirmationStatus: 'confirmed',
    });
    const before = await connection.getSignaturesForAddress(key, { before: tokens.signature, limit: 5 });
    expect(before.map(({ signature }) => signature)).toEqual([paid.signature]);
    const until = await connection.getSignaturesForAddress(key, { until: paid.signature });
    expect(until.map(({ signature }) => signature)).toEqual([tokens.signature]);
    const { address } = await generateKeyPairSigner();
    expect(await connection.getSignaturesForAddress(new PublicKey(address))).toEqual([]);
    const bad = await call('getSignaturesForAddress', bob.address, { limit: 1_001 });
    expect(bad.error).toMatchObject({ code: -32602 });
  });
});

describe('a block', () => {
  test('has its transactions, time and neighbours', async () => {
    const block = await connection.getBlock(paid.slot, { maxSupportedTransactionVersion: 0 });
    expect(block?.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual([paid.signature]);
    expect(block).toMatchObject({ parentSlot: paid.slot - 1 });
    const { result } = await call('getBlock', paid.slot - 1, { transactionDetails: 'none', rewards: false });
    expect(result).toMatchObject({ blockhash: block?.previousBlockhash, blockHeight: paid.slot - 1 });
    expect(result).not.toHaveProperty('transactions');
    const signatures = await connection.getBlockSignatures(tokens.slot);
    expect(signatures.signatures).toContain(tokens.signature);
    expect(await connection.getBlockTime(paid.slot)).toBe(block?.blockTime);
    const parsed = await call('getBlock', paid.slot, {
      encoding: 'jsonParsed',
      maxSupportedTransactionVersion: 0,
    });
    expect(parsed.result.transactions[0].transaction.message.instructions[0]).toMatchObject({
      program: 'system',
    });
    const accounts = await call('getBlock', paid.slot, {
      transactionDetails: 'accounts',
      maxSupportedTransactionVersion: 0,
    });
    expect(accounts.result.transactions[0].transaction.accountKeys[0]).toMatchObject({ signer: true });
  });

  test('beyond the newest, or of a version that the caller does not read, is refused', async () => {
    expect((await call('getBlock', 10 ** 9)).error).toMatchObject({ code: -32004 });
    expect((await call('getBlockTime', 10 ** 9)).error).toMatchObject({ code: -32004 });
    expect((await call('getBlock', paid.slot)).error).toMatchObject({ code: -32015 });
  });

  test('has a number; ranges are bounded', async () => {
    const newest = await connection.getSlot();
    expect(await connection.getBlocks(newest - 2)).toEqual([newest - 2, newest - 1, newest]);
    expect(await connection.getBlocks(newest - 2, newest - 1)).toEqual([newest - 2, newest - 1]);
    expect((await call('getBlocksWithLimit', newest - 5, 2)).result).toEqual([newest - 5, newest - 4]);
    expect((await call('getBlocksWithLimit', 0, 100_001)).error).toMatchObject({ code: -32602 });
    expect(await connection.getFirstAvailableBlock()).toBe(0);
    expect(await connection.getMinimumLedgerSlot()).toBe(0);
  });
});

describe('all accounts', () => {
  test('of a program are found by size and by bytes, and bounded', async () => {
    const owner = new PublicKey(bob.address);
    const found = await connection.getProgramAccounts(new PublicKey(TOKEN), {
      filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: owner.toBase58() } }],
    });
    expect(found).toHaveLength(1);
    expect(found[0]?.account.data.subarray(0, 32)).toEqual(new PublicKey(mint).toBuffer());
    const parsed = await connection.getParsedProgramAccounts(new PublicKey(TOKEN), {
      filters: [{ dataSize: 82 }],
    });
    expect(parsed[0]?.account.data).toMatchObject({ program: 'spl-token', parsed: { type: 'mint' } });
    for (const filters of [[{ dataSize: 1 }, { dataSize: 2 }], [{ dataSize: 2 ** 40 }]])
      expect((await call('getProgramAccounts', TOKEN, { filters })).result).toEqual([]);
    for (const filters of [
      [{}],
      [{ memcmp: { bytes: '0OIl' } }],
      [{ memcmp: {} }],
      Array(5).fill({ dataSize: 1 }),
    ])
      expect(
        (await call('getProgramAccounts', TOKEN, { filters })).error,
        JSON.stringify(filters),
      ).toMatchObject({
        code: -32602,
      });
  });

  test('of a mint come with the largest first', async () => {
    const { value } = await connection.getTokenLargestAccounts(new PublicKey(mint));
    expect(value.map(({ amount }) => amount)).toEqual(['750', '250']);
    expect((await call('getTokenLargestAccounts', bob.address)).error).toMatchObject({ code: -32602 });
  });

  test('hold the supply', async () => {
    const { value } = await connection.getSupply();
    expect(value.total).toBeGreaterThan(0);
    expect(value.circulating + value.nonCirculating).toBe(value.total);
  });
});

test('the schedule, the fees and the votes of a chain with one node', async () => {
  expect(await connection.getEpochSchedule()).toMatchObject({ slotsPerEpoch: 432_000, warmup: false });
  expect(await connection.getVoteAccounts()).toEqual({ current: [], delinquent: [] });
  const fees = await connection.getRecentPrioritizationFees({
    lockedWritableAccounts: [new PublicKey(mint)],
  });
  expect(fees.at(-1)).toEqual({ slot: await connection.getSlot(), prioritizationFee: 0 });
  expect(typeof (await connection.getEpochInfo()).transactionCount).toBe('number');
  expect(await connection.getTransactionCount()).toBeGreaterThan(2);
});
