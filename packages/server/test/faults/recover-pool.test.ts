/** Recovery on other threads: the same answers, through every end of the threads. */
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { parseSignature, type RecoveryQuestion, signDigest } from '@bellwether/protocol';
import { afterEach, describe, expect, test } from 'vitest';
import { loadRecover } from '../../src/platform/system/recover.ts';
import { openRecoverPool, type RecoverPool, threadsFor } from '../../src/platform/system/recover-pool.ts';

const { recover } = loadRecover();
/** A thread that takes questions and answers none. */
const HANGS =
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => {}); parentPort.postMessage('ready');";

const pools: RecoverPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()));
});

function stage(threads: number, openThread?: () => Worker) {
  const warnings: string[] = [];
  let here = 0;
  const pool = openRecoverPool({
    threads,
    here: (...question) => {
      here += 1;
      return recover(...question);
    },
    log: { warn: (_context, message) => warnings.push(message) },
    ...(openThread === undefined ? {} : { openThread }),
  });
  pools.push(pool);
  return {
    pool,
    warnings,
    recoveredHere: () => here,
    /** Until a question is not answered at once. */
    async ready(): Promise<void> {
      const [question] = questions(1) as [RecoveryQuestion];
      const isTaken = () => {
        const before = here;
        pool.recover(question);
        return here === before;
      };
      await expect.poll(isTaken).toBe(true);
      here = 0;
    },
  };
}

/** A signature of every third question belongs to no key. */
function questions(count: number): RecoveryQuestion[] {
  return Array.from({ length: count }, (_, index) => {
    const digest = Uint8Array.from(randomBytes(32));
    const signature = parseSignature(signDigest(digest, Uint8Array.from(randomBytes(32))));
    if (!signature.ok) throw new Error('no signature');
    if (index % 3 !== 2) return { digest, signature };
    // 5 is the x of no point.
    return {
      digest,
      signature: { ...signature, rs: Uint8Array.from(signature.rs).fill(0, 0, 31).fill(5, 31, 32) },
    };
  });
}

const expected = (asked: readonly RecoveryQuestion[]) =>
  asked.map(({ digest, signature }) => recover(digest, signature.rs, signature.recovery));
const asBytes = (keys: readonly (Uint8Array | null)[]) =>
  keys.map((key) => (key === null ? null : Buffer.from(key).toString('hex')));

test.each([1, 3])(
  '%i threads give the keys that are recovered here, each to its own question',
  async (threads) => {
    const { pool, recoveredHere, ready } = stage(threads);
    await ready();
    const asked = questions(100);
    const answers = await Promise.all(asked.map((question) => pool.recover(question)));
    expect(asBytes(answers)).toEqual(asBytes(expected(asked)));
    expect(answers.filter((answer) => answer === null).length).toBeGreaterThan(20);
    const [alone = asked[0] as RecoveryQuestion] = questions(1);
    expect(asBytes([await pool.recover(alone)])).toEqual(asBytes(expected([alone])));
    expect(recoveredHere()).toBe(0);
  },
);

test('a question does not change when its bytes do afterwards', async () => {
  const { pool, ready } = stage(1);
  await ready();
  const [question] = questions(1) as [RecoveryQuestion];
  const wanted = expected([question]);
  const answer = pool.recover(question);
  await new Promise(setImmediate);
  question.digest.fill(0);
  expect(asBytes([await answer])).toEqual(asBytes(wanted));
});

describe('what a thread does not answer is recovered here', () => {
  test('when it dies with questions, and another thread takes its place', async () => {
    const workers: Worker[] = [];
    const { pool, warnings, recoveredHere, ready } = stage(1, () => {
      const isFirst = workers.length === 0;
      const url = new URL('../../src/platform/system/recover-worker.ts', import.meta.url);
      const worker = isFirst ? new Worker(HANGS, { eval: true }) : new Worker(url);
      workers.push(worker);
      return worker;
    });
    await ready();
    const asked = questions(20);
    const answers = Promise.all(asked.map((question) => pool.recover(question)));
    await new Promise(setImmediate);
    await workers[0]?.terminate();
    expect(asBytes(await answers)).toEqual(asBytes(expected(asked)));
    // One more waited since the thread was ready.
    expect(recoveredHere()).toBe(21);
    expect(warnings).toHaveLength(1);
    // None is left meanwhile.
    expect(asBytes([await pool.recover(asked[0] as RecoveryQuestion)])).toEqual(
      asBytes(expected(asked.slice(0, 1))),
    );
    expect(recoveredHere()).toBe(22);
    await expect.poll(() => workers.length).toBe(2);
    await ready();
    expect(asBytes([await pool.recover(asked[1] as RecoveryQuestion)])).toEqual(
      asBytes(expected(asked.slice(1, 2))),
    );
    expect(recoveredHere()).toBe(0);
  });

  test('when it hangs', async () => {
    const { pool, warnings, recoveredHere, ready } = stage(1, () => new Worker(HANGS, { eval: true }));
    await ready();
    const asked = questions(5);
    const answers = await Promise.all(asked.map((question) => pool.recover(question)));
    expect(asBytes(answers)).toEqual(asBytes(expected(asked)));
    expect(recoveredHere()).toBe(6);
    expect(warnings).toHaveLength(1);
  });

  test('when it cannot start', async () => {
    const { pool, warnings } = stage(1, () => new Worker("throw new Error('no')", { eval: true }));
    const asked = questions(5);
    const answers = await Promise.all(asked.map((question) => pool.recover(question)));
    expect(asBytes(answers)).toEqual(asBytes(expected(asked)));
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    expect(asBytes([await pool.recover(asked[0] as RecoveryQuestion)])).toEqual(
      asBytes(expected(asked.slice(0, 1))),
    );
  });

  test('when too much waits already', async () => {
    const { pool, recoveredHere, ready } = stage(1);
    await ready();
    await pool.recover(questions(1)[0] as RecoveryQuestion);
    const asked = questions(400);
    const answers = await Promise.all(asked.map((question) => pool.recover(question)));
    expect(asBytes(answers)).toEqual(asBytes(expected(asked)));
    expect(recoveredHere()).toBe(400 - 256);
  });

  test('when the pool has stopped', async () => {
    const { pool, ready } = stage(2);
    await ready();
    const asked = questions(5);
    const answers = Promise.all(asked.map((question) => pool.recover(question)));
    await pool.stop();
    expect(asBytes(await answers)).toEqual(asBytes(expected(asked)));
    expect(asBytes([await pool.recover(asked[0] as RecoveryQuestion)])).toEqual(
      asBytes(expected(asked.slice(0, 1))),
    );
  });

  test('when the pool has stopped before it hears that a thread is ready', async () => {
    const { pool } = stage(1, () => new Worker(HANGS, { eval: true }));
    const [question] = questions(1) as [RecoveryQuestion];
    await pool.recover(question);
    // The thread says that it is ready while this one cannot listen.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    await pool.stop();
    expect(asBytes([await pool.recover(question)])).toEqual(asBytes(expected([question])));
  });
});

test('two cores have none to spare', () => {
  expect([1, 2, 3, 4, 6, 64].map(threadsFor)).toEqual([0, 0, 1, 2, 4, 4]);
});
