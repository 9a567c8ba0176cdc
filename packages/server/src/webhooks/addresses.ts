/**
 * The addresses that a webhook may be sent to: only the public internet. Agents choose the URLs, and this process can
 * reach more than they can: private, local and reserved addresses, and tunnels to them, are refused (IANA's
 * special-purpose registries). IPv6 uses an allow list: global unicast without its special-purpose ranges.
 */
import { BlockList, isIP } from 'node:net';

export type Reach = 'public' | 'loopback' | 'forbidden';

const FORBIDDEN_V4 = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-grade NAT'],
  ['169.254.0.0', 16, 'link-local, cloud metadata among it'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'protocol assignments'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.31.196.0', 24, 'AS112'],
  ['192.52.193.0', 24, 'AMT'],
  ['192.88.99.0', 24, '6to4 relay'],
  ['192.168.0.0', 16, 'private'],
  ['192.175.48.0', 24, 'AS112'],
  ['198.18.0.0', 15, 'benchmarks'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved, broadcast among it'],
] as const;

const GLOBAL_UNICAST_V6 = ['2000::', 3] as const;

const FORBIDDEN_V6 = [
  ['2001::', 23, 'protocol assignments: Teredo, ORCHID'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4: an IPv4 address in disguise'],
  ['2620:4f:8000::', 48, 'AS112'],
  ['3fff::', 20, 'documentation'],
] as const;

const blockList = (family: 'ipv4' | 'ipv6', rows: readonly (readonly [string, number, ...string[]])[]) => {
  const list = new BlockList();
  for (const [net, prefix] of rows) list.addSubnet(net, prefix, family);
  return list;
};

const forbiddenV4 = blockList('ipv4', FORBIDDEN_V4);
const loopbackV4 = blockList('ipv4', [['127.0.0.0', 8]]);
const globalV6 = blockList('ipv6', [GLOBAL_UNICAST_V6]);
const forbiddenV6 = blockList('ipv6', FORBIDDEN_V6);
const loopbackV6 = blockList('ipv6', [['::1', 128]]);

/** Forbidden: everything that is not an address, and every IPv6 form of an IPv4 address. */
export function reachOf(address: string): Reach {
  // A zone names an interface of this machine.
  if (address.includes('%')) return 'forbidden';
  switch (isIP(address)) {
    case 4:
      if (loopbackV4.check(address)) return 'loopback';
      return forbiddenV4.check(address) ? 'forbidden' : 'public';
    case 6:
      if (loopbackV6.check(address, 'ipv6')) return 'loopback';
      return globalV6.check(address, 'ipv6') && !forbiddenV6.check(address, 'ipv6') ? 'public' : 'forbidden';
    default:
      return 'forbidden';
  }
}
