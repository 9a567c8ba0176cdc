-- A database that is an earlier state of itself suspends its guarded exits, and time in which the desk did not look is told.
alter table desk_watch add column restores integer not null default 0;
comment on column desk_watch.restores is 'How often it was found that the database was restored: a copy numbers changes of exits anew.';

create sequence exit_changes as bigint;
alter table exits add column change bigint not null default nextval('exit_changes');
comment on column exits.change is 'Number of its last change. The largest of all exits only grows, whatever transactions end in whatever order.';
alter sequence exit_changes owned by exits.change;
create index exits_changed on exits (change);

create index facts_of_absences on facts (agent_id, at desc) where kind = 'risk' and subject = 'desk_was_away ';
