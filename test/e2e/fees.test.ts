/**
 * The fee for quoted orders through the whole service: the sandbox's chain, real delegations, every route that takes it, and
 * both signing providers.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkSolanaWallet, SolanaSigner } from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import {
  ASSET_ID,
  type FireblocksServer,
  startFireblocks,
  VAULT_ID,
} from '../../packages/server/test/fireblocks-server.ts';
import { call, newAgent, startTestService, type TestService, withTurns } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';

let service: TestService;
let sql: Sql;
beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', MAX_FEE_CHARGE: '1000000' });
  sql = openPool(service.databaseUrl, { max: 2 });
});
afterAll(() => sql?.end());

/** An agent whose linked wallet has paper money, and has delegated `allowance` of it. */
async function payer(on: TestService, allowance: number | null) {
  const agent = await newAgent(on);
  const signer = SolanaSigner.generate();
  await linkSolanaWallet(agent.client, signer);
  // The first quote credits a wallet, with any outcome.
  await call(on, 'POST', '/venueb/agent/quote', {
    key: agent.apiKey,
    body: { marketTicker: 'KX', side: 'YES', action: 'BUY', amount: 5, userPublicKey: signer.address },
  });
  if (allowance !== null) await agent.client.venueB.approveDelegate({ signer, amount: allowance });
  const balance = async () => Number((await agent.client.venueB.delegation()).balance);
  const charge = (body: unknown, key?: string, path = '/venueb/agent/charge-fee') =>
    call(on, 'POST', path, {
      key: agent.apiKey,
      body,
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });
  return { ...agent, wallet: signer.address, signer, balance, charge };
}

describe('the local key', () => {
  test('charges by delegation, on every route, once per key', async () => {
    const { wallet, client, balance, charge } = await payer(service, 1);
    const before = await balance();
    const fee = { amount: '0.25', fromAddress: wallet };
    const first = await charge(fee, 'fee-1');
    expect(first.status).toBe(200);
    const { delegate, feeWallet } = await client.venueB.delegation();
    expect(first.body).toEqual({
      id: expect.any(String),
      status: 'BROADCASTED',
      txSignature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
      fromAddress: wallet,
      toAddress: feeWallet,
      amount: '0.25',
    });
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    for (const path of [
      '/venueb/agent/charge-fee',
      '/venueb/charge-fee',
      '/kalshi/agent/charge-fee',
      '/kalshi/charge-fee',
      '/aiagent/charge-fee/kalshi/trade-fee',
    ]) {
      const again = await charge(fee, 'fee-1', path);
      expect([path, again.status, again.body]).toEqual([path, 200, first.body]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    expect(await balance()).toBeCloseTo(before - 0.25, 6);
    expect((await charge(fee)).body.txSignature).not.toBe(first.body.txSignature);
    expect(await balance()).toBeCloseTo(before - 0.5, 6);
    expect((await charge({ ...fee, amount: '0.26' }, 'fee-1')).body.code).toBe('idempotency_key_reused');
    expect(await client.venueB.delegation()).toMatchObject({
      walletAddress: wallet,
      delegate,
      exists: true,
      delegatedAmount: '0.5',
      maxFeeCharge: '1000000',
      rpcUrl: `${service.needs.publicUrl}/paper/solana`,
    });
  });

  test('many simultaneous requests with one key charge once', async () => {
    const { wallet, balance, charge } = await payer(service, 1);
    const before = await balance();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        charge(
          { amount: '0.1', fromAddress: wallet },
          'twins',
          index % 2 === 0 ? '/venueb/charge-fee' : '/venueb/agent/charge-fee',
        ),
      ),
    );
    const charged = answers.filter(({ status }) => status === 200);
    expect(charged.length).toBeGreaterThan(0);
    expect(new Set(charged.map(({ body }) => body.txSignature)).size).toBe(1);
    for (const { status, body } of answers)
      if (status !== 200) expect([status, body.code]).toEqual([409, 'idempotency_in_flight']);
    expect(await balance()).toBeCloseTo(before - 0.1, 6);
  });

  test('a missing amount is reported, and nothing is charged', async () => {
    const { wallet, balance, charge, client, signer } = await payer(service, null);
    const before = await balance();
    const none = await charge({ amount: '1', fromAddress: wallet });
    expect(none.body).toMatchObject({
      status: 400,
      code: 'delegation_insufficient',
      context: { amount: '1', delegate: null, delegatedAmount: '0' },
    });
    await client.venueB.approveDelegate({ signer, amount: before + 50 });
    const tooMuch = await charge({ amount: (before + 1).toFixed(6), fromAddress: wallet });
    expect(tooMuch.body).toMatchObject({
      status: 400,
      code: 'insufficient_balance',
      context: { balance: String(before), amount: String(before + 1) },
    });
    expect(await balance()).toBe(before);
    const stranger = await payer(service, null);
    expect((await stranger.charge({ amount: '1', fromAddress: wallet })).body).toMatchObject({
      status: 403,
      code: 'wallet_not_yours',
    });
    expect(await balance()).toBe(before);
  });

  test('the job observes that the transaction landed', async () => {
    const { wallet, charge } = await payer(service, 1);
    const { body } = await charge({ amount: '0.1', fromAddress: wallet });
    const status = async () =>
      (await sql`select status from fee_charges where signature = ${body.txSignature}`)[0]?.status;
    await withTurns(service, ['follow fees'], expect.poll(status).toBe('landed'));
  });
});

