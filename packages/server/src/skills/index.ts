/** Skills: the catalog of strategies. */

export { bindSkills } from './routes.ts';
export { createRecommendedSkills } from './skills.ts';
export {
  createSkillStore,
  type RecommendedSkills,
  readOfficialSkills,
  writeOfficialSkills,
} from './store.ts';
