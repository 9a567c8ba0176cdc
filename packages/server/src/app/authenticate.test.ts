import { expect, test } from 'vitest';
import type { Caller } from '../ports/stores.ts';
import { CACHE_LEASE_MS, createAuthenticator } from './authenticate.ts';

const CALLER: Caller = { agentId: 'a', userId: 1n, keyId: 7n };

function stage() {
  let now = 1_000_000;
  const asked: string[] = [];
  let answer: (name: string) => Promise<Caller | null> = async (name) => (name === 'bw_good' ? CALLER : null);
  const authenticator = createAuthenticator({
    clock: { now: () => now },
    secrets: {
      isWellFormed: (key: string) => key.startsWith('bw_'),
      hash: (key: string) => Buffer.from(key),
      nameOf: (key: string) => `name of ${key}`,
    },
    agents: {
      callerByKeyHash: (hash: Uint8Array) => {
        const name = Buffer.from(hash).toString();
        asked.push(name);
        return answer(name);
      },
    },
  });
  return {
    authenticator,
    asked,
    pass: (ms: number) => (now += ms),
    answerWith: (next: typeof answer) => (answer = next),
    authenticate: (key: string) => authenticator.authenticate(`Bearer ${key}`),
  };
}

test('a remembered key has its agent at once, until its lease is over', async () => {
  const { authenticate, asked, pass } = stage();
  expect(await authenticate('bw_good')).toEqual(CALLER);
  pass(CACHE_LEASE_MS - 1);
  expect(authenticate('bw_good')).toEqual(CALLER);
  expect(asked).toEqual(['bw_good']);
  pass(1);
  expect(authenticate('bw_good')).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(2);
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

test('every call counts as a use of its key', async () => {
  const { authenticator, authenticate, pass } = stage();
  await authenticate('bw_good');
  expect(authenticator.drainCalls()).toEqual(new Map([[7n, 1_000_000]]));
  pass(500);
  authenticate('bw_good');
  expect(authenticator.drainCalls()).toEqual(new Map([[7n, 1_000_500]]));
  expect(authenticator.drainCalls()).toEqual(new Map());
});
