/** What the desk keeps, as the use cases need it. Times are epoch milliseconds, money micro-units. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Address, OrderVersion, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { WalletAddress } from '../domain/addresses.ts';
import type { OwnerLocks } from '../domain/locks.ts';
import type { TimeInForce } from '../domain/orders/draft.ts';
import type { OrderStatus } from '../domain/orders/lifecycle.ts';
import type { Restriction, Safeguards, Usage, UsedFacts } from '../domain/safeguards.ts';
import type { FirstAnswer } from './evidence.ts';
import type { NewChainOrder } from './quoted-orders.ts';
import type { Sealed } from './secrets.ts';
import type { VenueId } from './venue.ts';

export type { WalletAddress };

/** Who is calling: resolved from the API key. */
export interface Caller {
  readonly agentId: string;
  readonly userId: bigint;
  readonly keyId: bigint;
}

export interface KeyRow {
  readonly id: bigint;
  readonly name: string;
  /** First 7 and last 4 characters. */
  readonly prefix: string;
  readonly suffix: string;
  readonly status: 1 | 2;
  readonly createType: 1 | 2;
  readonly createdAt: number;
  readonly lastCalledAt: number;
}

export interface AgentRow {
  readonly agentId: string;
  readonly userId: bigint;
  readonly name: string;
  readonly description: string;
  readonly claimCode: string;
  readonly claimed: boolean;
  readonly claimedAt: number | null;
  readonly walletAddress: Address | null;
  readonly solAddress: string | null;
  readonly createdAt: number;
  /** The key of the registration. */
  readonly key: KeyRow;
  /** The latest call with any of its keys. */
  readonly lastCalledAt: number;
}

export interface SettingsRow extends Safeguards {
  readonly locks: OwnerLocks;
  readonly autoRedeemEnabled: boolean;
  readonly riskControlEnabled: boolean;
  readonly takeProfitPercent: number | null;
  readonly stopLossPercent: number | null;
  readonly updatedAt: number;
}

/** What may be set; `locks` only by the owner. */
export type SettingsChange = Partial<Omit<SettingsRow, 'updatedAt' | 'locks'>> & {
  readonly locks?: Partial<OwnerLocks>;
};

export interface AgentStore {
  register(agent: {
    readonly agentId: string;
    readonly name: string;
    readonly description: string;
    readonly claimCode: string;
    readonly keyHash: Uint8Array;
    readonly keyPrefix: string;
    readonly keySuffix: string;
    readonly at: number;
  }): Promise<void>;
  /** Active keys only. */
  callerByKeyHash(hash: Uint8Array): Promise<Caller | null>;
  byClaimCode(code: string): Promise<AgentRow | null>;
  byId(agentId: string): Promise<AgentRow | null>;
  /** @returns `null` when the agent has as many active keys as it may; forgets revoked ones beyond the kept. */
  addKey(
    caller: Caller,
    key: { hash: Uint8Array; prefix: string; suffix: string; name: string; at: number },
    limits: { active: number; revokedKept: number },
  ): Promise<KeyRow | null>;
  keys(agentId: string): Promise<readonly KeyRow[]>;
  /** `last`: it is the agent's last active key and `force` was not given. */
  revokeKey(agentId: string, keyId: bigint, force: boolean, at: number): Promise<KeyRow | 'missing' | 'last'>;
  touch(calls: ReadonlyMap<bigint, number>): Promise<void>;
  settings(agentId: string): Promise<SettingsRow & { readonly usage: Usage; readonly realizedToday: Micro }>;
  /**
   * Locks the agent's row, so it holds for every trade that is assessed after it. `decide` sees the locked row; when
   * it throws, nothing changes.
   */
  updateSettings(
    agentId: string,
    decide: (current: SettingsRow) => SettingsChange,
    at: number,
  ): Promise<SettingsRow>;
}

