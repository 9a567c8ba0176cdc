-- Moves everything that names a provisional owner to the owner that claimed its agent: every table with a user_id, so
-- that a table added later cannot be forgotten. Credentials are sealed for their owner and move by themselves.
create or replace function merge_owner(merged_agent uuid, from_owner bigint, to_owner bigint) returns void language plpgsql as $$
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