test('a key is remembered across a restart', async () => {
  const environment = {
    PAPER_WORLD: 'off',
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
  };
  const first = await startTestService(environment);
  const { apiKey, wallet, charge, balance } = await payer(first, 1);
  const before = await balance();
  const answer = await charge({ amount: '0.25', fromAddress: wallet }, 'over');
  expect(answer.status).toBe(200);
  await first.stop();
  const second = await startTestService(environment);
  const again = await call(second, 'POST', '/venueb/agent/charge-fee', {
    key: apiKey,
    body: { amount: '0.25', fromAddress: wallet },
    headers: { 'idempotency-key': 'over' },
  });
  expect(again.body).toEqual(answer.body);
  const reported = await call(second, 'GET', '/venueb/agent/delegation', { key: apiKey });
  expect(Number(reported.body.balance)).toBeCloseTo(before - 0.25, 6);
});

describe('Fireblocks', () => {
  let fireblocks: FireblocksServer;
  let custodied: TestService;
  const folder = mkdtempSync(join(tmpdir(), 'bw-fireblocks-'));
  const environment = () => ({
    PAPER_WORLD: 'off',
    SIGNING_PROVIDER: 'fireblocks',
    FIREBLOCKS_URL: fireblocks.url,
    FIREBLOCKS_API_KEY: fireblocks.apiKey,
    FIREBLOCKS_KEY_FILE: join(folder, 'key.pem'),
    FIREBLOCKS_VAULT_ID: VAULT_ID,
    FIREBLOCKS_ASSET_ID: ASSET_ID,
    FIREBLOCKS_ADDRESS: fireblocks.address,
  });
  beforeAll(async () => {
    fireblocks = await startFireblocks();
    writeFileSync(join(folder, 'key.pem'), fireblocks.privateKeyPem);
    custodied = await startTestService(environment());
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('signs the charge, and a refusal by its policy is reported', async () => {
    const { wallet, charge, balance } = await payer(custodied, 1);
    const before = await balance();
    fireblocks.faults.allowed = ['PROGRAM_CALL'];
    const blocked = await charge({ amount: '0.25', fromAddress: wallet }, 'k');
    expect(blocked.status).toBe(400);
    expect(blocked.body).toMatchObject({
      code: 'blocked_by_policy',
      detail: expect.stringContaining('BLOCKED_BY_POLICY'),
      fix: expect.stringContaining('raw signing'),
    });
    expect(await balance()).toBe(before);
    fireblocks.faults.allowed = ['RAW'];
    expect((await charge({ amount: '0.25', fromAddress: wallet }, 'k')).body).toMatchObject({
      status: 'BROADCASTED',
      toAddress: fireblocks.address,
    });
    expect(await balance()).toBeCloseTo(before - 0.25, 6);
  });

  test('a vault with another key stops the start', async () => {
    const other = SolanaSigner.generate().address;
    await expect(startTestService({ ...environment(), FIREBLOCKS_ADDRESS: other })).rejects.toThrow(
      `has the address ${fireblocks.address}, not ${other}`,
    );
  });
});
