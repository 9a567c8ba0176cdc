-- One event tells each thing that becomes of an exit.
alter table exits add column became text;
comment on column exits.became is 'What became of it, as was told last (exit_became): sent, filled, filled_in_part, suspended, resumed, failed, expired or canceled. Null: nothing yet.';
update exits set became = case when status in ('suspended', 'failed', 'expired', 'canceled') then status
  when status = 'fired' and settled_at is null then 'sent' when status = 'fired' and because = 'filled_in_part' then because
  when status = 'fired' then 'filled' end;
create index facts_of_exits on facts (agent_id, at desc) where kind = 'exit';

-- That what an exit guarded is unguarded is an alert until it is seen; whose key is stolen must not see it for the owner.
alter table exits add column seen_at timestamptz;
comment on column exits.seen_at is 'When its agent said that it has seen how it ended.';
alter table exits add column owner_seen_at timestamptz;
comment on column exits.owner_seen_at is 'When an owner said so.';
create index exits_unsold on exits (agent_id)
  where became in ('failed', 'expired', 'filled_in_part') and (seen_at is null or owner_seen_at is null);

create table exit_troubles (
  exit_id text references exits on delete cascade,
  code text,
  detail text,
  since timestamptz not null,
  told_at timestamptz,
  gone_at timestamptz,
  primary key (exit_id, code)
);
comment on table exit_troubles is 'What stood in the way of an open exit lately, by code, so that each is told once: once it has lasted.';
comment on column exit_troubles.since is 'Since when the exit has been in trouble without a gap, also under other codes.';
comment on column exit_troubles.told_at is 'Null: it has not lasted yet.';
comment on column exit_troubles.gone_at is 'Since when it is not there; null: it is. After a while it is over, and the row goes.';
