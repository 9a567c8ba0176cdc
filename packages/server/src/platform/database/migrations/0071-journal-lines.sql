-- The journal of an order as lines of JSON, which are half as long and need no reading when they are written. Orders are not
-- rewritten, and a replica of an earlier release, which writes `journal` for a while longer, is understood.
alter table orders add column journal_lines text not null default '', alter journal set default '[]';
comment on column orders.journal is 'Entries as releases before journal_lines wrote them: objects.';
comment on column orders.journal_lines is
  'Lines of JSON, one for each entry: [milliseconds, event, status, detail, what the order was judged by].';
