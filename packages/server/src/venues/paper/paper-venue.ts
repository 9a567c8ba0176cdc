/** The paper exchange as a venue: signed orders, redemption, price history and paper money. */
import type { Micro } from '@bellwether/contract/decimals';
import {
  type EngineEvent,
  ExchangeUnavailable,
  type JournalledExchange,
  type PaperExchange,
  type PlacedCommand,
} from '@bellwether/exchange';
import { type Address, asAddress } from '@bellwether/protocol';
import type { VenueId } from '../../domain/market.ts';
import { VenueUnavailable, within } from '../../domain/unavailable.ts';
import type {
  Accounts,
  Balance,
  Cancel,
  MarketData,
  PaperCredit,
  PriceHistory,
  RedeemAnswer,
  Redemption,
  SignedOrders,
  Venue,
  VenueAnswer,
  VenueOrder,
  VenueSet,
  VenueTurn,
} from '../venue.ts';
import { answerOf, toEvidence } from './translate.ts';

interface PaperVenueOptions extends Pick<SignedOrders, 'signing' | 'rules'> {
  readonly id: string;
  readonly exchange: ExchangeCalls;
  readonly markets: MarketData;
  readonly history: PriceHistory;
  readonly simulationBalance: Micro;
  readonly credentials: NonNullable<PaperCredit['credentials']>;
  /** Whether an account has had its simulation balance, as the evidence of the deposit noted it. */
  readonly isCredited: (account: Address) => Promise<boolean>;
}

export function createPaperVenue(options: PaperVenueOptions): Venue {
  const { id, exchange, markets, history, signing, rules, simulationBalance, isCredited } = options;
  const { verifyCredentials, balance, submit, resolve, keptSince } = exchange;
  return {
    id,
    backend: 'paper',
    status: exchange.status,
    markets,
    accounts: createAccounts(exchange),
    signedOrders: { signing, rules, verifyCredentials, balance, submit, resolve, keptSince },
    cancel: { orders: exchange.cancel },
    sets: {
      balance,
      converts: () => true,
      submit: exchange.submitSet,
    },
    redemption: { redeem: exchange.redeem },
    history,
    paper: {
      // The credit is recorded in the transaction that makes the deposit durable.
      credit: creditOnce(async (text) => {
        const account = asAddress(text);
        if (!(await isCredited(account))) await exchange.deposit(account, simulationBalance, 'simulation');
      }),
      credentials: options.credentials,
      faucet: (account, amount, drawId) => exchange.deposit(asAddress(account), amount, 'faucet', drawId),
    },
  };
}

/** Balances are in memory, here or on the leading replica, so they are read every time. */
function createAccounts({ balance }: Pick<ExchangeCalls, 'balance'>): Accounts {
  return {
    family: 'evm',
    async balances(accounts, { patienceMs }) {
      const found = await within(patienceMs, Promise.all(accounts.map((one) => balance(asAddress(one)))));
      if (found === null) return { total: 0n, available: 0n, ageMs: null };
      const available = found.reduce((sum, one) => sum + one.available, 0n);
      return { available, total: found.reduce((sum, one) => sum + one.held, available), ageMs: 0 };
    },
    async inMarket(account, { conditionId }, { patienceMs }) {
      const found = await within(patienceMs, balance(asAddress(account)));
      if (found === null) return { available: null, free: null };
      const free = (outcome: 'YES' | 'NO') => (found as Balance).shares(conditionId, outcome);
      return { available: found.available, free: { YES: free('YES'), NO: free('NO') } };
    },
  };
}

// The desk's calls to the embedded paper exchange, in the process that leads it.

const DEFAULT_EARLY_MS = 60_000;

/** Flat, so that each call can be forwarded to the replica that leads. */
export interface ExchangeCalls
  extends Omit<SignedOrders, 'signing' | 'rules' | 'submit' | 'submitAll' | 'pause'>,
    Pick<Redemption, 'redeem'> {
  status(asker?: 'proxy'): string;
  keptSince(): number | null;
  /** The exchange takes orders that the desk has verified. */
  submit(order: SentOrder): Promise<VenueAnswer>;
  submitSet(set: SentSet): Promise<VenueAnswer>;
  balance(...question: Parameters<SignedOrders['balance']>): Promise<PaperBalance>;
  cancel: Cancel['orders'];
  /**
   * Adds collateral; the reason is recorded with it.
   * @param drawId of the faucet: one deposit under it, permanently
   */
  deposit(account: Address, amount: bigint, reason: 'simulation' | 'faucet', drawId?: string): Promise<void>;
}

