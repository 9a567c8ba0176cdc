/**
 * Shared by the routes of the venue's door: what they are given, parts of a request, the exchange behind them, accounts
 * of a key, pages, and refusals.
 */
import {
  type Address,
  type ExchangeDomains,
  type RecoverPublicKey,
  type SignatureType,
  walletKindsOf,
} from '@bellwether/protocol';
import type { FastifyRequest } from 'fastify';
import type { PaperExchange, PriceHistory } from '../../paper-exchange.ts';
import type { TradeHistory } from '../../trade-history.ts';
import type { Guarded } from '../limits.ts';
import type { Faults } from './faults.ts';
import type { VenueKeys } from './venue-keys.ts';

export type MarketReads = Pick<PaperExchange, 'market' | 'marketByToken' | 'book' | 'markets'>;

/** The exchange as the door needs it. */
export interface DoorExchange
  extends MarketReads,
    Pick<PaperExchange, 'account' | 'available' | 'freeTokens' | 'openOrder' | 'openOrders' | 'execute'>,
    Pick<PaperExchange, 'orderRecord' | 'orderRecords' | 'postedOrders'> {
  readonly history: TradeHistory;
  readonly prices: PriceHistory;
}

export interface PolymarketDoorOptions {
  /** `null`: it is not open here; the door then answers as while the venue's engine restarts. */
  readonly exchange: () => DoorExchange | null;
  readonly keys: VenueKeys;
  readonly recover: RecoverPublicKey;
  /** Chain that messages are signed for. */
  readonly chainId: number;
  /** The contracts that orders are signed for. */
  readonly domains: ExchangeDomains;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * Order version that `/version` reports: 1 for the 12-field struct, 2 for the 11-field struct. The door accepts both.
   * Clients of the venue's first version (clob-client 5) never ask and always sign version 1; clob-client-v2 signs the
   * reported version.
   */
  readonly orderVersion: 1 | 2;
  /** Minimum lead of a GTD order's expiration, in seconds. */
  readonly gtdMinLeadS: number;
  /** Whether a signer's requests are limited as at the venue. */
  readonly limitsSigners: boolean;
  /** How often silent keys are looked for; the venue's five seconds when omitted. */
  readonly heartbeatCheckMs?: number;
  readonly guard: Guarded;
  /** Omitted: the venue has none. */
  readonly faults?: Faults;
}

// Parts of a request, as text that is not checked yet.

export const TOKEN_ID = /^[0-9]{1,78}$/;

/** '' when it is missing or was sent more than once. */
export function parameter(request: FastifyRequest, name: string): string {
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

/** @throws WireError for what is no JSON */
export function jsonOf(text: string, fault = 'Invalid payload'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireError(400, fault);
  }
}

// The exchange behind the door, and what its failures mean to a client.

/** @throws EngineRestarts */
export function openHere({ exchange }: Pick<PolymarketDoorOptions, 'exchange'>): DoorExchange {
  const open = exchange();
  if (open === null) throw new EngineRestarts();
  return open;
}

/** By its name: a door imports no code of the exchange. */
const isUnavailable = (error: unknown): error is Error & { readonly executed: 'no' | 'unknown' } =>
  error instanceof Error && error.name === 'ExchangeUnavailable';

/** Runs a command. @throws EngineRestarts with proof that nothing happened, WireError 500 without any */
export async function commanded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    if (error.executed === 'no') throw new EngineRestarts();
    throw new WireError(500, 'could not run the execution');
  }
}

// The accounts of an API key: the wallets that its address controls.

/** Most addresses in memory: finding the wallets of one takes six hashes. */
const MAX_KNOWN_ACCOUNTS = 2_000;
const knownAccounts = new Map<Address, readonly Address[]>();

/** In the order of signature types, the newer deposit wallet before the older. */
export function accountsOf(eoa: Address): readonly Address[] {
  const found = knownAccounts.get(eoa);
  if (found !== undefined) return found;
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  const accounts = [eoa, proxy, safe, deposit.beacon, deposit.uups];
  knownAccounts.set(eoa, accounts);
  const [oldest] = knownAccounts.keys();
  if (knownAccounts.size > MAX_KNOWN_ACCOUNTS && oldest !== undefined) knownAccounts.delete(oldest);
  return accounts;
}

export const accountOfType = (eoa: Address, type: SignatureType): Address => accountsOf(eoa)[type]!;

// Cursors of the venue's lists: an offset in base64. Wire reference 2.8.

/** Base64 of "-1": nothing follows. Sent back, it is refused. */
export const END_CURSOR = 'LTE=';
const CURSOR_OFFSET = /^[0-9]{1,9}$/;

/** @throws WireError */
export function offsetOf(cursor: string): number {
  if (cursor === '') return 0;
  const text = Buffer.from(cursor, 'base64').toString('utf8');
  if (CURSOR_OFFSET.test(text)) return Number(text);
  throw new WireError(
    400,
    text === '-1' ? 'next item should be greater than or equal to 0' : 'Invalid next_cursor',
  );
}

const cursorOf = (offset: number): string => Buffer.from(String(offset)).toString('base64');

export interface Page<Row> {
  readonly limit: number;
  readonly count: number;
  readonly next_cursor: string;
  readonly data: readonly Row[];
}

/** @param rows of the page that begins at `offset`, out of `total` */
export function pageOf<Row>(
  rows: readonly Row[],
  { offset, total, limit }: { readonly offset: number; readonly total: number; readonly limit: number },
): Page<Row> {
  const next = offset + rows.length;
  const isLast = rows.length === 0 || next >= total;
  return { limit, count: rows.length, next_cursor: isLast ? END_CURSOR : cursorOf(next), data: rows };
}

/** A refusal with the venue's text, unchanged because its clients match on it; hints are separate fields. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, text: string, details: Readonly<Record<string, unknown>> = {}) {
    super(text);
    this.status = status;
    this.details = details;
  }
}

/** The venue's answer while its engine restarts: 425 without a body. */
export class EngineRestarts extends Error {
  override readonly name = 'EngineRestarts';
  readonly retryAfterS = 1;
}

export const invalidL1 = (details: Readonly<Record<string, unknown>>): WireError =>
  new WireError(401, 'Invalid L1 Request headers', details);
export const invalidApiKey = (): WireError => new WireError(401, 'Unauthorized/Invalid api key');
export const noOrderbook = (): WireError =>
  new WireError(404, 'No orderbook exists for the requested token id');
export const invalidPayload = (): WireError => new WireError(400, 'Invalid payload');
export const tooLarge = (): WireError => new WireError(400, 'Payload exceeds the limit');
