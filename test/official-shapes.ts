/** Shapes that the typings of both official clients share. */

const LEVEL = { price: 'string', size: 'string' } as const;
export const BOOK = {
  market: 'string',
  asset_id: 'string',
  timestamp: 'string',
  bids: ['list', LEVEL],
  asks: ['list', LEVEL],
  min_order_size: 'string',
  tick_size: 'string',
  neg_risk: 'boolean',
  last_trade_price: 'string',
  hash: 'string',
} as const;
export const CREDS = { key: 'string', secret: 'string', passphrase: 'string' } as const;
export const PAGE = {
  limit: 'number',
  count: 'number',
  next_cursor: 'string',
  data: ['list', 'any'],
} as const;
export const OPEN_ORDER = {
  id: 'string',
  status: 'string',
  owner: 'string',
  maker_address: 'string',
  market: 'string',
  asset_id: 'string',
  side: 'string',
  original_size: 'string',
  size_matched: 'string',
  price: 'string',
  associate_trades: ['list', 'string'],
  outcome: 'string',
  created_at: 'number',
  expiration: 'string',
  order_type: 'string',
} as const;
export const MAKER_ORDER = {
  order_id: 'string',
  owner: 'string',
  maker_address: 'string',
  matched_amount: 'string',
  price: 'string',
  fee_rate_bps: 'string',
  asset_id: 'string',
  outcome: 'string',
} as const;
export const TRADE = {
  id: 'string',
  taker_order_id: 'string',
  market: 'string',
  asset_id: 'string',
  side: 'string',
  size: 'string',
  fee_rate_bps: 'string',
  price: 'string',
  status: 'string',
  match_time: 'string',
  last_update: 'string',
  outcome: 'string',
  bucket_index: 'number',
  owner: 'string',
  maker_address: 'string',
  trader_side: 'string',
} as const;
export const NOTIFICATION = { type: 'number', owner: 'string', payload: 'any' } as const;
export const ACTIVITY = {
  event_type: 'string',
  market: { condition_id: 'string', asset_id: 'string', question: 'string', icon: 'string', slug: 'string' },
  user: {
    address: 'string',
    username: 'string',
    profile_picture: 'string',
    optimized_profile_picture: 'string',
    pseudonym: 'string',
  },
  side: 'string',
  size: 'string',
  fee_rate_bps: 'string',
  price: 'string',
  outcome: 'string',
  outcome_index: 'number',
  transaction_hash: 'string',
  timestamp: 'string',
} as const;
const EARNING_BASE = { asset_address: 'string', earnings: 'number', asset_rate: 'number' } as const;
export const TOTAL_EARNING = { ...EARNING_BASE, date: 'string', maker_address: 'string' } as const;
export const USER_EARNING = { ...TOTAL_EARNING, condition_id: 'string' } as const;
const REWARD_TOKEN = { token_id: 'string', outcome: 'string', price: 'number' } as const;
const REWARD_CONFIG = {
  asset_address: 'string',
  start_date: 'string',
  end_date: 'string',
  rate_per_day: 'number',
  total_rewards: 'number',
} as const;
export const MARKET_REWARD = {
  condition_id: 'string',
  question: 'string',
  market_slug: 'string',
  event_slug: 'string',
  image: 'string',
  rewards_max_spread: 'number',
  rewards_min_size: 'number',
  tokens: ['list', REWARD_TOKEN],
  rewards_config: ['list', REWARD_CONFIG],
} as const;
export const USER_REWARDS = {
  ...MARKET_REWARD,
  market_competitiveness: 'number',
  maker_address: 'string',
  earning_percentage: 'number',
  earnings: ['list', EARNING_BASE],
} as const;
export const BUILDER_TRADE = {
  id: 'string',
  tradeType: 'string',
  takerOrderHash: 'string',
  builder: 'string',
  market: 'string',
  assetId: 'string',
  side: 'string',
  size: 'string',
  sizeUsdc: 'string',
  price: 'string',
  status: 'string',
  outcome: 'string',
  outcomeIndex: 'number',
  owner: 'string',
  maker: 'string',
  transactionHash: 'string',
  matchTime: 'string',
  bucketIndex: 'number',
  fee: 'string',
  feeUsdc: 'string',
  err_msg: ['maybe', 'string'],
  createdAt: ['maybe', 'string'],
  updatedAt: ['maybe', 'string'],
} as const;
export const BUILDER_KEY = {
  key: 'string',
  createdAt: ['maybe', 'string'],
  revokedAt: ['maybe', 'string'],
} as const;
