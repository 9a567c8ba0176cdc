-- Whether caps bind exits, and how near the believed bid an exit must sell to pass them. The owner's alone, by passkey.
alter table safeguards
  add column caps_bind_exits boolean not null default true,
  add column exit_distance_percent integer not null default 10 check (exit_distance_percent between 1 and 50);
