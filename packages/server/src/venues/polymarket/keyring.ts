/**
 * The venue keys of wallets, opened from where they are sealed. Kept for a moment, because each order needs one; a key
 * that the venue refuses is read again.
 */
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { FollowedWallet, LiveOrderLog } from '../live-orders.ts';
import type { OwnedKeys } from './l2-headers.ts';

export interface Keyring {
  /** `null`: the wallet is not registered. */
  of(walletAddress: string): Promise<OwnedKeys | null>;
  /** The key for an account: of its own registration, else of a wallet that it pays for. */
  ofAccount(account: string): Promise<OwnedKeys | null>;
  /** Reads the wallet's key again. @returns whether it is another one now */
  refresh(walletAddress: string, refused: OwnedKeys): Promise<boolean>;
}

const KEPT_MS = 10_000;
const MAX_KEPT = 5_000;

export interface KeyringParts {
  readonly log: Pick<LiveOrderLog, 'wallet' | 'account'>;
  readonly open: (wallet: FollowedWallet) => OwnedKeys;
  readonly now: () => number;
}

export function createKeyring({ log, open, now }: KeyringParts): Keyring {
  const keptBy = (read: (address: string) => Promise<FollowedWallet | null>) => {
    const kept = new BoundedCache<{ readonly key: Promise<OwnedKeys | null>; readonly until: number }>({
      entries: MAX_KEPT,
      weight: MAX_KEPT,
      weightOf: () => 1,
    });
    const load = (address: string): Promise<OwnedKeys | null> => {
      const key = read(address).then((wallet) => (wallet === null ? null : open(wallet)));
      kept.set(address, { key, until: now() + KEPT_MS });
      const forget = () => {
        if (kept.get(address)?.key === key) kept.delete(address);
      };
      // A wallet may be registered in the next moment.
      key.then((found) => found === null && forget(), forget);
      return key;
    };
    return {
      load,
      get(address: string): Promise<OwnedKeys | null> {
        const found = kept.get(address);
        return found !== undefined && found.until > now() ? found.key : load(address);
      },
    };
  };
  const wallets = keptBy(log.wallet);
  const accounts = keptBy(log.account);

  return {
    of: wallets.get,
    ofAccount: accounts.get,
    async refresh(walletAddress, refused) {
      const fresh = await wallets.load(walletAddress);
      if (fresh === null) return false;
      const { apiKey, secret, passphrase } = fresh.secrets;
      const before = refused.secrets;
      return apiKey !== before.apiKey || secret !== before.secret || passphrase !== before.passphrase;
    },
  };
}
