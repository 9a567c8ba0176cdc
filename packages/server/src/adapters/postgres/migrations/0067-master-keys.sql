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

-- A process that slept through a rotation must not seal anything with the key of before.
create function refuse_retired_key() returns trigger language plpgsql as $$
begin
  if exists (select 1 from retired_master_keys where key_id = new.key_id) then
    raise exception 'the master key % is retired', new.key_id using errcode = 'BW002';
  end if;
  return new;
end
$$;
create trigger credentials_master_key before insert or update of key_id on credentials
  for each row execute function refuse_retired_key();
create trigger webhook_endpoints_master_key before insert or update of key_id on webhook_endpoints
  for each row execute function refuse_retired_key();
