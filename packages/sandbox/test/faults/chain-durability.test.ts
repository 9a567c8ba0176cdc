/** The chain across restarts, lost connections and failed commits. */
import { toBase58 } from '@bellwether/protocol';
import { generateKeyPairSigner } from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { describe, expect, test, vi } from 'vitest';
import { AirdropRefused, SandboxChainUnavailable } from '../../src/solana/chain-interface.ts';
import { SLOT_MS } from '../../src/solana/slots.ts';
import { readToken } from '../../src/solana/token-accounts.ts';
import {
  build,
  createMint,
  fund,
  randomBlockhash,
  SOL,
  SYSTEM,
  TOKEN,
  TOKEN_2022,
  tokenAccount,
  transferSol,
  wallet,
} from '../chain-fixtures.ts';
import { amountAt, clock, idOf, open, sql, stage, useStage } from '../chain-stage.ts';

useStage();

describe('a restart', () => {
  test('finds balances, statuses and blocks as they were', async () => {
    const issuer = await wallet(stage.chain, 2n * SOL);
    const mint = await createMint(stage.chain, issuer, TOKEN_2022);
    const owner = await wallet(stage.chain);
    const account = await fund(stage.chain, issuer, {
      mint,
      program: TOKEN_2022,
      owner: owner.address,
      amount: 7_000_000n,
    });
    const { blockhash, lastValidBlockHeight } = await stage.chain.latestBlockhash();
    const wire = await build(owner, [transferSol(owner, issuer.address, SOL / 2n)], { blockhash });
    const sent = await stage.chain.send(wire);
    const later = await build(owner, [transferSol(owner, issuer.address, SOL / 4n)], { blockhash });
    const signature = sent.kind === 'executed' ? sent.executed.signature : '';
    const [balance, slot] = [await stage.chain.account(owner.address), await stage.chain.slot()];
    await stage.chain.close();

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
    await stage.chain.close();
    const { openChain } = await import('../../src/solana/index.ts');
    await expect(openChain({ sql, seed: 'another', clock })).rejects.toThrow('another seed');
  });

  test('while the old process runs makes the old one stop, and none of its later work is written', async () => {
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const successor = await open();
    const { blockhash } = await stage.chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    await expect(stage.chain.send(wire)).rejects.toMatchObject({
      name: 'SandboxChainUnavailable',
      landed: 'no',
    });
    expect(stage.chain.isOpen()).toBe(false);
    await expect(stage.chain.account(alice.address)).rejects.toThrow(SandboxChainUnavailable);
    expect(await successor.send(wire)).toMatchObject({ kind: 'executed' });
  });
});

