-- Which files of functions/ this database has, and of which release: an older release leaves a newer one's alone.
create table sql_functions (
  file text primary key,
  hash text not null,
  release integer not null,
  applied_at timestamptz not null
);
