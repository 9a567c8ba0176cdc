-- Every trade writes these indexes. An order's id is unique by itself, so the key needs no agent; lists are found by agent
-- and time, and the few rows of one moment are sorted when they are read.
alter table orders drop constraint orders_pkey;
alter table orders drop constraint orders_order_id_key;
alter table orders add primary key (order_id);
drop index orders_history;
create index orders_history on orders (agent_id, created_at desc);
drop index orders_changed;
create index orders_changed on orders (agent_id, updated_at desc);
drop index fills_by_agent;
create index fills_by_agent on fills (agent_id, filled_at desc) where agent_id is not null;
