-- Wallets whose keys have signed a link challenge for an owner. A link is proof, so the latest one holds.

create table linked_wallets (
  address text primary key,
  user_id bigint not null,
  -- evm or solana.
  kind text not null,
  -- The EOA that signed; the address itself for Solana.
  signer text not null,
  linked_at timestamptz not null
);
create index linked_wallets_by_owner on linked_wallets (user_id);
create index linked_wallets_by_signer on linked_wallets (signer);

-- Challenges carry their own proof of origin; only that one was used has to be remembered, until it expires.
create table used_link_challenges (
  nonce text primary key,
  expires_at timestamptz not null
);
create index used_link_challenges_by_expiry on used_link_challenges (expires_at);

create index credentials_by_eoa on credentials (eoa);
-- A link takes the wallet from the agents that named it before.
create index agents_by_wallet on agents (wallet_address) where wallet_address is not null;
create index agents_by_sol_address on agents (sol_address) where sol_address is not null;
