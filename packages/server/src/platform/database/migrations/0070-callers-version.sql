-- Names the state of everything that the callers of trades are judged by, beside figures and what quotes say: settings, keys,
-- owners, wallets and credentials of all agents. Whoever has read it under this name need not read it again while the name
-- is the same. What renames it is in functions/callers.sql.
create table callers_version (
  one boolean primary key default true check (one),
  -- A random name, not a number: after a backup was restored, a number could name another state.
  version uuid not null
) with (fillfactor = 50);
insert into callers_version (version) values (gen_random_uuid());
