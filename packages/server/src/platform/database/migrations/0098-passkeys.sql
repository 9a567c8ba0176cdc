-- Several passkeys of an owner, with names; which of them opened a session; and the way back without any of them.
alter table passkeys
  -- What routes call it by: the authenticator's own id is up to a thousand characters long.
  add column passkey_id bigint generated always as identity unique,
  -- The owner's word.
  add column name text not null default 'Passkey';

-- Null: opened before sessions knew it. A session ends with the passkey that opened it.
alter table owner_sessions add column credential_id text references passkeys on delete cascade;
create index owner_sessions_by_passkey on owner_sessions (credential_id);

-- At most one of an owner. It is used by deleting the row, which happens once.
create table recovery_codes (
  user_id bigint primary key references owners,
  -- Keyed hash; the code itself is nowhere.
  code_hash bytea not null unique,
  made_at timestamptz not null
);

-- The last recovery of each owner. Until ends_at the owner can do little, and a passkey of before can undo it: that deletes the
-- passkey that it made, and this row with it.
create table recoveries (
  user_id bigint primary key references owners,
  credential_id text not null unique references passkeys on delete cascade,
  began_at timestamptz not null,
  ends_at timestamptz not null
);
