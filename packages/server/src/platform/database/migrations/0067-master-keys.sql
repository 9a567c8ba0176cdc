-- The newest row's key seals; while a rotation lasts there are two. The name identifies a key without revealing it.
alter table master_key_check add column name text;

-- The database's first master key, sealed with the newest: what is derived from it (the hashes of API keys, the paper
-- venue's keys) stays the same when the master key is rotated.
create table master_root (
  one boolean primary key default true check (one),
  key_id integer not null,
  sealed bytea not null
);

create table retired_master_keys (
  key_id integer primary key,
  name text,
  retired_at timestamptz not null default now()
);
