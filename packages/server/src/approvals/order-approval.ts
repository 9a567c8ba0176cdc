/**
 * The owner's approval of a single order. A trade above `approvalAbove` that nothing else refuses is refused once more: it
 * reserves nothing, and asks. Once the owner has approved, the same order is judged again from the beginning, and this rule
 * alone lets it pass.
 *
 * Approvals are read outside the lock, and only for a trade that was refused for the lack of one, so other trades pay nothing
 * for them. That is safe: a decision is final, names the order, its terms, its owner and its end, and all are compared under the
 * lock.
 */
import { APPROVAL_LIMITS, type TradeCheck } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import type { Denial } from '../domain/denial.ts';
import type { BoundTerms } from '../domain/draft.ts';
import type { Caller, Checked } from '../domain/records.ts';
import { type ApprovalNeed, type CheckedFigures, checkOf, type Verdict } from '../domain/safeguards.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { ApprovalRow, ApprovalStore, ApprovalTerms } from './store.ts';

export interface ObtainApprovalNeeds {
  readonly clock: Clock;
  readonly approvals: Pick<ApprovalStore, 'ofOrder' | 'ask'>;
  readonly secrets: Pick<Secrets, 'newId'>;
}

export interface GivenApproval {
  readonly approvalId: string;
  readonly orderId: string;
  readonly binds: BoundTerms;
  readonly by: bigint;
  readonly until: number;
}

/** Refused for the lack of an approval alone, with what the owner needs to judge the order. */
export class ApprovalNeeded extends Refusal {
  readonly limit: Micro;
  /** Amount that the safeguards counted. */
  readonly amount: Micro;
  readonly checks: TradeCheck[];

  constructor(
    denial: Denial,
    {
      limit,
      amount,
      checks,
    }: Readonly<Record<'limit' | 'amount', Micro>> & { readonly checks: TradeCheck[] },
  ) {
    super([denial]);
    this.limit = limit;
    this.amount = amount;
    this.checks = checks;
  }
}

interface JudgedApproval {
  readonly scope: {
    /** The agent's current owner. */
    readonly userId: bigint;
    readonly claimed: boolean;
    readonly hasUnreachable: boolean;
  };
  readonly orderId: string;
  readonly binds: BoundTerms;
  readonly amount: Micro;
  readonly approval: GivenApproval | null;
  readonly now: number;
  readonly verdicts: () => readonly Verdict[];
}

export const NO_OWNER_FIX =
  'Let a person open the claimUrl of this agent and claim it, then send the order again; or order for no more than approvalAbove, or change approvalAbove in POST /agents/settings.';

const isSame = (a: BoundTerms, b: BoundTerms): boolean =>
  (Object.keys(a) as (keyof BoundTerms)[]).every((term) => a[term] === b[term]);

/** Under the lock. @throws Refusal, ApprovalNeeded where the owner can be asked */
export function requireApproval(
  { denial, limit }: ApprovalNeed,
  { scope, orderId, binds, amount, approval, now, verdicts }: JudgedApproval,
): void {
  if (limit === null) throw new Refusal([denial]);
  const isGiven =
    approval !== null &&
    approval.orderId === orderId &&
    isSame(approval.binds, binds) &&
    approval.by === scope.userId &&
    now < approval.until &&
    scope.claimed;
  if (isGiven) return;
  if (!scope.claimed)
    throw new Refusal([
      {
        ...denial,
        detail: `${denial.detail} This agent has no owner who could approve it.`,
        fix: NO_OWNER_FIX,
      },
    ]);
  const others = verdicts().filter(({ code }) => code !== denial.code);
  throw new ApprovalNeeded(denial, {
    limit,
    amount,
    checks: others.map((verdict) => checkOf(verdict, scope)),
  });
}

/** With the approval that an order needed. */
export const withApproval = (
  figures: CheckedFigures,
  need: ApprovalNeed | null,
  approval: GivenApproval | null,
): Checked =>
  need === null || approval === null ? figures : { ...figures, approval: [approval.approvalId] };

/** An order with all that an approval of it is for. */
interface BoundOrder {
  readonly caller: Pick<Caller, 'agentId'>;
  readonly orderId: string;
  readonly binds: BoundTerms;
}

