-- People who own agents (passkey accounts), what they lock, and the registry of skills.

-- A provisional owner (made with an agent's registration) has no name. Once its agent is claimed it owns nothing, and
-- says into whom it was merged.
alter table owners
  add column name text,
  -- What authenticators know the account by: 32 random bytes, as base64url.
  add column passkey_handle text unique,
  add column merged_into bigint references owners;

create table passkeys (
  credential_id text primary key,
  user_id bigint not null references owners,
  public_key bytea not null,
  -- Uses as the authenticator counts them; many always say 0.
  counter bigint not null,
  transports text[] not null,
  backed_up boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null
);
create index passkeys_by_owner on passkeys (user_id);

create table owner_sessions (
  -- Keyed hash of the cookie's token; the token itself is nowhere.
  token_hash bytea primary key,
  user_id bigint not null references owners,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index owner_sessions_by_expiry on owner_sessions (expires_at);

-- Taken (deleted) by the first answer that names one, on whichever replica it arrives.
create table passkey_challenges (
  challenge text primary key,
  purpose text not null,
  -- Registration only: the account to be.
  passkey_handle text,
  owner_name text,
  expires_at timestamptz not null
);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

-- What the owner locked: ceilings that the agent's key cannot raise, null for none.
alter table safeguards
  add column owner_paused boolean not null default false,
  add column locked_max_trades_per_day integer,
  add column locked_max_trade_amount bigint,
  add column locked_daily_trade_amount_limit bigint,
  add column locked_max_position_value bigint,
  add column locked_daily_loss_limit bigint,
  add column locked_trade_limit boolean not null default false;

create table skills (
  skill_code uuid primary key,
  -- What trades name in skillSlug.
  slug text not null,
  skill_name text not null,
  -- Who submitted it; 0 for the service itself.
  user_id bigint not null,
  agent_id uuid,
  category smallint not null,
  version text not null,
  author text not null,
  description text not null,
  difficulty_level smallint not null,
  install_count integer not null default 0,
  how_it_works text not null,
  hub_url text not null,
  github_url text not null,
  -- 1 came with the service, 2 was submitted by an agent.
  create_source smallint not null,
  -- 1 pending, 2 approved, 3 refused.
  review_status smallint not null,
  review_remark text not null,
  is_visible boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index skills_listed on skills (category, created_at, skill_code) where review_status = 2 and is_visible;
create index skills_by_owner on skills (user_id);
create index skills_by_review on skills (review_status, created_at, skill_code);

-- Moves everything that names a provisional owner to the owner that claimed its agent: every table with a user_id, so
-- that a table added later cannot be forgotten. Credentials are sealed for their owner and move by themselves.
create function merge_owner(merged_agent uuid, from_owner bigint, to_owner bigint) returns void language plpgsql as $$
declare
  owned record;
begin
  for owned in
    select c.table_name, exists (
      select 1 from information_schema.columns a
      where a.table_schema = c.table_schema and a.table_name = c.table_name and a.column_name = 'agent_id'
        and a.data_type = 'uuid' and a.is_nullable = 'NO'
    ) as has_agent
    from information_schema.columns c
    join information_schema.tables t
      on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
    where c.table_schema = current_schema() and c.column_name = 'user_id'
      and c.table_name not in ('owners', 'credentials')
    order by c.table_name
  loop
    -- A provisional owner has this one agent: where every row names its agent, that finds them.
    if owned.has_agent then
      execute format('update %I set user_id = $1 where agent_id = $2 and user_id = $3', owned.table_name)
        using to_owner, merged_agent, from_owner;
    else
      execute format('update %I set user_id = $1 where user_id = $2', owned.table_name)
        using to_owner, from_owner;
    end if;
  end loop;
end
$$;
