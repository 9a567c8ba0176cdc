/** The desk's stores, as the use cases need them. Times are epoch milliseconds, money micro-units. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Address, OrderVersion, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { AddressFamily, WalletAddress } from '../domain/addresses.ts';
import type { OwnerLocks } from '../domain/locks.ts';
import type { Book } from '../domain/market.ts';
import type { TimeInForce } from '../domain/orders/draft.ts';
import type { OrderStatus } from '../domain/orders/lifecycle.ts';
import type { CheckedFigures, Restriction, Safeguards, Usage, UsedFacts } from '../domain/safeguards.ts';
import type { FirstAnswer } from './evidence.ts';
import type { NewChainOrder } from './quoted-orders.ts';
import type { Sealed } from './secrets.ts';
import type { TradeTrace } from './tracing.ts';
import type { Balance, VenueAnswer, VenueId, VenueOrder } from './venue.ts';

export type { WalletAddress };

/** An agent and its owner, for what either of them may ask. */
export interface ActingAgent {
  readonly agentId: string;
  readonly userId: bigint;
}

/** The caller, resolved from the API key. */
export interface Caller extends ActingAgent {
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

/** The settings to change; only the owner sets `locks`. */
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
  /** Deletes the oldest revoked keys. @returns `null` when the agent has the maximum number of active keys. */
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
   * Locks the agent's row, so the change applies to every trade assessed after it. `decide` receives the locked row;
   * when it throws, nothing changes.
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

/** Solana wallets. A signature of its key proves a wallet: over a link challenge, or in a submitted order. */
export interface SolanaWallets {
  /** The agent's solAddress, proved or not: quotes are made for it. */
  readonly named: SolanaAddress | null;
  /** Proved by the owner's agents, not linked by another owner, and within this agent's reach. */
  readonly proved: readonly SolanaAddress[];
  /** The agent's solAddress while no agent has proved that it holds its key. */
  readonly unproved: SolanaAddress | null;
}

/**
 * An agent reaches those of its owner's wallets that it registered, linked or traded with, and those that the owner
 * granted it. All methods here ignore the owner's other wallets.
 */
export interface WalletStore {
  /** `taken`: another owner has the wallet. `full`: this one has `maxWallets` others. */
  register(
    caller: Caller,
    credential: CredentialRow,
    maxWallets: number,
  ): Promise<'registered' | 'taken' | 'full'>;
  credential(caller: ActingAgent, walletAddress: Address): Promise<CredentialRow | null>;
  /** Every EVM wallet within the agent's reach, and the accounts that pay for them. */
  wallets(caller: ActingAgent): Promise<readonly Address[]>;
  solanaWallets(caller: ActingAgent): Promise<SolanaWallets>;
  /** Those of the addresses, of any family, within the agent's reach; also of wallets that have left the owner. */
  reachable(caller: ActingAgent, addresses: readonly WalletAddress[]): Promise<ReadonlySet<WalletAddress>>;
  /** Whether the simulation balance has been credited. */
  isCredited(funder: Address): Promise<boolean>;
  /** What the faucet still gives an address today. */
  faucetLeft(address: Address, perDay: Micro, at: number): Promise<Micro>;
  /** Takes `amount` from the day's faucet allowance. @returns what is left, or `null` and what there was. */
  drawFaucet(
    address: Address,
    amount: Micro,
    allowance: Micro,
    at: number,
  ): Promise<{ ok: boolean; left: Micro }>;
}

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

/** An order that is an EIP-712 message signed by the key of an EVM wallet. */
export interface NewSignedOrder extends OrderTerms {
  readonly kind: 'signed';
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
  /** The wallet that pays and signs; `walletAddress` is the same. */
  readonly funder: SolanaAddress;
  readonly walletAddress: SolanaAddress;
  /** Pays out a settled market. Not a trade: it reserves no budget and returns none. */
  readonly isRedemption: boolean;
}

export type NewOrder = NewSignedOrder | NewQuotedOrder;

/** The current state of an order. */
interface OrderState {
  readonly status: OrderStatus;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly errorCode: string | null;
  /** What the safeguards counted of it. */
  readonly counted: Micro;
  /** `null` until the first answer. */
  readonly first: FirstAnswer | null;
  readonly journal: readonly {
    readonly at: string;
    readonly event: string;
    readonly status: OrderStatus;
    readonly detail?: string;
    /** Of the first entry. */
    readonly checked?: Checked;
  }[];
  readonly updatedAt: number;
}

export type SignedOrderRow = NewSignedOrder & OrderState;
export type QuotedOrderRow = NewQuotedOrder & OrderState;
export type OrderRow = SignedOrderRow | QuotedOrderRow;
type Listed<Order> = Omit<Order, 'journal' | 'first' | 'requestId' | 'counted'>;
/** What a list shows of an order. */
export type ListedOrder = Listed<SignedOrderRow> | Listed<QuotedOrderRow>;

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

/** A fill with the fields of its order. */
export interface AgentFillRow extends FillRow {
  readonly orderId: string;
  readonly venue: string;
  readonly marketId: string;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  readonly wallet: WalletAddress;
  /** `null`: the venue's fills have no separate transactions. */
  readonly transaction: string | null;
}

/** A place in an agent's fills, newest first: several may share a time, and an order may have several trades. */
export type FillPlace = Pick<AgentFillRow, 'filledAt' | 'orderId' | 'tradeId'>;

export interface FillFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  /** Only fills that come after this one in the list. */
  readonly after?: FillPlace;
  readonly limit: number;
}

