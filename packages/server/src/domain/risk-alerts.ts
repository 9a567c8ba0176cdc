/** What the desk warns of: each threshold of alerts, of warnings before a trade and of the portfolio, once; and an agent's present risks. */
import { divide, formatMicro, type Micro, type Pips } from '@bellwether/contract/decimals';
import { type MarketRecord, resultIsUnknown, untilEnd } from './market.ts';
import { dailyCaps, type Safeguards, type Usage } from './safeguards.ts';

const HOUR_MS = 3_600_000;

/** An alert is raised from this share of a daily budget, in percent. */
const NEARLY_USED_PERCENT = 80n;
/** Age from which an open order is stale. */
export const STALE_ORDER_MS = 24 * HOUR_MS;
/** An account with this share in one market is concentrated, in percent. */
const CONCENTRATED_PERCENT = 40n;
/**
 * Time to a market's end from which a position in it is near resolution (for information, and to act on), a trade in it
 * has a warning, and the portfolio counts it as ending soon.
 */
export const NEAR_RESOLUTION_MS = 24 * HOUR_MS;
export const VERY_NEAR_RESOLUTION_MS = 2 * HOUR_MS;
/** Time to a market's end from which the alert says that its open orders are about to be canceled. */
export const MARKET_CLOSING_MS = HOUR_MS;
/** The day's loss, including unrealised losses, as a share of the account, in percent. */
const DRAWDOWN_PERCENT = 10n;
const DEEP_DRAWDOWN_PERCENT = 25n;
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
const SILENCE_SHOWN_MS = 24 * HOUR_MS;
/** A guarded exit that ends so soon is an alert. */
const EXIT_ENDING_MS = 24 * HOUR_MS;
/** Exits that an alert of a position names. */
const EXITS_NAMED = 5;

// An agent's present risks, from its positions, open orders and used budgets. Pure, with integers. Messages name markets
// by id: titles are untrusted and never become part of a sentence.

const PERCENT = 100n;

type Severity = 'critical' | 'warning' | 'info';
const SEVERITIES: readonly Severity[] = ['critical', 'warning', 'info'];

export interface Alert {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly marketId?: string;
  readonly exitIds?: readonly string[];
}

/** The way of trading at a venue. */
export type Trading = 'signed_orders' | 'quotes';

/** How a venue pays out resolved tokens: by POST /markets/redeem, by a SELL quote, or (`null`) without a request. */
export type RedeemsBy = 'request' | 'quote' | null;

export interface HeldInMarket {
  readonly redeemsBy: RedeemsBy;
  readonly market: MarketRecord;
  readonly outcome: 'YES' | 'NO';
  readonly cost: Micro;
  /** At the current price; the payout, once the market is resolved. */
  readonly value: Micro;
}

export interface OpenInMarket {
  readonly trading: Trading;
  /** `null` once the venue has forgotten the market. */
  readonly market: MarketRecord | null;
  readonly marketId: string;
  readonly count: number;
  readonly staleCount: number;
  readonly inDoubtCount: number;
}

export interface Silence {
  readonly at: number;
  readonly orders: number;
}

/** A guarded exit that has not ended. */
interface OpenExit {
  readonly exitId: string;
  readonly marketId: string;
  readonly outcome: 'YES' | 'NO';
  readonly status: string;
  readonly because: string | null;
  /** Codes of what has stood in its way for ten seconds. */
  readonly lastingTroubles: readonly string[];
  /** The agent has an owner, who alone resumes what is suspended. */
  readonly claimed?: boolean;
  /** `null`: it ends with its market. */
  readonly endsAt: number | null;
}

/** One that ended without selling all that it was left for, while shares are held that no other exit would sell. */
export interface UnguardedExit {
  readonly exitId: string;
  readonly marketId: string;
  readonly outcome: 'YES' | 'NO';
  /** Why it ended, or how. */
  readonly because: string;
  /** What it left unsold. */
  readonly unsold: Micro;
  /** Held shares of that outcome which no exit would sell. */
  readonly bare: Micro;
}

/** The same refusal of an agent, so often within a minute. */
export interface RepeatedRefusal {
  readonly conditionId: string;
  readonly side: string;
  readonly code: string;
  readonly count: number;
}

