/** The fee charge: its effects, refusals and webhook events. */
import { parseBase58 } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import {
  address,
  chain,
  charge,
  codeOf,
  link,
  needs,
  newCaller,
  refused,
  rows,
  signing,
  signs,
  sql,
  stage,
  total,
  useStage,
  wallet,
} from './charge-fee-stage.ts';

useStage();

test('takes the amount from the wallet, once per call without an Idempotency-Key', async () => {
  const { answer, replayed } = await charge();
  expect(answer).toEqual({
    id: signs[0],
    status: 'BROADCASTED',
    txSignature: [...chain.landed.keys()][0],
    fromAddress: wallet,
    toAddress: needs.feeWallet,
    amount: '0.25',
  });
  expect(replayed).toBe(false);
  expect(parseBase58(answer.txSignature)?.length).toBe(64);
  await charge();
  expect(total()).toBe(500_000n);
  expect(await rows()).toMatchObject([
    { status: 'broadcast', amount: 250_000n, provider_id: signs[0], signature: answer.txSignature },
    { status: 'broadcast', idempotency_key: null },
  ]);
});

describe('refusals', () => {
  test.each([
    [{ amount: undefined }, ['fee_amount_required']],
    [{ amount: null }, ['fee_amount_required']],
    [{ amount: 0.25 }, ['invalid_fee_amount']],
    [{ amount: '0' }, ['invalid_fee_amount']],
    [{ amount: '-1' }, ['invalid_fee_amount']],
    [{ amount: '1e-2' }, ['invalid_fee_amount']],
    [{ amount: '.5' }, ['invalid_fee_amount']],
    [{ amount: ' 1' }, ['invalid_fee_amount']],
    [{ amount: '0.0000001' }, ['invalid_fee_amount']],
    [{ amount: '9'.repeat(41) }, ['invalid_fee_amount']],
    [{ amount: ['1'] }, ['invalid_fee_amount']],
    [{ amount: '100.000001' }, ['fee_amount_too_large']],
    [{ fromAddress: '' }, ['from_address_required']],
    [{ fromAddress: 7 }, ['invalid_solana_address']],
    [{ fromAddress: '0xabc' }, ['invalid_solana_address']],
    [{ amount: '', fromAddress: null }, ['fee_amount_required', 'from_address_required']],
    [{ amount: 1, fromAddress: 'l' }, ['invalid_fee_amount', 'invalid_solana_address']],
  ])('%j', async (body, codes) => {
    const { denials } = await refused(charge(body));
    expect(denials.map(({ code }) => code)).toEqual(codes);
    expect(await rows()).toEqual([]);
  });

  test('the error for a JSON number shows how to write the amount', async () => {
    const { denials } = await refused(charge({ amount: 0.25 }));
    expect(denials[0].fix).toBe('Send a text: "amount": "0.25".');
  });

  test("the platform's own wallets are not charged", async () => {
    expect(await codeOf(charge({ fromAddress: signing.address }))).toBe('delegate_equals_owner');
    expect(await codeOf(charge({ fromAddress: needs.feeWallet }))).toBe('delegate_equals_owner');
  });

  test('wallets out of reach are not charged, with any delegation', async () => {
    const other = await newCaller();
    await link(other, wallet);
    expect(await codeOf(charge())).toBe('wallet_not_yours');
    expect(await rows()).toEqual([]);
  });

  test('a wallet that submitted an order can be charged until another owner links it', async () => {
    await sql`delete from linked_wallets where address = ${wallet}`;
    expect(await codeOf(charge())).toBe('wallet_not_yours');
    await sql`insert into order_wallets (agent_id, address, user_id)
      values (${stage.caller.agentId}, ${wallet}, ${stage.caller.userId})`;
    await charge();
    await link(await newCaller(), wallet);
    expect(await codeOf(charge())).toBe('wallet_not_yours');
    expect(total()).toBe(250_000n);
  });

  test('account, delegation and balance are checked in this order, and the error has the figures', async () => {
    const account = chain.account;
    if (account === null) throw new Error('no account');
    chain.account = null;
    expect(await codeOf(charge())).toBe('token_account_not_found');
    for (const change of [
      { delegate: null, delegatedAmount: 0n },
      { delegate: address() },
      { delegatedAmount: 249_999n, amount: 0n },
      { frozen: true },
    ]) {
      chain.account = { ...account, ...change };
      expect(await codeOf(charge())).toBe('delegation_insufficient');
    }
    chain.account = { ...account, amount: 249_999n };
    const { denials } = await refused(charge());
    expect(denials[0]).toMatchObject({
      code: 'insufficient_balance',
      context: {
        amount: '0.25',
        balance: '0.249999',
        delegate: signing.address,
        delegatedAmount: '10',
        platformDelegate: signing.address,
        frozen: false,
      },
    });
    chain.account = { ...account, amount: 250_000n, delegatedAmount: 250_000n };
    await charge();
    expect(total()).toBe(250_000n);
  });

  test.each([
    [{ kind: 'blocked_by_policy', id: 'x', detail: 'no' }, 'blocked_by_policy', 'BLOCKED_BY_POLICY: no'],
    [
      { kind: 'failed', id: null, detail: 'REJECTED REJECTED_BY_USER' },
      'signing_failed',
      'The signing provider did not sign: REJECTED REJECTED_BY_USER.',
    ],
  ] as const)('%j', async (answer, code, detail) => {
    stage.providerSays = answer;
    const { denials } = await refused(charge({}, 'k'));
    expect(denials[0]).toMatchObject({ code, detail });
    expect(chain.sent).toEqual([]);
    // The attempt had no effect, so the key can be used again.
    expect(await rows()).toEqual([]);
    stage.providerSays = null;
    await charge({ amount: '1' }, 'k');
    expect(total()).toBe(1_000_000n);
  });

  test('silence of the chain before anything is sent charges nothing', async () => {
    chain.isDown = true;
    await expect(charge({}, 'k')).rejects.toThrow('no answer');
    expect(await rows()).toEqual([]);
    chain.isDown = false;
    await charge({}, 'k');
    expect(total()).toBe(250_000n);
  });
});
