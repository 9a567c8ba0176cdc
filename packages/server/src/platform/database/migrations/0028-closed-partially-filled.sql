-- The end of an order of which a part was filled and the rest killed had the name that a venue's first answer has
-- (matched: something was filled at once). In records and webhooks it still reads as that.
update orders
set status = 'partially_filled_closed',
    journal = replace(journal::text, '"status": "matched"', '"status": "partially_filled_closed"')::jsonb
where status = 'matched';