/** The latest of this order with these terms; else the one that declined it with any terms. */
export const approvalOf = (
  { approvals, clock }: ObtainApprovalNeeds,
  { caller, orderId, binds }: BoundOrder,
): Promise<ApprovalRow | null> => approvals.ofOrder({ agentId: caller.agentId, orderId, binds }, clock.now());

export interface ApprovalSubject extends BoundOrder {
  /** The order's own end. */
  readonly endsAt: number | null;
  /** Terms that the owner sees; may ask the venue. */
  readonly terms: (needed: ApprovalNeeded) => Promise<ApprovalTerms>;
}

/**
 * The approval of this order, asked for where that was not done yet.
 * @returns the row, in any status, and whether it was asked for before @throws Refusal where as many wait as may wait
 */
export async function askApproval(
  needs: ObtainApprovalNeeds,
  subject: ApprovalSubject,
  needed: ApprovalNeeded,
): Promise<{ readonly row: ApprovalRow; readonly isRepeated: boolean }> {
  const { caller, orderId, endsAt } = subject;
  const found = await approvalOf(needs, subject);
  if (found !== null && found.status !== 'expired') return { row: found, isRepeated: true };
  const terms = await subject.terms(needed);
  const askedAt = needs.clock.now();
  const approvalId = needs.secrets.newId();
  const row = await needs.approvals.ask(
    {
      approvalId,
      agentId: caller.agentId,
      orderId,
      askedAt,
      waitsUntil: Math.min(askedAt + APPROVAL_LIMITS.waitsMs, endsAt ?? Number.POSITIVE_INFINITY),
      orderEndsAt: endsAt,
      terms,
    },
    {
      waiting: APPROVAL_LIMITS.waitingPerAgent,
      kept: APPROVAL_LIMITS.keptPerAgent,
      told: APPROVAL_LIMITS.toldPerTenMinutes,
    },
  );
  if (row === null) throw queueIsFull(needed);
  return { row, isRepeated: row.approvalId !== approvalId };
}

function queueIsFull(needed: ApprovalNeeded): Refusal {
  const [denial] = needed.denials;
  return new Refusal([
    {
      ...denial,
      detail: `${denial.detail} The owner was not asked: ${APPROVAL_LIMITS.waitingPerAgent} orders of this agent wait for a decision already.`,
      fix: 'Wait until some of them are decided or expire (GET /agents/approvals?status=waiting), then send the order again; or order for no more than approvalAbove.',
      context: { ...denial.context, approvalStatus: 'not_asked' },
    },
  ]);
}

/** @throws Refusal that says where the approval stands */
export async function obtainApproval(
  needs: ObtainApprovalNeeds,
  subject: ApprovalSubject,
  needed: ApprovalNeeded,
): Promise<GivenApproval> {
  return givenBy((await askApproval(needs, subject, needed)).row, needed);
}

/** The same without asking: for who only checks an order. */
export async function findApproval(
  needs: ObtainApprovalNeeds,
  order: BoundOrder,
  needed: ApprovalNeeded,
): Promise<GivenApproval> {
  const found = await approvalOf(needs, order);
  if (found === null || found.status === 'expired') throw needed;
  return givenBy(found, needed);
}

function givenBy(row: ApprovalRow, needed: ApprovalNeeded): GivenApproval {
  const { approvalId, orderId, status, decidedBy, approvedUntil, terms } = row;
  if (decidedBy !== null && approvedUntil !== null)
    return { approvalId, orderId, binds: terms.binds, by: decidedBy, until: approvedUntil };
  if (status === 'declined') throw declined(row, needed);
  const [denial] = needed.denials;
  const detail = `${denial.detail} It waits for the owner until ${new Date(row.waitsUntil).toISOString()}.`;
  throw new Refusal([{ ...denial, detail, context: { ...denial.context, approvalStatus: status } }], {
    approvalId,
    orderId,
  });
}

export function declined(
  { approvalId, orderId, declineReason }: ApprovalRow,
  needed: ApprovalNeeded,
): Refusal {
  const [denial] = needed.denials;
  const why = declineReason === null ? '.' : `: ${declineReason}`;
  const said = {
    detail: `The owner declined this order${why}`,
    context: { ...denial.context, approvalStatus: 'declined' },
    fix: 'Do not send this order again: a decision is final. Another order asks anew.',
  };
  return new Refusal([{ ...denial, ...said }], { approvalId, orderId });
}
