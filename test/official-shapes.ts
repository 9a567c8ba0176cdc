/** Shapes that the typings of the official clients promise: of both, unless their name says of which. */

const fieldsOf =
  <Word extends string>(word: Word) =>
  <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, word])) as Record<Name, Word>;
/** Fields that are text, or numbers. */
export const strings = fieldsOf('string');
const numbers = fieldsOf('number');
/** Fields that may be missing. */
export const maybe = <Word extends string, Name extends string>(word: Word, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, ['maybe', word]])) as unknown as Record<
    Name,
    readonly ['maybe', Word]
  >;
/** A page of a list. */
export const pageOf = <const List extends object>(list: List) => ({
  ...list,
  ...numbers('limit', 'count'),
  ...strings('next_cursor'),
});

const LEVEL = strings('price', 'size');
export const BOOK = {
  ...strings('market', 'asset_id', 'timestamp', 'min_order_size', 'tick_size', 'last_trade_price', 'hash'),
  bids: ['list', LEVEL],
  asks: ['list', LEVEL],
  neg_risk: 'boolean',
} as const;
export const CREDS = strings('key', 'secret', 'passphrase');
export const PAGE = pageOf({ data: ['list', 'any'] });
const SIGNED = {
  ...strings('salt', 'maker', 'signer', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'signature'),
  ...numbers('signatureType'),
};
export const SIGNED_BY_ONE = {
  ...SIGNED,
  ...strings('taker', 'nonce', 'feeRateBps'),
  side: 'number',
} as const;
export const SIGNED_BY_TWO = { ...SIGNED, ...strings('side', 'timestamp', 'metadata', 'builder') };
export const PLACED = {
  success: 'boolean',
  ...strings('errorMsg', 'orderID', 'status', 'takingAmount', 'makingAmount'),
  transactionsHashes: ['maybe', ['list', 'string']],
  tradeIDs: ['maybe', ['list', 'string']],
} as const;
export const OPEN_ORDER = {
  ...strings('id', 'status', 'owner', 'maker_address', 'market', 'asset_id', 'side', 'original_size'),
  ...strings('size_matched', 'price', 'outcome', 'expiration', 'order_type'),
  associate_trades: ['list', 'string'],
  created_at: 'number',
} as const;
const MAKER_ORDER = {
  ...strings('order_id', 'owner', 'maker_address', 'matched_amount', 'price', 'fee_rate_bps'),
  ...strings('asset_id', 'outcome'),
};
const TRADE = {
  ...strings('id', 'taker_order_id', 'market', 'asset_id', 'side', 'size', 'fee_rate_bps', 'price', 'status'),
  ...strings('match_time', 'last_update', 'outcome', 'owner', 'maker_address', 'trader_side'),
  ...numbers('bucket_index'),
};
export const TRADE_OF_ONE = {
  ...TRADE,
  ...strings('transaction_hash'),
  maker_orders: ['list', { ...MAKER_ORDER, ...strings('side') }],
} as const;
export const TRADE_OF_TWO = {
  ...TRADE,
  ...maybe('string', 'match_time_nano', 'transaction_hash', 'err_msg'),
  maker_orders: ['list', { ...MAKER_ORDER, ...maybe('string', 'side', 'builder_fee', 'builder_code') }],
} as const;
export const NOTIFICATION = { type: 'number', owner: 'string', payload: 'any' } as const;
export const ACTIVITY = {
  ...strings('event_type', 'side', 'size', 'fee_rate_bps', 'price', 'outcome'),
  ...strings('transaction_hash', 'timestamp'),
  market: strings('condition_id', 'asset_id', 'question', 'icon', 'slug'),
  user: strings('address', 'username', 'profile_picture', 'optimized_profile_picture', 'pseudonym'),
  ...numbers('outcome_index'),
};
const EARNING_BASE = { ...strings('asset_address'), ...numbers('earnings', 'asset_rate') };
export const TOTAL_EARNING = { ...EARNING_BASE, ...strings('date', 'maker_address') };
export const USER_EARNING = { ...TOTAL_EARNING, ...strings('condition_id') };
const REWARD_CONFIG = {
  ...strings('asset_address', 'start_date', 'end_date'),
  ...numbers('rate_per_day', 'total_rewards'),
};
export const MARKET_REWARD = {
  ...strings('condition_id', 'question', 'market_slug', 'event_slug', 'image'),
  ...numbers('rewards_max_spread', 'rewards_min_size'),
  tokens: ['list', { ...strings('token_id', 'outcome'), ...numbers('price') }],
  rewards_config: ['list', REWARD_CONFIG],
} as const;
export const USER_REWARDS = {
  ...MARKET_REWARD,
  ...numbers('market_competitiveness', 'earning_percentage'),
  ...strings('maker_address'),
  earnings: ['list', EARNING_BASE],
} as const;
export const BUILDER_TRADE = {
  ...strings('id', 'tradeType', 'takerOrderHash', 'builder', 'market', 'assetId', 'side', 'size', 'sizeUsdc'),
  ...strings('price', 'status', 'outcome', 'owner', 'maker', 'transactionHash', 'matchTime'),
  ...strings('fee', 'feeUsdc'),
  ...numbers('outcomeIndex', 'bucketIndex'),
  ...maybe('string', 'err_msg', 'createdAt', 'updatedAt'),
};
export const BUILDER_KEY = { ...strings('key'), ...maybe('string', 'createdAt', 'revokedAt') };
