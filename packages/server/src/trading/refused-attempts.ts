/** Notes what the desk refused, behind the answer, so that an agent can read later what it tried. */

import type { ErrorCode, SetRequest, TradeRequest } from '@bellwether/contract';
import { type Micro, notional, parseMicro, parsePips } from '@bellwether/contract/decimals';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import { legsOf } from '../domain/amounts.ts';
import type { Caller, NewSetOrder } from '../domain/records.ts';
import { marketNamed } from '../markets/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Refusal } from '../platform/refusal.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { QuotedAmounts } from '../venues/quotes.ts';
import type { Venues } from '../venues/venue.ts';
import type { RefusalLog } from './refusal-log.ts';

/** They say something about the request or the service, not about the trade; or it is in the journal already. */
const NO_ATTEMPT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthorized',
  'unknown_venue',
  'wrong_venue_route',
  'idempotency_in_flight',
  'order_already_placed',
  'order_outcome_unknown',
  'service_unavailable',
  'quote_not_found',
  'quote_already_used',
]);

export interface NoteRefusalNeeds {
  readonly clock: Clock;
  readonly refusals: Pick<RefusalLog, 'add'>;
  readonly venues: Venues;
}

interface TradeAttempt {
  readonly caller: Caller;
  readonly request: TradeRequest;
  /** YES or NO; as the request says it, where its market was not found or has no such outcome. */
  readonly outcome: string;
  readonly requestId: string;
}

export function noteRefusal(
  needs: NoteRefusalNeeds,
  { caller, request, outcome, requestId }: TradeAttempt,
  refused: Refusal,
): number | null {
  const [{ code, detail }] = refused.denials;
  if (NO_ATTEMPT.has(code)) return null;
  const { order } = request;
  const shares = parseMicro(request.orderSize, 'floor');
  return needs.refusals.add({
    agentId: caller.agentId,
    at: needs.clock.now(),
    code,
    detail,
    venue: request.venue ?? needs.venues.default.id,
    conditionId: conditionIdOfBothWidths(request.marketConditionId),
    question: request.marketQuestion,
    outcome,
    side: order.side === 'BUY' || order.side === 0 ? 'BUY' : 'SELL',
    shares,
    // The signed amounts may not fit the column; what was asked for in the request's own fields does.
    money: notional(shares, parsePips(request.price, 'floor'), 'floor'),
    walletAddress: (request.walletAddress ?? order.maker).toLowerCase(),
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
    requestId,
  });
}

interface SetAttempt {
  readonly caller: Caller;
  readonly kind: NewSetOrder['kind'];
  readonly request: SetRequest;
  readonly requestId: string;
}

/** The same for an order of sets. The market may be unknown: it is noted as it was named. */
export function noteSetRefusal(
  needs: NoteRefusalNeeds,
  { caller, kind, request, requestId }: SetAttempt,
  refused: Refusal,
): number | null {
  const [{ code, detail }] = refused.denials;
  if (NO_ATTEMPT.has(code)) return null;
  const amount = parseMicro(request.amount, 'floor');
  return needs.refusals.add({
    agentId: caller.agentId,
    at: needs.clock.now(),
    ...{ code, detail, requestId },
    venue: request.venue ?? needs.venues.default.id,
    conditionId: conditionIdOfBothWidths(marketNamed(request)),
    question: '',
    outcome: 'BOTH',
    side: kind === 'merge' ? 'SELL' : 'BUY',
    ...{ shares: amount, money: amount },
    walletAddress: request.walletAddress ?? '',
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
  });
}

interface SubmitAttempt {
  readonly quote: {
    readonly agentId: string;
    readonly ticker: string;
    readonly title: string;
    readonly outcome: 'YES' | 'NO';
    readonly side: 'BUY' | 'SELL';
    readonly asked: Micro;
    readonly wallet: string | null;
    readonly amounts: QuotedAmounts | null;
  };
  readonly request: {
    readonly reasoning?: string | null | undefined;
    readonly source?: string | null | undefined;
    readonly skillSlug?: string | null | undefined;
  };
  readonly requestId: string;
}

/** The same for a quote whose signed transaction was refused. */
export function noteSubmitRefusal(
  needs: NoteRefusalNeeds,
  { quote, request, requestId }: SubmitAttempt,
  refused: Refusal,
): number | null {
  const [{ code, detail }] = refused.denials;
  if (NO_ATTEMPT.has(code)) return null;
  const isBuy = quote.side === 'BUY';
  const { contracts, collateral } =
    quote.amounts === null
      ? { contracts: isBuy ? 0n : quote.asked, collateral: isBuy ? quote.asked : 0n }
      : legsOf(quote.side, quote.amounts);
  return needs.refusals.add({
    agentId: quote.agentId,
    at: needs.clock.now(),
    code,
    detail,
    venue: quotingVenue(needs).id,
    conditionId: quote.ticker,
    question: quote.title,
    outcome: quote.outcome,
    side: quote.side,
    shares: contracts,
    money: collateral,
    walletAddress: quote.wallet ?? '',
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
    requestId,
  });
}
