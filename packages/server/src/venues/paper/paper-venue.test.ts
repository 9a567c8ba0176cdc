import { expect, test, vi } from 'vitest';
import { creditOnce } from './paper-venue.ts';

test('concurrent and later requests share one credit call per wallet', async () => {
  const credit = vi.fn(async (_wallet: string) => {});
  const once = creditOnce(credit);
  await Promise.all(Array.from({ length: 25 }, () => once('ann')));
  await once('ann');
  await once('bob');
  expect(credit.mock.calls).toEqual([['ann'], ['bob']]);
});

test('a failure reaches every waiting caller, and the next call tries again', async () => {
  const credit = vi.fn(async (_wallet: string) => {});
  credit.mockRejectedValueOnce(new Error('no replica leads'));
  const once = creditOnce(credit);
  const both = await Promise.allSettled([once('ann'), once('ann')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await once('ann');
  expect(credit).toHaveBeenCalledTimes(2);
});
