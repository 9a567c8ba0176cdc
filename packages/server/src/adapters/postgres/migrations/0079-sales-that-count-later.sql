-- A sale of shares that a failed purchase should have brought counts after the purchases that brought them in the end.
alter table fills add column counts_at timestamptz;
