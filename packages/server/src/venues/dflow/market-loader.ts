/**
 * Loads markets by ticker or mint in batches: all ids requested in the same event loop turn share one request, and answers
 * are cached for a moment. Failures are not cached.
 */
import { parseSolanaAddress } from '@bellwether/protocol';
import type { TickerMarket } from '../quotes.ts';

const MAX_CACHED = 5_000;

export interface LoaderOptions {
  /** Whether a text can be an id; other texts are not looked up. */
  readonly canBeId: (id: string) => boolean;
  /** Up to `maxIds` ids, with tickers and mints separated. */
  readonly load: (ids: {
    readonly tickers: readonly string[];
    readonly mints: readonly string[];
  }) => Promise<readonly TickerMarket[]>;
  readonly maxIds: number;
  readonly lifeMs: number;
  readonly clock: { now(): number };
}

interface WaitingTicker {
  readonly resolve: (market: TickerMarket | null) => void;
  readonly reject: (error: unknown) => void;
}

interface Cached {
  readonly at: number;
  readonly market: Promise<TickerMarket | null>;
}

/** A ticker has characters that base58 lacks, or not the length of an address. */
const isMint = (id: string): boolean => parseSolanaAddress(id) !== null;

export function createMarketLoader(options: LoaderOptions): (id: string) => Promise<TickerMarket | null> {
  const { canBeId, load, maxIds, lifeMs, clock } = options;
  const cache = new Map<string, Cached>();
  let waiting = new Map<string, WaitingTicker>();

  const fetchBatch = async (batch: ReadonlyMap<string, WaitingTicker>): Promise<void> => {
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
