/** The chain: blocks, refusals, execution. */
import { type Address, createKeyPairSignerFromPrivateKeyBytes, generateKeyPairSigner } from '@solana/kit';
import {
  getApproveCheckedInstruction,
  getCloseAccountInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import { signedAgain } from '../../protocol/test/sign-again.ts';
import { forgetHistory, HISTORY_SLOTS } from '../src/sandbox.ts';
import { SLOT_MS } from '../src/solana/slots.ts';
import { readToken } from '../src/solana/token-accounts.ts';
import {
  build,
  createMint,
  fund,
  randomBlockhash,
  run,
  SOL,
  SYSTEM,
  TOKEN,
  TOKEN_2022,
  transferSol,
  wallet,
} from './chain-fixtures.ts';
import { amountAt, clock, idOf, open, sql, stage, useStage } from './chain-stage.ts';
import { openStage } from './stage.ts';

useStage();

describe('blocks', () => {
  test('a slot lasts 800 ms; a blockhash is good for 150 blocks, two minutes, and not one more', async () => {
    expect(150 * SLOT_MS).toBe(120_000);
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const start = await stage.chain.slot();
    const { blockhash, lastValidBlockHeight } = await stage.chain.latestBlockhash();
    expect(lastValidBlockHeight).toBe(start + 150);
    const wire = (amount: bigint) => build(alice, [transferSol(alice, bob.address, amount)], { blockhash });

    clock.ms += 150 * SLOT_MS;
    expect(await stage.chain.blockHeight()).toBe(lastValidBlockHeight);
    expect(await stage.chain.isBlockhashValid(blockhash)).toBe(true);
    expect(await stage.chain.send(await wire(SOL / 10n))).toMatchObject({ kind: 'executed' });

    clock.ms += SLOT_MS;
    expect(await stage.chain.isBlockhashValid(blockhash)).toBe(false);
    expect(await stage.chain.send(await wire(SOL / 20n))).toMatchObject({
      kind: 'refused',
      code: -32002,
      data: { err: 'BlockhashNotFound' },
    });
    expect((await stage.chain.account(bob.address))?.lamports).toBe(SOL / 10n);
  });

  test('a chain with slots of 400 ms continues from its height', async () => {
    await stage.chain.close();
    // As it was written before: founded 1,000 seconds ago, 2,500 slots of 400 ms.
    await sql`update sandbox_chain set slot_ms = 400, genesis_ms = ${String(clock.ms - 1_000_000)}::bigint`;
    const again = await open();
    expect(await again.slot()).toBe(2_500);
    const { blockhash } = await again.latestBlockhash();
    clock.ms += 10 * SLOT_MS;
    expect(await again.slot()).toBe(2_510);
    await again.close();
    const later = await open();
    expect(await later.slot()).toBe(2_510);
    expect(await later.isBlockhashValid(blockhash)).toBe(true);
  });

  test('slots do not decrease when time goes backwards', async () => {
    clock.ms += 10 * SLOT_MS;
    const slot = await stage.chain.slot();
    clock.ms -= 60_000;
    expect(await stage.chain.slot()).toBe(slot);
  });
});

describe('what is refused leaves nothing behind', () => {
  test('a wrong signature, a missing one, an unknown blockhash, too little money, malformed bytes', async () => {
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const { blockhash } = await stage.chain.latestBlockhash();
    const good = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    const flipped = good.with(1, good[1]! ^ 1);
    const unsigned = good.slice().fill(0, 1, 65);
    const strange = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], {
      blockhash: randomBlockhash(),
    });
    const dear = await build(alice, [transferSol(alice, bob.address, 2n * SOL)], { blockhash });

    for (const wire of [flipped, unsigned])
      expect(await stage.chain.send(wire)).toMatchObject({ kind: 'refused', code: -32003 });
    expect(await stage.chain.send(strange)).toMatchObject({
      code: -32002,
      data: { err: 'BlockhashNotFound' },
    });
    expect(await stage.chain.send(dear)).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] }, logs: expect.arrayContaining([]) },
    });
    for (const wire of [new Uint8Array(), good.slice(0, -1), Uint8Array.of(...good, 0), good.with(65, 0x81)])
      expect(await stage.chain.send(wire)).toMatchObject({ kind: 'refused', code: -32602 });
    expect((await stage.chain.account(alice.address))?.lamports).toBe(SOL);
    expect(await stage.chain.account(bob.address)).toBeNull();
    const [counted] = await sql`select count(*)::int as count from sandbox_transactions`;
    expect(counted?.count).toBe(1);
  });

  test('a payer that does not exist, and a deployed program', async () => {
    const [poor, alice] = [await generateKeyPairSigner(), await wallet(stage.chain)];
    const { blockhash } = await stage.chain.latestBlockhash();
    expect(
      await stage.chain.send(await build(poor, [transferSol(poor, alice.address, 1n)], { blockhash })),
    ).toMatchObject({ code: -32002, data: { err: 'AccountNotFound' } });
    const deploy = {
      programAddress: 'BPFLoaderUpgradeab1e11111111111111111111111' as Address,
      data: new Uint8Array(4),
    };
    expect(await stage.chain.send(await build(alice, [deploy], { blockhash }))).toMatchObject({
      code: -32602,
    });
  });

  test('the same transaction a second time, also while the first is not durable yet', async () => {
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const { blockhash } = await stage.chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 4n)], { blockhash });
    const [first, twin] = await Promise.all([stage.chain.send(wire), stage.chain.send(wire)]);
    expect(first).toMatchObject({ kind: 'executed' });
    for (const again of [twin, await stage.chain.send(wire)])
      expect(again).toMatchObject({ kind: 'refused', data: { err: 'AlreadyProcessed' } });
    expect((await stage.chain.account(bob.address))?.lamports).toBe(SOL / 4n);
  });

  test('the same message under another valid signature, also after a restart', async () => {
    const secretKey = crypto.getRandomValues(new Uint8Array(32));
    const alice = await createKeyPairSignerFromPrivateKeyBytes(secretKey);
    const bob = await generateKeyPairSigner();
    await stage.chain.airdrop(alice.address, SOL);
    const { blockhash } = await stage.chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 4n)], { blockhash });
    const other = signedAgain(wire, secretKey);
    expect(idOf(other)).not.toBe(idOf(wire));

    const [first, twin] = await Promise.all([stage.chain.send(wire), stage.chain.send(other)]);
    expect(first).toMatchObject({ kind: 'executed' });
    for (const again of [twin, await stage.chain.send(other)])
      expect(again).toMatchObject({ kind: 'refused', data: { err: 'AlreadyProcessed' } });
    const asSent = { sigVerify: true, replaceRecentBlockhash: false };
    expect(await stage.chain.simulate(other, asSent)).toMatchObject({ err: 'AlreadyProcessed' });
    // A landed transaction is known by its own signature alone.
    expect(await stage.chain.statuses([idOf(wire), idOf(other)], true)).toMatchObject([{ err: null }, null]);

    await stage.chain.close();
    stage.chain = await open();
    expect(await stage.chain.send(other)).toMatchObject({ data: { err: 'AlreadyProcessed' } });
    expect((await stage.chain.account(bob.address))?.lamports).toBe(SOL / 4n);
  });
});

