-- What the probe of the database writes: that it can be read says little about whether it takes a trade.
create table pulse (
  one boolean primary key default true check (one),
  at timestamptz not null
);
insert into pulse (at) values (now());
