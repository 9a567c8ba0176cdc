-- The service alone folds positions; these did it, too.
drop function if exists apply_fills(jsonb), close_lost(jsonb), close_redeemed(jsonb), reverse_fills(jsonb),
  recount_fills(jsonb), reorder_fills(jsonb), lacks_shares(text, text, timestamptz), sales_to_move(text, text, jsonb),
  replay_fills(text, text, jsonb, jsonb, jsonb), place_of(fills, jsonb), clocks_differ();
