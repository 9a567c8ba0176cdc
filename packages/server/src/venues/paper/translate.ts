/** Translates the exchange's journal entries into the desk's evidence. Pure. */
import { redeemedFor } from '@bellwether/contract/positions';
import type { EngineEvent, Entry } from '@bellwether/exchange';
import { isAddress } from '@bellwether/protocol';
import type {
  Evidence,
  FillEvidence,
  FirstAnswer,
  MarketEvidence,
  OutcomeEvidence,
  ResolutionEvidence,
} from '../../domain/evidence.ts';
import {
  FIRST_STATUS,
  type OrderEventKind,
  type OrderStatus,
  requireTransition,
} from '../../domain/lifecycle.ts';
import type { VenueId } from '../../domain/market.ts';
import type { VenueAnswer } from '../venue.ts';

type DoneReason = Extract<EngineEvent, { kind: 'order_done' }>['reason'];
type SetMove = Extract<EngineEvent, { kind: 'split' | 'merged' | 'redeemed' }>;
type Event<Kind extends EngineEvent['kind']> = Extract<EngineEvent, { kind: Kind }>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Draft extends Mutable<Omit<OutcomeEvidence, 'journal'>> {
  journal: OutcomeEvidence['journal'][number][];
}

/** Wallets of this venue are EVM addresses; other accounts belong to the exchange and give the desk no evidence. */
const HALF_PIPS = 5_000;
const WHOLE_PIPS = 10_000;

const ENDS: Readonly<Record<DoneReason, OrderEventKind>> = {
  filled: 'filled_completely',
  killed: 'rest_killed',
  canceled: 'canceled',
  self_trade: 'canceled',
  // A market stops trading at its end: the outcome follows within minutes.
  market_closed: 'market_resolved',
  expired: 'expired',
  market_resolved: 'market_resolved',
};

const NOT_RECEIVED = 'not_received';

/** Two terminal reasons need more detail than the status. */
const DETAILS: Partial<Record<DoneReason, string>> = {
  self_trade: 'canceled because an order of the same account would have matched it',
  market_closed: 'the market stopped trading; its outcome follows',
};

type Markets = Entry['markets'];

const factsOf = (markets: Markets, conditionId: string) => {
  const facts = markets.get(conditionId);
  if (facts === undefined) throw new Error('an event names a market that its entry does not know');
  return facts;
};

/** Fills name the token, events the outcome. */
const tokenOf = (markets: Markets, conditionId: string, outcome: 'YES' | 'NO'): string =>
  factsOf(markets, conditionId).tokenIds[outcome === 'YES' ? 0 : 1];

/** @param venue the venue of the markets */
export function toEvidence(entries: readonly Entry[], venue: VenueId): Evidence {
  const outcomes = new Map<string, Draft>();
  const fills: FillEvidence[] = [];
  const deposits: Evidence['deposits'][number][] = [];
  const resolutions: ResolutionEvidence[] = [];
  const markets = new Map<string, MarketEvidence>();
  const took = (entry: Entry, ...made: readonly FillEvidence[]): void => {
    for (const fill of made) {
      fills.push(fill);
      if (!markets.has(fill.conditionId))
        markets.set(fill.conditionId, marketEvidence(entry, fill.conditionId, venue));
    }
  };
  for (const entry of entries) {
    for (const event of entry.events) {
      if ('account' in event && !isAddress(event.account)) continue;
      switch (event.kind) {
        case 'order_accepted':
        case 'order_rejected':
        case 'order_done':
          applyOrderEvent(draftOf(outcomes, event.orderId, entry.at), event, entry.at);
          break;
        case 'fill':
          applyFill(draftOf(outcomes, event.orderId, entry.at), event);
          took(entry, fillEvidence(event, entry));
          break;
        case 'deposited':
          if (entry.command.kind === 'deposit' && entry.command.reason !== undefined)
            deposits.push({
              wallet: event.account,
              amount: event.amount,
              reason: entry.command.reason,
              at: entry.at,
            });
          break;
        case 'split':
        case 'merged':
          if (event.orderId !== undefined) applySet(draftOf(outcomes, event.orderId, entry.at), event);
          took(entry, ...setFills(event, entry));
          break;
        case 'converted':
          if (event.orderId !== undefined) applySet(draftOf(outcomes, event.orderId, entry.at), event);
          took(entry, ...conversionFills(event, entry));
          break;
        case 'redeemed':
          took(entry, ...setFills(event, entry));
          break;
        case 'market_resolved':
          resolutions.push({ conditionId: event.conditionId, payout: event.payout, at: entry.at });
          break;
      }
    }
    answerSubmission(outcomes, entry);
  }
  return { outcomes: [...outcomes.values()], fills, markets: [...markets.values()], resolutions, deposits };
}

