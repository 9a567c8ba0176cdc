-- A process that slept through a rotation must not seal anything with the key of before.
create or replace function refuse_retired_key() returns trigger language plpgsql as $$
begin
  if exists (select 1 from retired_master_keys where key_id = new.key_id) then
    raise exception 'the master key % is retired', new.key_id using errcode = 'BW002';
  end if;
  return new;
end
$$;
create or replace trigger credentials_master_key before insert or update of key_id on credentials
  for each row execute function refuse_retired_key();
create or replace trigger webhook_endpoints_master_key before insert or update of key_id on webhook_endpoints
  for each row execute function refuse_retired_key();
create or replace trigger exits_master_key before insert or update of key_id on exits
  for each row execute function refuse_retired_key();
