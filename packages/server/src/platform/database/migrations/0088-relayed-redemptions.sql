-- Redemptions that the venue's relayer makes, by what the owner signs. Kept for a day: the venue's list of redemptions is their proof.
create table relayed_redemptions (
  digest text primary key,
  agent_id uuid not null,
  venue text not null,
  wallet text not null,
  market_id text not null,
  condition_id text not null,
  relay jsonb not null,
  created_at timestamptz not null,
  -- Recorded before it is forwarded, once.
  submitted_at timestamptz,
  transaction_id text,
  refused text
);

create index relayed_redemptions_created on relayed_redemptions (created_at);
