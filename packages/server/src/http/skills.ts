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
import type { Deps } from '../app/deps.ts';
import * as skills from '../app/skills.ts';
import type { Bind } from './routes.ts';

export function bindSkills(bind: Bind, deps: Deps): void {
  for (const operation of [listSkills, listSkillsAlias] as const)
    bind(operation, ({ query }) => skills.listSkills(deps, query));
  bind(listMySkills, ({ caller, query }) => skills.listMySkills(deps, caller, query));
  bind(getSkill, ({ caller, params }) => skills.getSkill(deps, caller, params.skillCode));
  bind(submitSkill, ({ caller, body }) => skills.submitSkill(deps, caller, body));

  bind(listSkillsForReview, ({ query }) => skills.listForReview(deps, query));
  bind(approveSkill, ({ params, body }) => skills.approveSkill(deps, params.skillCode, body));
  bind(refuseSkill, ({ params, body }) => skills.refuseSkill(deps, params.skillCode, body.reviewRemark));
  bind(setSkillVisibility, ({ params, body }) => skills.setVisibility(deps, params.skillCode, body.visible));
}
