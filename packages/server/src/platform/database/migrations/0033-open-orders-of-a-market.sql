-- A resolution finds the open orders of its market by this index, and no other statement may use it: while there are few
-- open orders, walking it costs the same as finding an agent's, and a session keeps such a plan. The planner uses a partial
-- index only for a statement that repeats its condition, and only log_resolutions says `length(condition_id) > 0`.
drop index orders_open_of_market;
create index orders_open_of_market on orders (condition_id)
  where status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled')
    and length(condition_id) > 0;
