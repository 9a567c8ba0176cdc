/** An approval as the wire shows it: texts of strangers and of the agent are plain. */
import type { Approval } from '@bellwether/contract';
import { plainText } from '../domain/untrusted-text.ts';
import type { ApprovalRow } from '../ports/approvals.ts';
import { TITLE_CHARS } from './untrusted-market.ts';

const NAME_CHARS = 100;
const TEXT_CHARS = 1_000;

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));
const plainOrNull = (text: string | null): string | null =>
  text === null ? null : plainText(text, TEXT_CHARS);

export function approvalRecord(row: ApprovalRow): Approval {
  const { terms } = row;
  const { notice, marketQuestion, reasoning, source, skillSlug } = terms.untrustedText;
  return {
    ...terms,
    approvalId: row.approvalId,
    agentId: row.agentId,
    agentName: plainText(row.agentName, NAME_CHARS),
    orderId: row.orderId,
    status: row.status,
    untrustedText: {
      notice,
      marketQuestion: plainText(marketQuestion, TITLE_CHARS),
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
