import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Caller } from '../../domain/records.ts';
import { CACHE_LEASE_MS, createAuthenticator } from './identify.ts';

const CALLER: Caller = { agentId: 'a', userId: 1n, keyId: 7n };

function stage() {
  let now = 1_000_000;
  const asked: string[] = [];
  const revoked = new Set<bigint>();
  let refusing: Promise<void> | undefined;
  let answer: (name: string) => Promise<Caller | null> = async (name) => (name === 'bw_good' ? CALLER : null);
  const asFound = (caller: Caller | null) =>
    caller === null ? null : { caller, isRevoked: revoked.has(caller.keyId) };
  const authenticator = createAuthenticator({
    clock: { now: () => now },
    now: () => now,
    refusedEverywhere: () => refusing,
    secrets: {
      isWellFormed: (key: string) => key.startsWith('bw_'),
      hash: (key: string) => Buffer.from(key),
      nameOf: (key: string) => `name of ${key}`,
    },
    agents: {
      callerByKeyHash: (hash: Uint8Array) => {
        const name = Buffer.from(hash).toString();
        asked.push(name);
        return answer(name).then(asFound);
      },
    },
  });
  return {
    authenticator,
    asked,
    pass: (ms: number) => (now += ms),
    answerWith: (next: typeof answer) => (answer = next),
    revoke(keyId: bigint, refused: Promise<void>) {
      revoked.add(keyId);
      refusing = refused;
    },
    authenticate: (key: string) => authenticator.authenticate(`Bearer ${key}`),
  };
}

test('a remembered key has its agent at once, until its lease is over', async () => {
  const { authenticate, asked, pass, answerWith } = stage();
  expect(await authenticate('bw_good')).toEqual(CALLER);
  pass(CACHE_LEASE_MS - 501);
  expect(authenticate('bw_good')).toEqual(CALLER);
  expect(asked).toEqual(['bw_good']);
  // The answer to its renewal does not come.
  answerWith(() => new Promise(() => {}));
  pass(500);
  expect(authenticate('bw_good')).toEqual(CALLER);
  pass(1);
  expect(authenticate('bw_good')).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(3);
});

test('what is no key never reaches the database', async () => {
  const { authenticator, authenticate, asked } = stage();
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic bw_good', 'Bearer bw_good more'])
    expect(await authenticator.authenticate(header)).toBeNull();
  expect(await authenticate('xx_good')).toBeNull();
  expect(asked).toEqual([]);
});

test('an unknown key is not remembered', async () => {
  const { authenticate, asked } = stage();
  expect(await authenticate('bw_bad')).toBeNull();
  expect(await authenticate('bw_bad')).toBeNull();
  expect(asked).toEqual(['bw_bad', 'bw_bad']);
});

test('a revoked key is forgotten, also while its look-up is under way', async () => {
  const { authenticator, authenticate, asked, answerWith } = stage();
  await authenticate('bw_good');
  let arrive: (caller: Caller) => void = () => {};
  authenticator.forget(7n);
  answerWith(() => new Promise((resolve) => (arrive = resolve)));
  const pending = authenticate('bw_good');
  authenticator.forget(7n);
  arrive(CALLER);
  expect(await pending).toEqual(CALLER);
  answerWith(async () => null);
  expect(await authenticate('bw_good')).toBeNull();
  expect(asked).toHaveLength(3);
});

test('a key that was revoked lately is refused when no replica takes it any more', async () => {
  const { authenticate, revoke } = stage();
  const { promise, resolve } = Promise.withResolvers<void>();
  revoke(CALLER.keyId, promise);
  let isRefused = false;
  const refusal = Promise.resolve(authenticate('bw_good')).finally(() => (isRefused = true));
  await settled();
  expect(isRefused).toBe(false);
  resolve();
  expect(await refusal).toBeNull();
});

