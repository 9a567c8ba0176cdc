/**
 * Approvals as their two sides use them. An agent reads its own. An owner decides: to decline, the session is enough; to
 * approve takes the person, by a passkey's answer to a challenge that was made for this approval and this owner alone.
 */
import {
  type AgentApproval,
  APPROVAL_LIMITS,
  type Approval,
  type ApprovalStatus,
  type PasskeySignIn,
} from '@bellwether/contract';
import type { BoundTerms } from '../domain/draft.ts';
import type { Caller, Owner } from '../domain/records.ts';
import { plainText } from '../domain/untrusted-text.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import {
  askForPasskey,
  type Challenge,
  type OwnerNeeds,
  ownedAgent,
  type PasskeyOptions,
  pause,
  requirePasskey,
} from '../owners/index.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { refusal } from '../platform/refusal.ts';
import type { ApprovalRow, ApprovalScope, ApprovalStore, ApprovalTerms, Decision } from './store.ts';

export interface ApprovalNeeds extends OwnerNeeds {
  readonly approvals: ApprovalStore;
  /** Transaction of a quote that waited for an approval, in base64; `null`: it has none, or none that can still be signed. */
  readonly transactionToSign: (agentId: string, quoteId: string) => Promise<string | null>;
}

interface ListQuery extends PageQuery {
  readonly status?: string;
  readonly agentId?: string;
}

async function pageWithin(
  { approvals, clock }: Pick<ApprovalNeeds, 'approvals' | 'clock'>,
  scope: ApprovalScope,
  query: ListQuery,
): Promise<Page<Approval>> {
  const { status, agentId } = query;
  const { approvals: found, total } = await approvals.list(scope, {
    ...windowOf(query, PLACES.byUuid),
    at: clock.now(),
    ...(status === undefined ? {} : { status: status as ApprovalStatus }),
    ...(agentId === undefined ? {} : { agentId }),
  });
  return { ...pageOf(found, query, approvalRecord, cursorOfApproval), total };
}

const cursorOfApproval = ({ askedAt, approvalId }: ApprovalRow): string =>
  cursorOf({ at: askedAt, id: approvalId });

export const listApprovals = (
  needs: ApprovalNeeds,
  { agentId }: Pick<Caller, 'agentId'>,
  query: Omit<ListQuery, 'agentId'>,
): Promise<Page<Approval>> => pageWithin(needs, { agentId }, query);

/** @throws Refusal approval_not_found, for those of other agents, too */
export async function getApproval(
  needs: ApprovalNeeds,
  { agentId }: Pick<Caller, 'agentId'>,
  approvalId: string,
): Promise<AgentApproval> {
  const row = await needs.approvals.byId(approvalId, { agentId }, needs.clock.now());
  if (row === null) throw refusal('approval_not_found');
  const record = approvalRecord(row);
  if (row.status !== 'approved') return record;
  const unsignedTransaction = await needs.transactionToSign(agentId, row.orderId);
  return unsignedTransaction === null ? record : { ...record, unsignedTransaction };
}

/** @throws Refusal agent_not_found */
export async function listOwnerApprovals(
  needs: ApprovalNeeds,
  owner: Owner,
  query: ListQuery,
): Promise<Page<Approval>> {
  if (query.agentId !== undefined) await ownedAgent(needs, owner, query.agentId);
  return pageWithin(needs, { userId: owner.userId }, query);
}

export const getOwnerApproval = async (
  needs: ApprovalNeeds,
  owner: Owner,
  approvalId: string,
): Promise<Approval> => approvalRecord(await ownersRow(needs, owner, approvalId));

async function ownersRow(
  { approvals, clock }: ApprovalNeeds,
  { userId }: Owner,
  approvalId: string,
): Promise<ApprovalRow> {
  const row = await approvals.byId(approvalId, { userId }, clock.now());
  if (row === null) throw refusal('approval_not_found');
  return row;
}

/** The challenge answers for nothing else: not for a sign-in, another approval, or another owner. */
const purposeOf = (row: ApprovalRow, { userId }: Owner): Challenge['purpose'] =>
  `approve ${row.approvalId} by ${userId}`;

/** @throws Refusal approval_gone */
function requireWaiting(row: ApprovalRow): void {
  if (row.status === 'waiting') return;
  if (row.decidedAt === null) {
    const until = new Date(row.waitsUntil).toISOString().slice(0, 16).replace('T', ' at ');
    throw refusal('approval_gone', `It expired: it could be decided until ${until} UTC.`);
  }
  throw refusal('approval_gone', `This is decided: ${row.status}.`);
}

/** Gives the challenge that a passkey has to sign to approve. */
export async function beginApproval(
  needs: ApprovalNeeds,
  owner: Owner,
  approvalId: string,
): Promise<PasskeyOptions> {
  const row = await ownersRow(needs, owner, approvalId);
  requireWaiting(row);
  return askForPasskey(needs, purposeOf(row, owner));
}

export async function approve(
  needs: ApprovalNeeds,
  owner: Owner,
  approvalId: string,
  { response }: PasskeySignIn,
): Promise<Approval> {
  const row = await ownersRow(needs, owner, approvalId);
  if (row.approvedUntil !== null) return approvalRecord(row);
  requireWaiting(row);
  await requirePasskey(needs, owner, response, purposeOf(row, owner));
  return decide(needs, owner, { approvalId, verdict: 'approved', reason: null });
}

export async function decline(
  needs: ApprovalNeeds,
  owner: Owner,
  approvalId: string,
  reason: string | null | undefined,
): Promise<Approval> {
  await ownersRow(needs, owner, approvalId);
  const words = reason?.trim() ?? '';
  return decide(needs, owner, { approvalId, verdict: 'declined', reason: words === '' ? null : words });
}

/** Declines everything of an agent that waits, after it was paused, so that nothing new is asked meanwhile. */
export async function declineAll(
  needs: ApprovalNeeds,
  owner: Owner,
  agentId: string,
  reason: string | null | undefined,
): Promise<{ readonly declined: number; readonly paused: boolean }> {
  await pause(needs, owner, agentId, true);
  const words = reason?.trim() ?? '';
  const declined = await needs.approvals.declineWaiting({
    ...{ agentId, owner: owner.userId, at: needs.clock.now() },
    reason: words === '' ? null : words,
  });
  return { declined, paused: true };
}

/** Twice the same is once. @throws Refusal approval_gone */
async function decide(
  needs: ApprovalNeeds,
  owner: Owner,
  { approvalId, verdict, reason }: Pick<Decision, 'approvalId' | 'verdict' | 'reason'>,
): Promise<Approval> {
  const at = needs.clock.now();
  const until = at + APPROVAL_LIMITS.approvedMs;
  await needs.approvals.decide({ approvalId, owner: owner.userId, verdict, at, until, reason });
  const row = await ownersRow(needs, owner, approvalId);
  const decided = row.status === 'used' || row.approvedUntil !== null ? 'approved' : row.status;
  if (decided !== verdict) requireWaiting(row);
  return approvalRecord(row);
}

// An approval as the wire shows it: texts of strangers and of the agent are plain.

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
