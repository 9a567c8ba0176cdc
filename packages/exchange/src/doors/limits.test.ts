import type { FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { addressBuckets, networkOf } from './limits.ts';

const from = (ip: string) => ({ ip }) as FastifyRequest;

describe('buckets in memory', () => {
  test('an address has its own burst and rate, independent of other addresses', async () => {
    let ms = 0;
    const guard = addressBuckets({ perSecond: 2, burst: 4, now: () => ms });
    for (let nth = 0; nth < 4; nth += 1) expect(await guard.admit(from('192.0.2.1'))).toBe(0);
    expect(await guard.admit(from('192.0.2.1'))).toBe(1);
    expect(await guard.admit(from('192.0.2.2'))).toBe(0);
    ms += 500;
    expect(await guard.admit(from('192.0.2.1'))).toBe(0);
    expect(await guard.admit(from('192.0.2.1'))).toBe(1);
  });

  test('several tokens are drawn together or not at all', async () => {
    let ms = 0;
    const guard = addressBuckets({ perSecond: 1, burst: 10, now: () => ms });
    expect(await guard.charge(from('192.0.2.1'), 8)).toBe(0);
    expect(await guard.charge(from('192.0.2.1'), 5)).toBe(3);
    expect(await guard.charge(from('192.0.2.1'), 2)).toBe(0);
    ms += 10_000;
    // A request beyond the bucket's size costs the whole bucket: it must not be refused permanently.
    expect(await guard.charge(from('192.0.2.1'), 50)).toBe(0);
    expect(await guard.admit(from('192.0.2.1'))).toBe(1);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s is counted as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});
