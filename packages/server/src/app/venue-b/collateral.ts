/**
 * What wallets have on venue B's chain, for reads that must not depend on it: a figure is asked for at most so often,
 * by one call at a time for each wallet, and nobody waits for it longer than they said. The last known figure stays.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import { within } from '../../domain/patience.ts';
import type { VenueB } from '../../ports/quotes.ts';

const MAX_WALLETS = 20_000;

/** An agent that has traded with more wallets gets the sum of so many: each costs a call to the chain. */
const MAX_WALLETS_PER_READ = 20;

export interface KnownCollateral {
  readonly amount: Micro;
  /** How old the oldest figure in it is; `null` while one was never learned: that wallet counts as empty. */
  readonly ageMs: number | null;
}

export interface Collateral {
  /**
   * What the wallets have together.
   * @param ask.freshMs asks the chain only when nobody has for so long, successfully or not
   * @param ask.patienceMs waits for the chain no longer
   */
  of(
    wallets: readonly SolanaAddress[],
    ask: { readonly freshMs: number; readonly patienceMs: number },
  ): Promise<KnownCollateral>;
}

interface Entry {
  amount: Micro | null;
  readAt: number | null;
  askedAt: number;
  reading: Promise<void> | null;
}

export function createCollateral({
  chain,
  collateralMint,
}: Pick<VenueB, 'chain' | 'collateralMint'>): Collateral {
  /** Those asked for last are at the end. */
  const known = new Map<SolanaAddress, Entry>();

  const entryOf = (wallet: SolanaAddress): Entry => {
    const entry = known.get(wallet) ?? {
      amount: null,
      readAt: null,
      askedAt: Number.NEGATIVE_INFINITY,
      reading: null,
    };
    known.delete(wallet);
    known.set(wallet, entry);
    const [oldest] = known.keys();
    if (known.size > MAX_WALLETS && oldest !== undefined) known.delete(oldest);
    return entry;
  };

  const read = async (wallet: SolanaAddress, entry: Entry): Promise<void> => {
    try {
      const account = await chain.tokenAccount(wallet, collateralMint);
      entry.amount = account?.amount ?? 0n;
      entry.readAt = performance.now();
    } catch {
      // The figure stays what it was, and its age says so.
    }
  };

  const one = async (wallet: SolanaAddress, freshMs: number, patienceMs: number): Promise<Entry> => {
    const entry = entryOf(wallet);
    const now = performance.now();
    if (entry.reading === null && now - entry.askedAt >= freshMs) {
      entry.askedAt = now;
      entry.reading = read(wallet, entry).finally(() => {
        entry.reading = null;
      });
    }
    if (entry.reading !== null) await within(patienceMs, entry.reading);
    return entry;
  };

  return {
    async of(wallets, { freshMs, patienceMs }) {
      const asked = wallets.slice(0, MAX_WALLETS_PER_READ);
      const entries = await Promise.all(asked.map((wallet) => one(wallet, freshMs, patienceMs)));
      const now = performance.now();
      return {
        amount: entries.reduce((sum, { amount }) => sum + (amount ?? 0n), 0n),
        ageMs: entries.reduce<number | null>(
          (age, { readAt }) => (age === null || readAt === null ? null : Math.max(age, now - readAt)),
          0,
        ),
      };
    },
  };
}
