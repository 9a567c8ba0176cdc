/** Advice after a refusal, in commands of this program. The desk's own advice names routes. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: 'The desk does not know this API key: look at bellwether doctor.',
  market_not_found: 'Find markets with: bellwether markets <words>',
  unknown_market: 'Find markets with: bellwether markets <words>',
  order_not_found: 'List orders with: bellwether orders --all',
  trading_paused: 'Go on with: bellwether resume. What the owner has paused, only the owner resumes.',
  credentials_not_registered: 'Register the wallet with: bellwether init',
  insufficient_balance: 'See what can be spent with: bellwether briefing',
  kyc_required:
    'A person proves their identity for this wallet at the link that this command makes: bellwether identity. Trust no other link.',
  claim_required:
    "Give the agent's claim address to its owner: bellwether init shows it when it makes the agent.",
  max_trade_amount_exceeded: 'Place a smaller order. The limits: bellwether limits',
  max_trades_per_day_exceeded: 'Wait until UTC midnight. The limits: bellwether limits',
  daily_trade_amount_exceeded:
    'Place a smaller order, or wait until UTC midnight. The limits: bellwether limits',
  max_position_value_exceeded: 'Place a smaller order. The limits: bellwether limits',
  daily_loss_limit_reached:
    'Only orders that reduce a position are taken until UTC midnight. The limits: bellwether limits',
  wrong_venue_route: 'Markets of venue B are traded with: bellwether trade',
  approval_required: 'Order for no more than approvalAbove, which bellwether limits shows.',
  approval_not_required: 'The limits have changed since this quote: run the command again.',
  max_open_orders_exceeded: 'Cancel an order first: bellwether orders, bellwether cancel <order-id>',
};

export const adviceFor = (code: string): string | undefined =>
  Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined;