export interface RiskFacts {
  readonly now: number;
  readonly safeguards: Safeguards & {
    readonly riskControlEnabled: boolean;
    readonly takeProfitPercent: number | null;
    readonly stopLossPercent: number | null;
  };
  readonly usage: Usage;
  readonly realizedToday: Micro;
  /** Collateral of the account, including what open orders hold. */
  readonly balance: Micro;
  readonly positions: readonly HeldInMarket[];
  readonly openOrders: readonly OpenInMarket[];
  /** When the open orders of the agent were canceled last because it made no request, and how many; `null`: never. */
  readonly silence: Silence | null;
  /** What the desk said, within a day, of times in which it looked at no exit of the agent; `null`: there was none. */
  readonly away: string | null;
  /** What was refused most often of late, where it was again and again. */
  readonly repeatedRefusal: RepeatedRefusal | null;
  readonly exits: readonly OpenExit[];
  /** Those that nobody who reads this has seen yet. */
  readonly unguarded: readonly UnguardedExit[];
  /** Venues that do not answer: their figures are the last known ones. */
  readonly silentVenues: readonly string[];
}

type Raise = (
  severity: Severity,
  code: string,
  message: string,
  marketId?: string,
  exitIds?: readonly string[],
) => void;

/** @returns the current alerts, most severe first */
export function riskAlerts(facts: RiskFacts): Alert[] {
  const alerts: Alert[] = [];
  const raise: Raise = (severity, code, message, marketId, exitIds) =>
    alerts.push({
      ...{ code, severity, message },
      ...(marketId === undefined ? {} : { marketId }),
      ...(exitIds === undefined ? {} : { exitIds }),
    });
  if (facts.safeguards.tradingPaused) {
    const who = facts.safeguards.ownerPaused ? ' by its owner' : '';
    raise(
      'critical',
      'trading_paused',
      `Trading is paused for this agent${who}; cancels and redeems go through.`,
    );
  }
  for (const venue of facts.silentVenues) {
    raise(
      'warning',
      'venue_not_answering',
      `${venue} does not answer now: its balance and prices are the last known ones.`,
    );
  }
  silenceAlert(facts, raise);
  if (facts.away !== null) raise('warning', 'desk_was_away', facts.away);
  loopAlert(facts, raise);
  quotaAlerts(facts, raise);
  for (const exits of Map.groupBy(facts.unguarded, ({ marketId }) => marketId).values())
    unguardedAlert(exits, raise);
  for (const exits of Map.groupBy(facts.exits, ({ marketId }) => marketId).values())
    exitAlerts(exits, facts.now, raise);
  for (const orders of facts.openOrders) orderAlerts(orders, facts.now, raise);
  for (const position of facts.positions) positionAlerts(position, facts, raise);
  accountAlerts(facts, raise);
  return SEVERITIES.flatMap((severity) => alerts.filter((alert) => alert.severity === severity)).slice(
    0,
    MAX_ALERTS,
  );
}

