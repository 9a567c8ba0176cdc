comment on column traded_markets.payout is
  'What it pays once resolved: 1 for YES or for NO, half of it for each (HALF), or for YES a decimal like 0.24 and for NO the rest.';
