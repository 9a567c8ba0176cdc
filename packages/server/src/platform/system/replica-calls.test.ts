import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createReplicaCalls } from './replica-calls.ts';

const SECRET = Buffer.alloc(32, 7);
const call = { method: 'POST', path: '/internal/exchange', body: '{"a":1}' };

function setUp(secret = SECRET) {
  const clock = { at: 1_000_000_000_000 };
  const now = () => clock.at;
  return {
    clock,
    caller: createReplicaCalls(() => [createSecretKey(SECRET)], now),
    leader: createReplicaCalls(() => [createSecretKey(secret)], now),
  };
}

describe('a call between replicas', () => {
  test('is valid once, for its method, path and body', () => {
    const { caller, leader } = setUp();
    const proof = caller.sign(call);
    expect(leader.accepts(proof, { ...call, path: '/internal/exchange?x' })).toBe(false);
    expect(leader.accepts(proof, { ...call, method: 'GET' })).toBe(false);
    expect(leader.accepts(proof, call)).toBe(true);
    expect(leader.matches(proof, call.body)).toBe(true);
    expect(leader.matches(proof, '{"a":2}')).toBe(false);
    expect(leader.accepts(proof, call)).toBe(false);
  });

  test('is valid for half a minute in both directions, and is remembered at least as long', () => {
    const { caller, leader, clock } = setUp();
    const proof = caller.sign(call);
    const start = clock.at;
    clock.at = start - 30_001;
    expect(leader.accepts(proof, call)).toBe(false);
    clock.at = start + 30_001;
    expect(leader.accepts(proof, call)).toBe(false);
    clock.at = start - 30_000;
    expect(leader.accepts(proof, call)).toBe(true);
    for (const step of [0, 15_000, 30_000, 45_000, 60_000]) {
      clock.at = start - 30_000 + step;
      leader.accepts(caller.sign(call), call);
      expect(leader.accepts(proof, call), `after ${step} ms`).toBe(false);
    }
  });

  test('with another secret, or without a proof, is refused', () => {
    const { caller, leader } = setUp(Buffer.alloc(32, 8));
    for (const proof of [caller.sign(call), undefined, '', 'v1', `v1 1000000000000 ${'0'.repeat(32)}`])
      expect(leader.accepts(proof, call)).toBe(false);
  });
});
