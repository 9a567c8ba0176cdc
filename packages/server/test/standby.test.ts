/** Preparation of a replica to lead: loaded once, taken once, and dropped when it fails or is not taken. */
import { expect, test, vi } from 'vitest';
import { createStandby } from '../src/venues/paper/standby.ts';

const A_MINUTE_MS = 60_000;

function standbyOf(ready: () => Promise<void> = async () => {}) {
  const ended: number[] = [];
  let begun = 0;
  const standby = createStandby(() => {
    begun += 1;
    const id = begun;
    return { id, ready: ready(), end: () => void ended.push(id) };
  });
  return { standby, ended, begun: () => begun };
}

test('is loaded once for all announcements, and taken once', async () => {
  const { standby, ended, begun } = standbyOf();
  expect(standby.take()).toBeNull();
  await Promise.all([standby.prepare(), standby.prepare()]);
  expect(standby.take()).toMatchObject({ id: 1 });
  expect(standby.take()).toBeNull();
  standby.end();
  expect([begun(), ended]).toEqual([1, []]);
});

test('is loaded anew after it failed', async () => {
  const failures = [Promise.reject(new Error('no memory')), Promise.resolve()];
  const { standby, ended, begun } = standbyOf(() => failures.shift() as Promise<void>);
  await expect(standby.prepare()).rejects.toThrow('no memory');
  await standby.prepare();
  expect([begun(), ended]).toEqual([2, [1]]);
});

test('gives its memory back when it is not taken, and when the replica ends', async () => {
  vi.useFakeTimers();
  try {
    const { standby, ended } = standbyOf();
    await standby.prepare();
    vi.advanceTimersByTime(A_MINUTE_MS);
    expect(ended).toEqual([1]);
    expect(standby.take()).toBeNull();
    await standby.prepare();
    standby.end();
    expect(ended).toEqual([1, 2]);
  } finally {
    vi.useRealTimers();
  }
});
