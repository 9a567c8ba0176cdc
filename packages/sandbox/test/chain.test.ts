import type { Sql } from '@bellwether/durable';
import { readTransaction, toBase58, transactionId } from '@bellwether/protocol';
import { type Address, createKeyPairSignerFromPrivateKeyBytes, generateKeyPairSigner } from '@solana/kit';
import {
  getApproveCheckedInstruction,
  getCloseAccountInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import { signedAgain } from '../../protocol/test/sign-again.ts';
import { SLOT_MS } from '../src/solana/block-clock.ts';
import { readToken } from '../src/solana/token-accounts.ts';
import { AirdropRefused, type SandboxChain, SandboxChainUnavailable } from '../src/solana/types.ts';
import {
  build,
  createMint,
  fund,
  migrated,
  openTestChain,
  randomBlockhash,
  run,
  SOL,
  SYSTEM,
  TestClock,
  TOKEN,
  TOKEN_2022,
  tokenAccount,
  transferSol,
  wallet,
} from './chain-fixtures.ts';

let sql: Sql;
let clock: TestClock;
let chain: SandboxChain;

const open = async (landing?: string): Promise<SandboxChain> => {
  const opened = await openTestChain(sql, clock, landing === undefined ? {} : { landing });
  onTestFinished(() => opened.close());
  return opened;
};

beforeEach(async () => {
  sql = await migrated(await openTestDatabase());
  clock = new TestClock();
  chain = await open();
});

const amountAt = async (of: SandboxChain, address: string): Promise<bigint | null> => {
  const account = await of.account(address);
  const token = account === null ? null : readToken(account);
  return token?.kind === 'account' ? token.amount : null;
};

describe('blocks', () => {
  test('a slot lasts 800 ms; a blockhash is good for 150 blocks, two minutes, and not one more', async () => {
    expect(150 * SLOT_MS).toBe(120_000);
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const start = await chain.slot();
    const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash();
    expect(lastValidBlockHeight).toBe(start + 150);
    const wire = (amount: bigint) => build(alice, [transferSol(alice, bob.address, amount)], { blockhash });

    clock.ms += 150 * SLOT_MS;
    expect(await chain.blockHeight()).toBe(lastValidBlockHeight);
    expect(await chain.isBlockhashValid(blockhash)).toBe(true);
    expect(await chain.send(await wire(SOL / 10n))).toMatchObject({ kind: 'executed' });

    clock.ms += SLOT_MS;
    expect(await chain.isBlockhashValid(blockhash)).toBe(false);
    expect(await chain.send(await wire(SOL / 20n))).toMatchObject({
      kind: 'refused',
      code: -32002,
      data: { err: 'BlockhashNotFound' },
    });
    expect((await chain.account(bob.address))?.lamports).toBe(SOL / 10n);
  });

  test('a chain that was counted at 400 ms a slot goes on from the height it had', async () => {
    await chain.close();
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

  test('time that goes backwards takes no slot back', async () => {
    clock.ms += 10 * SLOT_MS;
    const slot = await chain.slot();
    clock.ms -= 60_000;
    expect(await chain.slot()).toBe(slot);
  });
});

describe('what is refused leaves nothing behind', () => {
  test('a wrong signature, a missing one, a strange blockhash, too little money, bytes that are none', async () => {
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const { blockhash } = await chain.latestBlockhash();
    const good = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    const flipped = good.with(1, good[1]! ^ 1);
    const unsigned = good.slice().fill(0, 1, 65);
    const strange = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], {
      blockhash: randomBlockhash(),
    });
    const dear = await build(alice, [transferSol(alice, bob.address, 2n * SOL)], { blockhash });

    for (const wire of [flipped, unsigned])
      expect(await chain.send(wire)).toMatchObject({ kind: 'refused', code: -32003 });
    expect(await chain.send(strange)).toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound' } });
    expect(await chain.send(dear)).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] }, logs: expect.arrayContaining([]) },
    });
    for (const wire of [new Uint8Array(), good.slice(0, -1), Uint8Array.of(...good, 0), good.with(65, 0x81)])
      expect(await chain.send(wire)).toMatchObject({ kind: 'refused', code: -32602 });
    expect((await chain.account(alice.address))?.lamports).toBe(SOL);
    expect(await chain.account(bob.address)).toBeNull();
    const [counted] = await sql`select count(*)::int as count from sandbox_transactions`;
    expect(counted?.count).toBe(1);
  });

  test('a payer that does not exist, and a program of one’s own', async () => {
    const [poor, alice] = [await generateKeyPairSigner(), await wallet(chain)];
    const { blockhash } = await chain.latestBlockhash();
    expect(
      await chain.send(await build(poor, [transferSol(poor, alice.address, 1n)], { blockhash })),
    ).toMatchObject({ code: -32002, data: { err: 'AccountNotFound' } });
    const deploy = {
      programAddress: 'BPFLoaderUpgradeab1e11111111111111111111111' as Address,
      data: new Uint8Array(4),
    };
    expect(await chain.send(await build(alice, [deploy], { blockhash }))).toMatchObject({ code: -32602 });
  });

  test('the same transaction a second time, also while the first is on its way', async () => {
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const { blockhash } = await chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 4n)], { blockhash });
    const [first, twin] = await Promise.all([chain.send(wire), chain.send(wire)]);
    expect(first).toMatchObject({ kind: 'executed' });
    for (const again of [twin, await chain.send(wire)])
      expect(again).toMatchObject({ kind: 'refused', data: { err: 'AlreadyProcessed' } });
    expect((await chain.account(bob.address))?.lamports).toBe(SOL / 4n);
  });

  test('the same message under another valid signature, also after a restart', async () => {
    const secretKey = crypto.getRandomValues(new Uint8Array(32));
    const alice = await createKeyPairSignerFromPrivateKeyBytes(secretKey);
    const bob = await generateKeyPairSigner();
    await chain.airdrop(alice.address, SOL);
    const { blockhash } = await chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 4n)], { blockhash });
    const other = signedAgain(wire, secretKey);
    expect(idOf(other)).not.toBe(idOf(wire));

    const [first, twin] = await Promise.all([chain.send(wire), chain.send(other)]);
    expect(first).toMatchObject({ kind: 'executed' });
    for (const again of [twin, await chain.send(other)])
      expect(again).toMatchObject({ kind: 'refused', data: { err: 'AlreadyProcessed' } });
    const asSent = { sigVerify: true, replaceRecentBlockhash: false };
    expect(await chain.simulate(other, asSent)).toMatchObject({ err: 'AlreadyProcessed' });
    // What landed is known by its own signature alone.
    expect(await chain.statuses([idOf(wire), idOf(other)], true)).toMatchObject([{ err: null }, null]);

    await chain.close();
    chain = await open();
    expect(await chain.send(other)).toMatchObject({ data: { err: 'AlreadyProcessed' } });
    expect((await chain.account(bob.address))?.lamports).toBe(SOL / 4n);
  });
});

