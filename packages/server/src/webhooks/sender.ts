/**
 * Sends one webhook to a checked address. The name is resolved here, once per send; all its addresses must be allowed, and
 * the connection goes to one of them, so a later change of the name's records has no effect. No proxy, no redirect, no
 * kept connection; a few kilobytes of the answer are read and discarded.
 */
import { lookup } from 'node:dns/promises';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';

const SEND_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 16_384;
const MAX_ADDRESSES = 16;
const HTTPS_PORT = '443';

interface Address {
  readonly address: string;
  readonly family: number;
}

export interface SenderOptions {
  /** For development: also allows URLs of this machine, over http or https and on any port. */
  readonly allowLoopback: boolean;
  readonly userAgent: string;
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
  readonly timeoutMs?: number;
  /** Certificates trusted beyond the usual ones. */
  readonly ca?: string;
}

type Request = Parameters<WebhookSender['send']>[0];

/** A reason that the agent may see. */
class Refused extends Error {
  override readonly name = 'Refused';
}

export function createWebhookSender(options: SenderOptions): WebhookSender {
  const { allowLoopback, timeoutMs = SEND_TIMEOUT_MS } = options;
  const resolve = options.resolve ?? (async (host: string) => lookup(host, { all: true, verbatim: true }));
  return {
    refuse(url) {
      try {
        parse(url, allowLoopback);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
    async send(request, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, timeout]);
      try {
        const url = parse(request.url, allowLoopback);
        const addresses = await raced(addressesOf(url, resolve, allowLoopback), either);
        return await post(url, addresses, request, { ...options, signal: either });
      } catch (error) {
        if (signal.aborted) return { kind: 'aborted' };
        if (timeout.aborted) return { kind: 'failed', reason: `no answer within ${timeoutMs / 1000} s` };
        return { kind: 'failed', reason: reasonOf(error) };
      }
    },
  };
}

/** Errors of libraries may contain internal addresses: agents see only known texts. */
function reasonOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  const code = (error as { code?: unknown }).code;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA')
    return 'the host name could not be resolved';
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was cut';
  if (typeof code === 'string' && /CERT|TLS|SSL|SIGNATURE|ALTNAME|VERIFY/.test(code))
    return 'the TLS certificate was not accepted';
  return 'the request failed';
}

