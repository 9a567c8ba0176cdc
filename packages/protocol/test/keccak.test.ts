import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { keccak256 } from '../src/keccak.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test('WebAssembly gives the hash that JavaScript gives', () => {
  expect(keccak256).not.toBe(keccak_256);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_000 }), (bytes) => {
      expect(keccak256(bytes)).toEqual(keccak_256(bytes));
    }),
    { numRuns: 1_000 },
  );
});

test.each([0, 1, 135, 136, 137, 271, 272, 273, 16_383, 16_384, 16_385, 100_000])(
  'of %i bytes, too',
  (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) & 255);
    expect(keccak256(bytes)).toEqual(keccak_256(bytes));
    expect(keccak256(bytes)).toEqual(keccak_256(bytes));
  },
);

test('a hash stays what it is when the next one is made', () => {
  const first = keccak256(Uint8Array.of(1));
  const copy = Uint8Array.from(first);
  const second = keccak256(Uint8Array.of(2));
  expect(first).toEqual(copy);
  second.fill(0);
  expect(keccak256(Uint8Array.of(2))).toEqual(keccak_256(Uint8Array.of(2)));
  expect(first.buffer.byteLength).toBe(32);
});

test('of a part of a buffer only that part is hashed', () => {
  const whole = Uint8Array.from({ length: 100 }, (_, index) => index);
  expect(keccak256(whole.subarray(40, 60))).toEqual(keccak_256(whole.slice(40, 60)));
});

test('without WebAssembly, JavaScript hashes', async () => {
  vi.resetModules();
  vi.stubGlobal('WebAssembly', undefined);
  const { keccak256: fallback } = await import('../src/keccak.ts');
  expect(fallback.name).toBe(keccak_256.name);
  expect(fallback(Uint8Array.of(1, 2, 3))).toEqual(keccak_256(Uint8Array.of(1, 2, 3)));
});
