-- What wallets were worth over time, for their owners' pages. Of each step (minutes between points: 5, 60, 1440) a wallet has one
-- row for every span in which something had changed, with the last figures of that span. A job writes them, behind trades.
create table equity_points (
  wallet text not null,
  step smallint not null,
  span timestamptz not null,
  at timestamptz not null,
  equity bigint not null,
  deposits bigint not null,
  primary key (wallet, step, span)
) with (fillfactor = 80);
create index equity_points_by_age on equity_points (step, span);

-- Wallets whose last point was taken while they held something: they are looked at until one was taken after.
create table equity_open_wallets (
  wallet text primary key
);