export interface CredentialRow {
  readonly walletAddress: Address;
  readonly userId: bigint;
  readonly eoa: Address;
  /** The account that pays for this wallet's orders. */
  readonly funder: Address;
  readonly signatureType: SignatureType;
  readonly apiKeyHash: Uint8Array;
  readonly sealed: Sealed;
  readonly registeredAt: number;
}

/** Solana wallets. One is proved by its key's signature: over a link challenge, or under a submitted order. */
export interface SolanaWallets {
  /** The agent's solAddress, proved or not: what quotes are made for. */
  readonly named: SolanaAddress | null;
  /** Proved by the owner's agents, linked by nobody else, and within this agent's reach. */
  readonly proved: readonly SolanaAddress[];
  /** The agent's solAddress while nobody has proved to hold it. */
  readonly unproved: SolanaAddress | null;
}

/**
 * An agent reaches those of its owner's wallets that it registered, linked or traded with, and those that the owner
 * granted it. For everything here the others are not there.
 */
export interface WalletStore {
  /** `taken`: another owner has the wallet. `full`: this one has `maxWallets` others. */
  register(
    caller: Caller,
    credential: CredentialRow,
    maxWallets: number,
  ): Promise<'registered' | 'taken' | 'full'>;
  credential(
    caller: Pick<Caller, 'agentId' | 'userId'>,
    walletAddress: Address,
  ): Promise<CredentialRow | null>;
  /** Every EVM wallet that the agent reaches, with the accounts that pay. */
  wallets(caller: Pick<Caller, 'agentId' | 'userId'>): Promise<readonly Address[]>;
  solanaWallets(caller: Pick<Caller, 'agentId' | 'userId'>): Promise<SolanaWallets>;
  /** Of these addresses, of either venue, those that the agent reaches; also of wallets that have left the owner. */
  reachable(
    caller: Pick<Caller, 'agentId' | 'userId'>,
    addresses: readonly WalletAddress[],
  ): Promise<ReadonlySet<WalletAddress>>;
  /** Whether the simulation balance was credited before. */
  isCredited(funder: Address): Promise<boolean>;
  /** Takes `amount` from the day's faucet allowance. @returns what is left, or `null` and how much there was. */
  drawFaucet(
    address: Address,
    amount: Micro,
    allowance: Micro,
    at: number,
  ): Promise<{ ok: boolean; left: Micro }>;
}

/** What every order has. */
interface OrderTerms {
  readonly orderId: string;
  readonly agentId: string;
  readonly userId: bigint;
  readonly venue: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly question: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  readonly isLimitOrder: boolean;
  readonly timeInForce: TimeInForce;
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
  readonly requestId: string;
  readonly createdAt: number;
}

/** A message of a known form that was signed by the key of an EVM wallet. */
export interface NewSignedOrder extends OrderTerms {
  readonly kind: 'signed';
  /** The order's maker: the account that pays. */
  readonly funder: Address;
  /** The wallet whose credential the trade used. */
  readonly walletAddress: Address;
  readonly signatureType: SignatureType;
  readonly version: OrderVersion;
}

/** A Solana transaction that was quoted and then signed. */
export interface NewQuotedOrder extends OrderTerms {
  readonly kind: 'quoted';
  /** The wallet that pays and signs; `walletAddress` is the same. */
  readonly funder: SolanaAddress;
  readonly walletAddress: SolanaAddress;
  /** A settled market is paid out. This is no trade: it reserves no budget and returns none. */
  readonly isRedemption: boolean;
}

export type NewOrder = NewSignedOrder | NewQuotedOrder;

/** What has become of an order. */
interface OrderState {
  readonly status: OrderStatus;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly errorCode: string | null;
  /** `null` while the first outcome is open. */
  readonly first: FirstAnswer | null;
  readonly journal: readonly {
    readonly at: string;
    readonly event: string;
    readonly status: OrderStatus;
    readonly detail?: string;
  }[];
  readonly updatedAt: number;
}

export type SignedOrderRow = NewSignedOrder & OrderState;
export type QuotedOrderRow = NewQuotedOrder & OrderState;
export type OrderRow = SignedOrderRow | QuotedOrderRow;

