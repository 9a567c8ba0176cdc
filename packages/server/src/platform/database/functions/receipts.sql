-- Adds a piece's receipts and moves the place in the log behind it, if it is still where the piece began: whoever comes second
-- adds nothing. The head is told with the first receipts of each further UTC day: whoever keeps it can show a rewritten chain.
create or replace function add_receipts(was_writer xid8, was_seq bigint, to_writer xid8, to_seq bigint, agents uuid[],
  sequences bigint[], kinds text[], order_ids text[], times timestamptz[], bodies text[], hashes text[])
returns boolean language sql as $$
  with moved as (
    update receipt_log set writer = to_writer, seq = to_seq where writer = was_writer and seq = was_seq returning one
  ), added as (
    insert into receipts (agent_id, sequence, kind, order_id, recorded_at, body, hash)
    select t.agent_id, t.sequence, t.kind, t.order_id, t.recorded_at, t.body, decode(t.hash, 'hex')
    from moved cross join unnest(agents, sequences, kinds, order_ids, times, bodies, hashes)
      as t(agent_id, sequence, kind, order_id, recorded_at, body, hash)
    returning agent_id, sequence, hash
  ), headed as (
    insert into receipt_heads as h (agent_id, sequence, hash, told_on)
    select distinct on (agent_id) agent_id, sequence, hash, (now() at time zone 'UTC')::date
    from added order by agent_id, sequence desc
    on conflict (agent_id) do update set sequence = excluded.sequence, hash = excluded.hash, told_on = excluded.told_on
    returning agent_id, sequence, hash, told_on
  ), told as (
    insert into facts (agent_id, kind, subject, at, payload)
    select n.agent_id, 'receipts', n.sequence, now(),
      jsonb_build_object('sequence', n.sequence, 'hash', encode(n.hash, 'hex'))
    from headed n join receipt_heads b using (agent_id) where b.told_on <> n.told_on
  )
  select exists (select 1 from moved)
$$;

-- Adds entries that correct earlier ones, and says up to which order receipts were looked at. Whoever comes second, and whoever
-- has read receipts that are no longer the last ones, adds nothing.
create or replace function correct_receipts(was_writer xid8, was_seq bigint, was_after text, now_after text, agents uuid[],
  sequences bigint[], kinds text[], order_ids text[], times timestamptz[], bodies text[], hashes text[])
returns boolean language plpgsql as $$
begin
  update receipt_log set uncorrected_after = now_after
    where writer = was_writer and seq = was_seq and uncorrected_after = was_after;
  if not found then
    return false;
  end if;
  return add_receipts(was_writer, was_seq, was_writer, was_seq, agents, sequences, kinds, order_ids, times, bodies, hashes);
end
$$;
