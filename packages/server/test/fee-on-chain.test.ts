/**
 * The fee on a real chain: litesvm behind its JSON-RPC door, the desk's own adapter in front of it, real tokens at the
 * real mint's address; signed by the service's key, and by Fireblocks in both of its modes.
 */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import {
  associatedTokenAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';
import { type Address, createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit';
import {
  AccountState,
  getApproveCheckedInstruction,
  getMintEncoder,
  getRevokeInstruction,
  getTokenEncoder,
} from '@solana-program/token';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { type SandboxChain, solanaRpcDoor } from '../../sandbox/src/solana/index.ts';
import { build, openTestChain, SOL, TestClock } from '../../sandbox/test/chain-fixtures.ts';
import { chargeFee, delegationOf, type FeeNeeds, followFees } from '../src/fees/charge-fee.ts';
import { createFireblocksSigning } from '../src/fees/fireblocks.ts';
import { createLocalSigning, type SigningProvider } from '../src/fees/signing-provider.ts';
import { createFeeStore } from '../src/fees/store.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { fetchSend } from '../src/platform/outbound/http.ts';
import type { Refusal } from '../src/platform/refusal.ts';
import { quotingVenue } from '../src/venues/asking.ts';
import { createSolanaChain } from '../src/venues/solana/solana-chain.ts';
import { ASSET_ID, type FireblocksServer, startFireblocks, VAULT_ID } from './fireblocks-server.ts';

const USDC = 1_000_000n;
const log = { warn() {}, info() {} };

let sql: Sql;
let vm: SandboxChain;
let door: FastifyInstance;
let url: string;
let fireblocks: FireblocksServer;
const clock = new TestClock();

beforeAll(async () => {
  sql = await openDeskDatabase();
  vm = await openTestChain(sql as never, clock);
  door = fastify();
  await door.register(solanaRpcDoor, { chain: () => vm, guard: null });
  url = await door.listen({ port: 0, host: '127.0.0.1' });
  fireblocks = await startFireblocks();
  const mint = getMintEncoder().encode({
    mintAuthority: null,
    supply: 1_000n * USDC,
    decimals: 6,
    isInitialized: true,
    freezeAuthority: null,
  });
  await put(USDC_MINT, mint);
});
afterAll(async () => {
  await door?.close();
  await vm?.close();
});

const put = (address: string, data: Iterable<number>) =>
  vm.put([
    {
      address,
      account: {
        lamports: SOL,
        owner: SOLANA_PROGRAMS.token,
        data: Uint8Array.from(data),
        executable: false,
      },
    },
  ]);

const collateralOf = (owner: string) =>
  associatedTokenAddress(owner as SolanaAddress, USDC_MINT, SOLANA_PROGRAMS.token);

let user: KeyPairSigner;
let needs: FeeNeeds;
const caller = { agentId: randomUUID(), userId: 1n, keyId: 1n };

beforeEach(async () => {
  user = await createKeyPairSignerFromPrivateKeyBytes(randomBytes(32));
  await vm.airdrop(user.address, SOL);
  const held = getTokenEncoder().encode({
    mint: USDC_MINT as string as Address,
    owner: user.address,
    amount: 50n * USDC,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  });
  await put(collateralOf(user.address), held);
  const feeWallet = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x as string;
  needs = {
    clock,
    secrets: { newId: () => randomUUID() },
    wallets: { solanaWallets: async () => ({ proved: [user.address] }) },
    fees: createFeeStore(sql),
    feeWallet: toBase58(Buffer.from(feeWallet, 'base64url')),
    maxFeeCharge: 100n * USDC,
    paperRpcUrl: url,
    venues: new Map([
      [
        'kalshi',
        {
          id: 'kalshi',
          quotes: {
            collateralMint: USDC_MINT,
            chain: createSolanaChain({ url, send: fetchSend, clock, log }),
          },
        },
      ],
    ]),
    signing: createLocalSigning(randomBytes(32)),
  } as unknown as typeof needs;
});

async function land(...instructions: Parameters<typeof build>[1]): Promise<void> {
  const wire = await build(user, instructions, { blockhash: (await vm.latestBlockhash()).blockhash });
  expect(await vm.send(wire)).toMatchObject({ kind: 'executed', executed: { err: null } });
}

const approve = (delegate: string, amount: bigint) =>
  land(
    getApproveCheckedInstruction({
      source: collateralOf(user.address) as string as Address,
      mint: USDC_MINT as string as Address,
      delegate: delegate as Address,
      owner: user,
      amount,
      decimals: 6,
    }),
  );

const charge = (amount: string, key: string | null = null) =>
  chargeFee(needs, caller, { amount, fromAddress: user.address }, { key, requestId: 'r' });
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'charged',
    (error: Refusal) => error.denials?.[0].code ?? error,
  );
const balance = async (owner: string) =>
  (await quotingVenue(needs).quotes.chain.tokenAccount(owner as SolanaAddress, USDC_MINT))?.amount ?? null;

type NamedProvider = [name: string, provider: () => Promise<SigningProvider>];
const providers: NamedProvider[] = [
  ['the local key', async () => createLocalSigning(randomBytes(32))],
  ...(['raw', 'program_call'] as const).map(
    (mode): NamedProvider => [
      `Fireblocks, ${mode}`,
      () =>
        createFireblocksSigning({
          baseUrl: fireblocks.url,
          apiKey: fireblocks.apiKey,
          privateKeyPem: fireblocks.privateKeyPem,
          vaultId: VAULT_ID,
          assetId: ASSET_ID,
          mode,
          address: fireblocks.address,
          now: Date.now,
          send: fetchSend,
          log,
          pauseMs: 5,
        }),
    ],
  ),
];

describe.each(providers)('signed by %s', (_name, provider) => {
  test('the fee arrives once per key, and the delegation shrinks by it', async () => {
    const signing = await provider();
    // Fireblocks waits in real time, this chain has its own clock.
    const wall = { now: () => (signing.kind === 'local' ? clock.now() : Date.now()) };
    Object.assign(needs, { signing, clock: wall });
    await vm.airdrop(signing.address, SOL);
    await approve(signing.address, 3n * USDC);
    const { answer } = await charge('0.25', 'k');
    expect(await vm.status(answer.txSignature)).toMatchObject({ err: null });
    expect((await charge('0.25', 'k')).answer).toEqual(answer);
    await charge('0.5');
    expect(await balance(user.address)).toBe(49_250_000n);
    expect(await balance(needs.feeWallet)).toBe(750_000n);
    expect(await delegationOf(needs, caller, user.address)).toMatchObject({
      delegate: signing.address,
      tokenAccount: collateralOf(user.address),
      exists: true,
      balance: '49.25',
      delegatedAmount: '2.25',
    });
    expect(await followFees(needs)).toBeGreaterThan(0);
    expect(await sql`select 1 from fee_charges where status <> 'landed'`).toEqual([]);
    await sql`truncate fee_charges`;
  });
});

test('refusals of the chain are predicted, each with its own code', async () => {
  const { address } = needs.signing;
  await vm.airdrop(address, SOL);
  expect(await codeOf(charge('1'))).toBe('delegation_insufficient');
  await approve(address, 2n * USDC);
  expect(await codeOf(charge('2.000001'))).toBe('delegation_insufficient');
  await approve(address, 99n * USDC);
  expect(await codeOf(charge('50.000001'))).toBe('insufficient_balance');
  expect(await codeOf(charge('50'))).toBe('charged');
  await approve(createLocalSigning(randomBytes(32)).address, 2n * USDC);
  expect(await codeOf(charge('1'))).toBe('delegation_insufficient');
  await land(getRevokeInstruction({ source: collateralOf(user.address) as string as Address, owner: user }));
  expect(await codeOf(charge('1'))).toBe('delegation_insufficient');
  expect(await balance(user.address)).toBe(0n);
});

test('a delegate without lamports is refused by the chain; with lamports the same key charges', async () => {
  await approve(needs.signing.address, USDC);
  expect(await codeOf(charge('1', 'poor'))).toBe('broadcast_failed');
  expect(await balance(user.address)).toBe(50n * USDC);
  await vm.airdrop(needs.signing.address, SOL);
  expect(await codeOf(charge('1', 'poor'))).toBe('charged');
  expect(await balance(user.address)).toBe(49n * USDC);
});

test('the full allowance can be charged, and no more', async () => {
  await vm.airdrop(needs.signing.address, SOL);
  await approve(needs.signing.address, USDC);
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => codeOf(charge('0.4'))));
  expect(outcomes.filter((outcome) => outcome === 'charged').length).toBe(2);
  expect(await balance(user.address)).toBe(50n * USDC - 800_000n);
  expect(await balance(needs.feeWallet)).toBe(800_000n);
});
