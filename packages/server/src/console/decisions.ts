/** An agent's decision journal as its owner reads it. The agent's words are strangers' text here. */
import { type Decision, LIMITS } from '@bellwether/contract';
import { MICRO, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import type { ActingAgent } from '../domain/records.ts';
import { plainText, UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import type { AttemptRow } from '../orders/index.ts';
import { type JournalNeeds, type JournalQuery, journalPage, resultOf } from '../orders/index.ts';
import type { Page } from '../platform/http/page.ts';

export const decisions = (
  needs: JournalNeeds,
  agent: ActingAgent,
  query: JournalQuery,
): Promise<Page<Decision>> => journalPage(needs, agent, query, decision);

const plainOrNull = (text: string | null, maxChars: number): string | null =>
  text === null ? null : plainText(text, maxChars);

function decision(row: AttemptRow): Decision {
  const { placed } = row;
  const { status, errorCode, errorMessage } = resultOf(row);
  return {
    at: new Date(row.at).toISOString(),
    orderId: placed?.orderId ?? null,
    venue: row.venue,
    marketConditionId: row.conditionId,
    walletAddress: row.walletAddress,
    wanted: {
      side: row.side,
      outcome: plainText(row.outcome, LIMITS.outcomeChars),
      outcomeName: row.outcomeName,
      size: microToNumber(row.shares),
      amount: microToNumber(row.money),
      price: placed === null ? null : pipsToNumber(placed.price),
      orderType: placed?.timeInForce ?? null,
    },
    result: {
      status,
      code: errorCode,
      message: errorMessage,
      filledSize: microToNumber(placed?.filled ?? 0n),
      avgPrice:
        placed === null || placed.filled === 0n ? null : microToNumber((placed.cost * MICRO) / placed.filled),
      feePaid: microToNumber(placed?.fees ?? 0n),
    },
    skillCode: row.skillCode,
    untrustedText: {
      notice: UNTRUSTED_NOTICE,
      question: plainText(row.question, LIMITS.marketQuestionChars),
      reasoning: plainOrNull(row.reasoning, LIMITS.reasoningChars),
      source: plainOrNull(row.source, LIMITS.sourceChars),
      skillSlug: plainOrNull(row.skillSlug, LIMITS.skillSlugChars),
    },
  };
}
