/** The registry of skills. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ColumnValues, type Fragment, ms, only, type Sql } from '../platform/database/connection.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type { SkillsRow } from '../platform/database/rows.generated.ts';

const skillRow = (row: SkillsRow): SkillRow => ({
  skillCode: row.skill_code,
  slug: row.slug,
  skillName: row.skill_name,
  userId: row.user_id,
  agentId: row.agent_id,
  category: row.category,
  version: row.version,
  author: row.author,
  description: row.description,
  difficultyLevel: row.difficulty_level,
  installCount: row.install_count,
  howItWorks: row.how_it_works,
  hubUrl: row.hub_url,
  githubUrl: row.github_url,
  createSource: row.create_source,
  reviewStatus: row.review_status,
  reviewRemark: row.review_remark,
  isVisible: row.is_visible,
  createdAt: ms(row.created_at),
  updatedAt: ms(row.updated_at),
});

const skillColumns = (skill: SkillRow): ColumnValues => ({
  skill_code: skill.skillCode,
  slug: skill.slug,
  skill_name: skill.skillName,
  user_id: skill.userId,
  agent_id: skill.agentId,
  category: skill.category,
  version: skill.version,
  author: skill.author,
  description: skill.description,
  difficulty_level: skill.difficultyLevel,
  install_count: skill.installCount,
  how_it_works: skill.howItWorks,
  hub_url: skill.hubUrl,
  github_url: skill.githubUrl,
  create_source: skill.createSource,
  review_status: skill.reviewStatus,
  review_remark: skill.reviewRemark,
  is_visible: skill.isVisible,
  created_at: new Date(skill.createdAt),
  updated_at: new Date(skill.updatedAt),
});

const REVIEW_COLUMNS = {
  reviewStatus: 'review_status',
  reviewRemark: 'review_remark',
  isVisible: 'is_visible',
  category: 'category',
  difficultyLevel: 'difficulty_level',
} as const;

export function createSkillStore(sql: Sql) {
  const page = async (
    where: Fragment,
    order: Fragment,
    { limit, offset }: { limit: number; offset: number },
  ) => {
    const [rows, count] = await Promise.all([
      sql<SkillsRow[]>`select * from skills where ${where} order by ${order} limit ${limit} offset ${offset}`,
      sql<{ total: number }[]>`select count(*)::int as total from skills where ${where}`,
    ]);
    return { rows: rows.map(skillRow), total: only(count).total };
  };

  return {
    /** Approved and visible, official ones first; of one submitter when named. */
    listed: ({
      category,
      userId,
      ...rest
    }: {
      readonly category?: 1 | 2;
      readonly userId?: bigint;
      readonly limit: number;
      readonly offset: number;
    }): Promise<SkillPage> =>
      page(
        sql`review_status = 2 and is_visible
          ${category === undefined ? sql`` : sql`and category = ${category}`}
          ${userId === undefined ? sql`` : sql`and user_id = ${userId}`}`,
        sql`category, created_at, skill_code`,
        rest,
      ),

    async byCode(skillCode: string): Promise<SkillRow | null> {
      const [row] = await sql<SkillsRow[]>`select * from skills where skill_code = ${skillCode}`;
      return row === undefined ? null : skillRow(row);
    },

    /**
     * Deletes the owner's oldest refused skill to make room. `queue_full`: too many wait; `full`: too many in all.
     * @returns the skill as it was submitted
     */
    submit: (
      skill: SkillRow,
      limits: { readonly pending: number; readonly total: number },
    ): Promise<SkillRow | 'queue_full' | 'full'> =>
      once(sql, async (tx) => {
        // The lock on the owner's row serialises submissions, so that the count stays exact.
        await tx`select 1 from owners where user_id = ${skill.userId} for no key update`;
        const held = only(
          await tx<
            { total: number; pending: number }[]
          >`select count(*)::int as total, count(*) filter (where review_status = 1)::int as pending
          from skills where user_id = ${skill.userId}`,
        );
        if (held.pending >= limits.pending) return 'queue_full' as const;
        if (held.total >= limits.total) {
          const gone = await tx<object[]>`delete from skills where skill_code = (
            select skill_code from skills where user_id = ${skill.userId} and review_status = 3
            order by updated_at, skill_code limit 1) returning 1`;
          if (gone.length === 0) return 'full' as const;
        }
        await tx`insert into skills ${tx(skillColumns(skill))}`;
        return skill;
      }),

    /** Oldest first. */
    byReviewStatus: (
      status: ReviewStatus,
      range: { readonly limit: number; readonly offset: number },
    ): Promise<SkillPage> => page(sql`review_status = ${status}`, sql`created_at, skill_code`, range),

    /** @returns `null` when there is no such skill */
    review: (
      skillCode: string,
      change: Partial<
        Pick<SkillRow, 'reviewStatus' | 'reviewRemark' | 'isVisible' | 'category' | 'difficultyLevel'>
      >,
      at: number,
    ): Promise<SkillRow | null> =>
      once(sql, async (tx) => {
        const columns: ColumnValues = { updated_at: new Date(at) };
        for (const [name, value] of Object.entries(change))
          if (value !== undefined) columns[REVIEW_COLUMNS[name as keyof typeof REVIEW_COLUMNS]] = value;
        const [row] = await tx<
          SkillsRow[]
        >`update skills set ${tx(columns)} where skill_code = ${skillCode} returning *`;
        return row === undefined ? null : skillRow(row);
      }),
  };
}

