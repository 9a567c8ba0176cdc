import { describe, expect, test } from 'vitest';
import { bucketOf, isLoopbackHost, trustOf } from './addresses.ts';

describe('the bucket of an address', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['', ''],
    ['unknown', 'unknown'],
  ])('%s is %s', (address, bucket) => {
    expect(bucketOf(address)).toBe(bucket);
  });

  test('all of one /64 are one, the next /64 is another', () => {
    expect(bucketOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(bucketOf('2001:db8:1:2::'));
    expect(bucketOf('2001:db8:1:3::')).not.toBe(bucketOf('2001:db8:1:2::'));
  });
});

describe('who is a proxy of ours', () => {
  test('no proxy, so many hops, or those named', () => {
    expect(trustOf(null)('127.0.0.1', 0)).toBe(false);
    const two = trustOf(2);
    expect([two('x', 0), two('x', 1), two('x', 2)]).toEqual([true, true, false]);
    const named = trustOf(['10.0.0.0/8', '192.168.1.1', 'fd00::/8']);
    const trusted = ['10.255.0.1', '::ffff:10.1.2.3', '192.168.1.1', 'fd12::1', '[fd12::1]:80'];
    const others = ['11.0.0.1', '192.168.1.2', 'fe80::1', '', 'unknown', '10.0.0.1.evil'];
    for (const address of trusted) expect(named(address, 0), address).toBe(true);
    for (const address of others) expect(named(address, 0), address).toBe(false);
  });
});

test('loopback has few names', () => {
  for (const name of ['localhost', 'LOCALHOST', 'a.localhost', '127.0.0.1', '127.1.2.3', '[::1]'])
    expect(isLoopbackHost(name), name).toBe(true);
  for (const name of ['127.0.0.1.nip.io', 'localhost.evil', '::1', '10.0.0.1', '[::ffff:7f00:1]', ''])
    expect(isLoopbackHost(name), name).toBe(false);
});
