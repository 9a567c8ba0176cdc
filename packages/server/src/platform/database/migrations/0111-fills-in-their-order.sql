-- Clocks of replicas and venues differ: which fills came after an exit was left is told by the order in which they were recorded.
create sequence fills_recorded as bigint;
alter table fills add column recorded bigint;
alter table fills alter recorded set default nextval('fills_recorded'), alter recorded set statistics 0;
comment on column fills.recorded is 'Counts up as fills of a holding are recorded; null: before such numbers.';
alter sequence fills_recorded owned by fills.recorded;

alter table exits add column after_fill bigint;
comment on column exits.after_fill is 'Number of the last fill of its holding that was recorded when it was left, 0: none lately; null: left before such numbers.';
alter table exits add column in_order boolean not null default false;
comment on column exits.in_order is 'Its venue''s fills are recorded in the order in which they happen; else their times say what came first.';
