/** Why no order can be made of an intent. The codes are those of the service where it would refuse the same. */
export type OrderBuildCode =
  | 'tick_size_not_supported'
  | 'price_off_tick_grid'
  | 'price_out_of_range'
  | 'amount_out_of_range'
  | 'amount_below_minimum'
  | 'size_below_minimum'
  | 'expiration_required'
  | 'expiration_not_allowed'
  | 'post_only_mismatch'
  | 'market_incomplete'
  /** The order's word for its outcome is none of the market's. */
  | 'outcome_name_mismatch'
  | 'deadline_passed'
  /** The market says another version of itself than its tokens. */
  | 'market_version_not_supported'
  /** The market's tokens are not those of its condition. */
  | 'tokens_differ';

export class OrderBuildError extends Error {
  override readonly name = 'OrderBuildError';
  readonly code: OrderBuildCode;

  constructor(code: OrderBuildCode, message: string) {
    super(message);
    this.code = code;
  }
}
