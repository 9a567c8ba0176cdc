/**
 * A venue: a place that executes orders. It is an object with optional capabilities; use cases check for a capability,
 * never for a name. Accepted, rejected and unknown are three different answers: an order is rejected or filled only
 * with proof.
 *
 * Money and shares are micro-units, prices pips, times epoch milliseconds. A call without an answer throws
 * VenueUnavailable (or ChainUnavailable) where its docstring says so.
 */
import type { RelayRecord, VenueRefusal } from '@bellwether/contract';
import type { Micro, Pips } from '@bellwether/contract/decimals';
import {
  type Address,
  bytesToHex,
  type ContractCall,
  type OrderExtras,
  type OrderFields,
  type RelayTerms,
  relayRequest,
  type SigningTerms,
  type WalletOwner,
} from '@bellwether/protocol';
import type { VenueRules } from '../domain/coherence.ts';
import type { TimeInForce } from '../domain/draft.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Book, MarketRecord, VenueId } from '../domain/market.ts';
import type { FoundMarkets, MarketSearch } from '../domain/market-search.ts';
import type { AddressFamily, NewSignedOrder, WalletAddress } from '../domain/records.ts';
import type { Tx } from '../platform/database/connection.ts';
import type { HeldPage, HeldTrade, LiveOrderRow } from './live-orders.ts';
import type { Quotes } from './quotes.ts';

export interface Venue {
  readonly id: VenueId;
  /** `paper`: simulated money. `live`: real money; an unclaimed agent may not trade. */
  readonly backend: 'paper' | 'live';
  /**
   * `ready`, or a sentence that says why it takes no orders. A proxy also hears why calls have to wait: it may know a better
   * replica. No I/O.
   */
  status(asker?: 'proxy'): string;
  /** Notice to people although it stops nothing; `null`: nothing. No I/O. */
  notice?(): string | null;
  /** Counters for an operator, by name, since the start. */
  counts?(): Readonly<Record<string, number>>;
  readonly markets: MarketData;
  readonly accounts: Accounts;
  /** Takes orders that the agent signed. */
  readonly signedOrders?: SignedOrders;
  /** Quotes transactions for the agent to sign. */
  readonly quotes?: Quotes;
  /** Cancels resting orders. A venue without it fills an order or lets it expire. */
  readonly cancel?: Cancel;
  /** Cancels everything of a key whose heartbeats end. The venue's adapter sends them for wallets whose owner wants it. */
  readonly heartbeat?: HasHeartbeat;
  /** Keeps a trade aside that no order can have. Absent where the venue's answers are the desk's own. */
  readonly keptAside?: KeptAside;
  /** Makes full sets of collateral, and collateral of full sets; converts NO shares. */
  readonly sets?: Sets;
  /** Pays out resolved tokens on request. A venue with `quotes` and without this redeems by a SELL quote. */
  readonly redemption?: Redemption;
  readonly history?: PriceHistory;
  /** Only where money is simulated. */
  readonly paper?: PaperCredit;
}

export type Capability =
  | 'signedOrders'
  | 'quotes'
  | 'cancel'
  | 'heartbeat'
  | 'sets'
  | 'keptAside'
  | 'redemption'
  | 'history'
  | 'paper';

export type VenueWith<C extends Capability> = Venue & { readonly [K in C]-?: NonNullable<Venue[K]> };

/** Every venue of this service by its id, in the order in which answers list them. */
export interface Venues extends ReadonlyMap<VenueId, Venue> {
  /** The venue of requests that name none. */
  readonly default: Venue;
}

export interface MarketData {
  /** Whether the venue's evidence reports how markets resolve. If not, a job polls. */
  readonly announcesResolutions: boolean;
  /**
   * Whether a text has the form of an id here. Other texts are not looked up, unless the request names this venue.
   * No I/O.
   */
  canBeId(text: string): boolean;
  /** By market id, condition id, slug or token id. @throws VenueUnavailable */
  find(id: string): Promise<MarketRecord | null>;
  /** The markets of those condition ids that the venue still knows, in any order. @throws VenueUnavailable */
  findAll(conditionIds: readonly string[]): Promise<readonly MarketRecord[]>;
  /**
   * Markets listed after a time and still open, newest first.
   * `latest`: the listing time of the venue's newest market; pass it as `after` in the next call.
   * @throws VenueUnavailable
   */
  listedAfter(after: number, limit: number): Promise<Listing>;
  /** @throws VenueUnavailable */
  byToken(tokenId: string): Promise<{ readonly market: MarketRecord; readonly outcome: 'YES' | 'NO' } | null>;
  /** A page of the markets that match. @throws VenueUnavailable */
  search(search: MarketSearch): Promise<FoundMarkets>;
  /** `null`: the market has ended and has no book. @throws VenueUnavailable */
  book(conditionId: string, outcome: 'YES' | 'NO', depth: number): Promise<Book | null>;
}

