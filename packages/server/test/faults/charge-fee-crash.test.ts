/** The fee charge across crashes, and the job that sends it again. */
import { randomUUID } from 'node:crypto';
import { USDC_MINT } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import { delegationOf, type FeeNeeds, followFees } from '../../src/fees/charge-fee.ts';
import type { Refusal } from '../../src/platform/refusal.ts';
import {
  address,
  chain,
  charge,
  codeOf,
  DEAD_BLOCKS,
  type FeeChain,
  needs,
  quotingOn,
  refused,
  rows,
  SECOND,
  signing,
  sql,
  stage,
  total,
  useStage,
  wallet,
} from '../charge-fee-stage.ts';

useStage();

/** The process dies at every outgoing call of the use case in turn: before the call has its effect, or after. */
describe('a crash', () => {
  const dying = (at: number, when: 'before' | 'after') => {
    let calls = 0;
    let died = (): void => {};
    const death = new Promise<null>((resolve) => {
      died = () => resolve(null);
    });
    const wrap = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(object, name) {
          const value = Reflect.get(object, name);
          if (typeof value !== 'function') return value;
          return async (...args: unknown[]) => {
            calls += 1;
            const isLast = calls === at;
            const answer = isLast && when === 'before' ? undefined : await value.apply(object, args);
            if (calls < at || (!isLast && calls > at + 99)) return answer;
            died();
            return new Promise(() => {});
          };
        },
      });
    const over = {
      fees: wrap(needs.fees),
      signing: { ...signing, sign: wrap(signing).sign },
      venues: quotingOn(wrap(chain.chain)),
    };
    return { over, death, count: () => calls };
  };

  test('at any point, followed by a repeat at any time, charges once', async () => {
    const whole = dying(1_000, 'after');
    await charge({}, 'whole', whole.over);
    const points = whole.count();
    expect(points).toBe(8);
    chain.landed.clear();
    for (let point = 1; point <= points; point++) {
      for (const when of ['before', 'after'] as const) {
        for (const [waitS, blocks] of [
          [0, 0],
          [61, 10],
          [200, DEAD_BLOCKS],
        ] as const) {
          const key = `${point} ${when} ${waitS}`;
          const before = chain.landed.size;
          const { over, death } = dying(point, when);
          await Promise.race([charge({}, key, over), death]);
          stage.now += waitS * SECOND;
          chain.height += blocks;
          const early = await charge({}, key).catch((error: Refusal) => error);
          if (early instanceof Error) {
            expect([key, early.denials[0].code]).toEqual([key, 'idempotency_in_flight']);
            expect(waitS).toBe(0);
            stage.now += 61 * SECOND;
          }
          const { answer } = await charge({}, key);
          expect([key, chain.landed.size - before]).toEqual([key, 1]);
          expect([...chain.landed.keys()].at(-1)).toBe(answer.txSignature);
          chain.account = { ...chain.account, delegatedAmount: 10_000_000n } as FeeChain['account'];
        }
      }
    }
  });
});

describe('the job', () => {
  test('sends an accepted transaction again until it lands, and queues one webhook event', async () => {
    const endpoint = randomUUID();
    await sql`insert into webhook_endpoints
      (id, agent_id, url, events, description, key_id, sealed_secret, created_at)
      values (${endpoint}, ${stage.caller.agentId}, 'https://example.com', array['fee'], '', 1, ''::bytea, now())`;
    const reported = async () => {
      await sql`select queue_webhook_events()`;
      return sql`select type, data from webhook_deliveries where endpoint_id = ${endpoint}`;
    };
    chain.sendings = ['hold', 'hold', 'land'];
    const { answer } = await charge();
    expect(await reported()).toEqual([]);
    await followFees(needs);
    await followFees(needs);
    expect(chain.sent.filter((signature) => signature === answer.txSignature).length).toBe(3);
    expect(total()).toBe(250_000n);
    await followFees(needs);
    await followFees(needs);
    expect((await rows())[0]?.status).toBe('landed');
    expect(await reported()).toMatchObject([
      { type: 'fee', data: { venue: 'kalshi', orderId: null, tradeId: null, amount: 0.25 } },
    ]);
  });

  test('only observes a transaction that was never reported as sent', async () => {
    chain.sendings = ['lose'];
    await refused(charge());
    const [signature] = chain.sent;
    await followFees(needs);
    expect(chain.sent).toEqual([signature]);
    chain.height += DEAD_BLOCKS;
    await followFees(needs);
    expect((await rows())[0]?.status).toBe('dropped');
  });

  test('does nothing while the chain is silent', async () => {
    chain.sendings = ['hold'];
    await charge();
    chain.isDown = true;
    chain.height += DEAD_BLOCKS;
    await expect(followFees(needs)).rejects.toThrow('no answer');
    expect((await rows())[0]?.status).toBe('broadcast');
  });
});

describe('the delegation', () => {
  test('is returned with everything that an approval needs', async () => {
    expect(await delegationOf(needs, stage.caller, undefined)).toEqual({
      walletAddress: wallet,
      delegate: signing.address,
      feeWallet: needs.feeWallet,
      mint: USDC_MINT,
      tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      decimals: 6,
      tokenAccount: chain.account?.address,
      exists: true,
      balance: '100',
      delegatedAmount: '10',
      maxFeeCharge: '100',
      rpcUrl: 'http://localhost/paper/solana',
    });
    chain.account = { ...chain.account, delegate: address() } as FeeChain['account'];
    expect((await delegationOf(needs, stage.caller, wallet)).delegatedAmount).toBe('0');
    const stranger = address();
    expect(await delegationOf(needs, stage.caller, stranger)).toMatchObject({
      walletAddress: stranger,
      exists: false,
      balance: '0',
    });
  });

  test('needs a wallet', async () => {
    const agents = { byId: async () => ({ solAddress: null }) } as unknown as FeeNeeds['agents'];
    expect(await codeOf(delegationOf({ ...needs, agents }, stage.caller, undefined))).toBe(
      'from_address_required',
    );
    expect(await codeOf(delegationOf(needs, stage.caller, '0x12'))).toBe('invalid_solana_address');
  });
});
