-- A trade that would have spent or given more than its order signed counts as nothing until it is explained: its row has no
-- amounts, and what the venue said stands beside it.
alter table venue_trades
  add column aside_state text check (aside_state in ('held', 'explained', 'released', 'discarded')),
  add column aside jsonb;
comment on column venue_trades.aside_state is 'Held: kept aside. Then the venue explained it, or an operator released or discarded it. Null: never kept aside.';
comment on column venue_trades.aside is 'What the venue said of it, why it was kept aside, and when.';
create index venue_trades_held on venue_trades (order_id) where aside_state = 'held';