const idOf = (wire: Uint8Array): string => transactionId(readTransaction(wire));

test('legacy and version 0 both execute', async () => {
  const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
  const { blockhash } = await chain.latestBlockhash();
  for (const version of ['legacy', 0] as const) {
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 8n)], { blockhash, version });
    expect(wire[65]).toBe(version === 0 ? 0x80 : 1);
    expect(await chain.send(wire)).toMatchObject({ kind: 'executed', executed: { err: null } });
  }
  expect((await chain.account(bob.address))?.lamports).toBe(SOL / 4n);
});

test('without preflight a failing transaction lands, costs its fee and is told of', async () => {
  const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
  const { blockhash } = await chain.latestBlockhash();
  const price = { data: Uint8Array.of(3, 0x41, 0x42, 0x0f, 0, 0, 0, 0, 0) };
  const limit = { data: Uint8Array.of(2, 0x40, 0x0d, 0x03, 0) };
  const programAddress = 'ComputeBudget111111111111111111111111111111' as Address;
  const wire = await build(
    alice,
    [{ programAddress, ...limit }, { programAddress, ...price }, transferSol(alice, bob.address, 2n * SOL)],
    { blockhash },
  );
  const outcome = await chain.send(wire, { skipPreflight: true });
  const err = { InstructionError: [2, { Custom: 1 }] };
  expect(outcome).toMatchObject({ kind: 'executed', executed: { err } });
  if (outcome.kind !== 'executed') return;
  const { signature } = outcome.executed;
  const landed = await chain.transaction(signature);
  // 200,000 units at 1,000,001 micro-lamports, rounded up, and one signature.
  expect(landed?.meta.fee).toBe(205_001n);
  expect((await chain.account(alice.address))?.lamports).toBe(SOL - 205_001n);
  expect(await chain.status(signature)).toMatchObject({ err, confirmationStatus: 'confirmed' });
});

