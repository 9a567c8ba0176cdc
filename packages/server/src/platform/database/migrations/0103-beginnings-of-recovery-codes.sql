alter table recovery_codes
  -- Keyed hash of the first two groups of the code: attempts that begin alike count toward its owner. Null for codes of before.
  add column beginning_hash bytea;
create index recovery_codes_by_beginning on recovery_codes (beginning_hash);