export interface Listing {
  readonly markets: readonly MarketRecord[];
  readonly latest: number;
}

/** Holdings of accounts, for reads that must not depend on the venue. The answer marks what is old or unknown. */
export interface Accounts {
  /** The family of the accounts' addresses. */
  readonly family: AddressFamily;
  /** The accounts' collateral in total; without an answer the last known figure. Never throws. */
  balances(accounts: readonly WalletAddress[], ask: Patience): Promise<KnownBalance>;
  /** Amount that an account can spend in one market. Never throws. */
  inMarket(
    account: WalletAddress,
    market: MarketRecord,
    ask: Pick<Patience, 'patienceMs'>,
  ): Promise<Spendable>;
}

export interface Patience {
  /** Uses the cached figure when the last call, successful or not, is younger than this. */
  readonly freshMs: number;
  /** Maximum wait for the venue. */
  readonly patienceMs: number;
}

export interface KnownBalance {
  /** Includes what open orders hold. */
  readonly total: Micro;
  readonly available: Micro;
  /** Age of the oldest figure in it; `null` when an account's figure is unknown: that account counts as empty. */
  readonly ageMs: number | null;
}

/** `null`: the venue did not report the figure. */
export interface Spendable {
  readonly available: Micro | null;
  /** Outcome tokens that no open order holds. */
  readonly free: Readonly<Record<'YES' | 'NO', Micro>> | null;
}

/** Question about the means to pay an order of one market. */
export interface BalanceQuestion extends Pick<MarketRecord, 'conditionId' | 'tokenIds'> {
  /** `sets`: shares of both outcomes. */
  readonly pays: 'collateral' | 'YES' | 'NO' | 'sets';
  /** The amount that the order needs: a venue need not be asked while its last known figure covers that. */
  readonly needed?: Micro;
}

/** An exact balance, as the check of an order needs it. */
export interface Balance {
  readonly available: Micro;
  readonly held: Micro;
  /** Free shares of an outcome, without what open SELL orders hold. */
  shares(conditionId: string, outcome: 'YES' | 'NO'): Micro;
  /** Where free shares of the outcome that was asked about are short: those that were bought and are not settled yet. */
  readonly unsettled?: Micro;
}

/** Facts with which a venue refuses an order that it never received. */
interface UnplacedOrder {
  readonly funder: Address;
  readonly conditionId: string;
}

/** Orders as EIP-712 messages; the digest of the message is the order's id. */
export interface SignedOrders {
  /** The contracts and the struct that orders of this venue are signed for. */
  readonly signing: SigningTerms;
  /** Requirements of the venue on an order beyond its market's terms. */
  readonly rules: VenueRules;
  /**
   * The EOA of the secrets; `null` when they are wrong. A live venue can only say whether they are those of `named`.
   * @throws VenueUnavailable
   */
  verifyCredentials(secrets: VenueSecrets, named: Address): Promise<Address | null>;
  /**
   * Free collateral and free tokens of an account, now. With a question, only the figure that it is about need be right:
   * where each figure is a call, the others may be nothing.
   * @throws VenueUnavailable
   */
  balance(account: Address, question?: BalanceQuestion): Promise<Balance>;
  /**
   * Resolves after the outcome is recorded, so the desk's records are never behind the venue's answer.
   * @param message what the agent signed, for a venue that verifies it
   */
  submit(order: VenueOrder, message: SignedMessage): Promise<VenueAnswer>;
  /** The same for several at once, of a venue that takes them so: an answer for each, in their order. */
  submitAll?(
    orders: readonly { readonly order: VenueOrder; readonly message: SignedMessage }[],
  ): readonly Promise<VenueAnswer>[];
  /** Why the venue would not take an order now, although others may pass; `null`: it would. No I/O. */
  pause?(order: { readonly postOnly: boolean; readonly signer: Address }): VenuePause | null;
  /**
   * Asks for proof about an order in doubt. `never_received` is proof that nothing happened, if the order is no longer on its
   * way. A venue that records its refusal of an order that it never received (`unplaced`) answers for any order.
   */
  resolve(
    orderId: string,
    unplaced: UnplacedOrder,
  ): Promise<VenueAnswer | { readonly kind: 'never_received' }>;
  /**
   * Where this process keeps the venue's orders, and refuses for good what it never received: since when, epoch
   * milliseconds. `null` or absent: an order that `resolve` is asked about must be too old to arrive.
   */
  keptSince?(): number | null;
}

