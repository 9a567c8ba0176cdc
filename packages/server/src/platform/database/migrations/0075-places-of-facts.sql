-- The order of the log is the order of causes. A transaction has its number before it waits for locks, so a later one may
-- have a lower number: an order was filled in the log before it was recorded.

-- Where a fact that is written now belongs: behind every transaction that has ended, and so behind what it follows from.
-- The function takes a snapshot of its own, behind the locks that the statement has waited for.
create function place_in_log() returns xid8 language plpgsql as $$
begin
  return greatest(pg_current_xact_id(), (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
end
$$;

-- Null in facts from before, whose writer is the transaction.
alter table facts add column recorded_by xid8;
alter table facts alter column recorded_by set default pg_current_xact_id(), alter column writer set default place_in_log();
comment on column facts.writer is
  'The place in the log, with seq: the transaction that wrote it, or a later one that had ended before.';
comment on column facts.recorded_by is
  'The transaction that wrote it, by which a reader with a snapshot sees whether it has read it. Null: writer.';
