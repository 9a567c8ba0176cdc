/**
 * Records of the desk about orders at a live venue, which settles trades on a chain after it has matched them. Several
 * sources say the same about an order (an answer, a socket, polls), late, twice and in any order: each change is decided
 * under the lock of the order's row, with everything that is known of it.
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { FillId } from '@bellwether/contract/positions';
import type { SignatureType } from '@bellwether/protocol';
import type { Evidence } from '../domain/evidence.ts';
import type { VenueId } from '../domain/market.ts';
import type { NewSignedOrder, SignedOrderRow, WalletAddress } from '../domain/records.ts';
import type { Place } from '../platform/http/page.ts';
import type { Sealed } from '../platform/secrets.ts';

/** `confirmed` and `failed` are final. */
export type TradeStatus = 'matched' | 'mined' | 'retrying' | 'confirmed' | 'failed';

/** Why nothing of an order rests any more. `killed`: the rest of an immediate order. */
export type OrderEnd = 'filled' | 'killed' | 'canceled' | 'expired' | 'market_resolved';

/** The part that an order has in a trade. */
export interface KnownTrade {
  readonly tradeId: string;
  /** The number of its fill. */
  readonly nth: bigint;
  readonly status: TradeStatus;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
  /** It is among the fills. */
  readonly isCounted: boolean;
  /** `null`: nothing was wrong with it. */
  readonly aside: KeptAside | null;
}

/**
 * Amounts that the venue named for a trade that would have spent or given more than its order signed. While it is held, and after it was
 * discarded, its amounts are nothing, and these are what the venue said.
 */
export interface KeptAside {
  readonly state: 'held' | 'explained' | 'released' | 'discarded';
  /** A sentence. */
  readonly why: string;
  readonly since: number;
  readonly said: {
    readonly size: Micro;
    readonly cost: Micro;
    readonly fee: Micro;
    readonly price: Pips;
    readonly liquidity: 'maker' | 'taker';
    /** Epoch milliseconds of the match. */
    readonly matchedAt: number;
  };
}

/** A part of the orders that have trades which are kept aside. */
export interface HeldPage {
  readonly limit: number;
  readonly offset: number;
  /** Only orders after this one. */
  readonly after?: Place;
}

/** A trade that is kept aside, with its order. */
export interface HeldTrade {
  readonly order: LiveOrderRow;
  readonly trade: KnownTrade & { readonly aside: KeptAside };
}

export interface VenueStanding {
  /** Shares that the venue has matched, as far as it has said. */
  readonly matched: Micro;
  readonly ended: OrderEnd | null;
  /** `matched` cannot grow any more. */
  readonly isCounted: boolean;
  /** Since when the venue has not listed it. */
  readonly missingSince: number | null;
  /** Nothing about it can change any more. */
  readonly isFinal: boolean;
}

/** What its record says that a venue's word may change, or is judged by. */
export type LiveOrderRow = Omit<SignedOrderRow, 'journal' | 'counted' | 'cancelCause'>;

export interface LiveOrder {
  readonly order: LiveOrderRow;
  /** `null`: no venue has said anything of it. */
  readonly venue: VenueStanding | null;
  readonly trades: ReadonlyMap<string, KnownTrade>;
}

/** A fill to take back. */
export interface Reversal {
  readonly wallet: WalletAddress;
  readonly orderId: string;
  readonly tradeId: FillId;
  readonly at: number;
}

export interface LiveChange {
  readonly venue: VenueStanding;
  /** The new and the changed ones. */
  readonly trades: readonly KnownTrade[];
  readonly evidence: Pick<Evidence, 'outcomes' | 'fills' | 'markets'>;
  readonly reversals: readonly Reversal[];
}

/** Whose credential asks about an order. */
export interface FollowedWallet {
  readonly walletAddress: string;
  /** The address that the venue's key belongs to. */
  readonly eoa: string;
  /** The account that pays. */
  readonly funder: string;
  readonly signatureType: SignatureType;
  readonly userId: bigint;
  readonly sealed: Sealed;
}

export interface LiveOrderLog {
  /**
   * Locks the orders, decides each, and writes all changes or none. Ids of which the desk has no order of this venue are
   * ignored. @returns what is known afterwards, by order id
   *
   * @param decide is called again for the same orders where the first decision was not written
   * @param recorded of these orders, as this process recorded them: with all of them it saves the trip that reads, unless anything was
   *   recorded since
   */
  update(
    orderIds: readonly string[],
    decide: (order: LiveOrder) => LiveChange | null,
    recorded?: ReadonlyMap<string, NewSignedOrder>,
  ): Promise<ReadonlyMap<string, LiveOrder>>;
  find(orderIds: readonly string[]): Promise<ReadonlyMap<string, LiveOrder>>;
  /** Orders with trades that are kept aside, oldest first, and how many such trades there are in all. */
  withHeldTrades(page: HeldPage): Promise<{ readonly orders: readonly LiveOrder[]; readonly total: number }>;
  /** Orders of a wallet that may still change, of those that the venue has answered. */
  unfinished(walletAddress: string): Promise<readonly LiveOrder[]>;
  /** The wallet's credential, of whichever owner has it now. */
  wallet(walletAddress: string): Promise<FollowedWallet | null>;
  /** The credential of an account: registered for itself, else for a wallet whose orders it pays. */
  account(address: string): Promise<FollowedWallet | null>;
  /**
   * Renews this replica's leases and takes over wallets with unfinished orders that no replica follows, up to `most` in
   * all. @returns the wallets that this replica follows now
   */
  lease(holder: string, most: number, forMs: number): Promise<readonly string[]>;
  /** Gives up leases, so that another replica need not wait for their end. */
  release(holder: string, walletAddresses: readonly string[]): Promise<void>;
  readonly venue: VenueId;
}