export interface Cancel {
  /** Resolves after the outcome is recorded. `notCanceled` lists orders that are not open, each with its reason. */
  orders(account: WalletAddress, orderIds: readonly string[]): Promise<CancelAnswer>;
}

export interface KeptAside {
  /** Orders with those that are not explained yet, the oldest first, and how many there are in all. */
  held(page: HeldPage): Promise<{
    readonly orders: readonly { readonly order: LiveOrderRow; readonly trades: readonly HeldTrade[] }[];
    readonly total: number;
  }>;
  /**
   * Counts the trade as the venue said it, or never.
   * @returns the order then; `null`: it has no such trade that is kept aside @throws VenueUnavailable
   */
  decide(given: {
    readonly orderId: string;
    readonly tradeId: string;
    readonly decision: 'release' | 'discard';
  }): Promise<LiveOrderRow | null>;
}

/** Splits, merges and conversions, completely or not at all. */
export interface Sets extends Pick<SignedOrders, 'balance'> {
  /** Whether NO shares of a market that excludes others can be converted. No I/O. */
  converts(market: MarketRecord): boolean;
  /**
   * Where owners convert: the other markets of its event, in which a conversion gives YES shares; `null`: not all are known.
   * @throws VenueUnavailable
   */
  others?(market: MarketRecord): Promise<readonly MarketRecord[] | null>;
  /** Where a relayer makes what owners sign. */
  readonly relayed?: RelayedSets;
  /**
   * Where the venue executes them: resolves after the outcome is recorded; one effect under an order id, and what became of
   * one in doubt, `signedOrders` resolves. Where a wallet's owner does: what there is to sign; it has no effect.
   */
  submit(set: VenueSet): Promise<VenueAnswer | UnsignedSet>;
  /**
   * Where owners send them: what the chain has of the account's since then. Absent where the venue executes them.
   * @throws VenueUnavailable
   */
  made?(account: Address, asked: MadeQuestion): Promise<readonly MadeSet[]>;
}

/** Transactions for the owner of the wallet to sign; or, where the venue's relayer makes them, its request. */
export interface UnsignedSet {
  readonly kind: 'unsigned';
  readonly transactions: readonly UnsignedCall[];
  /** Another one each time: its record is what counts. */
  readonly relay?: PreparedRelay;
}

/** A request to the relayer as the desk prepared it: digest and body follow from it. */
export interface PreparedRelay {
  readonly owner: WalletOwner;
  readonly calls: readonly ContractCall[];
  readonly terms: RelayTerms;
  readonly chainId: number;
  /** Epoch seconds. After it the desk does not forward the request. */
  readonly deadlineS: number;
}

/** Makes what wallets' owners signed. */
export interface RelayedSets {
  /** Sends it once. Never throws. */
  submit(body: object): Promise<RelayOutcome>;
  /** `null`: the relayer does not know it. @throws VenueUnavailable */
  stateOf(transactionId: string): Promise<RelayedState | null>;
  /** What the relayer lists of a request. @throws VenueUnavailable */
  look(relay: PreparedRelay): Promise<RelayedLook>;
}

interface RelayedState {
  readonly state: RelayState;
  /** Of the chain. */
  readonly hash: string | null;
}

interface RelayedLook {
  /** The transaction with what the owner signed; `null` proves nothing. */
  readonly transactionId: string | null;
  /** Another one, confirmed, that has used the nonce: this one can never be made any more. `null` proves nothing. */
  readonly usedBy: string | null;
}

/** `confirmed` and `failed` are final; what failed had no effect. */
export type RelayState = 'pending' | 'confirmed' | 'failed';

/** `not_taken` and `refused` are proof that nothing happened; the first may be sent again. */
type RelayOutcome =
  | { readonly kind: 'taken'; readonly transactionId: string }
  | { readonly kind: 'not_taken'; readonly words: string | null }
  | { readonly kind: 'refused'; readonly words: string }
  | { readonly kind: 'unknown' };

export interface MadeQuestion {
  readonly since: number;
  readonly conditionIds: readonly string[];
  readonly kinds: ReadonlySet<VenueSet['kind']>;
}

/** A split, a merge or a conversion on the chain. */
export interface MadeSet extends Pick<VenueSet, 'kind' | 'conditionId' | 'amount'> {
  readonly transactionHash: string;
  /** Time of its block. */
  readonly at: number;
}