/** The host without brackets. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

const namesThisMachine = (host: string): boolean =>
  reachOf(host) === 'loopback' || /^(?:.+\.)?localhost\.?$/.test(host);

/** @throws Refused */
function parse(text: string, allowLoopback: boolean): URL {
  if (!URL.canParse(text)) throw new Refused('url is not a URL.');
  const url = new URL(text);
  const host = hostOf(url);
  if (url.username !== '' || url.password !== '')
    throw new Refused('url must not carry a user name or password.');
  if (namesThisMachine(host)) {
    if (allowLoopback && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
    throw new Refused(
      'url must not point to this machine, unless the operator allows it (WEBHOOKS_ALLOW_LOOPBACK=on).',
    );
  }
  if (isIP(host) !== 0 && reachOf(host) !== 'public')
    throw new Refused('url must point to a public address.');
  if (url.protocol !== 'https:') throw new Refused('url must begin with https://.');
  if ((url.port || HTTPS_PORT) !== HTTPS_PORT) throw new Refused('url must use port 443.');
  return url;
}

/** @throws Refused when one of them is not allowed: no honest receiver mixes internal and public addresses */
async function addressesOf(
  url: URL,
  resolve: NonNullable<SenderOptions['resolve']>,
  allowLoopback: boolean,
): Promise<readonly Address[]> {
  const host = hostOf(url);
  const family = isIP(host);
  const found = family === 0 ? await resolve(host) : [{ address: host, family }];
  const reaches = new Set(found.map(({ address }) => reachOf(address)));
  if (found.length === 0) throw new Refused('the host name has no address');
  if (namesThisMachine(host)) {
    if (allowLoopback && reaches.size === 1 && reaches.has('loopback')) return found.slice(0, MAX_ADDRESSES);
    throw new Refused('the host name does not lead to this machine');
  }
  if (reaches.has('loopback') || reaches.has('forbidden'))
    throw new Refused('the host name does not lead to a public address');
  return found.slice(0, MAX_ADDRESSES);
}

function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

type LookupDone = (error: null, address: string | readonly Address[], family?: number) => void;

function post(
  url: URL,
  addresses: readonly Address[],
  { body, headers }: Request,
  { signal, userAgent, ca }: SenderOptions & { readonly signal: AbortSignal },
): Promise<SendResult> {
  return new Promise((resolve, reject) => {
    const isTls = url.protocol === 'https:';
    const host = hostOf(url);
    const [first] = addresses as readonly [Address, ...Address[]];
    const sent: ClientRequest = (isTls ? httpsRequest : httpRequest)({
      method: 'POST',
      host,
      port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
      path: url.pathname + url.search,
      headers: {
        ...headers,
        host: url.host,
        'user-agent': userAgent,
        'content-length': body.length,
        connection: 'close',
      },
      // Node's default agent would keep connections, and the lookup below needs no name server.
      agent: false,
      lookup: ((_host: string, wanted: { all?: boolean }, done: LookupDone) =>
        wanted.all === true ? done(null, addresses) : done(null, first.address, first.family)) as never,
      ...(isTls && isIP(host) === 0 ? { servername: host } : {}),
      ...(ca === undefined ? {} : { ca }),
      signal,
    });
    sent.on('socket', (socket) => {
      socket.on('connect', () => {
        // The final check: the socket's real remote address.
        if (!addresses.some(({ address }) => sameAddress(address, socket.remoteAddress)))
          sent.destroy(new Refused('the connection went elsewhere'));
      });
    });
    sent.on('error', reject);
    // The receiver has taken the event with its status: what cuts the answer after that is no failure.
    sent.on('response', (answer) => {
      sent.off('error', reject);
      sent.on('error', () => {});
      drain(answer, resolve);
    });
    sent.end(body);
  });
}

const sameAddress = (a: string, b: string | undefined): boolean =>
  b !== undefined &&
  new URL(`http://${isIP(a) === 6 ? `[${a}]` : a}`).host ===
    new URL(`http://${isIP(b) === 6 ? `[${b}]` : b}`).host;

/** Only the status counts; a bounded part of the body is read, so that an honest receiver can finish its answer. */
function drain(answer: IncomingMessage, resolve: (result: SendResult) => void): void {
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) answer.destroy();
  });
  answer.on('error', () => {});
  answer.on('close', () =>
    resolve({
      kind: 'answered',
      status: answer.statusCode ?? 0,
      retryAfterMs: retryAfterMs(answer.headers['retry-after']),
    }),
  );
}

/** Seconds only: a date would depend on the receiver's clock. */
const retryAfterMs = (value: string | undefined): number | null =>
  value !== undefined && /^[0-9]{1,5}$/.test(value) ? Number(value) * 1000 : null;

export type SendResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null }
  /** Aborted by the caller; the outcome is unknown. */
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WebhookSender {
  /** Why a URL can never be sent to, or `null`. Does not resolve names: that check happens at each send. */
  refuse(url: string): string | null;
  /** One POST to a checked address. Never throws. */
  send(
    request: {
      readonly url: string;
      readonly body: Uint8Array;
      readonly headers: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<SendResult>;
}

// The addresses that a webhook may be sent to: only the public internet. Agents choose the URLs, and this process can
// reach more than they can: private, local and reserved addresses, and tunnels to them, are refused (IANA's
// special-purpose registries). IPv6 uses an allow list: global unicast without its special-purpose ranges.

type Reach = 'public' | 'loopback' | 'forbidden';

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
