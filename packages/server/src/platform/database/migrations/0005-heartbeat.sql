-- What a heartbeat reads stays as small as what an agent holds and what changed lately, whatever its history.

-- Held positions by wallet. The flag, not the size, is indexed: a fill that only changes the size stays in place.
alter table positions add column is_held boolean generated always as (size > 0) stored;
create index positions_held on positions (wallet, token_id) where is_held;

-- Orders by their last change.
create index orders_changed on orders (agent_id, updated_at desc, order_id);
