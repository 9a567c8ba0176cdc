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
import type { FastifyReply, FastifyRequest } from 'fastify';
import { offsetPages, paginate } from '../platform/http/page.ts';
import type { Bind } from '../platform/http/routes.ts';
import * as skills from './skills.ts';

interface Asked {
  readonly query: { readonly limit?: number; readonly offset?: number };
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The body says the total, too, as the interface has it. */
async function paged<T extends { readonly total: number }>(
  { query, request, reply }: Asked,
  list: Promise<T>,
): Promise<T> {
  const answer = await list;
  const { limit, offset } = skills.windowIn(query);
  paginate(request, reply, answer.total, offsetPages(offset, limit, answer.total));
  return answer;
}

export function bindSkills(bind: Bind, needs: skills.SkillNeeds): void {
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
