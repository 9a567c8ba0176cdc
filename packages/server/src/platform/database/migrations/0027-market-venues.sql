-- Every traded market names its venue. Until now null meant the venue that takes signed orders; what no order of the
-- desk tells stays null, and counts with the first venue that understands the wallet's address.
update traded_markets m set venue = o.venue
from (select distinct on (condition_id) condition_id, venue from orders order by condition_id, created_at desc) o
where m.venue is null and o.condition_id = m.condition_id;

-- Which outcomes a job asks for is the venue's to say.
drop index traded_markets_to_resolve;
create index traded_markets_to_resolve on traded_markets (venue, end_date) where payout is null;
