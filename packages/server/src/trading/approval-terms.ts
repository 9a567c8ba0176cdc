/** Terms of a signed order that waits for approval, as the owner sees them. */
import { outcomeName } from '@bellwether/contract';
import { microToNumber, type Pips, pipsToNumber } from '@bellwether/contract/decimals';
import type { ApprovalNeeded, ApprovalSubject, ApprovalTerms } from '../approvals/index.ts';
import { boundTerms, signedLimit } from '../domain/draft.ts';
import type { Book } from '../domain/market.ts';
import { READ_PATIENCE_MS, within } from '../domain/patience.ts';
import type { Caller } from '../domain/records.ts';
import { UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { DEPTH, expectationOf } from './expected-fill.ts';
import { mostFee, type SoundTrade } from './judge-trade.ts';

export function approvalSubject(caller: Pick<Caller, 'agentId'>, sound: SoundTrade): ApprovalSubject {
  const binds = boundTerms(sound.draft);
  return {
    caller,
    orderId: sound.verified.orderId,
    binds,
    endsAt: binds.endsAt,
    terms: (needed) => termsOf(sound, needed),
  };
}

async function termsOf(sound: SoundTrade, needed: ApprovalNeeded): Promise<ApprovalTerms> {
  const { venue, market, draft } = sound;
  const limit = signedLimit(draft, market.tickSize);
  const book = await within(READ_PATIENCE_MS, venue.markets.book(market.conditionId, draft.outcome, DEPTH));
  return {
    venue: venue.id,
    marketId: market.id,
    marketConditionId: market.conditionId,
    tokenId: draft.fields.tokenId.toString(),
    outcome: draft.outcome,
    outcomeName: outcomeName(market.outcomes, draft.outcome),
    side: draft.side,
    binds: boundTerms(draft),
    price: pipsToNumber(limit),
    orderSize: microToNumber(draft.shares),
    amount: microToNumber(needed.amount),
    feeAtMost: microToNumber(mostFee(sound, limit)),
    walletAddress: draft.fields.maker,
    approvalAbove: microToNumber(needed.limit),
    book: book === null ? null : shown({ market, draft }, book, limit),
    checks: needed.checks,
    untrustedText: {
      notice: UNTRUSTED_NOTICE,
      marketQuestion: market.question,
      agentsMarketQuestion: draft.question,
      reasoning: draft.reasoning,
      source: draft.source,
      skillSlug: draft.skillSlug,
    },
  };
}

function shown(
  { market, draft }: Pick<SoundTrade, 'market' | 'draft'>,
  book: Book,
  limit: Pips,
): ApprovalTerms['book'] {
  const { shares, averagePrice, worstPrice, cost, fee } = expectationOf(market, draft, book, limit).fill;
  const best = (levels: Book['bids']) => (levels[0] === undefined ? null : pipsToNumber(levels[0][0]));
  return { shares, averagePrice, worstPrice, cost, fee, bestBid: best(book.bids), bestAsk: best(book.asks) };
}
