-- Money that came to wallets past every trade, kept for ever, so that a statement can say what a balance is made of: paper money, and
-- what a live wallet had when the desk saw it first. Its other deposits are not known; they follow from what is left unexplained.
create table wallet_deposits (
  id bigint generated always as identity primary key,
  wallet text not null,
  at timestamptz not null,
  -- Null: the simulation balance, given by a release that did not note how much it was.
  amount bigint,
  -- simulation, faucet or first_seen
  reason text not null
);
create index wallet_deposits_by_wallet on wallet_deposits (wallet, at);
create unique index wallet_deposits_first_seen on wallet_deposits (wallet) where reason = 'first_seen';

insert into wallet_deposits (wallet, at, amount, reason)
select wallet, credited_at, amount, 'simulation' from simulation_credits;

-- Of the faucet's draws the day is known, and that the wallet had its simulation balance before.
insert into wallet_deposits (wallet, at, amount, reason)
select d.address, greatest(d.day::timestamp at time zone 'UTC', coalesce(c.credited_at, '-infinity')), d.amount, 'faucet'
from faucet_draws d left join simulation_credits c on c.wallet = d.address;

-- The sandbox of quoted orders has tables of its own, if it ever ran on this database.
do $$
begin
  if to_regclass('sandbox_credits') is not null then
    insert into wallet_deposits (wallet, at, amount, reason)
    select c.wallet, coalesce((select min(filled_at) from fills f where f.wallet = c.wallet), now()), null, 'simulation'
    from sandbox_credits c;
  end if;
end
$$;

-- What other wallets had is what they were seen with first.
insert into wallet_deposits (wallet, at, amount, reason)
select e.wallet, least(e.at, (select min(filled_at) from fills f where f.wallet = e.wallet)), e.deposits, 'first_seen'
from (select distinct on (wallet) wallet, at, deposits from equity_points order by wallet, at, step) e
where not exists (select 1 from wallet_deposits d where d.wallet = e.wallet);

-- Purchases whose tokens another wallet received than the one that paid.
create index quotes_for_others on quotes (wallet) where destination is not null;
create index quotes_from_others on quotes (destination) where destination is not null;

-- What a venue sorts a market under; asked for behind the trades, because a venue forgets its old markets. Null: not known yet.
alter table traded_markets add column category text;
create index traded_markets_without_category on traded_markets (condition_id) where category is null;