interface SentAgain {
  /** An earlier leader may have received it. */
  readonly isSentAgain?: true;
}

export interface SentOrder extends VenueOrder, SentAgain {}

interface SentSet extends VenueSet, SentAgain {}

interface ExpiryTerms {
  /** Minimum lead of a GTD order's expiration, in seconds; it expires a third of that early, at most 60 s. */
  readonly gtdMinLeadS: number;
}

interface ExchangeCallsOptions extends ExpiryTerms {
  readonly exchange: JournalledExchange;
  readonly verifyCredentials: SignedOrders['verifyCredentials'];
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: { warn(context: object, message: string): void };
}

const engineOrders = ({ gtdMinLeadS }: ExpiryTerms) => {
  const earlyMs = Math.min(DEFAULT_EARLY_MS, Math.floor((gtdMinLeadS * 1000) / 3));
  return (order: VenueOrder | VenueSet): PlacedCommand => {
    const { orderId, funder: account, conditionId } = order;
    if ('kind' in order) return { kind: order.kind, orderId, account, conditionId, amount: order.amount };
    return {
      kind: 'place',
      order: {
        ...{ orderId, account, conditionId },
        outcome: order.outcome,
        side: order.side,
        limit: order.limit,
        size: order.shares,
        ...(order.spend === null ? {} : { spend: order.spend }),
        timeInForce: order.timeInForce,
        postOnly: order.postOnly,
        ...(order.expiration === null ? {} : { expiresAt: order.expiration - earlyMs }),
      },
    };
  };
};

interface TurnsOptions extends ExpiryTerms {
  readonly exchange: JournalledExchange;
  readonly venue: VenueId;
}

/** Turns at the exchange's journal, in the desk's terms. Each calls back when it is over. */
export function createTurns({ exchange, venue: name, ...terms }: TurnsOptions) {
  const toEngine = engineOrders(terms);
  return async (isOver: () => void): Promise<VenueTurn> => {
    const turn = await exchange.nextTurn();
    return {
      tx: turn.tx,
      term: turn.term,
      venue: {
        kind: 'joined',
        balance: (account) => liveBalance(exchange, account),
        book: (conditionId, outcome) => exchange.book(conditionId, outcome) ?? null,
        place: (order) => answerOf(turn.place(toEngine(order)), order.orderId),
      },
      begin: () => turn.begin(),
      evidence: () => toEvidence(turn.entries(), name),
      giveUp: (cause) => turn.giveUp(cause).finally(isOver),
      async commit() {
        try {
          await turn.commit();
          return 'recorded';
        } catch (error) {
          if (!(error instanceof ExchangeUnavailable)) throw error;
          if (error.executed === 'unknown') return 'unknown';
          throw new VenueUnavailable(error.message, { cause: error });
        } finally {
          isOver();
        }
      },
    };
  };
}

/** An order that the exchange refused because it never received it is known as that. */
const resolvedBy = (
  events: readonly EngineEvent[],
  orderId: string,
): ReturnType<typeof answerOf> | { kind: 'never_received' } => {
  const answer = answerOf(events, orderId);
  const isUnplaced = answer.kind === 'rejected' && answer.reason === 'not_received';
  return isUnplaced ? { kind: 'never_received' } : answer;
};

