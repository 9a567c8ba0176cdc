-- An index that begins with the agent and goes on with the market can also be read for a market alone, agent by agent. While
-- there are few agents that looks as cheap as the index of markets, and a session that kept such a plan read all of it.
drop index positions_by_market;
drop index positions_by_agent;
create index positions_by_market on positions (condition_id, agent_id);
create index positions_by_agent on positions (agent_id);
