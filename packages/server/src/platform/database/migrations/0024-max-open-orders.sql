-- Most orders that may be open at a time; null is no limit.
alter table safeguards
  -- Most orders that an agent may have open at a time, on all venues, in doubt or not. Null: no limit.
  add column max_open_orders integer,
  add column locked_max_open_orders integer;

-- Whose locks count an open order of another agent: looked at only where they bind a wallet.
create index orders_open_by_restriction on orders using gin (restricted_by)
  where restricted_by is not null
    and status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled');
