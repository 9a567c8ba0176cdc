-- Agents whose risk alerts are looked at, because somebody may read of them: a stream of theirs was open and may be resumed, or
-- a webhook wants them. Whichever replica comes first looks at an agent.
create table risk_watches (
  agent_id uuid primary key references agents,
  -- A stream may be resumed until then.
  listened_until timestamptz not null,
  watched_at timestamptz not null default '-infinity'
);
create index risk_watches_due on risk_watches (watched_at);