export interface Redemption {
  /** Exchanges all tokens of a resolved market that an account holds. Never paid twice. @throws VenueUnavailable */
  redeem(account: Address, conditionId: string): Promise<RedeemAnswer>;
  /** Where the venue's relayer makes it: a request for the owner to sign, another one each time; `null`: not now, or nothing to redeem. */
  relay?(account: Address, conditionId: string): Promise<PreparedRelay | null>;
  /**
   * Where owners redeem past the desk: which tokens of these markets the account has redeemed so far. Absent where the
   * venue's evidence reports redemptions.
   * @throws VenueUnavailable
   */
  redeemed?(account: Address, conditionIds: readonly string[]): Promise<readonly RedeemedTokens[]>;
}

/** All redemptions of one outcome's tokens by an account, added up. */
export interface RedeemedTokens {
  readonly tokenId: string;
  readonly size: Micro;
  /** Time of the last of them. */
  readonly at: number;
}

export interface PaperCredit {
  /** Gives an account its simulation balance, at most once ever. @throws VenueUnavailable */
  credit(account: WalletAddress): Promise<void>;
  /** Credits `amount` to an account, once for a draw. Absent: there is no faucet. @throws VenueUnavailable */
  readonly faucet?: (account: WalletAddress, amount: Micro, drawId: string) => Promise<void>;
  /** The venue's credentials of an account whose key was proved: its first that is not revoked, made when there is none. */
  readonly credentials?: (eoa: Address) => Promise<VenueSecrets>;
}

/** A state of a venue in which it takes some orders only, or none. */
interface VenuePause {
  readonly mode: string;
  /** A sentence. */
  readonly reason: string;
  readonly retryAfterS: number;
}

/** An order exactly as its agent signed it, and the wallet whose credential sends it. */
export interface SignedMessage {
  readonly walletAddress: Address;
  /** Whose key made the signature. */
  readonly signer: Address;
  readonly fields: OrderFields;
  /** `null`: its struct has none. */
  readonly extras: OrderExtras | null;
  readonly signature: string;
  readonly deferExec: boolean;
  /** The order's record, where this process has just made it: the first answer is then recorded without reading it again. */
  readonly recorded?: NewSignedOrder;
  /** What became of an earlier attempt is not known: a refusal now says nothing of that one, so it is returned, and not recorded. */
  readonly isInDoubt?: boolean;
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
  /** Immediate BUY: the budget without fees. */
  readonly spend: Micro | null;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  /** GTD only, as signed. */
  readonly expiration: number | null;
  /**
   * After this time the venue must not execute the order: the desk may then ask for proof that the order never arrived,
   * and that proof has to stay true.
   */
  readonly deadline: number;
}

/** A split, a merge or a conversion. */
export interface VenueSet extends Pick<VenueOrder, 'orderId' | 'funder' | 'conditionId' | 'deadline'> {
  readonly kind: 'split' | 'merge' | 'convert';
  /** Sets, and collateral; of a conversion the NO shares. */
  readonly amount: Micro;
}

/** The venue's immediate answer to an order. Amounts are what was filled by then. */
export type VenueAnswer =
  | {
      readonly kind: 'accepted';
      readonly status: 'live' | 'matched' | 'delayed' | 'unmatched';
      readonly filled: Micro;
      readonly cost: Micro;
      readonly fees: Micro;
    }
  /** `detail`: the venue's own words, where the desk has no code for them; or what the adapter knows of the reason. */
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail?: string }
  | { readonly kind: 'unknown' };

export type CancelAnswer =
  | {
      readonly kind: 'answered';
      readonly canceled: readonly string[];
      readonly notCanceled: Readonly<Record<string, string>>;
      /** What was matched before is not known of each that was canceled: a read may show it open for a while. */
      readonly isRecorded?: false;
    }
  | { readonly kind: 'unknown' };

/** `yes` and `no` are the burnt tokens, both 0n when none were held; `payout` is the collateral received. */
export type RedeemAnswer =
  | { readonly kind: 'redeemed'; readonly yes: Micro; readonly no: Micro; readonly payout: Micro }
  | { readonly kind: 'not_resolved' }
  /** Live venues: calls for the owner of the wallet to sign. */
  | { readonly kind: 'unsigned'; readonly transactions: readonly UnsignedCall[] }
  | { readonly kind: 'unknown' };

export interface UnsignedCall {
  /** The wallet itself or its owner. */
  readonly from: Address;
  readonly to: Address;
  readonly data: string;
  readonly value: string;
  readonly chainId: number;
  readonly description: string;
}

// Prices as a venue recorded them. Times are epoch milliseconds, prices pips of the YES token.

export interface PricePoint {
  readonly at: number;
  readonly price: Pips;
}

