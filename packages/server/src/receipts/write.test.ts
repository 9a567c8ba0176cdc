import { afterEach, expect, test, vi } from 'vitest';
import { nativeSha256 } from '../platform/system/secrets.ts';
import { receiptJobs } from './write.ts';

afterEach(() => vi.restoreAllMocks());

/** A fact takes so long, so at full speed there are 10,000 a second. */
const FACT_MS = 0.1;

/** A writer at a log that grows by so many facts a second, beside a number of facts that wait from the start. */
async function write({ seconds = 600, perSecond = 0, waiting = 0 }) {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  let written = 0;
  let workedMs = 0;
  let latestMs = 0;
  let caughtUpAt: number | null = null;
  const at = (nth: number) => (nth <= waiting ? 0 : ((nth - waiting) * 1_000) / perSecond);
  const extend = async (most: number) => {
    const logged = waiting + Math.floor((now * perSecond) / 1_000);
    const facts = Math.min(most, logged - written);
    now += facts * FACT_MS;
    workedMs += facts * FACT_MS;
    written += facts;
    latestMs = Math.max(latestMs, now - at(written));
    if (facts < most) caughtUpAt ??= now;
    return { facts, newestAt: facts === 0 ? null : at(written), isMine: true };
  };
  const needs = { clock: { now: () => now }, sha256: nativeSha256, receipts: { extend } };
  const job = receiptJobs(needs as never).find(({ name }) => name === 'write receipts');
  for (let turn = 1; now < seconds * 1_000; turn += 1) {
    now = Math.max(now, turn * (job?.everyMs ?? 0));
    await job?.run();
  }
  return { share: workedMs / now, lateS: latestMs / 1_000, caughtUpS: (caughtUpAt ?? Number.NaN) / 1_000 };
}

test.each([
  ['few trades', 100, 1],
  ['as many as take a fifth of the time', 2_000, 3],
  ['as many as take nearly half of it', 4_500, 6],
])('receipts of %s follow within seconds, for as long as they come', async (_, perSecond, withinS) => {
  expect((await write({ perSecond })).lateS).toBeLessThan(withinS);
});

test('what waits from before takes half of the time, and no more', async () => {
  const { share, caughtUpS } = await write({ seconds: 60, waiting: 250_000, perSecond: 100 });
  expect(share).toBeLessThan(0.5);
  expect(caughtUpS).toBeLessThan(60);
});
