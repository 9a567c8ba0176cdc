/**
 * Limits of requests to a door without a key: their rate and their size. A door is open to every client, so each
 * request draws tokens from the bucket of its address, and the data that one request makes the process read, compute or
 * return is bounded. The embedder identifies callers and keeps the buckets; the desk's own requests inside the process
 * have no guard.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface DoorGuard {
  /** Draws the token of a request, before its body is read. @returns seconds to wait; 0: allowed */
  admit(request: FastifyRequest): number | Promise<number>;
  /** Draws further tokens for the content of a request. @returns seconds to wait; 0: allowed */
  charge(request: FastifyRequest, tokens: number): number | Promise<number>;
  /** The caller's address, by which daily allowances are counted. */
  sourceOf(request: FastifyRequest): string;
}

/** `null`: the process itself is the caller, without limits. */
export type Guarded = DoorGuard | null;

export class TooManyRequests extends Error {
  override readonly name = 'TooManyRequests';
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super(`Too many requests from this address: wait ${retryAfterS} s.`);
    this.retryAfterS = retryAfterS;
  }
}

/** No stored text contains a NUL, and PostgreSQL accepts none. */
export class NulInUrl extends Error {
  override readonly name = 'NulInUrl';

  constructor() {
    super('The URL holds a NUL character (%00).');
  }
}

const NUL = /%00|\0/;

/** List entries per token. */
export const ENTRIES_PER_TOKEN = 10;

/** The first check of a request. It throws errors that each door translates into its own format. */
export function guardDoor(door: FastifyInstance, guard: Guarded): void {
  door.addHook('onRequest', async (request) => {
    if (guard !== null) refuse(await guard.admit(request));
    if (NUL.test(request.url)) throw new NulInUrl();
  });
}

/** @throws TooManyRequests */
export async function charge(guard: Guarded, request: FastifyRequest, tokens: number): Promise<void> {
  if (guard !== null && tokens > 0) refuse(await guard.charge(request, tokens));
}

function refuse(retryAfterS: number): void {
  if (retryAfterS > 0) throw new TooManyRequests(retryAfterS);
}

export const sayWhen = (
  reply: FastifyReply,
  { retryAfterS }: Pick<TooManyRequests, 'retryAfterS'>,
): FastifyReply => reply.code(429).header('retry-after', String(retryAfterS));

interface Bucket {
  tokens: number;
  at: number;
}

export interface BucketOptions {
  readonly perSecond: number;
  readonly burst: number;
  readonly now: () => number;
}

/** Most addresses in memory: beyond it, the least recently active address is dropped. */
const MAX_ADDRESSES = 20_000;

/** Buckets in memory, for a single process. */
export function addressBuckets({ perSecond, burst, now }: BucketOptions): DoorGuard {
  /** The most recently active are at the end. */
  const buckets = new Map<string, Bucket>();

  const draw = (source: string, wanted: number): number => {
    const at = now();
    const { tokens, at: since } = buckets.get(source) ?? { tokens: burst, at };
    const held = Math.min(burst, tokens + (Math.max(0, at - since) / 1000) * perSecond);
    // A request for more than the bucket's size would wait permanently.
    const price = Math.min(wanted, burst);
    const isEnough = held >= price;
    buckets.delete(source);
    buckets.set(source, { tokens: isEnough ? held - price : held, at });
    const [oldest] = buckets.keys();
    if (buckets.size > MAX_ADDRESSES && oldest !== undefined) buckets.delete(oldest);
    return isEnough ? 0 : Math.max(1, Math.ceil((price - held) / perSecond));
  };
  const sourceOf = ({ ip }: FastifyRequest): string => networkOf(ip);

  return {
    admit: (request) => draw(sourceOf(request), 1),
    charge: (request, tokens) => draw(sourceOf(request), tokens),
    sourceOf,
  };
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;

/** The key of a caller: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(ip: string): string {
  const mapped = MAPPED.exec(ip)?.[1];
  if (mapped !== undefined || !ip.includes(':')) return mapped ?? ip;
  const [head = '', tail] = (ip.split('%')[0] ?? '').split('::');
  const [front, back] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const missing = tail === undefined ? 0 : GROUPS - (front?.length ?? 0) - (back?.length ?? 0);
  const groups = [
    ...(front ?? []),
    ...Array.from({ length: Math.max(0, missing) }, () => '0'),
    ...(back ?? []),
  ];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
