/** Reads of an agent before it acts: itself, its briefing, a market before a trade, warnings. */
export { type AgentFacts, createAgentFacts } from './agent-facts.ts';
export { type AgentState, type AgentStateNeeds, agentState, quotaResetsAt } from './agent-state.ts';
export { exposure } from './exposure.ts';
export type { BriefingFacts } from './facts.ts';
export { briefingJobs } from './jobs.ts';
export { type PortfolioNeeds, portfolio } from './portfolio.ts';
export { createRiskWatches } from './risk-watches.ts';
export { bindBriefing } from './routes.ts';
