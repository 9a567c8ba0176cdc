/** The fee charge: its effects, refusals and webhook events; and with an Idempotency-Key it takes effect once. */

import { randomUUID } from 'node:crypto';
import { parseBase58 } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import type { Refusal } from '../src/platform/refusal.ts';
import {
  address,
  chain,
  charge,
  codeOf,
  DEAD_BLOCKS,
  type FeeChain,
  link,
  needs,
  newCaller,
  note,
  quotingOn,
  refused,
  rows,
  SECOND,
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
  const { answer, isRepeated } = await charge();
  expect(answer).toEqual({
    id: signs[0],
    status: 'BROADCASTED',
    txSignature: [...chain.landed.keys()][0],
    fromAddress: wallet,
    toAddress: needs.feeWallet,
    amount: '0.25',
  });
  expect(isRepeated).toBe(false);
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

describe('with an Idempotency-Key', () => {
  test('the same request is charged once, however often and whenever it comes', async () => {
    const first = await charge({}, 'k');
    // The delegation is used up and the wallet has another owner; the repeat still returns the charge.
    chain.account = { ...chain.account, delegatedAmount: 0n } as FeeChain['account'];
    await link(await newCaller(), wallet);
    for (const blocks of [0, DEAD_BLOCKS]) {
      chain.height += blocks;
      expect(await charge({}, 'k')).toEqual({ answer: first.answer, isRepeated: true });
    }
    expect((await rows())[0]?.status).toBe('landed');
    expect(signs.length).toBe(1);
    expect(total()).toBe(250_000n);
  });

  test('another body is refused, and another key or agent is another charge', async () => {
    await charge({}, 'k');
    expect(await codeOf(charge({ amount: '0.26' }, 'k'))).toBe('idempotency_key_reused');
    expect(await codeOf(charge({ fromAddress: address() }, 'k'))).toBe('idempotency_key_reused');
    await charge({}, 'k2');
    stage.caller = { ...(await newCaller()), userId: stage.caller.userId };
    // A key of the same owner, but this agent never had the wallet.
    expect(await codeOf(charge({}, 'k'))).toBe('wallet_not_yours');
    await note(stage.caller, wallet);
    await charge({}, 'k');
    expect(total()).toBe(750_000n);
  });

  test('of simultaneous duplicates one charges; the others get its answer or idempotency_in_flight', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => charge({}, 'k')));
    for (const answer of answers) {
      if (answer.status === 'fulfilled')
        expect(answer.value.answer.txSignature).toBe([...chain.landed.keys()][0]);
      else expect((answer.reason as Refusal).denials[0].code).toBe('idempotency_in_flight');
    }
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(total()).toBe(250_000n);
    expect(new Set(chain.sent).size).toBe(1);
  });

  test('a refusal by the chain charges nothing, and the next request tries again', async () => {
    chain.sendings = ['refuse', 'land'];
    const { denials } = await refused(charge({}, 'k'));
    expect(denials[0]).toMatchObject({
      code: 'broadcast_failed',
      detail: 'The chain refused the transaction: instruction 0: Custom 1.',
    });
    await charge({}, 'k');
    const [row] = await rows();
    expect(row).toMatchObject({ attempt: 2, dead_signatures: [chain.sent[0]], signature: chain.sent[1] });
    expect(signs).toEqual([`${row?.id}-1`, `${row?.id}-2`]);
    expect(total()).toBe(250_000n);
  });

  test('after a lost answer the same bytes are sent again', async () => {
    chain.sendings = ['land_unanswered', 'land'];
    const { answer } = await charge({}, 'k');
    expect(chain.sent).toEqual([answer.txSignature, answer.txSignature]);
    expect(total()).toBe(250_000n);
  });

  test.each(['land_unanswered', 'lose'] as const)(
    'two lost answers (%s) are settled by a repeat',
    async (how) => {
      chain.sendings = [how];
      const unknown = await refused(charge({}, 'k'));
      expect(unknown.denials[0].code).toBe('fee_outcome_unknown');
      expect(unknown.retryAfterS).toBeGreaterThan(0);
      // From here a refusal proves nothing.
      chain.sendings = ['refuse'];
      if (how === 'lose') expect(await codeOf(charge({}, 'k'))).toBe('fee_outcome_unknown');
      chain.sendings = ['land'];
      const { answer } = await charge({}, 'k');
      expect(answer.txSignature).toBe(chain.sent[0]);
      expect(new Set(chain.sent).size).toBe(1);
      expect(total()).toBe(250_000n);
    },
  );

  test('an expired transaction is replaced, and not one block earlier', async () => {
    chain.sendings = ['hold'];
    const first = await charge({}, 'k');
    chain.height += DEAD_BLOCKS - 1;
    expect((await charge({}, 'k')).answer).toEqual(first.answer);
    chain.height += 1;
    chain.sendings = ['land'];
    const second = await charge({}, 'k');
    expect(second.isRepeated).toBe(false);
    expect(second.answer.txSignature).not.toBe(first.answer.txSignature);
    expect([...chain.landed.keys()]).toEqual([second.answer.txSignature]);
  });

  test('a transaction that failed on the chain is replaced', async () => {
    chain.sendings = ['hold', 'land'];
    const first = await charge({}, 'k');
    chain.failed.add(first.answer.txSignature);
    await charge({}, 'k');
    expect(total()).toBe(250_000n);
    expect((await rows())[0]).toMatchObject({ dead_signatures: [first.answer.txSignature] });
  });

  test('silence of the chain proves nothing', async () => {
    chain.sendings = ['hold'];
    await charge({}, 'k');
    chain.isDown = true;
    chain.height += 10 * DEAD_BLOCKS;
    const { denials, retryAfterS } = await refused(charge({}, 'k'));
    expect(denials[0].code).toBe('fee_outcome_unknown');
    expect(retryAfterS).toBeGreaterThan(0);
    expect(signs.length).toBe(1);
  });

  test('without a key, the error after a lost answer names the signature to look for', async () => {
    chain.sendings = ['lose'];
    const { denials } = await refused(charge());
    expect(denials[0]).toMatchObject({
      code: 'fee_outcome_unknown',
      context: { txSignature: chain.sent[0] },
      fix: expect.stringContaining(chain.sent[0] as string),
    });
    // Without a repeat by the caller the service does not send it again.
    expect(chain.sent.length).toBe(1);
  });

  test('a process that signs so slowly that another took over sends nothing', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = charge({}, 'k', {
      signing: {
        ...signing,
        async sign(request) {
          await gate;
          return signing.sign(request);
        },
      },
    });
    while ((await rows()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await codeOf(charge({}, 'k'))).toBe('idempotency_in_flight');
    stage.now += 61 * SECOND;
    const { answer } = await charge({}, 'k');
    release();
    expect(await codeOf(slow)).toBe('idempotency_in_flight');
    expect([...chain.landed.keys()]).toEqual([answer.txSignature]);
    expect(new Set(chain.sent)).toEqual(new Set([answer.txSignature]));
  });

  test('an attempt begins only after the previous one has ended', async () => {
    await charge({}, 'k');
    const [row] = await rows();
    const again = () =>
      needs.fees.begin({
        id: randomUUID(),
        agentId: stage.caller.agentId,
        key: 'k',
        venue: 'kalshi',
        amount: 250_000n,
        fromAddress: wallet,
        toAddress: needs.feeWallet,
        requestId: 'r',
        at: stage.now,
        leaseUntil: stage.now,
      });
    for (const status of ['signed', 'unknown', 'broadcast', 'landed', 'signing']) {
      await sql`update fee_charges set status = ${status}, lease_until = ${new Date(stage.now + 1)} where id = ${row?.id}`;
      expect([status, await again()]).toEqual([status, null]);
    }
    for (const status of ['unsigned', 'refused', 'failed', 'dropped', 'signing']) {
      await sql`update fee_charges set status = ${status}, lease_until = ${new Date(stage.now)} where id = ${row?.id}`;
      expect(await again()).toMatchObject({ id: row?.id });
    }
  });

  test('a transaction that another process sends meanwhile is not abandoned', async () => {
    const { chain: node } = chain;
    chain.sendings = ['hold'];
    const venues = quotingOn({
      ...node,
      // While the first send is on its way, a repeat finds the bytes and sends them, too.
      async send(wire: Uint8Array) {
        await charge({}, 'k');
        chain.sendings = ['refuse'];
        return node.send(wire);
      },
    });
    expect(await codeOf(charge({}, 'k', { venues }))).toBe('fee_outcome_unknown');
    expect((await rows())[0]?.status).toBe('broadcast');
    chain.sendings = ['land'];
    expect((await charge({}, 'k')).isRepeated).toBe(true);
    expect(total()).toBe(250_000n);
  });
});