function silenceAlert({ silence, now }: RiskFacts, raise: Raise): void {
  if (silence === null || now - silence.at > SILENCE_SHOWN_MS) return;
  raise(
    'warning',
    'agent_silent',
    `The agent made no request for silenceSeconds; ${several(silence.orders, 'open order was', 'open orders were')} handed over to be canceled at ${new Date(silence.at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
  );
}

/** A name that the agent gave may be anything; an id is short and plain. */
const PLAIN_ID = /^[\w-]{1,100}$/;

function loopAlert({ repeatedRefusal }: RiskFacts, raise: Raise): void {
  if (repeatedRefusal === null) return;
  const { conditionId, side, code, count } = repeatedRefusal;
  raise(
    'warning',
    'refused_repeatedly',
    `The desk refused the same ${side} ${count} times within a minute (${code}): the agent may be in a loop.`,
    PLAIN_ID.test(conditionId) ? conditionId : undefined,
  );
}

/** Exits of one market that have ended. */
function unguardedAlert(exits: readonly UnguardedExit[], raise: Raise): void {
  const named = exits
    .slice(0, EXITS_NAMED)
    .map(({ exitId, because }) => `${exitId} (${because})`)
    .join(', ');
  const left = [...Map.groupBy(exits, ({ outcome }) => outcome)].map(([outcome, own]) => {
    const unsold = own.reduce((sum, one) => sum + one.unsold, 0n);
    const bare = own[0]?.bare ?? 0n;
    return `${formatMicro(unsold < bare ? unsold : bare)} ${outcome}`;
  });
  raise(
    'critical',
    'exit_unguarded',
    `Guarded exits have ended without selling all: ${named}${exits.length > EXITS_NAMED ? ', …' : ''}. Nothing sells ${left.join(' and ')} of what they guarded: sign a new one.`,
    exits[0]?.marketId,
    exits.map(({ exitId }) => exitId),
  );
}

/** Exits of one market. */
function exitAlerts(exits: readonly OpenExit[], now: number, raise: Raise): void {
  const marketId = exits[0]?.marketId;
  const suspended = exits.filter(({ status }) => status === 'suspended');
  if (suspended.length > 0) {
    const resuming =
      suspended[0]?.claimed === false
        ? 'resume each of them with POST /markets/exits/{exitId}/resume'
        : 'only the owner resumes them, on the console';
    const causes = [...new Set(suspended.map(({ because }) => because))].join(', ');
    raise(
      'critical',
      'exit_suspended',
      `${several(suspended.length, 'guarded exit is', 'guarded exits are')} suspended (${causes}) and protect nothing; ${resuming}.`,
      marketId,
    );
  }
  const stopped = exits.filter(
    ({ status, lastingTroubles }) => status !== 'suspended' && lastingTroubles.length > 0,
  );
  if (stopped.length > 0) {
    const codes = [...new Set(stopped.flatMap(({ lastingTroubles }) => lastingTroubles))].join(', ');
    raise(
      'critical',
      'exit_in_trouble',
      `${several(stopped.length, 'guarded exit', 'guarded exits')} could not be sent as it stands (${codes}); GET /markets/exits says why.`,
      marketId,
    );
  }
  const ending = exits.filter(({ endsAt }) => endsAt !== null && endsAt - now <= EXIT_ENDING_MS);
  if (ending.length > 0) {
    const first = Math.min(...ending.map(({ endsAt }) => endsAt ?? now));
    raise(
      'warning',
      'exit_ends_soon',
      `${several(ending.length, 'guarded exit ends', 'guarded exits end')} within ${timeLeft(EXIT_ENDING_MS)}, the first in ${timeLeft(Math.max(0, first - now))}; leave another one in time.`,
      marketId,
    );
  }
}

/** What stands ready to sell a position. */
function exitsOf(exits: readonly OpenExit[], { market, outcome }: HeldInMarket): string {
  const own = exits.filter((exit) => exit.marketId === market.id && exit.outcome === outcome);
  if (own.length === 0) return 'Sign an exit.';
  const armed = own.filter(({ status }) => status !== 'suspended');
  const named = own
    .slice(0, EXITS_NAMED)
    .map(({ exitId, status }) => `${exitId} (${status})`)
    .join(', ');
  return `${several(own.length, 'guarded exit', 'guarded exits')}, ${armed.length} armed: ${named}${own.length > EXITS_NAMED ? ', …' : ''}.`;
}

/** `part` of `whole` in percent, rounded down. */
const percent = (part: Micro, whole: Micro): bigint => (part * PERCENT) / whole;

function quotaAlerts(facts: RiskFacts, raise: Raise): void {
  for (const { code, name, used, limit, text } of dailyCaps(facts.safeguards, facts)) {
    if (used < limit && percent(used, limit) < NEARLY_USED_PERCENT) continue;
    const isUp = used >= limit;
    raise(
      isUp ? 'critical' : 'warning',
      code,
      `${name}: ${text(used)} of ${text(limit)} ${isUp ? 'is used up' : 'is used'} until the next UTC day.`,
    );
  }
}

const several = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count} ${many}`;

function orderAlerts(orders: OpenInMarket, now: number, raise: Raise): void {
  const { trading, market, marketId, count, staleCount, inDoubtCount } = orders;
  if (inDoubtCount > 0) {
    raise(
      'critical',
      'order_in_doubt',
      `${several(inDoubtCount, 'order has', 'orders have')} no answer from the venue yet; the desk is asking. Do not send a replacement.`,
      marketId,
    );
  }
  if (staleCount > 0) {
    raise(
      'warning',
      'stale_open_order',
      `${several(staleCount, 'order has', 'orders have')} been open for more than ${timeLeft(STALE_ORDER_MS)}.`,
      marketId,
    );
  }
  const left = market?.status === 'open' ? untilEnd(market, now) : null;
  if (left !== null && left <= MARKET_CLOSING_MS) {
    const open = several(count, 'open order', 'open orders');
    raise(
      'warning',
      'market_closing_soon',
      trading === 'signed_orders'
        ? `The market is due to end in ${timeLeft(left)}, and you have ${open} in it: cancel what is not to wait for the outcome.`
        : `The market stops trading in ${timeLeft(left)}; ${open} will be filled or sent back.`,
      marketId,
    );
  }
}

function positionAlerts(position: HeldInMarket, { now, safeguards, exits }: RiskFacts, raise: Raise): void {
  const { redeemsBy, market, outcome, cost, value } = position;
  const { id } = market;
  if (market.status === 'resolved') {
    const how = redeemsBy === 'quote' ? ' by a SELL quote of it (POST /venueb/agent/quote)' : '';
    if (value > 0n && redeemsBy !== null)
      raise(
        'info',
        'redeemable_winnings',
        `${outcome} ${market.payout === outcome ? 'won' : 'pays a part'}: ${formatMicro(value)} can be redeemed${how}.`,
        id,
      );
    return;
  }
  const left = untilEnd(market, now);
  if (market.unknownResult !== undefined) {
    raise('warning', 'unknown_result', resultIsUnknown(market.unknownResult), id);
  } else if (market.status === 'closed') {
    raise(
      'info',
      'position_near_resolution',
      `Trading has ended; the outcome of your ${outcome} is due.`,
      id,
    );
  } else if (left !== null && left <= NEAR_RESOLUTION_MS) {
    raise(
      left <= VERY_NEAR_RESOLUTION_MS ? 'warning' : 'info',
      'position_near_resolution',
      `You hold ${outcome}, and the market is due to end in ${timeLeft(left)}.`,
      id,
    );
  }
  if (!safeguards.riskControlEnabled || cost === 0n || market.status !== 'open') return;
  const gain = Number(value - cost) / Number(cost);
  const { takeProfitPercent, stopLossPercent } = safeguards;
  const reported = `${outcome} cost ${formatMicro(cost)} and is worth ${formatMicro(value)}`;
  if (stopLossPercent !== null && -gain * 100 >= stopLossPercent) {
    raise(
      'critical',
      'stop_loss_reached',
      `${reported}: a loss of ${stopLossPercent} % or more. ${exitsOf(exits, position)}`,
      id,
    );
  }
  if (takeProfitPercent !== null && gain * 100 >= takeProfitPercent) {
    raise(
      'warning',
      'take_profit_reached',
      `${reported}: a gain of ${takeProfitPercent} % or more. ${exitsOf(exits, position)}`,
      id,
    );
  }
}

function accountAlerts({ positions, balance, realizedToday }: RiskFacts, raise: Raise): void {
  const byMarket = new Map<string, Micro>();
  let value = 0n;
  let unrealized = 0n;
  for (const { market, value: worth, cost } of positions) {
    value += worth;
    // A resolved market is not a risk.
    if (market.status === 'resolved') continue;
    unrealized += worth - cost;
    byMarket.set(market.id, (byMarket.get(market.id) ?? 0n) + worth);
  }
  const equity = balance + value;
  if (equity > 0n) {
    for (const [marketId, worth] of byMarket) {
      const share = percent(worth, equity);
      if (share < CONCENTRATED_PERCENT) continue;
      raise('warning', 'position_concentrated', `${share} % of the account is in this market.`, marketId);
    }
  }
  const loss = -(realizedToday + unrealized);
  if (loss <= 0n || equity + loss <= 0n) return;
  const share = divide(loss * PERCENT, equity + loss, 'floor');
  if (share < DRAWDOWN_PERCENT) return;
  raise(
    share >= DEEP_DRAWDOWN_PERCENT ? 'critical' : 'warning',
    'drawdown',
    `Today's realised result and what open positions have lost come to ${formatMicro(-loss)}: ${share} % of the account.`,
  );
}

/** How long until something, for people: hours, or minutes where "0 hours" would say nothing. */
const MINUTE_MS = 60_000;

export function timeLeft(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute';
  if (ms < HOUR_MS) {
    const minutes = Math.round(ms / MINUTE_MS);
    return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  }
  const hours = Math.round((ms / HOUR_MS) * 10) / 10;
  return hours === 1 ? 'an hour' : `${hours} hours`;
}
