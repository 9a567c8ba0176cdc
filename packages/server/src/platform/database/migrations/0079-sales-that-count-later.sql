-- A sale of shares that a failed purchase should have brought counts after the purchases that brought them in the end.
alter table fills add column counts_at timestamptz;
comment on column fills.counts_at is 'When it counts among the fills of its position; null: when it happened.';
