/**
 * Trading by quote: the venue quotes a price and builds a Solana transaction, the agent signs it, and the venue fills
 * it once it is on the chain. Prices are pips, amounts micro-units of collateral or contracts. `unknown` means that the
 * answer proves nothing.
 */
import type { QuoteErrorCode } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import type { MarketRecord } from '../domain/market.ts';
import type { Chain } from './chain.ts';

/** A quoted market: `id` and `conditionId` are its ticker, `tokenIds` its [YES, NO] mints. */
export interface TickerMarket extends MarketRecord {
  readonly phase: 'active' | 'inactive' | 'closed' | 'settled';
  /** The current price at which one contract can be bought, in pips; `null` when there is no offer. */
  readonly asks: { readonly YES: number | null; readonly NO: number | null };
  /** Payout of an outcome once settled and open for redemption, in pips; `null` before. */
  readonly pays: { readonly YES: number | null; readonly NO: number | null };
  /** The venue's word for the redemption of a decided market, where the desk does not know it. */
  readonly unknownRedemption?: string;
}

export interface QuoteQuestion {
  readonly ticker: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** Collateral for a BUY, contracts for a SELL. */
  readonly amount: Micro;
  /** The wallet that pays and signs; `null` requests prices only. */
  readonly wallet: SolanaAddress | null;
  /** The recipient, when it is not `wallet`. */
  readonly destination: SolanaAddress | null;
}

/** The amounts and mints of the quoted trade. */
export interface QuotedAmounts {
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  /** Maximum input. */
  readonly inAmount: Micro;
  /** Expected output, after the venue's fees. */
  readonly outAmount: Micro;
  readonly minOutAmount: Micro;
  readonly isRedemption: boolean;
}

/** How far the order would move the price, in millionths; absent: the venue does not say. */
type PriceImpact = Micro;

export type VenueQuote =
  | {
      readonly kind: 'executable';
      readonly market: TickerMarket;
      readonly amounts: QuotedAmounts;
      /** The unsigned transaction, and the message in it. Its programs, effects and simulation have been checked. */
      readonly wire: Uint8Array;
      readonly message: Uint8Array;
      readonly lastValidBlockHeight: number;
      /** Epoch milliseconds at which the blockhash is expected to be too old. */
      readonly expectedEnd: number;
      readonly priceImpact?: PriceImpact;
    }
  | {
      readonly kind: 'preview';
      readonly market: TickerMarket;
      readonly amounts: QuotedAmounts;
      readonly priceImpact?: PriceImpact;
    }
  | {
      readonly kind: 'degraded';
      readonly code: QuoteErrorCode;
      /** Replaces the code's general sentence, when more is known. */
      readonly message: string | null;
      /** `null`: the venue has no such market, or did not answer. */
      readonly market: TickerMarket | null;
    };

/** An order by quote whose transaction is on the chain. */
export interface LandedOrder extends Pick<QuotedAmounts, 'inputMint' | 'outputMint' | 'inAmount'> {
  /** Of the user's transaction. */
  readonly signature: string;
  readonly lastValidBlockHeight: number;
}

export interface VenueFill {
  /** Signature of the transaction that made the fill. */
  readonly signature: string;
  readonly inAmount: Micro;
  readonly outAmount: Micro;
  /** The venue's fee in collateral; 0n when the venue does not report it. */
  readonly fee: Micro;
}

export interface VenueRevert {
  readonly signature: string;
  readonly mint: string;
  readonly amount: Micro;
}

export type OrderProgress =
  /** The venue does not know it (yet), or did not answer: this proves nothing. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'open'; readonly fills: readonly VenueFill[]; readonly reverts: readonly VenueRevert[] }
  /** The end: no fill and no revert will follow. */
  | {
      readonly kind: 'closed';
      readonly fills: readonly VenueFill[];
      readonly reverts: readonly VenueRevert[];
    };

/** The capability: prices, transactions to sign, and their outcomes. */
export interface Quotes {
  /** The mint of the collateral. */
  readonly collateralMint: SolanaAddress;
  readonly chain: Chain;
  /** Where the venue must not be offered. Absent: it may be offered everywhere. */
  readonly geography?: {
    /**
     * In which a trusted proxy names the caller's country (ISO 3166 alpha-2), lower case; `null`: on paper, or where the
     * operator keeps callers out by other means.
     */
    readonly countryHeader: string | null;
    /** Why nothing may be bought from there, as a sentence. @param said by the proxy; `null`: nothing @returns `null`: it may */
    refusalOf(said: string | null): string | null;
  };
  /** Where callers without a key may ask the chain, below the public URL. Only where it is a paper chain. */
  readonly openRpcPath?: string;
  /** By ticker, not cached. @throws VenueUnavailable */
  market(ticker: string): Promise<TickerMarket | null>;
  /**
   * The market of each mint that is an outcome token of this venue; `null`: the venue calls it one, and names no market of it
   * that can be read.
   * @throws VenueUnavailable
   */
  marketsByMint(mints: readonly string[]): Promise<ReadonlyMap<string, TickerMarket | null>>;
  /** Never throws: without a transaction the result is a degraded quote. */
  quote(question: QuoteQuestion): Promise<VenueQuote>;
  /** Never throws. */
  progress(order: LandedOrder): Promise<OrderProgress>;
}
