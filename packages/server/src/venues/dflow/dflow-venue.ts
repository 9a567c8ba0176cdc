/**
 * The port `Venue` over DFlow: Kalshi's markets as Solana tokens. The same code serves the real services and the sandbox;
 * only the base addresses and the sender differ.
 */
import { type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { Chain } from '../chain.ts';
import type { Quotes, TickerMarket } from '../quotes.ts';
import type { PaperCredit, VenueWith } from '../venue.ts';
import { createChainAccounts } from './accounts.ts';
import { createDflowClient, type DflowClientOptions, MAX_MINTS_PER_FILTER } from './client.ts';
import { createMarketSource } from './market-data.ts';
import { createProgress } from './progress.ts';
import { quote } from './quote.ts';
import { railOf, toTickerMarket, unknownWords } from './translate.ts';
import type { WireMarket } from './wire.ts';

const MAX_NOTES = 1_000;

export interface DflowVenueOptions extends Omit<DflowClientOptions, 'log'> {
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
