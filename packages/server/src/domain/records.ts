/** Addresses of wallets. Each venue names the address family that it uses. Pure. */

import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { FillId, Payout } from '@bellwether/contract/positions';
import {
  type Address,
  isAddress,
  type OrderVersion,
  parseAddress,
  parseSolanaAddress,
  type SignatureType,
  type SolanaAddress,
} from '@bellwether/protocol';
import type { TimeInForce } from './draft.ts';
import type { FirstAnswer } from './evidence.ts';
import type { OrderStatus } from './lifecycle.ts';
import type { VenueId } from './market.ts';
import type { CheckedFigures, LockedSafeguards, Restriction, UsedFacts } from './safeguards.ts';

export type WalletAddress = Address | SolanaAddress;

/** `evm`: 0x and 40 hex digits. `solana`: base58 of 32 bytes. */
export type AddressFamily = 'evm' | 'solana';

export const ADDRESS_FAMILIES = ['evm', 'solana'] as const satisfies readonly AddressFamily[];

export const familyOf = (wallet: WalletAddress): AddressFamily => (isAddress(wallet) ? 'evm' : 'solana');

export const isSolana = (wallet: WalletAddress): wallet is SolanaAddress => familyOf(wallet) === 'solana';

/** Reads an address of a request; `null` when it belongs to no family. */
export const parseWallet = (text: string): WalletAddress | null =>
  parseAddress(text) ?? parseSolanaAddress(text);

// The desk's records, as several subjects know them. Times are epoch milliseconds, money micro-units.

/** An agent and its owner, for what either of them may ask. */
export interface ActingAgent {
  readonly agentId: string;
  readonly userId: bigint;
}

/** The caller, resolved from the API key. */
export interface Caller extends ActingAgent {
  readonly keyId: bigint;
}

/** `BOTH`: full sets. */
export type OrderOutcome = 'YES' | 'NO' | 'BOTH';

/** How an order is executed; an order of sets at once, completely. */
export type OrderForce = TimeInForce | SetForce;
type SetForce = 'SPLIT' | 'MERGE' | 'CONVERT';

/** The terms common to all orders. */
interface OrderTerms {
  readonly orderId: string;
  readonly agentId: string;
  readonly userId: bigint;
  readonly venue: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly question: string;
  readonly tokenId: string;
  readonly outcome: OrderOutcome;
  /** What the venue calls it; `null`: of full sets, or not known. */
  readonly outcomeName: string | null;
  readonly side: 'BUY' | 'SELL';
  readonly isLimitOrder: boolean;
  readonly timeInForce: OrderForce;
  readonly postOnly: boolean;
  readonly deferExec: boolean;
  readonly price: Pips;
  readonly limit: Pips;
  readonly shares: Micro;
  readonly money: Micro;
  readonly expiration: number | null;
  readonly feeAmount: Micro;
  readonly reasoning: string | null;
  readonly source: string | null;
  readonly skillSlug: string | null;
  /** The agent's own name for it; `null`: it has none. */
  readonly clientOrderId: string | null;
  /** When the desk cancels what is not filled by then; `null`: never. */
  readonly cancelAt: number | null;
  readonly requestId: string;
  readonly createdAt: number;
}

/** An order that is an EIP-712 message signed by the key of an EVM wallet. */
export interface NewSignedOrder extends OrderTerms {
  readonly kind: 'signed';
  readonly outcome: 'YES' | 'NO';
  readonly timeInForce: TimeInForce;
  /** The order's maker: the account that pays. */
  readonly funder: Address;
  /** The wallet whose credential the trade used. */
  readonly walletAddress: Address;
  readonly signatureType: SignatureType;
  readonly version: OrderVersion;
}

/** An order that is a quoted and signed Solana transaction. */
export interface NewQuotedOrder extends OrderTerms {
  readonly kind: 'quoted';
  readonly outcome: 'YES' | 'NO';
  readonly timeInForce: TimeInForce;
  /** The wallet that pays and signs; `walletAddress` is the same. */
  readonly funder: SolanaAddress;
  readonly walletAddress: SolanaAddress;
  /** Pays out a settled market. Not a trade: it reserves no budget and returns none. */
  readonly isRedemption: boolean;
}

/**
 * Full sets, made of collateral (a BUY of both outcomes) or merged back into it (a SELL of both), at one collateral each; or NO shares
 * of the market that become YES shares of all other markets of its event (a BUY of those).
 */