/** An order without earlier events here is open. */
function draftOf(outcomes: Map<string, Draft>, orderId: string, at: number): Draft {
  let draft = outcomes.get(orderId);
  if (draft === undefined) {
    draft = {
      orderId,
      status: 'live',
      filled: 0n,
      cost: 0n,
      fees: 0n,
      errorCode: null,
      first: null,
      journal: [],
      at,
    };
    outcomes.set(orderId, draft);
  }
  draft.at = at;
  return draft;
}

function move(draft: Draft, from: OrderStatus, event: OrderEventKind, detail?: string): void {
  draft.status = requireTransition('signed', from, event);
  draft.journal.push({
    at: draft.at,
    event,
    status: draft.status,
    ...(detail === undefined ? {} : { detail }),
  });
}

function applyOrderEvent(
  draft: Draft,
  event: Event<'order_accepted'> | Event<'order_rejected'> | Event<'order_done'>,
  at: number,
): void {
  draft.at = at;
  if (event.kind === 'order_accepted') move(draft, FIRST_STATUS, 'accepted');
  else if (event.kind === 'order_rejected' && event.reason === NOT_RECEIVED) refuseUnplaced(draft);
  else if (event.kind === 'order_rejected') {
    draft.errorCode = event.reason;
    move(draft, FIRST_STATUS, 'rejected', event.reason);
  } else move(draft, draft.status, ENDS[event.reason], DETAILS[event.reason]);
}

const SET_KINDS = { split: 'split', merged: 'merge', converted: 'convert' } as const;

/** A set is made, merged or converted completely, for one collateral. */
function applySet(draft: Draft, { kind, amount }: Event<'split' | 'merged' | 'converted'>): void {
  draft.filled += amount;
  draft.cost += amount;
  draft.status = requireTransition(SET_KINDS[kind], FIRST_STATUS, 'filled_completely');
  draft.journal.push({ at: draft.at, event: 'filled_completely', status: draft.status });
}

/** No entry placed it, and none will: this is its first answer. */
function refuseUnplaced(draft: Draft): void {
  draft.errorCode = NOT_RECEIVED;
  draft.status = requireTransition('signed', FIRST_STATUS, 'rejected');
  draft.first = refusedWith(NOT_RECEIVED);
  draft.journal.push({ at: draft.at, event: 'never_received', status: draft.status });
}

const refusedWith = (errorCode: string | null): FirstAnswer => ({
  ...{ success: false, status: 'rejected', filled: 0n, cost: 0n, fees: 0n, errorCode },
});

function applyFill(draft: Draft, event: Event<'fill'>): void {
  draft.filled += event.size;
  draft.cost += event.cost;
  draft.fees += event.fee;
  // Fills have separate rows; the journal records the changes of an order's status.
  draft.status = requireTransition('signed', draft.status, 'filled_partly');
}

function marketEvidence(entry: Entry, conditionId: string, venue: VenueId): MarketEvidence {
  const { id, slug, question, outcomes, endDate } = factsOf(entry.markets, conditionId);
  return { conditionId, marketId: id, slug, question, outcomes, endDate, venue };
}

const fillEvidence = (event: Event<'fill'>, { at, markets }: Entry): FillEvidence => ({
  wallet: event.account,
  orderId: event.orderId,
  tradeId: event.matchId,
  conditionId: event.conditionId,
  tokenId: tokenOf(markets, event.conditionId, event.outcome),
  outcome: event.outcome,
  side: event.side,
  price: event.price,
  size: event.size,
  cost: event.cost,
  fee: event.fee,
  liquidity: event.liquidity,
  matchKind: event.matchKind,
  at,
});

const namedOf = (command: object): string | undefined => (command as { readonly orderId?: string }).orderId;

type Moved = Pick<FillEvidence, 'conditionId' | 'outcome' | 'side' | 'size' | 'cost' | 'tradeId'>;

