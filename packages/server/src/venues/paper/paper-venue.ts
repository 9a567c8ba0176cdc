/** The desk's calls to the embedded paper exchange, in the process that leads it. */
import {
  type EngineEvent,
  ExchangeUnavailable,
  type JournalledExchange,
  type PlacedCommand,
} from '@bellwether/exchange';
import type { Address } from '@bellwether/protocol';
import type { Evidence } from '../../domain/evidence.ts';
import type { Book, VenueId } from '../../domain/market.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type {
  Cancel,
  RedeemAnswer,
  Redemption,
  SignedOrders,
  VenueAnswer,
  VenueOrder,
  VenueSet,
} from '../venue.ts';
import { liveBalance, type PaperBalance } from './balance.ts';
import { answerOf, toEvidence } from './translate.ts';

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

export interface SentSet extends VenueSet, SentAgain {}

interface ExpiryTerms {
  /** Minimum lead of a GTD order's expiration, in seconds; it expires a third of that early, at most 60 s. */
  readonly gtdMinLeadS: number;
}

export interface ExchangeCallsOptions extends ExpiryTerms {
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

export interface TurnsOptions extends ExpiryTerms {
  readonly exchange: JournalledExchange;
  readonly venue: VenueId;
}

/** Turns at the exchange's journal, in the desk's terms: see `VenueJournal`, which the wiring makes of them. */
export function createTurns({ exchange, venue: name, ...terms }: TurnsOptions) {
  const toEngine = engineOrders(terms);
  return async () => {
    const turn = await exchange.nextTurn();
    return {
      tx: turn.tx,
      term: turn.term,
      venue: {
        balance: (account: Address): PaperBalance => liveBalance(exchange, account),
        book: (conditionId: string, outcome: Book['outcome']): Book | null =>
          exchange.book(conditionId, outcome) ?? null,
        place: (order: VenueOrder | VenueSet): VenueAnswer =>
          answerOf(turn.place(toEngine(order)), order.orderId),
      },
      begin: () => turn.begin(),
      evidence: (): Evidence => toEvidence(turn.entries(), name),
      giveUp: (cause: unknown) => turn.giveUp(cause),
      async commit(): Promise<'recorded' | 'unknown'> {
        try {
          await turn.commit();
          return 'recorded';
        } catch (error) {
          if (!(error instanceof ExchangeUnavailable)) throw error;
          if (error.executed === 'unknown') return 'unknown';
          throw new VenueUnavailable(error.message, { cause: error });
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
