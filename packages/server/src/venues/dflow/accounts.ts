/**
 * Wallet balances on the chain, for reads that must not depend on it: limited refreshes, one call at a time per wallet,
 * and a bounded wait for each read. Without an answer the last known figure stays.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import { isSolana } from '../../domain/addresses.ts';
import { within } from '../../domain/patience.ts';
import type { Quotes } from '../quotes.ts';
import type { Accounts } from '../venue.ts';

const MAX_WALLETS = 20_000;

/** For more wallets than this, the sum covers only these: each costs a call to the chain. */
const MAX_WALLETS_PER_READ = 20;

interface AccountEntry {
  amount: Micro | null;
  readAt: number | null;
  askedAt: number;
  reading: Promise<void> | null;
}

export function createChainAccounts({
  chain,
  collateralMint,
}: Pick<Quotes, 'chain' | 'collateralMint'>): Accounts {
  /** The most recently used entries are at the end. */
  const known = new Map<SolanaAddress, AccountEntry>();

  const entryOf = (wallet: SolanaAddress): AccountEntry => {
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

  const read = async (wallet: SolanaAddress, entry: AccountEntry): Promise<void> => {
    try {
      const account = await chain.tokenAccount(wallet, collateralMint);
      entry.amount = account?.amount ?? 0n;
      entry.readAt = performance.now();
    } catch {
      // The old figure stays, and its age shows that.
    }
  };

  const one = async (wallet: SolanaAddress, freshMs: number, patienceMs: number): Promise<AccountEntry> => {
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

  const balances: Accounts['balances'] = async (wallets, { freshMs, patienceMs }) => {
    const asked = wallets.filter(isSolana).slice(0, MAX_WALLETS_PER_READ);
    const entries = await Promise.all(asked.map((wallet) => one(wallet, freshMs, patienceMs)));
    const now = performance.now();
    const total = entries.reduce((sum, { amount }) => sum + (amount ?? 0n), 0n);
    const ageMs = entries.reduce<number | null>(
      (age, { readAt }) => (age === null || readAt === null ? null : Math.max(age, now - readAt)),
      0,
    );
    // The chain has no holds for open orders.
    return { total, available: total, ageMs };
  };

  return {
    family: 'solana',
    balances,
    async inMarket(wallet, market, { patienceMs }) {
      if (!isSolana(wallet)) return { available: 0n, free: { YES: 0n, NO: 0n } };
      const [collateral, tokens] = await Promise.all([
        balances([wallet], { freshMs: 0, patienceMs }),
        within(patienceMs, chain.outcomeAccounts(wallet)),
      ]);
      const held = (mint: string) =>
        (tokens ?? []).reduce((sum, account) => (account.mint === mint ? sum + account.amount : sum), 0n);
      return {
        available: collateral.ageMs === null ? null : collateral.available,
        free: tokens === null ? null : { YES: held(market.tokenIds[0]), NO: held(market.tokenIds[1]) },
      };
    },
  };
}
