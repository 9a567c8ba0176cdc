/** Facts when everything had come to rest: read from the desk's database and from the venue's ledger. Money in micro-units. */
import type { LoggedEvent } from './history.ts';
import type { WatchedFacts } from './watched-facts.ts';

export interface FinalFacts {
  /** The day's budgets began anew during the run: then what is used of a day proves nothing. */
  readonly hasMidnight: boolean;
  readonly orders: readonly DeskOrder[];
  readonly exits: readonly DeskExit[];
  /** What was told of each exit, in its order: the words of `exit.*`, troubles apart. */
  readonly toldExits: readonly { readonly exitId: string; readonly became: string }[];
  /** What was told of their orders that is no end: attempts that were refused, and attempts without an answer. */
  readonly exitAttempts: { readonly refused: number; readonly unanswered: number };
  /** What the safeguards keep for exits. */
  readonly exitPlaces: readonly {
    readonly agent: string;
    /** Places of the day's trades. */
    readonly reserved: number;
    readonly open: number;
    readonly mostTrades: number;
  }[];
  /** Exits that the agent's briefing calls unguarded. */
  readonly unguarded: readonly string[];
  readonly venueOrders: readonly VenueOrder[];
  readonly fills: readonly DeskFill[];
  readonly moves: readonly VenueMove[];
  /** Markets that are resolved at the venue, with what YES pays in its words. */
  readonly payouts: readonly { readonly conditionId: string; readonly payout: string }[];
  readonly wallets: readonly Wallet[];
  readonly books: readonly Books[];
  readonly results: readonly Results[];
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
  readonly watched: WatchedFacts;
}

/** How many exits there were, and what became of them: for the summary of a run. */
export function exitCounts({ exits, toldExits, exitAttempts }: FinalFacts): Map<string, number> {
  const counts = new Map([['left', exits.length]]);
  const add = (word: string): void => void counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const { became } of toldExits) add(became);
  for (const { status, because, trouble } of exits) {
    if (because === 'settlement_failed') add('failed to settle');
    if (status === 'armed' && trouble !== null) add('in trouble');
  }
  counts.set('refused', exitAttempts.refused);
  counts.set('in doubt', exitAttempts.unanswered);
  return counts;
}

export interface DeskOrder {
  readonly orderId: string;
  readonly agent: string;
  /** `signed`, or of sets `split`, `merge` or `convert`. */
  readonly kind: string;
  /** The agent's own name for it. */
  readonly name: string | null;
  readonly status: string;
  /** The status in the words of the interface. */
  readonly word: string;
  /** It counts as a trade of its day: it was neither refused nor canceled before it reached its venue. */
  readonly isTrade: boolean;
  readonly token: string;
  readonly side: 'BUY' | 'SELL';
  /** What was signed: shares, and the collateral that is given or wanted for them. */
  readonly shares: bigint;
  readonly money: bigint;
  readonly filled: bigint;
  readonly cost: bigint;
  readonly fees: bigint;
  /** Figures that the safeguards counted when it was judged. */
  readonly reserved: bigint;
}

export interface DeskExit {
  readonly exitId: string;
  readonly agent: string;
  readonly orderId: string;
  readonly status: string;
  readonly because: string | null;
  readonly group: string | null;
  /** What would be sold, and for how much a share at least. */
  readonly token: string;
  readonly shares: bigint;
  readonly worstPrice: bigint;
  /** It is known what its order sold. */
  readonly isSettled: boolean;
  /** By its row it should have been sent long ago: its time has come, or its price always holds. */
  readonly isDue: boolean;
  /** It waits for its trigger to let go. */
  readonly mustLetGo: boolean;
  readonly trouble: string | null;
}

/** The venue's own record of an order; fills that were taken back are not in it. */
export interface VenueOrder {
  readonly orderId: string;
  /** It reached the venue, which did not refuse it. */
  readonly isKnown: boolean;
  readonly isOpen: boolean;
  /** By the venue alone: an own order met it, or its market closed. */
  readonly isEndedThere: boolean;
  readonly hasFailed: boolean;
  /** Its part in each match that was not taken back. Their numbers count up over the life of the venue. */
  readonly matches: readonly {
    readonly number: number;
    readonly price: bigint;
    readonly size: bigint;
  }[];
  readonly filled: bigint;
  readonly cost: bigint;
  readonly fees: bigint;
}

export interface DeskFill {
  readonly orderId: string;
  readonly tradeId: string;
  readonly side: 'BUY' | 'SELL';
  readonly wallet: string;
  readonly conditionId: string;
  readonly token: string;
  readonly outcome: 'YES' | 'NO';
  /** `SPLIT`, `MERGED`, `CONVERTED`, `REDEEMED`, `LOST`, or how a trade was matched. */
  readonly matchKind: string;
  readonly size: bigint;
  readonly cost: bigint;
  readonly fee: bigint;
  /** What it gained, as the desk counts it. */
  readonly gain: bigint;
  /** When it counts, and the number under which it was recorded: in whole milliseconds and by one count of the desk. */
  readonly at: number;
  readonly nth: bigint;
}

/** What the desk says of one holding. */
export interface Books {
  readonly wallet: string;
  readonly token: string;
  readonly sums: Readonly<
    Record<'size' | 'cost' | 'realized' | 'fees' | 'boughtSize' | 'boughtCost', bigint>
  >;
}

/** What the desk says an agent has won and lost. */
export interface Results {
  readonly agent: string;
  readonly sums: Readonly<Record<'volume' | 'fees' | 'realized' | 'wins' | 'losses', bigint>>;
  /** Results by day, added up: what loss limits go by. */
  readonly days: Readonly<Record<'fees' | 'realized', bigint>>;
}

/** A move of a wallet at its venue that is no trade. */
export interface VenueMove {
  readonly wallet: string;
  readonly kind: 'split' | 'merge' | 'convert' | 'redeem';
  readonly conditionId: string;
  /** Tokens that it made or used up; of a conversion the NO shares of its market, or the YES shares of another. */
  readonly yes: bigint;
  readonly no: bigint;
  readonly collateral: bigint;
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
interface Budget {
  readonly agent: string;
  readonly trades: number;
  readonly amount: bigint;
}
