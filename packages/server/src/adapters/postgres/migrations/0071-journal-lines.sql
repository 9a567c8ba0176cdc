-- The journal of an order as lines of JSON, one for each entry: [milliseconds, event, status, detail, what it was judged by].
-- Repeated names, and times as text, were a fifth of an order's row.
create function journal_lines(entries jsonb) returns text language sql stable as $$
  select coalesce(string_agg(
    case
      when e ? 'checked' then jsonb_build_array(t.ms, e -> 'event', e -> 'status', e -> 'detail', e -> 'checked')
      when e ? 'detail' then jsonb_build_array(t.ms, e -> 'event', e -> 'status', e -> 'detail')
      else jsonb_build_array(t.ms, e -> 'event', e -> 'status')
    end::text || e'\n', '' order by nth), '')
  from jsonb_array_elements(entries) with ordinality as x(e, nth)
  cross join lateral (select (extract(epoch from (e ->> 'at')::timestamptz) * 1000)::bigint as ms) t
$$;
alter table orders alter journal type text using journal_lines(journal);
drop function journal_lines(jsonb);
comment on column orders.journal is
  'Lines of JSON, one for each entry: [milliseconds, event, status, detail, what the order was judged by].';
