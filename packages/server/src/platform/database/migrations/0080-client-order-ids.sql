-- The agent's own name for an order. An agent's trades are judged one after another, so the index need not be unique.
alter table orders add column client_order_id text;

create index orders_client_order_ids on orders (agent_id, client_order_id) where client_order_id is not null;