/** The facts that a trade is assessed against. */
export interface Standing extends UsedFacts {
  readonly claimed: boolean;
  readonly safeguards: Safeguards;
  /** Locks of other owners that bind the wallet, because their agents had it before. */
  readonly restrictions: readonly (Restriction & { readonly agentId: string })[];
}

export interface StandingQuestion {
  readonly caller: Pick<Caller, 'agentId'>;
  readonly funder: WalletAddress;
  /** The wallet's key: its EOA, or the Solana wallet itself. */
  readonly signer: WalletAddress;
  /** [YES, NO] of the market. */
  readonly tokenIds: readonly [string, string];
  readonly conditionId: string;
  readonly at: number;
}

/** What an order was judged by, and the owner's approval, if it needed one. As the journal's column holds it. */
export type Checked = CheckedFigures & { approval?: [approvalId: string] };

/** An order to record, and the budget that it reserves: none for a redemption. */
export interface Recorded<Order extends NewOrder = NewOrder> {
  readonly order: Order;
  readonly reserves: Micro;
  /** What it was judged by, for its journal. */
  readonly checked: Checked;
  /** The transaction of a quoted order. */
  readonly transaction?: NewChainOrder;
}

/** What a trade is judged by, under the lock of its agent. */
export interface TradeScope extends Standing {
  readonly keyActive: boolean;
  /** The agent's current owner. */
  readonly userId: bigint;
  /** Credentials of those of the requested wallets that the agent may use. */
  readonly credentials: readonly TradingCredential[];
  /** The owner has a credential for one of the requested wallets that this agent may not use. */
  readonly hasUnreachable: boolean;
  /** The order with the requested id, of any agent. */
  readonly existing: OrderRow | null;
  /** The agent has withdrawn the quote. */
  readonly quoteWithdrawn: boolean;
  /**
   * Free balance of an account, after every trade that was judged before; `null` where the order does not reach its venue
   * in the same commit.
   */
  readonly balance: ((account: Address) => Balance) | null;
  /** The book of an outcome, likewise; its second `null`: the market has none. */
  readonly book: ((conditionId: string, outcome: 'YES' | 'NO') => Book | null) | null;
}

export type TradingCredential = Pick<CredentialRow, 'walletAddress' | 'signatureType' | 'apiKeyHash'>;

/** A trade that asks to be admitted. */
export interface Admission<Order extends NewOrder = NewOrder> extends StandingQuestion {
  readonly caller: Caller;
  readonly venue: VenueId;
  readonly orderId: string;
  readonly wallets: readonly Address[];
  /** The token that it sells; missing: it buys. */
  readonly sells?: string;
  /** Quoted orders only. */
  readonly quoteId?: string;
  /** Throws when the request has ended. Called when the trade's turn comes, which may be long after this call. */
  readonly requireTime?: () => void;
  /**
   * Must not wait for anything. Called again when the facts had to be read again.
   * @returns what to record; `null`: nothing @throws what `admit` then throws
   */
  judge(scope: TradeScope): Recorded<Order> | null;
  readonly trace?: TradeTrace | undefined;
  /** The order as its venue takes it. Missing: the order is recorded here, and sent later. */
  toVenue?(order: Order): VenueOrder;
}

export type PreviewQuestion = StandingQuestion & Pick<Admission, 'caller' | 'orderId' | 'wallets'>;

