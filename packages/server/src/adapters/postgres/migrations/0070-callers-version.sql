-- Names the state of everything that the callers of trades are judged by, beside figures and what quotes say: keys, owners,
-- wallets and credentials of all agents, and who has a limit for positions. Whoever has read it under this name need not read it
-- again while the name is the same.
create table callers_version (
  one boolean primary key default true check (one),
  -- A random name, not a number: after a backup was restored, a number could name another state.
  version uuid not null
) with (fillfactor = 50);
insert into callers_version (version) values (gen_random_uuid());

create function rename_callers_version() returns trigger language plpgsql as $$
begin
  -- Once for a transaction.
  update callers_version set version = gen_random_uuid() where xmin <> pg_current_xact_id()::xid;
  return null;
end
$$;

-- At the commit, when its transaction waits for no other lock any more: two of them cannot wait for each other.
create constraint trigger api_keys_rename_version after update of status or delete on api_keys
  deferrable initially deferred for each row execute function rename_callers_version();
create constraint trigger agents_rename_version after update of user_id, claimed_at or delete on agents
  deferrable initially deferred for each row execute function rename_callers_version();
create constraint trigger agent_wallets_rename_version after insert or update or delete on agent_wallets
  deferrable initially deferred for each row execute function rename_callers_version();
-- A credential that is sealed with another key is the same.
create constraint trigger credentials_rename_version
  after insert or update of wallet_address, user_id, signature_type, api_key_hash or delete on credentials
  deferrable initially deferred for each row execute function rename_callers_version();
create constraint trigger safeguards_rename_version after update of max_position_value on safeguards
  deferrable initially deferred for each row
  when (old.max_position_value is distinct from new.max_position_value) execute function rename_callers_version();
