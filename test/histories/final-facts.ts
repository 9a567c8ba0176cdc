/** Facts when everything had come to rest: read from the desk's database and from the venue's ledger. Money in micro-units. */
import type { LoggedEvent } from './history.ts';

export interface FinalFacts {
  /** The day's budgets began anew during the run: then what is used of a day proves nothing. */
  readonly hasMidnight: boolean;
  readonly orders: readonly DeskOrder[];
  readonly venueOrders: readonly VenueOrder[];
  readonly fills: readonly DeskFill[];
  readonly wallets: readonly Wallet[];
  readonly budgets: readonly Budget[];
  /** API keys of agents by name, the registration's apart. */
  readonly apiKeys: readonly { readonly agent: string; readonly name: string; readonly count: number }[];
  /** The log of each agent from where its first listener began, read once more at the end. */
  readonly logs: readonly { readonly agent: string; readonly events: readonly LoggedEvent[] }[];
  /** YES and NO tokens of markets that are not resolved, over all accounts. */
  readonly supplies: readonly { readonly conditionId: string; readonly yes: bigint; readonly no: bigint }[];
  /** The venue's ledger, opened and audited anew: `null` when its sums are right. */
  readonly ledgerFault: string | null;
  /** Findings of the audit of receipts, and of the SDK on exported chains. */
  readonly receiptFaults: readonly string[];
  /** Orders of agents that have a receipt. */
  readonly ordersWithReceipt: readonly string[];
}

export interface DeskOrder {
  readonly orderId: string;
  readonly agent: string;
  readonly status: string;
  /** The status in the words of the interface. */
  readonly word: string;
  /** It counts as a trade of its day: it was neither refused nor canceled before it reached its venue. */
  readonly isTrade: boolean;
  readonly side: 'BUY' | 'SELL';
  readonly shares: bigint;
  readonly filled: bigint;
  readonly cost: bigint;
  readonly fees: bigint;
  /** Figures that the safeguards counted when it was judged. */
  readonly reserved: bigint;
}

/** The venue's own record of an order; fills that were taken back are not in it. */
export interface VenueOrder {
  readonly orderId: string;
  /** It reached the venue, which did not refuse it. */
  readonly isKnown: boolean;
  readonly isOpen: boolean;
  readonly hasFailed: boolean;
  readonly filled: bigint;
  readonly cost: bigint;
  readonly fees: bigint;
}

export interface DeskFill {
  readonly orderId: string;
  readonly tradeId: string;
  readonly side: 'BUY' | 'SELL';
  readonly wallet: string;
  readonly size: bigint;
  readonly cost: bigint;
  readonly fee: bigint;
}

export interface Wallet {
  readonly wallet: string;
  readonly agent: string;
  readonly deposited: bigint;
  /** At the venue, what open orders hold included. */
  readonly money: bigint;
  readonly tokens: readonly Tokens[];
  readonly positions: readonly Tokens[];
}

export interface Tokens {
  readonly conditionId: string;
  readonly yes: bigint;
  readonly no: bigint;
}

/** Use of the day. */
export interface Budget {
  readonly agent: string;
  readonly trades: number;
  readonly amount: bigint;
}