export interface NewSetOrder extends OrderTerms {
  readonly kind: 'split' | 'merge' | 'convert';
  readonly outcome: 'BOTH';
  readonly timeInForce: SetForce;
  /** The account that pays. */
  readonly funder: Address;
  readonly walletAddress: Address;
}

export type NewOrder = NewSignedOrder | NewQuotedOrder | NewSetOrder;

/** The current state of an order. */
interface OrderState {
  /** Why the desk cancels at `cancelAt`; `null`: the order said so. */
  readonly cancelCause: 'silence' | null;
  readonly status: OrderStatus;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly errorCode: string | null;
  /** Amount that the safeguards counted of it. */
  readonly counted: Micro;
  /** `null` until the first answer. */
  readonly first: FirstAnswer | null;
  readonly journal: readonly {
    readonly at: string;
    readonly event: string;
    readonly status: OrderStatus;
    readonly detail?: string;
    /** Figures of the first entry. */
    readonly checked?: Checked;
  }[];
  readonly updatedAt: number;
  /** When it was sent last, or recorded to be sent. */
  readonly sentAt: number;
}

export type SignedOrderRow = NewSignedOrder & OrderState;

export type QuotedOrderRow = NewQuotedOrder & OrderState;

export type SetOrderRow = NewSetOrder & OrderState;

export type OrderRow = SignedOrderRow | QuotedOrderRow | SetOrderRow;

type WithoutDetail<Order> = Omit<Order, 'journal' | 'first' | 'requestId' | 'counted' | 'sentAt'>;

/** An order as a list shows it. */
export type ListedOrder =
  | WithoutDetail<SignedOrderRow>
  | WithoutDetail<QuotedOrderRow>
  | WithoutDetail<SetOrderRow>;

export interface FillRow {
  readonly tradeId: FillId;
  readonly price: Pips;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
  readonly liquidity: 'maker' | 'taker';
  readonly matchKind: string;
  readonly filledAt: number;
}

/** A fill with the fields of its order. */
export interface AgentFillRow extends FillRow {
  readonly orderId: string;
  readonly venue: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly outcomeName: string | null;
  readonly side: 'BUY' | 'SELL';
  readonly wallet: WalletAddress;
  /** `null`: the venue's fills have no separate transactions. */
  readonly transaction: string | null;
}

/** A place in an agent's fills, newest first: several may share a time, and an order may have several trades. */
export type FillPlace = Pick<AgentFillRow, 'filledAt' | 'orderId' | 'tradeId'>;

/** The facts that a trade is assessed against. */
export interface Standing extends UsedFacts {
  readonly claimed: boolean;
  readonly safeguards: LockedSafeguards;
  /** Locks of other owners that bind the wallet, because their agents had it before. */
  readonly restrictions: readonly (Restriction & { readonly agentId: string })[];
}

/** Figures by which an order was judged, and the owner's approval, if it needed one. As the journal's column holds it. */
export type Checked = CheckedFigures & { approval?: [approvalId: string] };

export interface PositionRow {
  readonly wallet: WalletAddress;
  /** The market's venue, as its first fill recorded it; `null` without such a fill. */
  readonly venue: VenueId | null;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly size: Micro;
  readonly cost: Micro;
  readonly realized: Micro;
  readonly fees: Micro;
  /** Everything ever bought of it, and its cost without fees. */
  readonly boughtSize: Micro;
  readonly boughtCost: Micro;
  /** When the size last became zero; `null` while tokens are held. */
  readonly closedAt: number | null;
  /** The desk's record of the market, for when the venue has forgotten it; `null` before its first fill here. */
  readonly market: {
    readonly marketId: string;
    readonly question: string;
    /** `null`: not known. */
    readonly outcomes: readonly string[] | null;
    readonly endDate: number | null;
    readonly payout: Payout | null;
  } | null;
}

/** `only`: records of these venues. `except`: all records but those of these venues. */
export type VenueFilter = { readonly only: readonly VenueId[] } | { readonly except: readonly VenueId[] };

export interface Owner {
  readonly userId: bigint;
  readonly name: string;
}

/** The use of a recovery code: until its end the owner can do little, and a passkey of before can undo it. */
export interface Recovery {
  readonly beganAt: number;
  readonly endsAt: number;
}

/** An owner as a session knows it. */
export interface SignedInOwner extends Owner {
  /** `null`: none, or its day is over. */
  readonly recovery: Recovery | null;
}