export function createExchangeCalls({
  exchange,
  verifyCredentials,
  gtdMinLeadS,
  now,
  log,
}: ExchangeCallsOptions): ExchangeCalls {
  const toEngine = engineOrders({ gtdMinLeadS });

  const submit = async (order: SentOrder | SentSet): Promise<VenueAnswer> => {
    if (now() > order.deadline) {
      log.warn({ orderId: order.orderId }, 'an order reached the paper exchange after its deadline');
      return { kind: 'unknown' };
    }
    try {
      // The desk's row, inserted under a unique key, proves that this order is new, unless an earlier leader got it.
      const isSentAgain = order.isSentAgain === true;
      const events = await exchange.execute(toEngine(order), { isNew: true, isSentAgain });
      return answerOf(events, order.orderId);
    } catch (error) {
      // Only the recovered exchange knows whether the journal has the order: until then it is unknown.
      log.warn({ err: error, orderId: order.orderId }, 'the paper exchange gave no answer');
      return { kind: 'unknown' };
    }
  };

  return {
    status: () => (exchange.status === 'open' ? 'ready' : `the paper exchange is ${exchange.status}`),
    verifyCredentials,
    submit,
    submitSet: submit,
    async cancel(funder, orderIds) {
      try {
        const events = await exchange.execute({ kind: 'cancel', account: funder, orderIds });
        const canceled: string[] = [];
        const notCanceled: Record<string, string> = {};
        for (const event of events) {
          if (event.kind === 'order_done' && event.reason === 'canceled') canceled.push(event.orderId);
          if (event.kind === 'cancel_refused') {
            notCanceled[event.orderId] = "order can't be found - already canceled or matched";
          }
        }
        return { kind: 'answered', canceled, notCanceled };
      } catch (error) {
        log.warn({ err: error }, 'the paper exchange gave no answer to a cancel');
        return { kind: 'unknown' };
      }
    },
    async redeem(funder, conditionId): Promise<RedeemAnswer> {
      try {
        const events = await exchange.execute({ kind: 'redeem', account: funder, conditionId });
        for (const event of events) {
          if (event.kind === 'redeemed')
            return { kind: 'redeemed', yes: event.yes, no: event.no, payout: event.payout };
          if (event.kind === 'refused' && event.reason === 'market_not_resolved')
            return { kind: 'not_resolved' };
        }
        // The exchange forgets a market when no account holds its tokens.
        return { kind: 'redeemed', yes: 0n, no: 0n, payout: 0n };
      } catch (error) {
        log.warn({ err: error, conditionId }, 'the paper exchange gave no answer to a redemption');
        return { kind: 'unknown' };
      }
    },
    async balance(funder) {
      return liveBalance(exchange, funder);
    },
    keptSince: () => exchange.openedAt,
    async resolve(orderId, unplaced) {
      try {
        const { funder: account, conditionId } = unplaced;
        const record = await exchange.refuseUnplaced({ orderId, account, conditionId });
        return resolvedBy(record.events, orderId);
      } catch {
        return { kind: 'unknown' };
      }
    },
    async deposit(account, amount, reason, drawId) {
      const deposit = { kind: 'deposit', account, amount, reason } as const;
      try {
        await exchange.execute(drawId === undefined ? deposit : { ...deposit, orderId: drawId });
      } catch (error) {
        if (!(error instanceof ExchangeUnavailable)) throw error;
        throw new VenueUnavailable(error.message, { cause: error });
      }
    },
  };
}

// An account's balance: as data, for calls between replicas, and in the port's form.

export type PlainBalance = Pick<Balance, 'available' | 'held'> & {
  readonly tokens: ReadonlyMap<string, { readonly yes: bigint; readonly no: bigint }>;
};

type PaperBalance = Balance & PlainBalance;

export const balanceOf = ({ available, held, tokens }: PlainBalance): PaperBalance => ({
  available,
  held,
  tokens,
  shares: (conditionId, outcome) => {
    const found = tokens.get(conditionId);
    return (outcome === 'YES' ? found?.yes : found?.no) ?? 0n;
  },
});

/** Reads the exchange when a figure is asked for: an account may have tokens of many markets, and a trade asks for one. */
const liveBalance = (
  exchange: Pick<PaperExchange, 'account' | 'available' | 'freeTokens'>,
  account: Address,
): PaperBalance => ({
  get available() {
    return exchange.available(account);
  },
  get held() {
    return exchange.account(account).held;
  },
  get tokens() {
    return exchange.account(account).tokens;
  },
  shares: (conditionId, outcome) => exchange.freeTokens(account, conditionId, outcome),
});

// Remembers which wallets have their simulation balance. Every quote checks it, and on a follower each check is a call to
// the leader. A credit is permanent, so a success is cached; a failure is not.

type Credit = (wallet: string) => Promise<void>;

/** About 100 bytes each. */
const WALLETS_KEPT = 50_000;

export function creditOnce(credit: Credit): Credit {
  const credited = new Map<string, Promise<void>>();
  return (wallet) => {
    let asked = credited.get(wallet);
    if (asked === undefined) {
      if (credited.size >= WALLETS_KEPT) credited.clear();
      asked = credit(wallet);
      credited.set(wallet, asked);
      asked.catch(() => credited.delete(wallet));
    }
    return asked;
  };
}