test('every call counts as a use of its key', async () => {
  const { authenticator, authenticate, pass } = stage();
  await authenticate('bw_good');
  expect(authenticator.drainCalls()).toEqual(new Map([[7n, 1_000_000]]));
  pass(500);
  authenticate('bw_good');
  expect(authenticator.drainCalls()).toEqual(new Map([[7n, 1_000_500]]));
  expect(authenticator.drainCalls()).toEqual(new Map());
});

test('the keys in use are renewed together before their leases end, and no request waits for it', async () => {
  const { authenticate, asked, pass, answerWith } = stage();
  answerWith(async () => CALLER);
  await authenticate('bw_first');
  pass(600);
  for (const key of ['bw_second', 'bw_idle']) await authenticate(key);
  pass(600);
  expect(authenticate('bw_second')).toEqual(CALLER);
  expect(asked).toHaveLength(3);
  pass(400);
  expect(authenticate('bw_first')).toEqual(CALLER);
  expect(authenticate('bw_first')).toEqual(CALLER);
  expect(asked.slice(3)).toEqual(['bw_first', 'bw_second']);
  await settled();
  pass(CACHE_LEASE_MS - 1);
  for (const key of ['bw_first', 'bw_second']) expect(authenticate(key)).toEqual(CALLER);
  expect(authenticate('bw_idle')).toBeInstanceOf(Promise);
});

test('a lease is counted from the question, not from its answer', async () => {
  const { authenticate, pass, answerWith } = stage();
  let arrive: (caller: Caller) => void = () => {};
  answerWith(() => new Promise((resolve) => (arrive = resolve)));
  const first = authenticate('bw_good');
  pass(1_500);
  arrive(CALLER);
  expect(await first).toEqual(CALLER);
  pass(500);
  expect(authenticate('bw_good')).toBeInstanceOf(Promise);
});

test('a key that its renewal does not find any more is refused at once', async () => {
  const { authenticate, asked, pass, answerWith } = stage();
  await authenticate('bw_good');
  pass(CACHE_LEASE_MS - 500);
  answerWith(async () => null);
  expect(authenticate('bw_good')).toEqual(CALLER);
  await settled();
  expect(await authenticate('bw_good')).toBeNull();
  expect(asked).toHaveLength(3);
});

test('a key that is revoked during its renewal stays forgotten', async () => {
  const { authenticator, authenticate, asked, pass, answerWith } = stage();
  await authenticate('bw_good');
  pass(CACHE_LEASE_MS - 500);
  let arrive: (caller: Caller) => void = () => {};
  answerWith(() => new Promise((resolve) => (arrive = resolve)));
  expect(authenticate('bw_good')).toEqual(CALLER);
  authenticator.forget(7n);
  arrive(CALLER);
  await settled();
  answerWith(async () => null);
  expect(await authenticate('bw_good')).toBeNull();
  expect(asked).toHaveLength(3);
});

test('a renewal that fails costs no request its answer; the rest of the lease is not prolonged', async () => {
  const { authenticate, asked, pass, answerWith } = stage();
  await authenticate('bw_good');
  pass(CACHE_LEASE_MS - 500);
  answerWith(async () => Promise.reject(new Error('no database')));
  expect(authenticate('bw_good')).toEqual(CALLER);
  await settled();
  pass(499);
  expect(authenticate('bw_good')).toEqual(CALLER);
  expect(asked).toHaveLength(2);
  pass(1);
  await expect(authenticate('bw_good')).rejects.toThrow('no database');
});

test('a renewal is no use of the key', async () => {
  const { authenticator, authenticate, pass, answerWith } = stage();
  answerWith(async (name) => ({ ...CALLER, keyId: name === 'bw_first' ? 1n : 2n }));
  await authenticate('bw_first');
  for (let calls = 0; calls < 2; calls += 1) await authenticate('bw_second');
  authenticator.drainCalls();
  pass(CACHE_LEASE_MS - 500);
  authenticate('bw_first');
  await settled();
  expect([...authenticator.drainCalls().keys()]).toEqual([1n]);
});
