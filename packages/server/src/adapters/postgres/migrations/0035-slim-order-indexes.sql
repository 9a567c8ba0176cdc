-- An order's id is the key: (agent_id, order_id) kept it a second time. The lists of an agent's orders are found by agent and
-- time; orders of the same millisecond are sorted by id when they are read. Building the indexes blocks writes to the table
-- for about a second per 200,000 orders.
alter table orders drop constraint orders_pkey, drop constraint orders_order_id_key, add primary key (order_id);
drop index orders_history;
create index orders_history on orders (agent_id, created_at desc);
drop index orders_changed;
create index orders_changed on orders (agent_id, updated_at desc);
