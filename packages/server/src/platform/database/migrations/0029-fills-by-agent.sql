-- An agent's fills on all venues, newest first: GET /markets/fills.
create index fills_by_agent on fills (agent_id, filled_at desc, order_id desc, trade_id desc)
  where agent_id is not null;