const movedBy = (
  event: SetMove | Event<'converted'>,
  { seq, at, markets }: Entry,
  { conditionId, outcome, side, size, cost, tradeId }: Moved,
): FillEvidence => ({
  wallet: event.account,
  orderId: namedOf(event) ?? `${event.kind}:${seq}`,
  tokenId: tokenOf(markets, conditionId, outcome),
  ...{ conditionId, outcome, side, size, cost, tradeId, at },
  price: size === 0n ? 0 : Number((cost * BigInt(WHOLE_PIPS)) / size),
  fee: 0n,
  liquidity: 'taker',
  matchKind: event.kind.toUpperCase(),
});

/** The NO shares go for what they are worth, and the YES shares come for the same: no collateral moves. */
function conversionFills(event: Event<'converted'>, entry: Entry): FillEvidence[] {
  const { conditionId, amount: size, worth, made } = event;
  const sold = { conditionId, outcome: 'NO', side: 'SELL', size, cost: worth, tradeId: 0 } as const;
  return [
    movedBy(event, entry, sold),
    ...made.map((one, nth) =>
      movedBy(event, entry, {
        ...{ conditionId: one.conditionId, outcome: 'YES', side: 'BUY', size, cost: one.worth },
        tradeId: nth + 1,
      }),
    ),
  ];
}

/** Splits, merges and redemptions move positions too: as buys or sells at what they pay. */
function setFills(event: SetMove, entry: Entry): FillEvidence[] {
  const leg = (outcome: 'YES' | 'NO', side: 'BUY' | 'SELL', size: bigint, cost: bigint): FillEvidence =>
    movedBy(event, entry, { ...event, outcome, side, size, cost, tradeId: outcome === 'YES' ? 0 : 1 });
  if (event.kind !== 'redeemed') {
    // At the book's prices: selling one half of a set then says what a purchase of the other would have cost.
    const yes = (event.amount * BigInt(event.yesPrice ?? HALF_PIPS)) / BigInt(WHOLE_PIPS);
    const side = event.kind === 'split' ? 'BUY' : 'SELL';
    return [leg('YES', side, event.amount, yes), leg('NO', side, event.amount, event.amount - yes)];
  }
  const { yes, no, payout } = event;
  const pays = factsOf(entry.markets, event.conditionId).payout;
  // Each outcome's tokens are rounded separately, as in the exchange.
  const toYes = pays === undefined ? 0n : redeemedFor(pays, 'YES', yes);
  return [
    ...(yes > 0n ? [leg('YES', 'SELL', yes, toYes)] : []),
    ...(no > 0n ? [leg('NO', 'SELL', no, payout - toYes)] : []),
  ];
}

/** Sets the first answer of the order that the entry placed. */
function answerSubmission(outcomes: Map<string, Draft>, entry: Entry): void {
  const { command } = entry;
  const orderId = command.kind === 'place' ? command.order.orderId : namedOf(command);
  const draft = orderId === undefined ? undefined : outcomes.get(orderId);
  if (draft === undefined) return;
  const answer = answerOf(entry.events, draft.orderId);
  draft.first =
    answer.kind === 'accepted'
      ? {
          success: true,
          status: answer.status,
          filled: answer.filled,
          cost: answer.cost,
          fees: answer.fees,
          errorCode: null,
        }
      : refusedWith(draft.errorCode);
}

/**
 * The venue's answer to a submission: matched when anything was filled at once. An order's record may tell of later fills,
 * too; in those it was the maker.
 */
export function answerOf(
  events: readonly EngineEvent[],
  orderId: string,
): Exclude<VenueAnswer, { kind: 'unknown' }> {
  let filled = 0n;
  let cost = 0n;
  let fees = 0n;
  for (const event of events) {
    if (!('orderId' in event) || event.orderId !== orderId) continue;
    if (event.kind === 'order_rejected') return { kind: 'rejected', reason: event.reason };
    if (event.kind === 'split' || event.kind === 'merged' || event.kind === 'converted') {
      const { amount } = event;
      return { kind: 'accepted', status: 'matched', filled: amount, cost: amount, fees: 0n };
    }
    if (event.kind !== 'fill' || event.liquidity === 'maker') continue;
    filled += event.size;
    cost += event.cost;
    fees += event.fee;
  }
  return { kind: 'accepted', status: filled > 0n ? 'matched' : 'live', filled, cost, fees };
}