test('legacy and version 0 both execute', async () => {
  const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
  const { blockhash } = await stage.chain.latestBlockhash();
  for (const version of ['legacy', 0] as const) {
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 8n)], { blockhash, version });
    expect(wire[65]).toBe(version === 0 ? 0x80 : 1);
    expect(await stage.chain.send(wire)).toMatchObject({ kind: 'executed', executed: { err: null } });
  }
  expect((await stage.chain.account(bob.address))?.lamports).toBe(SOL / 4n);
});

test('without preflight a failing transaction lands, costs its fee and is reported', async () => {
  const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
  const { blockhash } = await stage.chain.latestBlockhash();
  const price = { data: Uint8Array.of(3, 0x41, 0x42, 0x0f, 0, 0, 0, 0, 0) };
  const limit = { data: Uint8Array.of(2, 0x40, 0x0d, 0x03, 0) };
  const programAddress = 'ComputeBudget111111111111111111111111111111' as Address;
  const wire = await build(
    alice,
    [{ programAddress, ...limit }, { programAddress, ...price }, transferSol(alice, bob.address, 2n * SOL)],
    { blockhash },
  );
  const outcome = await stage.chain.send(wire, { skipPreflight: true });
  const err = { InstructionError: [2, { Custom: 1 }] };
  expect(outcome).toMatchObject({ kind: 'executed', executed: { err } });
  if (outcome.kind !== 'executed') return;
  const { signature } = outcome.executed;
  const landed = await stage.chain.transaction(signature);
  // 200,000 units at 1,000,001 micro-lamports, rounded up, and one signature.
  expect(landed?.meta.fee).toBe(205_001n);
  expect((await stage.chain.account(alice.address))?.lamports).toBe(SOL - 205_001n);
  expect(await stage.chain.status(signature)).toMatchObject({ err, confirmationStatus: 'confirmed' });
});

