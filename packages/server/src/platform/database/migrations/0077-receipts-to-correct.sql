-- Receipts from before the log had the order of causes are looked at once, by the ids of their orders.
alter table receipt_log add column uncorrected_after text;
comment on column receipt_log.uncorrected_after is
  'Receipts of orders behind this id have not been looked at yet. Null: all have been.';
update receipt_log set uncorrected_after = '' where exists (select from receipts);
