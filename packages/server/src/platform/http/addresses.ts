/**
 * Whose address counts. Proxies append to `X-Forwarded-For`, so only its right end is believed, as far as the operator
 * trusts who wrote it; what stands left of that is the caller's own text.
 */
import { BlockList, isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** `null`: no proxy. A number of hops, or the addresses and CIDRs of the proxies. */
export type TrustProxy = number | readonly string[] | null;

/** Whether the party at this address, so many hops away from us, is a proxy of ours. */
export type Trusts = (address: string, hop: number) => boolean;

declare module 'fastify' {
  interface FastifyRequest {
    /** The connection itself comes from a proxy of ours: its headers are its own word. */
    fromProxy: boolean;
    /** Whom a replica names as the caller of a request that it sends on. */
    vouchedAddress: string | null;
  }
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** An address as one text: IPv4 that came in through IPv6 is IPv4, and a port or zone is no part of it. */
function plainAddress(text: string): string {
  const [, inBrackets, v4] = WITH_PORT.exec(text) ?? [];
  const address = (inBrackets ?? v4 ?? text).replace(/%.*$/, '');
  return MAPPED.exec(address)?.[1] ?? address;
}

/** @throws Error for what is no address or CIDR */
export function trustOf(setting: TrustProxy): Trusts {
  if (setting === null) return () => false;
  if (typeof setting === 'number') return (_address, hop) => hop < setting;
  const proxies = new BlockList();
  for (const entry of setting) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (text) => {
    const address = plainAddress(text);
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

/**
 * Names of buckets. A subscriber is given a whole IPv6 /64 and can take another address of it at every
 * request, so the /64 counts.
 */
export function bucketOf(text: string): string {
  const address = plainAddress(text);
  if (isIP(address) !== 6) return address;
  // The URL parser writes it in one form, with at most one `::`.
  const [left = '', right = ''] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === '' ? [] : right.split(':');
  const groups = [
    ...head,
    ...Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0'),
    ...tail,
  ];
  const [a, b, c, d, e, f, g, h] = groups.map((group) => Number.parseInt(group, 16));
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) {
    return [(g as number) >> 8, (g as number) & 0xff, (h as number) >> 8, (h as number) & 0xff].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** The caller's bucket. What a proxy wrote that is no address is no new caller, either: the proxy itself counts. */
export function addressOf({
  ip,
  socket,
  vouchedAddress,
}: Pick<FastifyRequest, 'ip' | 'socket' | 'vouchedAddress'>): string {
  if (vouchedAddress !== null) return vouchedAddress;
  return bucketOf(isIP(plainAddress(ip)) === 0 ? (socket.remoteAddress ?? '') : ip);
}

/** Any sign that the request came through somebody else, from any sender: names, and how names begin. */
const FORWARDING = new Set([
  'forwarded',
  'via',
  'cdn-loop',
  'client-ip',
  'true-client-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'incap-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-coming-from',
  'x-host',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-sucuri-clientip',
]);
const FORWARDING_PREFIX =
  /^(x-forwarded|x-original|x-envoy-|x-azure-|x-appengine-|x-arr-|x-amzn-|x-amz-cf-|x-vercel-|cf-|fastly-|fly-|akamai-|tailscale-)/;

const LOOPBACK_ADDRESS = /^(127\.|::1$)/;
const LOOPBACK_NAME = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/i;

export const isLoopbackHost = (hostname: string): boolean => LOOPBACK_NAME.test(hostname);

/**
 * From a program on this machine. A proxy or a tunnel on this machine looks the same from the socket, so there must be
 * no header of one, and the service must not be published under any other name.
 */
export const isLocal = (request: FastifyRequest, publicUrl: string): boolean =>
  request.vouchedAddress === null &&
  LOOPBACK_ADDRESS.test(plainAddress(request.socket.remoteAddress ?? '')) &&
  isLoopbackHost(new URL(publicUrl).hostname) &&
  !Object.keys(request.headers).some((name) => FORWARDING.has(name) || FORWARDING_PREFIX.test(name));

/** Notes who stands between us and the caller. */
export function noteCallers(
  app: FastifyInstance,
  trusts: Trusts,
  vouched: (request: FastifyRequest) => string | null,
): void {
  app.decorateRequest('fromProxy', false);
  app.decorateRequest('vouchedAddress', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.fromProxy = trusts(request.socket.remoteAddress ?? '', 0);
    request.vouchedAddress = vouched(request);
    done();
  });
}
