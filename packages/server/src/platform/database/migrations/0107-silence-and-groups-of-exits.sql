alter table exits add column silence_seconds integer check (silence_seconds between 30 and 86400);
comment on column exits.silence_seconds is 'Of a trigger of silence: the agent''s silenceSeconds when it was left. Null: of another trigger.';
update exits e set silence_seconds = s.silence_seconds from safeguards s
  where s.agent_id = e.agent_id and e.trigger_kind = 'silence';

-- A group is of one market and outcome: open exits of several that share a name are several groups from now on.
update exits e set status = e.status, group_name = left(e.group_name, 55) || ' ' || left(md5(e.condition_id || e.outcome), 8)
  where e.sealed is not null and exists (
    select 1 from exits o where o.agent_id = e.agent_id and o.group_name = e.group_name and o.sealed is not null
      and (o.condition_id, o.outcome) <> (e.condition_id, e.outcome));
