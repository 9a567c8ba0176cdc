-- Wallets for whose keys the desk keeps up the venue's own heartbeat, because their owner wants it. The word holds while the wallet is this owner's.
create table wallet_heartbeats (
  wallet_address text primary key references credentials (wallet_address) on delete cascade,
  user_id bigint not null,
  since timestamptz not null
);

-- Which replica sends the heartbeats of a venue, and until when.
create table heartbeat_senders (
  venue text primary key,
  holder text not null,
  leased_until timestamptz not null
);
