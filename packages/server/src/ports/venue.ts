/**
 * A place that executes orders, as the desk needs it. Accepted, rejected and unknown are three different answers:
 * nothing is called rejected or filled without proof.
 */
import type { VenueRefusal } from '@bellwether/contract';
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Address, SignatureType } from '@bellwether/protocol';
import type { Book, MarketRecord } from '../domain/market.ts';
import type { TimeInForce } from '../domain/orders/draft.ts';

export interface VenueOrder {
  readonly orderId: string;
  /** The order's maker: the account that pays. */
  readonly funder: Address;
  readonly conditionId: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  readonly limit: Pips;
  readonly shares: Micro;
  /** Immediate BUY: the budget, fees apart. */
  readonly spend: Micro | null;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  /** Epoch milliseconds; GTD only, as signed. */
  readonly expiration: number | null;
  /**
   * Epoch milliseconds after which the order must not be executed any more: later than that the desk may ask for
   * proof that it never arrived, and that proof has to stay true.
   */
  readonly deadline: number;
}

/** What a venue said at once about an order. Amounts are what was filled by then. */
export type VenueAnswer =
  | {
      readonly kind: 'accepted';
      readonly status: 'live' | 'matched' | 'delayed' | 'unmatched';
      readonly filled: Micro;
      readonly cost: Micro;
      readonly fees: Micro;
    }
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal }
  | { readonly kind: 'unknown' };

export type CancelAnswer =
  | {
      readonly kind: 'answered';
      readonly canceled: readonly string[];
      readonly notCanceled: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'unknown' };

/** `yes` and `no` are the tokens burnt, both 0n when nothing was held; `payout` the collateral received. */
export type RedeemAnswer =
  | { readonly kind: 'redeemed'; readonly yes: Micro; readonly no: Micro; readonly payout: Micro }
  | { readonly kind: 'not_resolved' }
  /** Live venues: calls for the owner of the wallet to sign. */
  | { readonly kind: 'unsigned'; readonly transactions: readonly UnsignedCall[] }
  | { readonly kind: 'unknown' };

export interface UnsignedCall {
  readonly to: Address;
  readonly data: string;
  readonly value: string;
  readonly chainId: number;
  readonly description: string;
}

export interface VenueSecrets {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface Venue {
  readonly name: string;
  readonly kind: 'A' | 'B';
  readonly backend: 'paper' | 'live';
  /** `ready`, or a sentence that says what is wrong. */
  status(): string;
  /** The EOA that the secrets belong to, `null` when they are wrong. */
  verifyCredentials(secrets: VenueSecrets): Promise<Address | null>;
  /** Resolves when the outcome is recorded too, so that the desk's books are never behind the venue's word. */
  submit(order: VenueOrder): Promise<VenueAnswer>;
  cancel(funder: Address, orderIds: readonly string[]): Promise<CancelAnswer>;
  /** Exchanges all tokens of a resolved market that an account holds. Never paid twice. */
  redeem(funder: Address, conditionId: string): Promise<RedeemAnswer>;
  /** Free collateral and free tokens of an account. */
  balance(funder: Address): Promise<Balance>;
  /** Brings an order in doubt to its end, or leaves it. `never_received` is proof that nothing happened. */
  resolve(orderId: string): Promise<VenueAnswer | { readonly kind: 'never_received' }>;
  /** Paper only: credits an account; the simulation balance at most once per account. */
  deposit(funder: Address, amount: Micro, reason: 'simulation' | 'faucet'): Promise<void>;
}

export interface Balance {
  readonly available: Micro;
  readonly held: Micro;
  /** Free shares of an outcome, without what open SELL orders hold. */
  shares(conditionId: string, outcome: 'YES' | 'NO'): Micro;
}

export interface MarketData {
  /** By market id, condition id, slug or token id. */
  find(id: string): Promise<MarketRecord | null>;
  /** Those of the ids (condition ids) that the venue still knows, in any order. */
  findAll(conditionIds: readonly string[]): Promise<readonly MarketRecord[]>;
  /**
   * What was listed after a time and is still open, newest first.
   * `latest`: when the venue's newest market was listed; it is what to ask after next time.
   */
  listedAfter(
    after: number,
    limit: number,
  ): Promise<{ readonly markets: readonly MarketRecord[]; readonly latest: number }>;
  byToken(tokenId: string): Promise<{ readonly market: MarketRecord; readonly outcome: 'YES' | 'NO' } | null>;
  /** Markets that match the words, best first. */
  search(words: string): Promise<readonly MarketRecord[]>;
  book(conditionId: string, outcome: 'YES' | 'NO', depth: number): Promise<Book | null>;
}

export type { SignatureType };
