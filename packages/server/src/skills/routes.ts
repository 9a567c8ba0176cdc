import {
  approveSkill,
  getSkill,
  listMySkills,
  listSkills,
  listSkillsAlias,
  listSkillsForReview,
  refuseSkill,
  setSkillVisibility,
  submitSkill,
} from '@bellwether/contract';
import type { Bind } from '../platform/http/routes.ts';
import * as skills from './skills.ts';

export function bindSkills(bind: Bind, needs: skills.SkillNeeds): void {
  for (const operation of [listSkills, listSkillsAlias] as const)
    bind(operation, ({ query }) => skills.listSkills(needs, query));
  bind(listMySkills, ({ caller, query }) => skills.listMySkills(needs, caller, query));
  bind(getSkill, ({ caller, params }) => skills.getSkill(needs, caller, params.skillCode));
  bind(submitSkill, ({ caller, body }) => skills.submitSkill(needs, caller, body));

  bind(listSkillsForReview, ({ query }) => skills.listForReview(needs, query));
  bind(approveSkill, ({ params, body }) => skills.approveSkill(needs, params.skillCode, body));
  bind(refuseSkill, ({ params, body }) => skills.refuseSkill(needs, params.skillCode, body.reviewRemark));
  bind(setSkillVisibility, ({ params, body }) => skills.setVisibility(needs, params.skillCode, body.visible));
}