test.each([TOKEN, TOKEN_2022])(
  'tokens of %s: whose they are, who may spend them, what closes',
  async (program) => {
    const [issuer, owner, delegate] = [
      await wallet(stage.chain),
      await wallet(stage.chain),
      await wallet(stage.chain),
    ];
    const mint = await createMint(stage.chain, issuer, program);
    const other = await createMint(stage.chain, issuer, program);
    const source = await fund(stage.chain, issuer, {
      mint,
      program,
      owner: owner.address,
      amount: 5_000_000n,
    });
    await fund(stage.chain, issuer, { mint: other, program, owner: owner.address, amount: 1n });
    const target = await fund(stage.chain, issuer, { mint, program, owner: delegate.address, amount: 0n });

    await run(stage.chain, owner, [
      getApproveCheckedInstruction(
        { source, mint, delegate: delegate.address, owner, amount: 3_000_000n, decimals: 6 },
        { programAddress: program },
      ),
    ]);
    const addresses = (accounts: readonly { address: string }[]) =>
      accounts.map(({ address }) => address).sort();
    expect(addresses(await stage.chain.tokenAccountsOf(owner.address, {}))).toHaveLength(2);
    expect(addresses(await stage.chain.tokenAccountsOf(owner.address, { mint }))).toEqual([source]);
    expect(await stage.chain.tokenAccountsOf(owner.address, { programId: SYSTEM })).toEqual([]);

    const spend = (authority: typeof owner, amount: bigint) =>
      getTransferCheckedInstruction(
        { source, mint, destination: target, authority, amount, decimals: 6 },
        { programAddress: program },
      );
    const { signature } = await run(stage.chain, delegate, [spend(delegate, 3_000_000n)]);
    expect([await amountAt(stage.chain, source), await amountAt(stage.chain, target)]).toEqual([
      2_000_000n,
      3_000_000n,
    ]);
    const landed = await stage.chain.transaction(signature);
    const moved = landed?.meta.post.tokens.map(({ mint: of, owner: whose, amount, decimals }) => ({
      of,
      whose,
      amount,
      decimals,
    }));
    expect(moved).toContainEqual({ of: mint, whose: owner.address, amount: 2_000_000n, decimals: 6 });

    await run(stage.chain, owner, [
      spend(owner, 2_000_000n),
      getCloseAccountInstruction(
        { account: source, destination: owner.address, owner },
        { programAddress: program },
      ),
    ]);
    expect(await stage.chain.account(source)).toBeNull();
    expect(await stage.chain.tokenAccountsOf(owner.address, { mint })).toEqual([]);
    const rows = await sql`select 1 from sandbox_accounts where address = ${source}`;
    expect(rows).toHaveLength(0);
  },
);

test('accounts of a lookup table are reported as writable', async () => {
  const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
  const table = await generateKeyPairSigner();
  const header = new Uint8Array(56);
  // A table: never deactivated, extended in slot 0, without authority.
  new DataView(header.buffer).setUint32(0, 1, true);
  header.fill(0xff, 4, 12);
  const key = Buffer.from(await crypto.subtle.exportKey('raw', bob.keyPair.publicKey));
  clock.ms += 5 * SLOT_MS;
  await stage.chain.put([
    {
      address: table.address,
      account: {
        lamports: SOL,
        owner: 'AddressLookupTab1e1111111111111111111111111',
        data: Buffer.concat([header, key]),
        executable: false,
      },
    },
  ]);
  const { blockhash } = await stage.chain.latestBlockhash();
  const wire = await throughTable({ alice, table: table.address, blockhash });
  expect(await stage.chain.send(wire)).toMatchObject({ kind: 'executed', executed: { err: null } });
  expect((await stage.chain.account(bob.address))?.lamports).toBe(SOL / 2n);
  const [row] = await sql`select lamports::text from sandbox_accounts where address = ${bob.address}`;
  expect(row?.lamports).toBe(String(SOL / 2n));
});

