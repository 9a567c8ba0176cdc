/**
 * Trading by quote: the venue says a price and builds a Solana transaction, the agent signs it, and the venue fills it
 * once it is on the chain. Prices are pips, amounts micro-units of collateral or contracts. An answer that is not proof
 * says so.
 */
import type { QuoteErrorCode } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import type { MarketRecord } from '../domain/market.ts';
import type { Chain } from './chain.ts';

/** A market that is quoted: `id` and `conditionId` are its ticker, `tokenIds` its [YES, NO] mints. */
export interface TickerMarket extends MarketRecord {
  /** What quotes and records say: active, inactive, closed or settled. */
  readonly phase: 'active' | 'inactive' | 'closed' | 'settled';
  /** The price of one contract to a buyer now, in pips; `null` when nobody offers. */
  readonly asks: { readonly YES: number | null; readonly NO: number | null };
  /** What an outcome pays once settled and open for redemption, in pips; `null` before. */
  readonly pays: { readonly YES: number | null; readonly NO: number | null };
}

export interface QuoteQuestion {
  readonly ticker: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** Collateral for a BUY, contracts for a SELL. */
  readonly amount: Micro;
  /** Who pays and signs; `null` asks for prices alone. */
  readonly wallet: SolanaAddress | null;
  /** Who receives, when that is somebody else. */
  readonly destination: SolanaAddress | null;
}

/** What the venue would do, and with which mints. */
export interface QuotedAmounts {
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  /** The most that is taken. */
  readonly inAmount: Micro;
  /** Expected, after the venue's fees. */
  readonly outAmount: Micro;
  readonly minOutAmount: Micro;
  readonly isRedemption: boolean;
}

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
    }
  | { readonly kind: 'preview'; readonly market: TickerMarket; readonly amounts: QuotedAmounts }
  | {
      readonly kind: 'degraded';
      readonly code: QuoteErrorCode;
      /** More than the code's own sentence, when more is known. */
      readonly message: string | null;
      /** `null`: the venue has no such market, or did not answer. */
      readonly market: TickerMarket | null;
    };

export interface VenueFill {
  /** Of the transaction that filled. */
  readonly signature: string;
  readonly inAmount: Micro;
  readonly outAmount: Micro;
  /** The venue's fee in it, in collateral; 0n when it does not say. */
  readonly fee: Micro;
}

export interface VenueRevert {
  readonly signature: string;
  readonly mint: string;
  readonly amount: Micro;
}

export type OrderProgress =
  /** The venue does not know it (yet), or did not answer: nothing follows. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'open'; readonly fills: readonly VenueFill[]; readonly reverts: readonly VenueRevert[] }
  /** The end: no fill and no revert will follow. */
  | {
      readonly kind: 'closed';
      readonly fills: readonly VenueFill[];
      readonly reverts: readonly VenueRevert[];
    };

/** The capability: prices, transactions to sign, and what became of them. */
export interface Quotes {
  /** The mint of the collateral. */
  readonly collateralMint: SolanaAddress;
  readonly chain: Chain;
  /** By ticker, fresh. @throws VenueUnavailable */
  market(ticker: string): Promise<TickerMarket | null>;
  /** The market of each mint that is an outcome token here. @throws VenueUnavailable */
  marketsByMint(mints: readonly string[]): Promise<ReadonlyMap<string, TickerMarket>>;
  /** Never throws: what cannot be had is a degraded quote. */
  quote(question: QuoteQuestion): Promise<VenueQuote>;
  /** By the signature of the user's transaction. Never throws. */
  progress(signature: string, lastValidBlockHeight: number): Promise<OrderProgress>;
}
