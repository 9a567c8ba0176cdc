/**
 * The venue keys of wallets, opened from where they are sealed. Kept for a moment, because each order needs one; a key
 * that the venue refuses is read again.
 */
import type { LiveOrderLog } from '../../../ports/live-orders.ts';
import type { VenueKey } from './order-client.ts';

export interface Keyring {
  /** `null`: nobody has registered the wallet. */
  of(walletAddress: string): Promise<VenueKey | null>;
  /** Reads the wallet's key again. @returns whether it is another one now */
  refresh(walletAddress: string, refused: VenueKey): Promise<boolean>;
}

const KEPT_MS = 10_000;
const MAX_KEPT = 5_000;

export interface KeyringParts {
  readonly log: Pick<LiveOrderLog, 'wallet'>;
  readonly open: (wallet: NonNullable<Awaited<ReturnType<LiveOrderLog['wallet']>>>) => VenueKey;
  readonly now: () => number;
}

export function createKeyring({ log, open, now }: KeyringParts): Keyring {
  const kept = new Map<string, { readonly key: Promise<VenueKey | null>; readonly until: number }>();

  const read = (walletAddress: string): Promise<VenueKey | null> => {
    const key = log.wallet(walletAddress).then((wallet) => (wallet === null ? null : open(wallet)));
    // The oldest goes first.
    if (kept.size >= MAX_KEPT)
      for (const oldest of kept.keys()) {
        kept.delete(oldest);
        break;
      }
    kept.set(walletAddress, { key, until: now() + KEPT_MS });
    key.then(
      (found) => found === null && kept.delete(walletAddress),
      () => kept.delete(walletAddress),
    );
    return key;
  };

  return {
    of(walletAddress) {
      const found = kept.get(walletAddress);
      if (found !== undefined && found.until > now()) return found.key;
      kept.delete(walletAddress);
      return read(walletAddress);
    },
    async refresh(walletAddress, refused) {
      kept.delete(walletAddress);
      const fresh = await read(walletAddress);
      return fresh !== null && (fresh.apiKey !== refused.apiKey || fresh.secret !== refused.secret);
    },
  };
}