export interface FillRow {
  readonly tradeId: string;
  readonly price: Pips;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
  readonly liquidity: 'maker' | 'taker';
  readonly matchKind: string;
  readonly filledAt: number;
}

/** A fill with what its order says of it. */
export interface AgentFillRow extends FillRow {
  readonly orderId: string;
  readonly venue: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  readonly wallet: WalletAddress;
  /** `null`: the venue's fills are no transactions of their own. */
  readonly transaction: string | null;
}

/** Of an agent's fills, newest first: a time may have several, and an order several trades. */
export type FillPlace = Pick<AgentFillRow, 'filledAt' | 'orderId' | 'tradeId'>;

export interface FillFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  /** Only fills that come after this one in the list. */
  readonly after?: FillPlace;
  readonly limit: number;
}

/** What a trade is judged by. */
export interface Standing extends UsedFacts {
  readonly claimed: boolean;
  readonly safeguards: Safeguards;
  /** Locks of other owners that bind the wallet: agents of theirs had it. */
  readonly restrictions: readonly (Restriction & { readonly agentId: string })[];
}

export interface StandingQuestion {
  readonly caller: Pick<Caller, 'agentId'>;
  readonly funder: WalletAddress;
  /** The key behind the wallet: its EOA, or the Solana wallet itself. */
  readonly signer: WalletAddress;
  /** [YES, NO] of the market. */
  readonly tokenIds: readonly [string, string];
  readonly conditionId: string;
  readonly at: number;
}

/** An order as it is recorded, and what it reserves of its agent's budget: a redemption nothing. */
export interface Recorded<Order extends NewOrder = NewOrder> {
  readonly order: Order;
  readonly reserves: Micro;
  /** The transaction of a quoted order. */
  readonly transaction?: NewChainOrder;
}

/** One transaction that holds an agent's lock from the first look to the commit, and the locks of those that bind it. */
export interface TradeScope extends Standing {
  readonly keyActive: boolean;
  /** The agent's owner, now. */
  readonly userId: bigint;
  /** Of the wallets asked about, those that the agent may use. */
  readonly credentials: readonly CredentialRow[];
  /** The owner has a credential for one of them that this agent may not use. */
  readonly hasUnreachable: boolean;
  /** Orders that have one of the ids asked for, whoever placed them. */
  readonly existing: readonly OrderRow[];
  /** The quote asked about was taken back. */
  readonly quoteWithdrawn: boolean;
  /** Reserves the budget and records the agent's orders, in one trip. @returns the ids that were not taken already */
  commit(orders: readonly Recorded[]): Promise<ReadonlySet<string>>;
  abort(): void;
}

export interface TradeLedger {
  /** Locks the agent and reads what its trade is judged by, in one trip. */
  open(
    question: StandingQuestion & {
      readonly caller: Caller;
      readonly orderIds: readonly string[];
      readonly wallets: readonly Address[];
      /** Quoted orders only. */
      readonly quoteId?: string;
      /** Throws when nobody waits any more. Asked when the agent's turn comes, which may be long after this call. */
      readonly requireTime?: () => void;
    },
  ): Promise<TradeScope>;
  /** What a trade would be judged by, without locking or reserving anything. */
  look(question: StandingQuestion): Promise<Standing>;
}

export interface OrderFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  readonly orderStatus?: number;
  /** Only orders that come after this one in the list, newest first. */
  readonly after?: { readonly createdAt: number; readonly orderId: string };
  readonly limit: number;
  readonly offset: number;
}

export interface DayCounts {
  readonly placed: number;
  readonly filled: number;
  readonly open: number;
  /** Canceled or expired without a fill. */
  readonly canceled: number;
  /** Proved never to have been taken by the venue. */
  readonly givenBack: number;
}

