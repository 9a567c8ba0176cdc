/** Skills: listed when approved and visible, submitted by agents, reviewed by the operator. */
import {
  type OperatorSkill,
  type OperatorSkillList,
  SKILL_LIMITS,
  type Skill,
  type SkillList,
  type SkillPage as SkillQuery,
  type SubmitSkill,
  type SubmittedSkill,
} from '@bellwether/contract';
import type { AgentStore } from '../agents/index.ts';
import type { Caller } from '../domain/records.ts';
import { plainText } from '../domain/untrusted-text.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { RecommendedSkills, ReviewStatus, SkillRow, SkillStore } from './store.ts';

export interface SkillNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly agents: AgentStore;
  readonly skills: SkillStore;
}

const PENDING = 1;
const APPROVED = 2;
const REFUSED = 3;
const PARTNER = 2;
const MEDIUM = 2;
const SUBMITTED = 2;

const RECOMMENDED = 5;
const RECOMMENDED_TEXT_CHARS = 300;
/** Every heartbeat asks; a new approval shows within this time. */
const RECOMMENDED_FOR_MS = 60_000;

const record = (row: SkillRow): Skill => ({
  skillCode: row.skillCode,
  skillSlug: row.slug,
  skillName: row.skillName,
  uploadUserId: Number(row.userId),
  category: row.category,
  version: row.version,
  author: row.author,
  description: row.description,
  difficultyLevel: row.difficultyLevel,
  installCount: row.installCount,
  howItWorks: row.howItWorks,
  how_it_works: row.howItWorks,
  hubUrl: row.hubUrl,
  githubUrl: row.githubUrl,
  createSource: row.createSource,
  reviewStatus: row.reviewStatus,
  reviewRemark: row.reviewRemark,
  createdAt: String(row.createdAt),
  updatedAt: String(row.updatedAt),
});

const operatorRecord = (row: SkillRow): OperatorSkill => ({ ...record(row), isVisible: row.isVisible });

export const windowIn = ({ limit = SKILL_LIMITS.pageSize, offset = 0 }: SkillQuery) => ({ limit, offset });
const categoryOf = ({ category }: SkillQuery) => (category === undefined ? {} : { category });

export async function listSkills(needs: SkillNeeds, query: SkillQuery): Promise<SkillList> {
  const { rows, total } = await needs.skills.listed({ ...categoryOf(query), ...windowIn(query) });
  return { list: rows.map(record), total };
}

export async function listMySkills(needs: SkillNeeds, caller: Caller, query: SkillQuery): Promise<SkillList> {
  const { rows, total } = await needs.skills.listed({
    ...categoryOf(query),
    ...windowIn(query),
    userId: caller.userId,
  });
  return { list: rows.map(record), total };
}

/** @throws Refusal skill_not_found, also for what others have not had approved */
export async function getSkill(needs: SkillNeeds, caller: Caller, skillCode: string): Promise<Skill> {
  const row = await needs.skills.byCode(skillCode);
  const isListed = row?.reviewStatus === APPROVED && row.isVisible;
  if (row === null || !(isListed || row.userId === caller.userId)) throw refusal('skill_not_found');
  return record(row);
}

/** A link that people will follow: https, a host, no credentials hidden in it. */
function requireLink(path: 'hubUrl' | 'githubUrl', value: string | undefined): string {
  if (value === undefined) return '';
  const url = URL.parse(value);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw refusal('invalid_request', `${path} must be a https address without credentials.`, { path });
  }
  return value;
}

