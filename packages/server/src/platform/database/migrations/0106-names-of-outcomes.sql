alter table orders add column outcome_name text;
alter table exits add column outcome_name text;
alter table quotes add column outcomes text[];
alter table traded_markets add column outcomes text[];
comment on column orders.outcome_name is 'What the venue calls its outcome; null: of full sets, or not known.';
comment on column exits.outcome_name is 'What the venue calls its outcome; null: not known.';
comment on column quotes.outcomes is 'What the venue calls the outcomes, YES''s first; null: there is no such market.';
comment on column traded_markets.outcomes is 'What the venue calls its outcomes, YES''s first; null: not known.';

-- Markets of earlier releases, whose records say YES of the outcome that their venue lists first, and no names. Each is read once more.
create table unnamed_markets (
  condition_id text primary key,
  venue text not null
);
insert into unnamed_markets
  select condition_id, min(venue) from (
    select condition_id, venue from orders
    union select condition_id, venue from exits
    union select condition_id, venue from traded_markets
    union select terms ->> 'marketConditionId', terms ->> 'venue' from approvals) t
  where condition_id is not null and venue is not null group by condition_id;