export interface PriceRange {
  /** The market's YES token. */
  readonly tokenId: string;
  /** Both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Width of a bucket; buckets begin at its multiples since the epoch. */
  readonly bucketMs: number;
  /** Maximum number of points; one more is returned when there are more. */
  readonly limit: number;
}

export interface PriceHistory {
  /** Locates a token's history, also of archived markets; `null` when the token never had a price. */
  locate(
    tokenId: string,
  ): Promise<{ readonly yesTokenId: string; readonly mirrored: boolean; readonly first: number } | null>;
  /** The last price of every bucket that has one, oldest first, and the last price before the range. */
  read(
    range: PriceRange,
  ): Promise<{ readonly before: PricePoint | null; readonly points: readonly PricePoint[] }>;
}

// The heartbeat of a live venue: once a key has sent one it must go on, or the venue cancels every open order of the key,
// whoever placed it. So the desk sends it only for wallets whose owner wants that.

/** A venue that has one. */
export interface HasHeartbeat {
  /** Seconds after the last heartbeat within which the venue has canceled. */
  readonly cancelsAfterS: number;
}

export interface HeartbeatLog {
  readonly venue: VenueId;
  /**
   * Takes or renews the lease with which one replica sends the heartbeats of the venue.
   * @returns the wallets whose keys are to be kept alive: none when another replica sends, and none whose agents are silent
   */
  lease(holder: string, forMs: number): Promise<readonly string[]>;
  /** Gives the lease up, so that another replica need not wait for its end. */
  release(holder: string): Promise<void>;
}

// A request for the relayer as answers show it, and as records keep it.

const SECOND_MS = 1_000;

export const relayRequestOf = ({ owner, calls, terms, chainId }: PreparedRelay) =>
  relayRequest(owner, calls, terms, chainId);

export function relayRecord(relay: PreparedRelay): RelayRecord {
  const { terms, chainId, deadlineS } = relay;
  const { body, digest } = relayRequestOf(relay);
  return {
    ...{ type: terms.type, nonce: terms.nonce.toString(), chainId },
    deadline: new Date(deadlineS * SECOND_MS).toISOString(),
    relay: terms.type === 'PROXY' ? terms.relay : null,
    digest: bytesToHex(digest),
    body,
  };
}

/** JSON has no 64-bit integers. */
export type RelayJson = Omit<PreparedRelay, 'terms'> & {
  readonly terms: object & { readonly nonce: string };
};

export const relayJson = ({ terms, ...relay }: PreparedRelay): RelayJson => ({
  ...relay,
  terms: { ...terms, nonce: terms.nonce.toString() },
});

export function relayFromJson(json: RelayJson): PreparedRelay {
  const terms = { ...json.terms, nonce: BigInt(json.terms.nonce) } as PreparedRelay['terms'];
  return { ...json, terms };
}

/** The journal of a venue that keeps it in the desk's database: an order is executed, answered and recorded in one commit of it. */
export interface VenueJournal {
  readonly venue: VenueId;
  /** Whether this process may write it now. */
  isHere(): boolean;
  /** The venue's next commit, as soon as its holder may read. @throws where none is to be had: then nothing happened */
  nextTurn(): Promise<VenueTurn>;
}

/** One commit of the venue's journal, in the hands of its holder. */
export interface VenueTurn {
  /** The commit's transaction: what is issued before `begin` resolves reads behind the commit before. */
  readonly tx: Tx;
  /** While it lasts, no other process writes positions at the venue. */
  readonly term: bigint;
  readonly venue: JoinedVenue;
  /**
   * Resolves when the commit before is durable: from then until `evidence`, or `giveUp`, the venue is the holder's, who must not wait for
   * anything. @throws to be given up then
   */
  begin(): Promise<void>;
  /** Evidence of this commit: of the holder's orders and of all others. No order is placed afterwards. */
  evidence(): Evidence;
  /**
   * Sends the commit before it returns; resolves when all of it is durable.
   * @returns `unknown`: there is no proof whether it is @throws VenueUnavailable when nothing was recorded
   */
  commit(): Promise<'recorded' | 'unknown'>;
  /** Ends the turn in place of `commit`; nothing is recorded. */
  giveUp(cause: unknown): Promise<void>;
}

/** A venue inside its commit, after every order that was placed before. */
export interface JoinedVenue {
  readonly kind: 'joined';
  /** Free balance of an account. */
  balance(account: Address): Balance;
  /** `null`: the market has no book. */
  book(conditionId: string, outcome: Book['outcome']): Book | null;
  place(order: VenueOrder | VenueSet): VenueAnswer;
}