test.each([TOKEN, TOKEN_2022])(
  'tokens of %s: whose they are, who may spend them, what closes',
  async (program) => {
    const [issuer, owner, delegate] = [await wallet(chain), await wallet(chain), await wallet(chain)];
    const mint = await createMint(chain, issuer, program);
    const other = await createMint(chain, issuer, program);
    const source = await fund(chain, issuer, { mint, program, owner: owner.address, amount: 5_000_000n });
    await fund(chain, issuer, { mint: other, program, owner: owner.address, amount: 1n });
    const target = await fund(chain, issuer, { mint, program, owner: delegate.address, amount: 0n });

    await run(chain, owner, [
      getApproveCheckedInstruction(
        { source, mint, delegate: delegate.address, owner, amount: 3_000_000n, decimals: 6 },
        { programAddress: program },
      ),
    ]);
    const addresses = (accounts: readonly { address: string }[]) =>
      accounts.map(({ address }) => address).sort();
    expect(addresses(await chain.tokenAccountsOf(owner.address, {}))).toHaveLength(2);
    expect(addresses(await chain.tokenAccountsOf(owner.address, { mint }))).toEqual([source]);
    expect(await chain.tokenAccountsOf(owner.address, { programId: SYSTEM })).toEqual([]);
    expect(addresses(await chain.tokenAccountsByDelegate(delegate.address, {}))).toEqual([source]);

    const spend = (authority: typeof owner, amount: bigint) =>
      getTransferCheckedInstruction(
        { source, mint, destination: target, authority, amount, decimals: 6 },
        { programAddress: program },
      );
    const { signature } = await run(chain, delegate, [spend(delegate, 3_000_000n)]);
    // Spent to the end: the delegate is gone.
    expect(await chain.tokenAccountsByDelegate(delegate.address, {})).toEqual([]);
    expect([await amountAt(chain, source), await amountAt(chain, target)]).toEqual([2_000_000n, 3_000_000n]);
    const landed = await chain.transaction(signature);
    const moved = landed?.meta.post.tokens.map(({ mint: of, owner: whose, amount, decimals }) => ({
      of,
      whose,
      amount,
      decimals,
    }));
    expect(moved).toContainEqual({ of: mint, whose: owner.address, amount: 2_000_000n, decimals: 6 });

    await run(chain, owner, [
      spend(owner, 2_000_000n),
      getCloseAccountInstruction(
        { account: source, destination: owner.address, owner },
        { programAddress: program },
      ),
    ]);
    expect(await chain.account(source)).toBeNull();
    expect(await chain.tokenAccountsOf(owner.address, { mint })).toEqual([]);
    const rows = await sql`select 1 from sandbox_accounts where address = ${source}`;
    expect(rows).toHaveLength(0);
  },
);

