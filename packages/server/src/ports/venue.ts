/**
 * A venue: a place that executes orders. It is an object with capabilities, which it may have or lack; the use cases ask
 * for a capability and never for a name. Accepted, rejected and unknown are three different answers: nothing is called
 * rejected or filled without proof.
 *
 * Money and shares are micro-units, prices pips, times epoch milliseconds. A call that gets no answer throws
 * VenueUnavailable (or ChainUnavailable) where its docstring says so.
 */
import type { VenueRefusal } from '@bellwether/contract';
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Address, SignatureType } from '@bellwether/protocol';
import type { AddressFamily, WalletAddress } from '../domain/addresses.ts';
import type { Book, MarketRecord } from '../domain/market.ts';
import type { VenueRules } from '../domain/orders/coherence.ts';
import type { TimeInForce } from '../domain/orders/draft.ts';
import type { SigningTerms } from '../domain/signature-rules.ts';
import type { PriceHistory } from './price-history.ts';
import type { Quotes } from './quotes.ts';

/** What requests, answers and stored orders call it: `polymarket`, `kalshi`. */
export type VenueId = string;

export interface Venue {
  readonly id: VenueId;
  /** `paper`: money is simulated. `live`: it is real, and an unclaimed agent may not trade. */
  readonly backend: 'paper' | 'live';
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  readonly markets: MarketData;
  readonly accounts: Accounts;
  /** Takes orders that the agent signed. */
  readonly signedOrders?: SignedOrders;
  /** Quotes transactions for the agent to sign. */
  readonly quotes?: Quotes;
  /** Calls back resting orders. A venue without it fills an order or lets it die. */
  readonly cancel?: Cancel;
  /** Pays resolved tokens out on request. A venue with `quotes` and without this redeems by a SELL quote. */
  readonly redemption?: Redemption;
  readonly history?: PriceHistory;
  /** Only where money is simulated. */
  readonly paper?: PaperCredit;
}

export type Capability = 'signedOrders' | 'quotes' | 'cancel' | 'redemption' | 'history' | 'paper';

export type VenueWith<C extends Capability> = Venue & { readonly [K in C]-?: NonNullable<Venue[K]> };

/** Every venue of this service by its id, in the order in which answers list them. */
export interface Venues extends ReadonlyMap<VenueId, Venue> {
  /** What a request means that names no venue. */
  readonly default: Venue;
}

export interface MarketData {
  /** Whether the venue's own evidence says how markets end. Where it does not, a job asks. */
  readonly announcesResolutions: boolean;
  /**
   * Whether a text has the form of an id here. What has not is not asked for, unless the request names this venue.
   * No I/O.
   */
  canBeId(text: string): boolean;
  /** By market id, condition id, slug or token id. @throws VenueUnavailable */
  find(id: string): Promise<MarketRecord | null>;
  /** Those of the condition ids that the venue still knows, in any order. @throws VenueUnavailable */
  findAll(conditionIds: readonly string[]): Promise<readonly MarketRecord[]>;
  /**
   * What was listed after a time and is still open, newest first.
   * `latest`: when the venue's newest market was listed; it is what to ask after next time.
   * @throws VenueUnavailable
   */
  listedAfter(after: number, limit: number): Promise<Listing>;
  /** @throws VenueUnavailable */
  byToken(tokenId: string): Promise<{ readonly market: MarketRecord; readonly outcome: 'YES' | 'NO' } | null>;
  /** Markets that match the words, best first; `*` means all. @throws VenueUnavailable */
  search(words: string): Promise<readonly MarketRecord[]>;
  /** `null`: the market has no book, because it is over. @throws VenueUnavailable */
  book(conditionId: string, outcome: 'YES' | 'NO', depth: number): Promise<Book | null>;
}

export interface Listing {
  readonly markets: readonly MarketRecord[];
  readonly latest: number;
}

/** What accounts hold, for reads that must not depend on the venue. What was not learned in time is said so. */
export interface Accounts {
  /** Whose addresses name accounts here. */
  readonly family: AddressFamily;
  /** Collateral of the accounts together, of which the last known figure stays. Never throws. */
  balances(accounts: readonly WalletAddress[], ask: Patience): Promise<KnownBalance>;
  /** What an account can spend in one market. Never throws. */
  inMarket(
    account: WalletAddress,
    market: MarketRecord,
    ask: Pick<Patience, 'patienceMs'>,
  ): Promise<Spendable>;
}

export interface Patience {
  /** Answers from memory when the venue was asked less than so long ago, successfully or not. */
  readonly freshMs: number;
  /** Waits for the venue no longer. */
  readonly patienceMs: number;
}

export interface KnownBalance {
  /** What open orders hold included. */
  readonly total: Micro;
  readonly available: Micro;
  /** How old the oldest figure in it is; `null` while one was never learned: that account counts as empty. */
  readonly ageMs: number | null;
}

/** `null` for what the venue did not tell. */
export interface Spendable {
  readonly available: Micro | null;
  /** Outcome tokens that no open order holds. */
  readonly free: Readonly<Record<'YES' | 'NO', Micro>> | null;
}

/** An exact balance, as an order is judged by it. */
export interface Balance {
  readonly available: Micro;
  readonly held: Micro;
  /** Free shares of an outcome, without what open SELL orders hold. */
  shares(conditionId: string, outcome: 'YES' | 'NO'): Micro;
}

/** Orders as EIP-712 messages; the order's id is the digest of what was signed. */
export interface SignedOrders {
  /** The contracts and the struct that an order is signed for here. */
  readonly signing: SigningTerms;
  /** What the venue demands of an order beyond its market's terms. */
  readonly rules: VenueRules;
  /** The EOA that the secrets belong to, `null` when they are wrong. @throws VenueUnavailable */
  verifyCredentials(secrets: VenueSecrets): Promise<Address | null>;
  /** Free collateral and free tokens of an account, now. @throws VenueUnavailable */
  balance(account: Address): Promise<Balance>;
  /** Resolves when the outcome is recorded too, so that the desk's books are never behind the venue's word. */
  submit(order: VenueOrder): Promise<VenueAnswer>;
  /** Brings an order in doubt to its end, or leaves it. `never_received` is proof that nothing happened. */
  resolve(orderId: string): Promise<VenueAnswer | { readonly kind: 'never_received' }>;
}

export interface Cancel {
  /** Resolves when the outcome is recorded. Orders that are not open are in `notCanceled`, each with its reason. */
  orders(account: WalletAddress, orderIds: readonly string[]): Promise<CancelAnswer>;
}

export interface Redemption {
  /** Exchanges all tokens of a resolved market that an account holds. Never paid twice. @throws VenueUnavailable */
  redeem(account: Address, conditionId: string): Promise<RedeemAnswer>;
}

export interface PaperCredit {
  /** Gives an account its simulation balance, at most once for ever. @throws VenueUnavailable */
  credit(account: WalletAddress): Promise<void>;
  /** Gives an account as much again as it asks for. Absent: there is no faucet. @throws VenueUnavailable */
  readonly faucet?: (account: WalletAddress, amount: Micro) => Promise<void>;
}

export interface VenueSecrets {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

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
  /** GTD only, as signed. */
  readonly expiration: number | null;
  /**
   * The time after which the order must not be executed any more: later than that the desk may ask for proof that it
   * never arrived, and that proof has to stay true.
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

export type { SignatureType };