/** The registry of skills. */
interface SkillBrief {
  readonly skillCode: string;
  /** The value of `skillSlug` in trades. */
  readonly skillSlug: string;
  readonly skillName: string;
  /** Plain and short. */
  readonly description: string;
}

/** A few approved and visible skills, best first; from memory, because every heartbeat reads them. */
export type RecommendedSkills = () => Promise<readonly SkillBrief[]>;

export type ReviewStatus = 1 | 2 | 3;

export interface SkillRow {
  readonly skillCode: string;
  readonly slug: string;
  readonly skillName: string;
  /** 0: the service itself. */
  readonly userId: bigint;
  readonly agentId: string | null;
  /** 1 official, 2 partner. */
  readonly category: 1 | 2;
  readonly version: string;
  readonly author: string;
  readonly description: string;
  readonly difficultyLevel: number;
  readonly installCount: number;
  readonly howItWorks: string;
  readonly hubUrl: string;
  readonly githubUrl: string;
  /** 1 shipped with the service, 2 submitted by an agent. */
  readonly createSource: 1 | 2;
  readonly reviewStatus: ReviewStatus;
  readonly reviewRemark: string;
  readonly isVisible: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface SkillPage {
  readonly rows: readonly SkillRow[];
  readonly total: number;
}

export type SkillStore = ReturnType<typeof createSkillStore>;

// The official skills: one Markdown file each, with the record's fields above the text. Every start writes those that
// the database lacks or has in an older version; the operator's settings (visibility, remark) stay.

const FOLDER = join(import.meta.dirname, 'official-skills');
const AUTHOR = 'Bellwether';
const HEAD = /^---\n([\s\S]*?)\n---\n+([\s\S]*)$/;
const VERSION = /^\d+(\.\d+)*$/;

/** @throws Error that names the file and the problem */
export function readOfficialSkill(file: string, source: string, at: number): SkillRow {
  const [, head, body] = HEAD.exec(source) ?? [];
  if (head === undefined || body === undefined) throw new Error(`${file} does not begin with its fields.`);
  const fields = new Map(
    head.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const field = (name: string): string => {
    const value = fields.get(name);
    if (value === undefined || value === '') throw new Error(`${file} has no field "${name}".`);
    return value;
  };
  const version = field('version');
  if (!VERSION.test(version)) throw new Error(`${file} has a version that is not a row of numbers.`);
  return {
    skillCode: field('code'),
    slug: file.replace(/\.md$/, ''),
    skillName: field('name'),
    userId: 0n,
    agentId: null,
    category: 1,
    version,
    author: AUTHOR,
    description: field('description'),
    difficultyLevel: Number(field('difficulty')),
    installCount: 0,
    howItWorks: body.trim(),
    hubUrl: '',
    githubUrl: '',
    createSource: 1,
    reviewStatus: 2,
    reviewRemark: '',
    isVisible: true,
    createdAt: at,
    updatedAt: at,
  };
}

export const readOfficialSkills = (at: number): SkillRow[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => readOfficialSkill(file, readFileSync(join(FOLDER, file), 'utf8'), at));

/** With two versions of the service on one database the newer text stays, regardless of the start order. */
export async function writeOfficialSkills(sql: Sql, skills: readonly SkillRow[]): Promise<void> {
  await sql`
    insert into skills ${sql(skills.map(skillColumns))}
    on conflict (skill_code) do update set
      slug = excluded.slug, skill_name = excluded.skill_name, version = excluded.version, author = excluded.author,
      description = excluded.description, difficulty_level = excluded.difficulty_level,
      how_it_works = excluded.how_it_works, updated_at = excluded.updated_at
    where string_to_array(skills.version, '.')::int[] < string_to_array(excluded.version, '.')::int[]`;
}
