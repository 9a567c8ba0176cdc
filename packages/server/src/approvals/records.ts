/** An approval as the wire shows it: texts of strangers and of the agent are plain. */
import type { Approval } from '@bellwether/contract';
import type { BoundTerms } from '../domain/draft.ts';
import { plainText } from '../domain/untrusted-text.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import type { ApprovalRow, ApprovalTerms } from './store.ts';

const NAME_CHARS = 100;
const TEXT_CHARS = 1_000;

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));
const plainOrNull = (text: string | null): string | null =>
  text === null ? null : plainText(text, TEXT_CHARS);

export function approvalRecord(row: ApprovalRow): Approval {
  const { binds: _, ...terms } = row.terms;
  const { notice, marketQuestion, agentsMarketQuestion, reasoning, source, skillSlug } = terms.untrustedText;
  return {
    ...terms,
    ...shownTerms(row.terms),
    approvalId: row.approvalId,
    agentId: row.agentId,
    agentName: plainText(row.agentName, NAME_CHARS),
    orderId: row.orderId,
    status: row.status,
    untrustedText: {
      notice,
      marketQuestion: plainText(marketQuestion, TITLE_CHARS),
      agentsMarketQuestion: plainOrNull(agentsMarketQuestion ?? null),
      reasoning: plainOrNull(reasoning),
      source: plainOrNull(source),
      skillSlug: plainOrNull(skillSlug),
    },
    askedAt: iso(row.askedAt),
    waitsUntil: iso(row.waitsUntil),
    orderEndsAt: isoOrNull(row.orderEndsAt),
    decidedAt: isoOrNull(row.decidedAt),
    approvedUntil: isoOrNull(row.approvedUntil),
    declineReason: row.declineReason,
  };
}

/** Approvals that an earlier release asked for have the order type alone, among their other terms. */
function shownTerms(
  terms: ApprovalTerms,
): Pick<Approval, 'orderType' | 'isLimitOrder' | 'postOnly' | 'deferExec'> {
  const { binds }: { binds?: BoundTerms } = terms;
  const { orderType = '' } = terms as { orderType?: string };
  if (binds === undefined) return { orderType, isLimitOrder: null, postOnly: null, deferExec: null };
  const { endsAt: _, funder: __, ...shown } = binds;
  return shown;
}
