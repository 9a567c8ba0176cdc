import { expect, test } from 'vitest';
import type { RedeemAnswer } from '../venues/venue.ts';
import { autoRedeem, type RedeemNeeds } from './redeem.ts';
import type { Holding } from './redemption-store.ts';

const holding = (wallet: string, conditionId: string) =>
  ({ wallet, conditionId, agentId: 'agent' }) as Holding;
const PAID: RedeemAnswer = { kind: 'redeemed', yes: 1n, no: 0n, payout: 1n };

function desk(
  holdings: readonly Holding[],
  redeem: (wallet: string) => RedeemAnswer | Error,
  worthless: readonly Holding[] = [],
) {
  const due = new Set([...holdings, ...worthless].map(({ conditionId }) => conditionId));
  const requested: Holding[] = [];
  const needs = {
    clock: { now: () => 0 },
    venues: new Map([
      [
        'polymarket',
        {
          id: 'polymarket',
          backend: 'paper',
          redemption: {
            redeem: async (wallet: string) => {
              const answer = redeem(wallet);
              if (answer instanceof Error) throw answer;
              return answer;
            },
          },
        },
      ],
    ]),
    redemptions: {
      due: async () => [...due].map((conditionId) => ({ conditionId, venue: 'polymarket' })),
      automatic: async (ids: readonly string[]) =>
        holdings.filter(({ conditionId }) => ids.includes(conditionId)),
      worthless: async () => worthless,
      request: async (some: readonly Holding[]) => {
        requested.push(...some);
      },
      swept: async (ids: readonly string[]) => {
        for (const id of ids) due.delete(id);
      },
    },
  } as unknown as RedeemNeeds;
  return { needs, due, requested };
}

test('a market is done when every redemption in it was answered', async () => {
  const { needs, due, requested } = desk(
    [holding('a', '1'), holding('b', '1'), holding('a', '2')],
    () => PAID,
  );
  expect(await autoRedeem(needs)).toBe(3);
  expect(due.size).toBe(0);
  expect(requested.length).toBe(3);
  expect(await autoRedeem(needs)).toBe(0);
});

test('one that got no answer stays due, and the others do not wait for it', async () => {
  let isDown = true;
  const { needs, due } = desk([holding('a', '1'), holding('b', '2'), holding('c', '3')], (wallet) => {
    if (!isDown || wallet === 'a') return PAID;
    return wallet === 'b' ? { kind: 'unknown' } : new Error('the venue is gone');
  });
  expect(await autoRedeem(needs)).toBe(1);
  expect([...due]).toEqual(['2', '3']);
  isDown = false;
  expect(await autoRedeem(needs)).toBe(2);
  expect(due.size).toBe(0);
});

test('a market without a holder that has the switch on is passed over once', async () => {
  const { needs, due } = desk([], () => PAID);
  due.add('1');
  expect(await autoRedeem(needs)).toBe(0);
  expect(due.size).toBe(0);
});

test('what lost is burnt for everybody, without a word in the record, and again until it is answered', async () => {
  const burnt: string[] = [];
  let answers: RedeemAnswer | Error = new Error('no answer');
  const { needs, due, requested } = desk(
    [],
    (wallet) => {
      burnt.push(wallet);
      return answers;
    },
    [holding('0xlost', 'c')],
  );
  expect(await autoRedeem(needs)).toBe(0);
  expect([...due]).toEqual(['c']);
  answers = PAID;
  expect(await autoRedeem(needs)).toBe(0);
  expect([...due]).toEqual([]);
  expect(burnt).toEqual(['0xlost', '0xlost']);
  expect(requested).toEqual([]);
});
