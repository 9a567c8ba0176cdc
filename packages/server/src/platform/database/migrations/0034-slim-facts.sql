-- The order's id is not needed to find an agent's latest facts: few of them have the same time.
drop index facts_of_orders;
create index facts_of_orders on facts (agent_id, at desc) where kind = 'order';
