-- Streams of events read the log of facts. A stream that resumes reads what one agent's facts were since its cursor.
create index facts_of_agent on facts (agent_id, writer);

-- The last fact, in the order of streams, that was deleted: a cursor before it may have missed something.
alter table fact_log add column forgotten_writer xid8 not null default '0';
alter table fact_log add column forgotten_seq bigint not null default 0;
