/**
 * What anybody may ask of a door, without a key: how often, and how much at a time. A door is open to whoever finds it,
 * so each of its requests draws from a bucket of the address that it comes from, and what one request makes the process
 * read, compute or answer has a bound of its own. The embedder says who asks and keeps the buckets; inside the process,
 * where the desk itself asks, there is no guard.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface DoorGuard {
  /** Draws the token of a request, before its body is read. @returns seconds to wait; 0: it may go on */
  admit(request: FastifyRequest): number | Promise<number>;
  /** Draws further tokens for what a request asks for. @returns seconds to wait; 0: it may go on */
  charge(request: FastifyRequest, tokens: number): number | Promise<number>;
  /** Whom daily allowances are counted for: the caller's address. */
  sourceOf(request: FastifyRequest): string;
}

/** `null`: the process itself asks, in its own measure. */
export type Guarded = DoorGuard | null;

export class TooManyRequests extends Error {
  override readonly name = 'TooManyRequests';
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super(`Too many requests from this address: wait ${retryAfterS} s.`);
    this.retryAfterS = retryAfterS;
  }
}

/** No text of ours holds a NUL, and no database takes one. */
export class NulInUrl extends Error {
  override readonly name = 'NulInUrl';

  constructor() {
    super('The URL holds a NUL character (%00).');
  }
}

const NUL = /%00|\0/;

/** Entries of a list that one token pays for. */
export const ENTRIES_PER_TOKEN = 10;

/** The first thing that happens to a request. Its refusals are errors: each door says them in its own shape. */
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

/** Addresses remembered at a time: beyond, the one that has asked for nothing for longest is forgotten. */
const MAX_ADDRESSES = 20_000;

/** Buckets in memory, for a process that is alone and has no others. */
export function addressBuckets({ perSecond, burst, now }: BucketOptions): DoorGuard {
  /** Those that asked last are at the end. */
  const buckets = new Map<string, Bucket>();

  const draw = (source: string, wanted: number): number => {
    const at = now();
    const { tokens, at: since } = buckets.get(source) ?? { tokens: burst, at };
    const held = Math.min(burst, tokens + (Math.max(0, at - since) / 1000) * perSecond);
    // More than a bucket holds would never be there.
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

/** What one caller holds: an IPv4 address, or the first 64 bits of an IPv6 address. */
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