/** A transfer whose destination comes out of the table. */
async function throughTable(options: {
  alice: Awaited<ReturnType<typeof wallet>>;
  table: Address;
  blockhash: string;
}): Promise<Uint8Array> {
  const { alice, table, blockhash } = options;
  const data = new Uint8Array(12);
  new DataView(data.buffer).setUint32(0, 2, true);
  new DataView(data.buffer).setBigUint64(4, SOL / 2n, true);
  return build(
    alice,
    [
      {
        programAddress: SYSTEM,
        accounts: [
          { address: alice.address, role: 3, signer: alice },
          { lookupTableAddress: table, addressIndex: 0, address: '' as Address, role: 1 },
        ],
        data,
      } as never,
    ],
    { blockhash },
  );
}

const account = (owner: string, data: Uint8Array) => ({ lamports: 1n, owner, data, executable: false });

function tokenData(length: number, kind?: number): Uint8Array {
  const data = new Uint8Array(length);
  data[108] = 1;
  if (kind !== undefined) data[165] = kind;
  return data;
}

describe('invalid data is not read as a token account', () => {
  test.each([
    ['of another program', account(SYSTEM, tokenData(165))],
    ['not initialised', account(TOKEN, new Uint8Array(165))],
    ['a multisig', account(TOKEN_2022, tokenData(355, 2))],
    ['a classic one with something behind it', account(TOKEN, tokenData(170, 2))],
    ['of unknown kind', account(TOKEN_2022, tokenData(170, 9))],
    ['a mint that is not initialised', account(TOKEN, new Uint8Array(82))],
    ['too short', account(TOKEN_2022, tokenData(164))],
  ])('%s', (_name, given) => {
    expect(readToken(given)).toBeNull();
  });

  test('a Token-2022 account is read with its extensions', () => {
    const data = tokenData(174, 2);
    data.set([7, 0, 0, 0, 9, 0, 1], 166);
    expect(readToken(account(TOKEN_2022, data))).toMatchObject({ kind: 'account', extensions: [7, 9] });
  });
});

test('old transactions are forgotten, except recent, open and awaited ones', async () => {
  const stage = await openStage();
  const { sql } = stage;
  const { address } = await generateKeyPairSigner();
  const gifts = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => stage.chain.airdrop(address, SOL)));
  const order = (signature: string | undefined, status: string) => sql`
    insert into sandbox_orders (message_hash, status, kind, ticker, condition_id, outcome, wallet, recipient, refund,
      in_amount, min_out, last_valid_block_height, signature)
    values (${`hash of ${signature}`}, ${status}, 'BUY', 'T', 'c', 'YES', 'w', 'w', 'w', 1, 1, 1, ${signature ?? null})`;
  const forget = (awaited: string | null = null, signal = new AbortController().signal) =>
    forgetHistory({ sql, awaited, signal }, stage.chain.blocks().slot);
  const known = async (signatures: readonly string[]) =>
    (await stage.chain.statuses(signatures, true)).map((status) => status !== null);

  const old = await gifts(4);
  await order(old[0], 'open');
  await order(old[1], 'closed');
  const before = await stage.chain.transactionCount();
  const awaited = `select '${old[2]}'`;
  stage.clock.time += HISTORY_SLOTS * SLOT_MS;

  // The last blocks before a stop are never forgotten: they prove what landed.
  expect(await forget(awaited)).toBe(0);
  const recent = await gifts(1);
  expect(await forget(awaited)).toBe(0);
  stage.clock.time += SLOT_MS;
  expect(await forget(awaited, AbortSignal.abort())).toBe(0);
  expect(await forget(awaited)).toBe(before - 2);
  expect(await known([...old, ...recent])).toEqual([true, false, true, false, true]);
  const orders = await sql`select signature from sandbox_orders`;
  expect(orders.map((row) => row.signature)).toEqual([old[0]]);

  // No caller waits for it any more.
  await sql`update sandbox_orders set status = 'closed'`;
  expect(await forget()).toBe(2);
  expect(await known([...old, ...recent])).toEqual([false, false, false, false, true]);
  await stage.restart();
  expect(await stage.chain.transactionCount()).toBe(before + 1);
  expect((await stage.chain.account(address))?.lamports).toBe(5n * SOL);
});