/** `Fade the open` → `fade-the-open-01a1fd`: the code's own characters keep names apart. */
function slugOf(name: string, skillCode: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${words === '' ? 'skill' : words}-${skillCode.slice(-6)}`;
}

export async function submitSkill(
  needs: SkillNeeds,
  caller: Caller,
  request: SubmitSkill,
): Promise<SubmittedSkill> {
  const agent = await needs.agents.byId(caller.agentId);
  const skillCode = needs.secrets.newId();
  const at = needs.clock.now();
  const row: SkillRow = {
    skillCode,
    slug: slugOf(request.skillName, skillCode),
    skillName: request.skillName,
    userId: caller.userId,
    agentId: caller.agentId,
    category: PARTNER,
    version: request.version,
    author: agent?.name ?? '',
    description: request.description,
    difficultyLevel: MEDIUM,
    installCount: 0,
    howItWorks: request.howItWorks ?? '',
    hubUrl: requireLink('hubUrl', request.hubUrl),
    githubUrl: requireLink('githubUrl', request.githubUrl),
    createSource: SUBMITTED,
    reviewStatus: PENDING,
    reviewRemark: '',
    isVisible: false,
    createdAt: at,
    updatedAt: at,
  };
  const { pendingPerOwner, perOwner } = SKILL_LIMITS;
  const outcome = await needs.skills.submit(row, { pending: pendingPerOwner, total: perOwner });
  if (outcome === 'queue_full')
    throw refusal('skill_queue_full', `${pendingPerOwner} skills of this owner wait for review already.`);
  if (outcome === 'full')
    throw refusal('skill_limit_reached', `This owner has ${perOwner} skills that wait or are approved.`);
  return { ...record(outcome), id: outcome.skillCode };
}

export async function listForReview(
  needs: SkillNeeds,
  query: { reviewStatus?: ReviewStatus; limit?: number; offset?: number },
): Promise<OperatorSkillList> {
  const { rows, total } = await needs.skills.byReviewStatus(query.reviewStatus ?? PENDING, windowIn(query));
  return { list: rows.map(operatorRecord), total };
}

async function review(
  needs: SkillNeeds,
  skillCode: string,
  change: Parameters<SkillStore['review']>[1],
): Promise<OperatorSkill> {
  const row = await needs.skills.review(skillCode, change, needs.clock.now());
  if (row === null) throw refusal('skill_not_found');
  return operatorRecord(row);
}

export const approveSkill = (
  needs: SkillNeeds,
  skillCode: string,
  {
    visible = true,
    reviewRemark,
    category,
    difficultyLevel,
  }: { visible?: boolean; reviewRemark?: string; category?: 1 | 2; difficultyLevel?: number },
): Promise<OperatorSkill> =>
  // One by one: what else a body holds must not become a column.
  review(needs, skillCode, {
    ...(reviewRemark === undefined ? {} : { reviewRemark }),
    ...(category === undefined ? {} : { category }),
    ...(difficultyLevel === undefined ? {} : { difficultyLevel }),
    reviewStatus: APPROVED,
    isVisible: visible,
  });

export const refuseSkill = (
  needs: SkillNeeds,
  skillCode: string,
  reviewRemark: string,
): Promise<OperatorSkill> =>
  review(needs, skillCode, { reviewStatus: REFUSED, reviewRemark, isVisible: false });

export const setVisibility = (
  needs: SkillNeeds,
  skillCode: string,
  isVisible: boolean,
): Promise<OperatorSkill> => review(needs, skillCode, { isVisible });

/** The first listed skills, asked of the database at most once a minute for any number of heartbeats. */
export function createRecommendedSkills(skills: SkillStore, clock: Clock): RecommendedSkills {
  let known: ReturnType<RecommendedSkills> | undefined;
  let until = 0;
  return () => {
    const now = clock.now();
    if (known === undefined || now >= until) {
      until = now + RECOMMENDED_FOR_MS;
      known = skills.listed({ limit: RECOMMENDED, offset: 0 }).then(({ rows }) =>
        rows.map(({ skillCode, slug, skillName, description }) => ({
          skillCode,
          skillSlug: slug,
          skillName,
          description: plainText(description, RECOMMENDED_TEXT_CHARS),
        })),
      );
      // A failure is not remembered: the next heartbeat asks again.
      known.catch(() => {
        known = undefined;
      });
    }
    return known;
  };
}
