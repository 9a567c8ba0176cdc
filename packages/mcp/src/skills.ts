/** Skills of the desk: strategies in words. The text of any of them is data and marked off. */
import type { DeskDoor } from './desk.ts';
import { StrangersTexts } from './strangers-texts.ts';

export interface ListedSkill {
  readonly slug: string;
  readonly isOfficial: boolean;
  readonly name: string;
  readonly text: string;
}

const MOST_SKILLS = 100;
const MOST_CHARS = 20_000;
const SLUG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const OFFICIAL = 1;

/** None where there are no keys or no desk: a client that lists what there is must not fail over it. */
export async function listedSkills(door: DeskDoor, signal: AbortSignal): Promise<readonly ListedSkill[]> {
  try {
    return await readSkills(door, signal);
  } catch {
    return [];
  }
}

async function readSkills(door: DeskDoor, signal: AbortSignal): Promise<readonly ListedSkill[]> {
  const { client } = await door.open();
  const { list } = await client.listSkills({ limit: MOST_SKILLS }, { signal });
  return list
    .filter(({ skillSlug }) => SLUG.test(skillSlug))
    .map(({ skillSlug, category, skillName, howItWorks }) => ({
      slug: skillSlug,
      isOfficial: category === OFFICIAL,
      name: skillName,
      text: howItWorks,
    }));
}

export const findSkill = async (
  door: DeskDoor,
  slug: string,
  signal: AbortSignal,
): Promise<ListedSkill | null> =>
  (await readSkills(door, signal)).find((skill) => skill.slug === slug) ?? null;

export function skillText({ name, text }: ListedSkill): string {
  const texts = new StrangersTexts();
  return `${texts.notice}\n\n${texts.mark(`${name}\n\n${text}`, MOST_CHARS)}`;
}
