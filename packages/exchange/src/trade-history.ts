/** The interface of the exchange's history: trades with their settlement, and the other moves of an account. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { AccountId, ConditionId, Entry, MarketFacts, OrderId, Outcome, Side } from './paper-exchange.ts';

/** One pairing of the taker with a maker. Costs are collateral before the fee; only the taker pays a fee. */
export interface TradeMatch {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly outcome: Outcome;
  readonly side: Side;
  /** Price of the maker's own token. */
  readonly price: Pips;
  readonly size: Micro;
  readonly cost: Micro;
  readonly takerCost: Micro;
  readonly takerFee: Micro;
}

export interface Taker {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly outcome: Outcome;
  readonly side: Side;
}

/** One taker order against one or several makers, in one command. Accounts and orders of the house begin with `house:`. */
export interface Trade {
  /** Number of its first match: a match belongs to the trade with the greatest number that is not above the match's. */
  readonly number: number;
  readonly at: number;
  readonly conditionId: ConditionId;
  readonly taker: Taker;
  /** In the order of matching; at least one. */
  readonly matches: readonly TradeMatch[];
}

export type TradeStatus = 'MATCHED' | 'MINED' | 'CONFIRMED' | 'RETRYING' | 'FAILED';

export interface Settlement {
  readonly status: TradeStatus;
  /** Since when it has the status. */
  readonly since: number;
  /** From MINED on. */
  readonly transactionHash?: string;
}

export interface SettlementDelays {
  /** From the match. */
  readonly minedAfterMs: number;
  readonly confirmedAfterMs: number;
}

export interface TradeRecord extends Trade {
  /** UUID. */
  readonly id: string;
  /** As it was when the trade was made; with its payout once it is resolved. */
  readonly market: MarketFacts;
  readonly settlement: Settlement;
}

/** A change of an account's collateral and tokens that is no trade. */
export interface AccountMove {
  readonly account: AccountId;
  readonly at: number;
  /** Place in the journal: position of the command, and number within it. */
  readonly seq: number;
  readonly part: number;
  readonly kind: 'deposit' | 'split' | 'merge' | 'convert' | 'redeem';
  readonly conditionId?: ConditionId;
  /** Tokens of each outcome that it made (split; YES of a conversion) or used up (merge, redeem; NO of a conversion). */
  readonly yes: Micro;
  readonly no: Micro;
  /** Collateral that it paid (split) or brought; of a conversion, in which no collateral moves, the worth of the tokens. */
  readonly collateral: Micro;
}

export type MoveRecord = AccountMove & { readonly market?: MarketFacts };

/** A place in the order of trades, or of moves. */
export type TradePlace = Pick<Trade, 'at' | 'number'>;
export type MovePlace = Pick<AccountMove, 'at' | 'seq' | 'part'>;

interface Window {
  readonly conditionId?: ConditionId;
  /** Epoch milliseconds; from `since` on, and before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Default: newest first. */
  readonly oldestFirst?: boolean;
  /** At most 1,000. */
  readonly limit: number;
}

export interface TradeQuery extends Window {
  /** Only trades of this account. Without it: the public tape. */
  readonly account?: AccountId;
  /** The three only with an account: its own part. */
  readonly outcome?: Outcome;
  readonly side?: Side;
  readonly role?: 'taker' | 'maker';
  /** Behind this place, in the order of the answer. */
  readonly after?: TradePlace;
}

export interface MoveQuery extends Window {
  readonly account: AccountId;
  readonly kinds?: readonly AccountMove['kind'][];
  readonly after?: MovePlace;
}

/**
 * Keeps trades durably. A read includes every trade whose command was answered before it. Trades and moves of accounts are
 * kept for 90 days, trades of the house among itself for two.
 * @throws ExchangeUnavailable while the exchange is not open
 */
export interface TradeHistory {
  trades(query: TradeQuery): Promise<readonly TradeRecord[]>;
  /** @returns undefined for an id that the exchange never made, and for a trade that is no longer kept */
  trade(id: string): Promise<TradeRecord | undefined>;
  /** The trades that contain these matches (`matchId` of fills), in order; at most 1,000 matches. */
  tradesOfMatches(matchIds: readonly number[]): Promise<readonly TradeRecord[]>;
  moves(query: MoveQuery): Promise<readonly MoveRecord[]>;
  /** A market that was traded, also after the exchange has forgotten it. */
  market(conditionId: ConditionId): Promise<MarketFacts | undefined>;
  /** Number of the trade whose first match this is: for a taker, the first of its fills. */
  tradeId(firstMatchId: number): string;
  /** The trades of one entry, as they stand now. */
  tradesIn(entry: Pick<Entry, 'events' | 'at' | 'markets'>): readonly TradeRecord[];
  /** How a trade of the last minutes stands at a time. */
  settlement(trade: TradePlace, at: number): Settlement;
  readonly delays: SettlementDelays;
}
