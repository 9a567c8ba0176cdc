/** Skills: the catalog of strategies. */
export { readOfficialSkills, writeOfficialSkills } from './official-skills.ts';
export { bindSkills } from './routes.ts';
export { createRecommendedSkills } from './skills.ts';
export { createSkillStore, type RecommendedSkills } from './store.ts';
