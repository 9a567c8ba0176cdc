/** From when on the desk warns: each threshold of alerts, of warnings before a trade and of the portfolio, once. */
import type { Pips } from '@bellwether/contract/decimals';

const HOUR_MS = 3_600_000;

/** An alert is raised from this share of a daily budget, in percent. */
export const NEARLY_USED_PERCENT = 80n;
/** Age from which an open order is stale. */
export const STALE_ORDER_MS = 24 * HOUR_MS;
/** An account with this share in one market is concentrated, in percent. */
export const CONCENTRATED_PERCENT = 40n;
/**
 * Time to a market's end from which a position in it is near resolution (for information, and to act on), a trade in it
 * has a warning, and the portfolio counts it as ending soon.
 */
export const NEAR_RESOLUTION_MS = 24 * HOUR_MS;
export const VERY_NEAR_RESOLUTION_MS = 2 * HOUR_MS;
/** Time to a market's end from which the alert says that its open orders are about to be canceled. */
export const MARKET_CLOSING_MS = HOUR_MS;
/** The day's loss, including unrealised losses, as a share of the account, in percent. */
export const DRAWDOWN_PERCENT = 10n;
export const DEEP_DRAWDOWN_PERCENT = 25n;
/** The most severe are kept. */
export const MAX_ALERTS = 100;

/** A portfolio with more than this share in one market is concentrated, in percent, from so many markets on. */
export const CONCENTRATED_PORTFOLIO_PERCENT = 50;
export const CONCENTRATION_FROM_MARKETS = 2;
/** A spread from which a trade has a warning. */
export const WIDE_SPREAD_PIPS: Pips = 500;
/** An average price worse than the best by this much: a trade of this size is expensive. */
export const HIGH_IMPACT_PIPS: Pips = 200;
/** For so long a silence that the agent does not end is an alert. */
export const SILENCE_SHOWN_MS = 24 * 3_600_000;
/** A guarded exit that ends so soon is an alert. */
export const EXIT_ENDING_MS = 24 * 3_600_000;
/** Exits that an alert of a position names. */
export const EXITS_NAMED = 5;
