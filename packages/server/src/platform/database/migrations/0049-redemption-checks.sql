-- When an account was last asked about that holds something redeemable at a venue where its owner redeems.
create table redemption_checks (
  venue text not null,
  wallet text not null,
  checked_at timestamptz not null,
  primary key (venue, wallet)
);
