/** A signer's limits at the CLOB door, and the tier that its trades as a maker earn. */
import { MICRO } from '@bellwether/contract/decimals';
import { asAddress } from '@bellwether/protocol';
import type { FastifyReply } from 'fastify';
import { expect, test, vi } from 'vitest';
import type { DoorExchange } from '../src/doors/polymarket/index.ts';
import { SignerLimits, SignerTiers } from '../src/doors/polymarket/signer-limits.ts';
import type { TradeQuery, TradeRecord } from '../src/trade-history.ts';
import { fakeExchange } from './fake-exchange.ts';

const SIGNER = asAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');

function reply() {
  const headers: Record<string, string> = {};
  const answer = {
    header: (name: string, value: string) => {
      headers[name] = value;
      return answer;
    },
  };
  return { headers, reply: answer as unknown as FastifyReply };
}

test('a bucket refills, a batch is all or nothing, cancels may go below zero', () => {
  let now = 1_000_000;
  const limits = new SignerLimits(() => now);
  const { headers, reply: to } = reply();
  limits.draw(to, SIGNER, 'orders', 50);
  expect(headers).toMatchObject({ 'Poly-RateLimit-Remaining': '10', 'Poly-RateLimit-Tier': 'Standard' });
  expect(() => limits.draw(to, SIGNER, 'orders', 15)).toThrow('Too Many Requests');
  // Nothing was drawn.
  expect(headers['Poly-RateLimit-Remaining']).toBe('10');
  now += 125;
  limits.draw(to, SIGNER, 'orders', 15);
  expect(headers['Poly-RateLimit-Remaining']).toBe('0');

  limits.draw(to, SIGNER, 'cancels', 1);
  limits.settle(to, SIGNER, 'cancels', 300);
  expect(headers['Poly-RateLimit-Remaining']).toBe('-181');
  expect(() => limits.draw(to, SIGNER, 'cancels', 1)).toThrow('Too Many Requests');
  now += 2_300;
  limits.draw(to, SIGNER, 'cancels', 1);
  // Another signer has buckets of its own.
  limits.draw(to, `${SIGNER.slice(0, -1)}0`, 'orders', 60);
});

test('without limits nothing is drawn and nothing is said', () => {
  const { headers, reply: to } = reply();
  new SignerLimits(null).draw(to, SIGNER, 'orders', 1_000_000);
  expect(headers).toEqual({});
});

test('thirty days of making decide the tier; it is looked for once in three hours', async () => {
  let now = Date.UTC(2026, 10, 22);
  const limits = new SignerLimits(() => now);
  const asked: TradeQuery[] = [];
  const trade = (number: number, account: string, cost: bigint) =>
    ({
      number,
      at: now,
      matches: [
        { account, cost },
        { account: 'house:maker', cost: 9_000_000n * MICRO },
      ],
    }) as unknown as TradeRecord;
  const pages = [
    Array.from({ length: 1_000 }, (_, index) => trade(2_000 - index, SIGNER, 90n * MICRO)),
    [trade(5, SIGNER, 20_000n * MICRO)],
  ];
  const history = {
    ...fakeExchange().history,
    trades: async (query: TradeQuery) => {
      asked.push(query);
      return query.account === SIGNER ? (pages.shift() ?? []) : [];
    },
  };
  const exchange: DoorExchange = { ...fakeExchange(), history };
  const onFault = vi.fn();
  const tiers = new SignerTiers({ exchange: () => exchange, now: () => now, limits, onFault });
  tiers.follow(SIGNER);
  tiers.follow(SIGNER);
  await vi.waitFor(() => expect(limits.tierOf(SIGNER).name).toBe('Silver'), { timeout: 30_000 });
  const { headers, reply: to } = reply();
  limits.draw(to, SIGNER, 'orders', 1);
  expect(headers['Poly-RateLimit-Tier']).toBe('Silver');
  expect(asked.filter(({ account }) => account === SIGNER)).toEqual([
    { account: SIGNER, role: 'maker', since: now - 30 * 86_400_000, limit: 1_000 },
    expect.objectContaining({ after: expect.objectContaining({ number: 1_001 }) }),
  ]);
  const before = asked.length;
  now += 3 * 3_600_000;
  tiers.follow(SIGNER);
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before), { timeout: 30_000 });
  await vi.waitFor(() => expect(limits.tierOf(SIGNER).name).toBe('Standard'), { timeout: 30_000 });
  expect(onFault).not.toHaveBeenCalled();
});
