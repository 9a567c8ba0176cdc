import {
  approveSkill,
  getSkill,
  listMySkills,
  listSkills,
  listSkillsAlias,
  listSkillsForReview,
  refuseSkill,
  SKILL_LIMITS,
  setSkillVisibility,
  submitSkill,
} from '@bellwether/contract';
import { offsetPages, paginate } from '../platform/http/pagination.ts';
import type { Bind, Input } from '../platform/http/routes.ts';
import * as skills from './skills.ts';

export function bindSkills(bind: Bind, needs: skills.SkillNeeds): void {
  const paged = async <T extends { readonly total: number }>(
    { query, request, reply }: Pick<Input<typeof listSkills>, 'query' | 'request' | 'reply'>,
    found: Promise<T>,
  ): Promise<T> => {
    const { limit = SKILL_LIMITS.pageSize, offset = 0 } = query;
    const page = await found;
    paginate(request, reply, page.total, offsetPages(offset, limit, page.total));
    return page;
  };
  for (const operation of [listSkills, listSkillsAlias] as const)
    bind(operation, (input) => paged(input, skills.listSkills(needs, input.query)));
  bind(listMySkills, (input) => paged(input, skills.listMySkills(needs, input.caller, input.query)));
  bind(getSkill, ({ caller, params }) => skills.getSkill(needs, caller, params.skillCode));
  bind(submitSkill, ({ caller, body }) => skills.submitSkill(needs, caller, body));

  bind(listSkillsForReview, (input) => paged(input, skills.listForReview(needs, input.query)));
  bind(approveSkill, ({ params, body }) => skills.approveSkill(needs, params.skillCode, body));
  bind(refuseSkill, ({ params, body }) => skills.refuseSkill(needs, params.skillCode, body.reviewRemark));
  bind(setSkillVisibility, ({ params, body }) => skills.setVisibility(needs, params.skillCode, body.visible));
}
