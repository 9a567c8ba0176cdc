/**
 * The official skills: one Markdown file each, with the record's fields above the text. Every start writes those that
 * the database lacks or has in an older version; the operator's settings (visibility, remark) stay.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from '../platform/database/connection.ts';
import type { SkillRow } from './store.ts';
import { skillColumns } from './store.ts';

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