test('accounts of a lookup table are known as written', async () => {
  const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
  const table = await generateKeyPairSigner();
  const header = new Uint8Array(56);
  // A table: never deactivated, extended in slot 0, without authority.
  new DataView(header.buffer).setUint32(0, 1, true);
  header.fill(0xff, 4, 12);
  const key = Buffer.from(await crypto.subtle.exportKey('raw', bob.keyPair.publicKey));
  clock.ms += 5 * SLOT_MS;
  await chain.put([
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
  const { blockhash } = await chain.latestBlockhash();
  const wire = await throughTable({ alice, table: table.address, blockhash });
  expect(await chain.send(wire)).toMatchObject({ kind: 'executed', executed: { err: null } });
  expect((await chain.account(bob.address))?.lamports).toBe(SOL / 2n);
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

describe('a restart', () => {
  test('finds balances, statuses and blocks as they were', async () => {
    const issuer = await wallet(chain, 2n * SOL);
    const mint = await createMint(chain, issuer, TOKEN_2022);
    const owner = await wallet(chain);
    const account = await fund(chain, issuer, {
      mint,
      program: TOKEN_2022,
      owner: owner.address,
      amount: 7_000_000n,
    });
    const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash();
    const wire = await build(owner, [transferSol(owner, issuer.address, SOL / 2n)], { blockhash });
    const sent = await chain.send(wire);
    const later = await build(owner, [transferSol(owner, issuer.address, SOL / 4n)], { blockhash });
    const signature = sent.kind === 'executed' ? sent.executed.signature : '';
    const [balance, slot] = [await chain.account(owner.address), await chain.slot()];
    await chain.close();

    clock.ms += 100 * SLOT_MS;
    const again = await open();
    expect(await again.account(owner.address)).toEqual(balance);
    expect(await amountAt(again, account)).toBe(7_000_000n);
    expect((await again.tokenAccountsOf(owner.address, {})).map(({ address }) => address)).toEqual([account]);
    expect(await again.slot()).toBe(slot + 100);
    expect(await again.status(signature)).toEqual({
      slot,
      err: null,
      confirmations: null,
      confirmationStatus: 'finalized',
    });
    expect(await again.send(wire)).toMatchObject({ data: { err: 'AlreadyProcessed' } });
    expect(await again.isBlockhashValid(blockhash)).toBe(true);
    expect(await again.send(later)).toMatchObject({ kind: 'executed' });

    clock.ms += 51 * SLOT_MS;
    expect(await again.blockHeight()).toBe(lastValidBlockHeight + 1);
    expect(await again.send(wire)).toMatchObject({ data: { err: 'BlockhashNotFound' } });
    clock.ms += 1_000 * SLOT_MS;
    expect(await again.status(signature)).toBeNull();
    expect(await again.status(signature, true)).toMatchObject({ slot, err: null });
  });

  test('with another seed is refused', async () => {
    await chain.close();
    const { openChain } = await import('../src/solana/index.ts');
    await expect(openChain({ sql, seed: 'another', clock })).rejects.toThrow('another seed');
  });

  test('while the old one lives makes the old one give up, and nothing of it is written', async () => {
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const successor = await open();
    const { blockhash } = await chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    await expect(chain.send(wire)).rejects.toMatchObject({ name: 'SandboxChainUnavailable', landed: 'no' });
    expect(chain.isOpen()).toBe(false);
    await expect(chain.account(alice.address)).rejects.toThrow(SandboxChainUnavailable);
    expect(await successor.send(wire)).toMatchObject({ kind: 'executed' });
  });
});

describe('commits', () => {
  test('carry what witnesses write, in order, for failed transactions too', async () => {
    await sql`create table seen (n serial, signature text, ok boolean)`;
    chain = await open(`
      insert into seen (signature, ok)
      select signature, succeeded from json_to_recordset($1::text::json) as landed (signature text, succeeded boolean)`);
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const { blockhash } = await chain.latestBlockhash();
    const wires = await Promise.all(
      [SOL / 4n, 2n * SOL, SOL / 8n].map((amount) =>
        build(alice, [transferSol(alice, bob.address, amount)], { blockhash }),
      ),
    );
    const outcomes = await Promise.all(
      wires.map((wire) =>
        chain.send(wire, {
          skipPreflight: true,
          also: [
            {
              text: 'update seen set ok = null where signature = $1 and not ok',
              values: [idOf(wire)],
            },
          ],
        }),
      ),
    );
    const signatures = outcomes.map((one) => (one.kind === 'executed' ? one.executed.signature : ''));
    const rows = await sql`select signature, ok from seen order by n offset 1`;
    expect(rows.map((row) => [row.signature, row.ok])).toEqual([
      [signatures[0], true],
      [signatures[1], null],
      [signatures[2], true],
    ]);
  });

  test('whose witness fails did not happen: memory is what the database holds', async () => {
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const { blockhash } = await chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    await expect(chain.send(wire, { also: [{ text: 'select 1 / 0', values: [] }] })).rejects.toMatchObject({
      landed: 'no',
    });
    await vi.waitFor(() => expect(chain.isOpen()).toBe(true), { timeout: 10_000 });
    expect((await chain.account(alice.address))?.lamports).toBe(SOL);
    expect(await chain.send(wire)).toMatchObject({ kind: 'executed' });
  });

  test('cut off by the database leave memory as the database has it', async () => {
    const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
    const { blockhash } = await chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    const killed = chain.send(wire, {
      also: [{ text: 'select pg_terminate_backend(pg_backend_pid())', values: [] }],
    });
    const behind = chain.put([
      {
        address: toBase58(crypto.getRandomValues(new Uint8Array(32))),
        account: { lamports: SOL, owner: SYSTEM, data: new Uint8Array(), executable: false },
      },
    ]);
    // Told of in two turns: the second refusal is expected, too.
    behind.catch(() => {});
    await expect(killed).rejects.toBeInstanceOf(SandboxChainUnavailable);
    await expect(behind).rejects.toBeInstanceOf(SandboxChainUnavailable);
    await expect(chain.account(alice.address)).rejects.toThrow('being read from its database');
    await vi.waitFor(() => expect(chain.isOpen()).toBe(true), { timeout: 10_000 });
    const [row] = await sql`select lamports::text from sandbox_accounts where address = ${alice.address}`;
    expect(String((await chain.account(alice.address))?.lamports)).toBe(row?.lamports);
    expect((await chain.account(alice.address))?.lamports).toBe(SOL);
    expect(await chain.account(bob.address)).toBeNull();
    expect(await chain.send(wire)).toMatchObject({ kind: 'executed' });
  });
});

test('a connection that is lost while nothing is on its way costs nobody a transaction', async () => {
  const [alice, bob] = [await wallet(chain), await generateKeyPairSigner()];
  await sql`create table writer (pid int)`;
  await chain.put([], [{ text: 'insert into writer select pg_backend_pid()', values: [] }]);
  const [row] = await sql`select pid from writer`;
  await sql`select pg_terminate_backend(${row?.pid ?? 0})`;
  await vi.waitFor(() => expect(chain.isOpen()).toBe(false), { timeout: 10_000, interval: 1 });
  await vi.waitFor(() => expect(chain.isOpen()).toBe(true), { timeout: 10_000 });
  const { blockhash } = await chain.latestBlockhash();
  const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
  expect(await chain.send(wire)).toMatchObject({ kind: 'executed' });
});

describe('simulation', () => {
  test('tells what would happen, and nothing happens', async () => {
    const issuer = await wallet(chain);
    const owner = await wallet(chain);
    const mint = await createMint(chain, issuer, TOKEN);
    const source = await fund(chain, issuer, { mint, program: TOKEN, owner: owner.address, amount: 9n });
    const destination = await fund(chain, issuer, {
      mint,
      program: TOKEN,
      owner: issuer.address,
      amount: 0n,
    });
    const transfer = getTransferCheckedInstruction({
      source,
      mint,
      destination,
      authority: owner,
      amount: 4n,
      decimals: 6,
    });
    const wire = await build(owner, [transfer], { blockhash: randomBlockhash() });
    const unsigned = wire.slice().fill(0, 1, 65);
    const outcome = await chain.simulate(unsigned, {
      sigVerify: false,
      replaceRecentBlockhash: true,
      accounts: [source, SYSTEM],
    });
    if (outcome.kind !== 'simulated') throw new Error(outcome.message);
    expect(outcome.err).toBeNull();
    expect(outcome.fee).toBe(5_000n);
    const [tokensBefore, tokensAfter] = [outcome.pre, outcome.post].map((sheet) =>
      Object.fromEntries(sheet.tokens.map(({ owner: whose, amount }) => [whose, amount])),
    );
    expect(tokensBefore).toEqual({ [owner.address]: 9n, [issuer.address]: 0n });
    expect(tokensAfter).toEqual({ [owner.address]: 5n, [issuer.address]: 4n });
    expect(outcome.pre.lamports[0]! - outcome.post.lamports[0]!).toBe(5_000n);
    const [after] = outcome.accounts;
    expect(after).not.toBeNull();
    expect(readToken(after!)).toMatchObject({ amount: 5n });
    expect(outcome.replacementBlockhash).toEqual(await chain.latestBlockhash());
    expect(await amountAt(chain, source)).toBe(9n);

    const checks = { sigVerify: true, replaceRecentBlockhash: false };
    expect(await chain.simulate(unsigned, checks)).toMatchObject({ kind: 'refused', code: -32003 });
    expect(await chain.simulate(wire, checks)).toMatchObject({ kind: 'simulated', err: 'BlockhashNotFound' });
  });
});

describe('the faucet', () => {
  test('gives an address so much a day, across restarts', async () => {
    const { address } = await generateKeyPairSigner();
    const perDay = 5n * SOL;
    await chain.airdrop(address, 3n * SOL, { perDay });
    await expect(chain.airdrop(address, 3n * SOL, { perDay })).rejects.toThrow(AirdropRefused);
    await chain.close();
    const again = await open();
    await again.airdrop(address, 2n * SOL, { perDay });
    await expect(again.airdrop(address, 1n, { perDay })).rejects.toThrow(AirdropRefused);
    clock.ms += 24 * 3_600_000;
    await again.airdrop(address, 5n * SOL, { perDay });
    expect((await again.account(address))?.lamports).toBe(10n * SOL);
  });

  test('says so when the amount cannot be given', async () => {
    const { address } = await generateKeyPairSigner();
    await expect(chain.airdrop(address, 1n)).rejects.toThrow('insufficient funds for rent');
  });
});

test('accounts put are there after a restart, and gone with 0 lamports', async () => {
  const { address } = await generateKeyPairSigner();
  const account = { lamports: SOL, owner: TOKEN, data: new Uint8Array(10).fill(7), executable: false };
  await chain.put([{ address, account }]);
  await chain.close();
  const again = await open();
  expect(await again.account(address)).toMatchObject({ lamports: SOL, owner: TOKEN });
  expect([...((await again.account(address))?.data ?? [])]).toEqual([...account.data]);
  await again.put([{ address, account: { ...account, lamports: 0n } }]);
  expect(await again.account(address)).toBeNull();
  await expect(again.put([{ address, account: { ...account, executable: true } }])).rejects.toThrow(
    RangeError,
  );
  expect(await tokenAccount(address, SYSTEM, TOKEN)).not.toBe(address);
});