export interface OrderStore {
  byIds(orderIds: readonly string[]): Promise<readonly OrderRow[]>;
  byId(agentId: string, orderId: string): Promise<OrderRow | null>;
  /** @param wallet the account whose position they moved */
  fills(wallet: WalletAddress, orderId: string): Promise<readonly FillRow[]>;
  /** Of the agent's orders, whoever owns it now and on whichever wallet. */
  fillsOfAgent(agentId: string, filter: FillFilter): Promise<readonly AgentFillRow[]>;
  open(
    agentId: string,
    filter: OrderFilter,
  ): Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }>;
  history(
    agentId: string,
    filter: OrderFilter,
  ): Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }>;
  openOfOwner(userId: bigint): Promise<readonly OrderRow[]>;
  /** What the day's number of trades is made of, for the UTC day of `at`. */
  countsOfDay(agentId: string, at: number): Promise<DayCounts>;
  /** Signed orders alone: quoted ones are followed by their transactions. */
  inDoubt(olderThan: number): Promise<readonly SignedOrderRow[]>;
  /** Records what became of an order when the venue's own evidence does not do it. */
  settle(
    orderId: string,
    outcome: FirstAnswer & { readonly status: OrderStatus; readonly event: string },
    at: number,
  ): Promise<void>;
}

export interface PositionRow {
  readonly wallet: WalletAddress;
  /** Whose market it is, as the market's first fill here noted it; `null` where no fill did. */
  readonly venue: VenueId | null;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly size: Micro;
  readonly cost: Micro;
  readonly realized: Micro;
  readonly fees: Micro;
  /** Everything ever bought of it, and what that cost, fees apart. */
  readonly boughtSize: Micro;
  readonly boughtCost: Micro;
  /** When the size last came to zero; `null` while something is held. */
  readonly closedAt: number | null;
  /** What the desk keeps of the market, for when the venue has forgotten it; `null` before its first fill here. */
  readonly market: {
    readonly marketId: string;
    readonly question: string;
    readonly endDate: number;
    readonly payout: 'YES' | 'NO' | 'HALF' | null;
  } | null;
}

/** What belongs to some venues: what is noted for them, or everything but what is noted for the others. */
export type VenueFilter = { readonly only: readonly VenueId[] } | { readonly except: readonly VenueId[] };

export interface ClosedPage {
  readonly limit: number;
  readonly offset: number;
  /** Condition id or market id. */
  readonly market?: string;
  /** A part of the title, in any case. */
  readonly title?: string;
  /** Left out: when they were closed. Fields that are the same for every closed position sort nothing. */
  readonly sortBy?: string;
  readonly sortDirection?: 'ASC' | 'DESC';
}

export interface PositionStore {
  /** Held now, by any of the wallets. */
  held(wallets: readonly WalletAddress[], venues: VenueFilter): Promise<readonly PositionRow[]>;
  /** Sold or redeemed to the last share, latest first. */
  closed(
    wallets: readonly WalletAddress[],
    venues: VenueFilter,
    page: ClosedPage,
  ): Promise<{ readonly rows: readonly PositionRow[]; readonly total: number }>;
  /** Realised P&L after fees of the fills since then. */
  realizedSince(wallets: readonly WalletAddress[], venues: VenueFilter, at: number): Promise<Micro>;
  /** Realised P&L before fees, fees, closed positions and those of them that gained. */
  results(
    wallets: readonly WalletAddress[],
    venues: VenueFilter,
  ): Promise<{ realized: Micro; fees: Micro; closed: number; won: number }>;
}

export type IdempotencyState =
  | { readonly kind: 'new' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'other_body' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

export interface IdempotencyStore {
  begin(
    scope: string,
    route: string,
    key: string,
    bodyHash: Uint8Array,
    at: number,
  ): Promise<IdempotencyState>;
  /** `body` is null for an answer that carried a secret. */
  keep(scope: string, route: string, key: string, status: number, body: string | null): Promise<void>;
  release(scope: string, route: string, key: string): Promise<void>;
  /** Keys of a scope that have not expired; no more than `most` are counted. */
  count(scope: string, at: number, most: number): Promise<number>;
}
