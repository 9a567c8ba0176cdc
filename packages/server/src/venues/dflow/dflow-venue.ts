/**
 * The port `Venue` over DFlow: Kalshi's markets as Solana tokens. The same code serves the real services and the sandbox;
 * only the base addresses and the sender differ.
 */

import type { Micro } from '@bellwether/contract/decimals';
import { type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { isSolana } from '../../domain/records.ts';
import { within } from '../../domain/unavailable.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { Chain } from '../chain.ts';
import type { Quotes, TickerMarket } from '../quotes.ts';
import type { Accounts, PaperCredit, VenueWith } from '../venue.ts';
import {
  createDflowClient,
  type DflowClientOptions,
  MAX_MINTS_PER_FILTER,
  type WireMarket,
} from './client.ts';
import { createMarketSource } from './market-data.ts';
import { createProgress } from './progress.ts';
import { quote } from './quote.ts';
import { railOf, toTickerMarket, unknownWords } from './translate.ts';

const MAX_NOTES = 1_000;

interface DflowVenueOptions extends Omit<DflowClientOptions, 'log'> {
  readonly id: string;
  readonly backend: 'paper' | 'live';
  readonly chain: Chain;
  /** Slippage: how much less than quoted a fill may give, in hundredths of a percent. */
  readonly slippageBps: number;
  /** The most by which an order may move the price. */
  readonly priceImpactPercent: number;
  readonly geography?: NonNullable<Quotes['geography']>;
  /** Paper only. */
  readonly paper?: PaperCredit;
  readonly openRpcPath?: string;
  /** When the maintenance of an hour ends; `null`: the venue keeps no hours, or is open. */
  readonly maintenanceEnd: (at: number) => number | null;
  readonly log: OutboundLog & { error(context: object, message: string): void };
}

export function createDflowVenue(options: DflowVenueOptions): VenueWith<'quotes'> {
  const { id, backend, chain, clock, log, paper, geography, openRpcPath } = options;
  const collateral: SolanaAddress = USDC_MINT;
  const client = createDflowClient(options);
  const note = createNotes(log);
  const markets = createMarketSource({
    client,
    clock,
    translate: (wire: WireMarket) => {
      const rail = railOf(wire, collateral);
      if (rail === 'unreadable')
        note({ ticker: wire.ticker }, 'DFlow lists a market whose tokens cannot be read');
      if (rail === null || rail === 'unreadable') return rail;
      const words = unknownWords(wire, rail);
      if (Object.keys(words).length > 0) note(words, 'DFlow says something of a market that is not known');
      return toTickerMarket(wire, rail, clock.now());
    },
  });

  return {
    id,
    backend,
    markets: markets.data,
    accounts: createChainAccounts({ chain, collateralMint: collateral }),
    ...(paper === undefined ? {} : { paper }),

    status() {
      return [client.status(), chain.status()].find((text) => text !== 'ready') ?? 'ready';
    },

    quotes: {
      collateralMint: collateral,
      chain,
      ...(geography === undefined ? {} : { geography }),
      ...(openRpcPath === undefined ? {} : { openRpcPath }),
      market: markets.fresh,

      async marketsByMint(mints) {
        const found = new Map<string, TickerMarket | null>();
        for (let start = 0; start < mints.length; start += MAX_MINTS_PER_FILTER) {
          const outcomes = await client.filterOutcomeMints(mints.slice(start, start + MAX_MINTS_PER_FILTER));
          const loaded = await Promise.all(outcomes.map(markets.byId));
          for (const [index, market] of loaded.entries()) {
            const mint = outcomes[index]!;
            if (market === null) note({ mint }, 'DFlow names no readable market of an outcome token');
            found.set(mint, market);
          }
        }
        return found;
      },

      quote: (question) =>
        quote(
          {
            ...{ client, fresh: markets.fresh, chain, collateral, clock, log, note },
            ...{ slippageBps: options.slippageBps, priceImpactPercent: options.priceImpactPercent },
            maintenanceEnd: options.maintenanceEnd,
          },
          question,
        ),

      progress: createProgress({ client, byMint: markets.byId, note }),
    },
  };
}

/** Logs a message once, although its cause repeats with every request. */
function createNotes(log: DflowVenueOptions['log']): (context: object, message: string) => void {
  const said = new Set<string>();
  return (context, message) => {
    const key = message + JSON.stringify(context);
    if (said.has(key) || said.size >= MAX_NOTES) return;
    said.add(key);
    log.warn(context, message);
  };
}

// Wallet balances on the chain, for reads that must not depend on it: limited refreshes, one call at a time per wallet,
// and a bounded wait for each read. Without an answer the last known figure stays.

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
