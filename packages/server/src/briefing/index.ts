/** Reads of an agent before it acts: itself, its briefing, a market before a trade, warnings. */

export { exposure, portfolio } from './portfolio.ts';
export { bindBriefing } from './routes.ts';
export { type AgentState, agentState, type BriefingNeeds, quotaResetsAt } from './standing.ts';
export { type BriefingFacts, createAgentFacts, createRiskWatches } from './store.ts';
export { briefingJobs } from './watch-risks.ts';
