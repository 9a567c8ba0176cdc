/**
 * Markets by ticker or mint, asked for in batches: what is wanted in the same turn goes into one request, and an answer
 * serves for a moment. A failure is remembered by nobody.
 */
import { parseSolanaAddress } from '@bellwether/protocol';
import type { TickerMarket } from '../../../ports/quotes.ts';

const MAX_CACHED = 5_000;

export interface LoaderOptions {
  /** Whether it can be an id at all; what cannot be is not asked for. */
  readonly canBeId: (id: string) => boolean;
  /** Up to `maxIds` ids, tickers and mints apart. */
  readonly load: (ids: {
    readonly tickers: readonly string[];
    readonly mints: readonly string[];
  }) => Promise<readonly TickerMarket[]>;
  readonly maxIds: number;
  readonly lifeMs: number;
  readonly clock: { now(): number };
}

interface Waiting {
  readonly resolve: (market: TickerMarket | null) => void;
  readonly reject: (error: unknown) => void;
}

interface Cached {
  readonly at: number;
  readonly market: Promise<TickerMarket | null>;
}

/** A ticker holds characters that base58 lacks, or is no address by its length. */
const isMint = (id: string): boolean => parseSolanaAddress(id) !== null;

export function createMarketLoader(options: LoaderOptions): (id: string) => Promise<TickerMarket | null> {
  const { canBeId, load, maxIds, lifeMs, clock } = options;
  const cache = new Map<string, Cached>();
  let waiting = new Map<string, Waiting>();

  const fetchBatch = async (batch: ReadonlyMap<string, Waiting>): Promise<void> => {
    const ids = [...batch.keys()];
    try {
      const markets = await load({
        tickers: ids.filter((id) => !isMint(id)),
        mints: ids.filter(isMint),
      });
      const found = new Map(
        markets.flatMap((market) => [market.id, ...market.tokenIds].map((id) => [id, market] as const)),
      );
      for (const [id, { resolve }] of batch) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const id of ids) cache.delete(id);
      for (const { reject } of batch.values()) reject(error);
    }
  };

  const flush = (): void => {
    const entries = [...waiting];
    waiting = new Map();
    for (let start = 0; start < entries.length; start += maxIds)
      void fetchBatch(new Map(entries.slice(start, start + maxIds)));
  };

  const sweep = (now: number): void => {
    for (const [id, { at }] of cache) if (now - at >= lifeMs) cache.delete(id);
  };

  return (id) => {
    if (!canBeId(id)) return Promise.resolve(null);
    const now = clock.now();
    const cached = cache.get(id);
    if (cached !== undefined && now - cached.at < lifeMs) return cached.market;
    if (cache.size >= MAX_CACHED) sweep(now);
    const { promise, resolve, reject } = Promise.withResolvers<TickerMarket | null>();
    if (waiting.size === 0) setImmediate(flush);
    waiting.set(id, { resolve, reject });
    cache.set(id, { at: now, market: promise });
    return promise;
  };
}
