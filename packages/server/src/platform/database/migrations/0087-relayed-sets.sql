-- Set orders that the venue's relayer makes: what the owner signs, and since when it may have been forwarded.
alter table handed_out_sets
  -- Null: the owner sends transactions of its own.
  add column relay jsonb,
  add column signature text,
  -- Recorded before it is forwarded, once.
  add column submitted_at timestamptz,
  add column transaction_id text,
  add column relay_state text;