export interface TradeLedger {
  /**
   * Judges a trade under its agent's lock; reserves its budget and records its order when `judge` returns one. Trades
   * that arrive at the same time share a transaction: those of one agent are judged one after another, and one that is
   * refused leaves the others alone.
   *
   * Where this process keeps the venue's journal in the same database, the order reaches its venue in the same commit.
   * @returns the venue's answer; `null`: the order, if there is one, was recorded and not sent to its venue
   * @throws VenueUnavailable when the commit with the venue failed: nothing was recorded
   */
  admit<Order extends NewOrder>(admission: Admission<Order>): Promise<VenueAnswer | null>;
  /** What a trade would be assessed against, without locking or reserving anything. */
  look(question: StandingQuestion): Promise<Standing>;
  /** What a trade would be judged by, without locking, reserving or recording anything. Its `balance` is `null`. */
  preview(question: PreviewQuestion): Promise<TradeScope>;
}

export interface OrderFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  readonly orderStatus?: number;
  /** Only orders after this one in the list, which is newest first. */
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
  /** Proved never accepted by the venue. */
  readonly givenBack: number;
}

export interface OrderStore {
  byIds(orderIds: readonly string[]): Promise<readonly OrderRow[]>;
  byId(agentId: string, orderId: string): Promise<OrderRow | null>;
  /** @param wallet the account whose position the fills changed */
  fills(wallet: WalletAddress, orderId: string): Promise<readonly FillRow[]>;
  /** Of the agent's orders, under any owner and on any wallet. */
  fillsOfAgent(
    agentId: string,
    filter: FillFilter,
  ): Promise<{ readonly fills: readonly AgentFillRow[]; readonly total: number }>;
  open(
    agentId: string,
    filter: OrderFilter,
  ): Promise<{ readonly orders: readonly ListedOrder[]; readonly total: number }>;
  history(
    agentId: string,
    filter: OrderFilter,
  ): Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }>;
  openOfOwner(userId: bigint): Promise<readonly OrderRow[]>;
  /** What the day's number of trades consists of, for the UTC day of `at`. */
  countsOfDay(agentId: string, at: number): Promise<DayCounts>;
  /** Signed orders only: a job follows the transactions of quoted orders. */
  inDoubt(olderThan: number): Promise<readonly SignedOrderRow[]>;
  /** Records the outcome of an order when the venue's own evidence does not. */
  settle(
    orderId: string,
    outcome: FirstAnswer & { readonly status: OrderStatus; readonly event: string },
    at: number,
  ): Promise<void>;
}

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
    readonly endDate: number;
    readonly payout: 'YES' | 'NO' | 'HALF' | null;
  } | null;
}

/** `only`: records of these venues. `except`: all records but those of these venues. */
export type VenueFilter = { readonly only: readonly VenueId[] } | { readonly except: readonly VenueId[] };

export interface ClosedPage {
  readonly limit: number;
  readonly offset: number;
  /** Condition id or market id. */
  readonly market?: string;
  /** A part of the title, case-insensitive. */
  readonly title?: string;
  /** Default: the time of closing. Fields that are the same for every closed position do not sort. */
  readonly sortBy?: string;
  readonly sortDirection?: 'ASC' | 'DESC';
}

export interface PositionStore {
  /** Held now, by all wallets within the agent's reach, of these address families. */
  heldByAgent(
    caller: ActingAgent,
    families: readonly AddressFamily[],
    venues: VenueFilter,
  ): Promise<readonly PositionRow[]>;
  /** Held now, by any of the wallets. */
  held(wallets: readonly WalletAddress[], venues: VenueFilter): Promise<readonly PositionRow[]>;
  /** Completely sold or redeemed, latest first. */
  closed(
    wallets: readonly WalletAddress[],
    venues: VenueFilter,
    page: ClosedPage,
  ): Promise<{ readonly rows: readonly PositionRow[]; readonly total: number }>;
  /** Realised P&L after fees of the fills since then. */
  realizedSince(wallets: readonly WalletAddress[], venues: VenueFilter, at: number): Promise<Micro>;
  /** Realised P&L before fees, the fees, the number of closed positions and of those with a gain. */
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
  /** `body` is null for an answer that contained a secret. */
  keep(scope: string, route: string, key: string, status: number, body: string | null): Promise<void>;
  release(scope: string, route: string, key: string): Promise<void>;
  /** Counts a scope's keys that have not expired, up to `most`. */
  count(scope: string, at: number, most: number): Promise<number>;
}
