-- Seconds without a request of the agent after which the desk cancels its open orders, and the owner's lock on them.
alter table safeguards
  add column silence_seconds integer check (silence_seconds between 30 and 86400),
  add column locked_silence_seconds integer check (locked_silence_seconds between 30 and 86400);
-- Mostly there is none.
create index safeguards_silence on safeguards (agent_id) where silence_seconds is not null;

-- When the desk looked for silent agents last, by any replica, and since when it has done so without a gap: time in which the desk was down
-- is no silence of an agent.
create table desk_watch (
  one boolean primary key default true check (one),
  seen_at timestamptz not null,
  since timestamptz not null
);

-- The last silence of each agent that was acted on, named by the request after which it began.
create table silences (
  agent_id uuid primary key,
  called_at timestamptz not null,
  fired_at timestamptz not null,
  orders integer not null
);

-- Why the desk cancels at cancel_at; null: the order said so.
alter table orders add column cancel_cause text check (cancel_cause = 'silence');