describe('commits', () => {
  test('include the statements of witnesses, in order, also for failed transactions', async () => {
    await sql`create table seen (n serial, signature text, ok boolean)`;
    stage.chain = await open(`
      insert into seen (signature, ok)
      select signature, succeeded from json_to_recordset($1::text::json) as landed (signature text, succeeded boolean)`);
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const { blockhash } = await stage.chain.latestBlockhash();
    const wires = await Promise.all(
      [SOL / 4n, 2n * SOL, SOL / 8n].map((amount) =>
        build(alice, [transferSol(alice, bob.address, amount)], { blockhash }),
      ),
    );
    const outcomes = await Promise.all(
      wires.map((wire) =>
        stage.chain.send(wire, {
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

  test('whose witness fails are undone: memory equals the database', async () => {
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const { blockhash } = await stage.chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    await expect(
      stage.chain.send(wire, { also: [{ text: 'select 1 / 0', values: [] }] }),
    ).rejects.toMatchObject({
      landed: 'no',
    });
    await vi.waitFor(() => expect(stage.chain.isOpen()).toBe(true), { timeout: 30_000 });
    expect((await stage.chain.account(alice.address))?.lamports).toBe(SOL);
    expect(await stage.chain.send(wire)).toMatchObject({ kind: 'executed' });
  });

  test('interrupted by the database leave memory equal to the database', async () => {
    const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
    const { blockhash } = await stage.chain.latestBlockhash();
    const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
    const killed = stage.chain.send(wire, {
      also: [{ text: 'select pg_terminate_backend(pg_backend_pid())', values: [] }],
    });
    const behind = stage.chain.put([
      {
        address: toBase58(crypto.getRandomValues(new Uint8Array(32))),
        account: { lamports: SOL, owner: SYSTEM, data: new Uint8Array(), executable: false },
      },
    ]);
    // Rejected in two turns: the second refusal is expected, too.
    behind.catch(() => {});
    await expect(killed).rejects.toBeInstanceOf(SandboxChainUnavailable);
    await expect(behind).rejects.toBeInstanceOf(SandboxChainUnavailable);
    await expect(stage.chain.account(alice.address)).rejects.toThrow('being read from its database');
    await vi.waitFor(() => expect(stage.chain.isOpen()).toBe(true), { timeout: 30_000 });
    const [row] = await sql`select lamports::text from sandbox_accounts where address = ${alice.address}`;
    expect(String((await stage.chain.account(alice.address))?.lamports)).toBe(row?.lamports);
    expect((await stage.chain.account(alice.address))?.lamports).toBe(SOL);
    expect(await stage.chain.account(bob.address)).toBeNull();
    expect(await stage.chain.send(wire)).toMatchObject({ kind: 'executed' });
  });
});

test('a connection that is lost without a running commit loses no transaction', async () => {
  const [alice, bob] = [await wallet(stage.chain), await generateKeyPairSigner()];
  await sql`create table writer (pid int)`;
  await stage.chain.put([], [{ text: 'insert into writer select pg_backend_pid()', values: [] }]);
  const [row] = await sql`select pid from writer`;
  await sql`select pg_terminate_backend(${row?.pid ?? 0})`;
  await vi.waitFor(() => expect(stage.chain.isOpen()).toBe(false), { timeout: 30_000, interval: 1 });
  await vi.waitFor(() => expect(stage.chain.isOpen()).toBe(true), { timeout: 30_000 });
  const { blockhash } = await stage.chain.latestBlockhash();
  const wire = await build(alice, [transferSol(alice, bob.address, SOL / 2n)], { blockhash });
  expect(await stage.chain.send(wire)).toMatchObject({ kind: 'executed' });
});

describe('simulation', () => {
  test('reports the effects, and changes nothing', async () => {
    const issuer = await wallet(stage.chain);
    const owner = await wallet(stage.chain);
    const mint = await createMint(stage.chain, issuer, TOKEN);
    const source = await fund(stage.chain, issuer, {
      mint,
      program: TOKEN,
      owner: owner.address,
      amount: 9n,
    });
    const destination = await fund(stage.chain, issuer, {
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
    const outcome = await stage.chain.simulate(unsigned, {
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
    expect(outcome.replacementBlockhash).toEqual(await stage.chain.latestBlockhash());
    expect(await amountAt(stage.chain, source)).toBe(9n);

    const checks = { sigVerify: true, replaceRecentBlockhash: false };
    expect(await stage.chain.simulate(unsigned, checks)).toMatchObject({ kind: 'refused', code: -32003 });
    expect(await stage.chain.simulate(wire, checks)).toMatchObject({
      kind: 'simulated',
      err: 'BlockhashNotFound',
    });
  });
});

describe('the faucet', () => {
  test('limits an address per day, across restarts', async () => {
    const { address } = await generateKeyPairSigner();
    const perDay = 5n * SOL;
    await stage.chain.airdrop(address, 3n * SOL, { perDay });
    await expect(stage.chain.airdrop(address, 3n * SOL, { perDay })).rejects.toThrow(AirdropRefused);
    await stage.chain.close();
    const again = await open();
    await again.airdrop(address, 2n * SOL, { perDay });
    await expect(again.airdrop(address, 1n, { perDay })).rejects.toThrow(AirdropRefused);
    clock.ms += 24 * 3_600_000;
    await again.airdrop(address, 5n * SOL, { perDay });
    expect((await again.account(address))?.lamports).toBe(10n * SOL);
  });

  test('refuses an invalid amount with a reason', async () => {
    const { address } = await generateKeyPairSigner();
    await expect(stage.chain.airdrop(address, 1n)).rejects.toThrow('insufficient funds for rent');
  });
});

test('written accounts exist after a restart, and accounts with 0 lamports are deleted', async () => {
  const { address } = await generateKeyPairSigner();
  const account = { lamports: SOL, owner: TOKEN, data: new Uint8Array(10).fill(7), executable: false };
  await stage.chain.put([{ address, account }]);
  await stage.chain.close();
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
