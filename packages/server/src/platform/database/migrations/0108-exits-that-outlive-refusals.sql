-- The order of a guarded exit is sent until it has an effect: what its venue refused, or left without an answer, is sent again.
alter table orders add column sent_at timestamptz;
comment on column orders.sent_at is 'When it was sent again last; null: it was sent once.';

-- The exits of a group wait until it is known what the order of the one that was sent has sold.
alter table exits add column settled_at timestamptz;
comment on column exits.settled_at is 'When it was known what its order has sold; null: not yet, or it was not sent.';
update exits set settled_at = updated_at where status = 'fired';
create index exits_unsettled on exits (exit_id) where status = 'fired' and settled_at is null;

-- Shares of its outcome that its funder had when it was left.
alter table exits add column held bigint;
comment on column exits.held is 'What the account held of the outcome when it was left, by its venue; null: not known.';

-- The watch of exits keeps them in memory, and reads what was written since.
alter table exits add column writer xid8 not null default pg_current_xact_id();
comment on column exits.writer is 'The transaction that wrote it last.';
create index exits_written on exits (writer);
