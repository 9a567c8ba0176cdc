/**
 * The basis on which an agent's trades are judged: its settings as they were changed last, at any replica, and what its trades have used of
 * the day. An order that has ended gives back what it did not spend at some moment that no call sees; so what is used lies between what
 * the orders have cost in the end and what they reserved.
 */
import type { DeskOrder, FinalFacts } from './final-facts.ts';
import type { Call, History, Settings } from './history.ts';
import { linearize, type Model, type Step } from './linearize.ts';
import { list, named, TOO_MANY } from './sentences.ts';
import { isSetCallOf } from './sets-rules.ts';

type Judging = Required<Omit<Settings, 'approvalAbove' | 'silenceSeconds'>>;

/** Defaults of a new agent, until it changes them. */
const DEFAULTS: Judging = {
  tradingPaused: false,
  ownerPaused: false,
  maxTradeAmount: 100_000_000n,
  maxTradesPerDay: 50,
  dailyTradeAmountLimit: 500_000_000n,
  maxPositionValue: null,
};

interface State {
  readonly settings: Judging;
  readonly trades: number;
  /** Trades that the venue refused in the end, which may have counted for a while. */
  readonly refused: number;
  readonly least: bigint;
  readonly most: bigint;
}

/** A call, or an order that was admitted by one of several calls. */
type Event =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'admitted'; readonly order: DeskOrder; readonly calls: readonly Call[] };

/** Amount of the day that an ended order takes; of an open one, what was counted. */
function usedBy({ status, side, reserved, cost, shares, filled }: DeskOrder): bigint {
  if (status === 'rejected') return 0n;
  if (
    ['submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled', 'matched'].includes(status)
  )
    return reserved;
  if (side === 'BUY') return cost < reserved ? cost : reserved;
  return reserved - (reserved * (shares > filled ? shares - filled : 0n)) / shares;
}

function afterAdmission(state: State, order: DeskOrder, countsDay: boolean): State | null {
  const { settings } = state;
  if (settings.tradingPaused || settings.ownerPaused || order.reserved > settings.maxTradeAmount) return null;
  // It makes positions in several markets at once.
  if (order.kind === 'convert' && settings.maxPositionValue !== null) return null;
  if (countsDay && order.side === 'BUY' && state.least + order.reserved > settings.dailyTradeAmountLimit)
    return null;
  if (countsDay && state.trades >= settings.maxTradesPerDay) return null;
  const isRefused = !order.isTrade;
  return {
    settings,
    trades: state.trades + (isRefused ? 0 : 1),
    refused: state.refused + (isRefused ? 1 : 0),
    least: state.least + usedBy(order),
    most: state.most + order.reserved,
  };
}

/** What exits may have counted for at any time: places that are kept for them, and attempts that were refused. */
interface Slack {
  readonly trades: number;
  readonly amount: bigint;
}

interface Denied {
  readonly code: string;
  readonly amount: bigint | null;
  readonly slack: Slack;
}

function denied(state: State, { code, amount, slack }: Denied): boolean {
  const { settings } = state;
  switch (code) {
    case 'trading_paused':
      return settings.tradingPaused || settings.ownerPaused;
    case 'max_trade_amount_exceeded':
      return amount === null || amount > settings.maxTradeAmount;
    case 'max_trades_per_day_exceeded':
      return state.trades + state.refused + slack.trades >= settings.maxTradesPerDay;
    case 'daily_trade_amount_exceeded':
      return amount === null || state.most + slack.amount + amount > settings.dailyTradeAmountLimit;
    default:
      return true;
  }
}

function isUsage(state: State, { outcome }: Call, slack: Slack): boolean {
  if (outcome.kind !== 'ok') return true;
  const { trades, tradedAmount } = outcome.answer;
  const mostTrades = state.trades + state.refused + slack.trades;
  if (trades !== undefined && (trades < state.trades || trades > mostTrades)) return false;
  return (
    tradedAmount === undefined || (tradedAmount >= state.least && tradedAmount <= state.most + slack.amount)
  );
}

const standingModel = (countsDay: boolean, slack: Slack): Model<State, Event> => ({
  first: { settings: DEFAULTS, trades: 0, refused: 0, least: 0n, most: 0n },
  nameOf: ({ settings: s, trades, refused, least, most }) =>
    [
      s.tradingPaused,
      s.ownerPaused,
      s.maxTradeAmount,
      s.maxTradesPerDay,
      s.dailyTradeAmountLimit,
      s.maxPositionValue,
      trades,
      refused,
      least,
      most,
    ].join(' '),
  // The use of the day only grows, as far as it is known here.
  isLost(state, event) {
    if (event.kind !== 'call' || event.call.outcome.kind !== 'ok' || !countsDay) return false;
    const { trades, tradedAmount } = event.call.outcome.answer;
    return (
      (trades !== undefined && trades < state.trades) ||
      (tradedAmount !== undefined && tradedAmount < state.least)
    );
  },
  next(state, event) {
    if (event.kind === 'admitted') return afterAdmission(state, event.order, countsDay);
    const { operation, outcome } = event.call;
    switch (operation.kind) {
      case 'change settings':
        if (outcome.kind === 'refused') return state;
        return { ...state, settings: { ...state.settings, ...operation.changes } };
      case 'read usage':
        return !countsDay || isUsage(state, event.call, slack) ? state : null;
      case 'place':
      case 'split':
      case 'convert': {
        const { code } = outcome as { readonly code: string };
        const isOfDay = code === 'max_trades_per_day_exceeded' || code === 'daily_trade_amount_exceeded';
        return (isOfDay && !countsDay) || denied(state, { code, amount: operation.amount, slack })
          ? state
          : null;
      }
      default:
        return state;
    }
  },
});

const ENTRIES: ReadonlySet<string> = new Set(['place', 'split', 'convert']);

const isDenial = ({ operation, outcome }: Call): boolean =>
  ENTRIES.has(operation.kind) && outcome.kind === 'refused';

const isLeaving = ({ operation, outcome }: Call): boolean =>
  operation.kind === 'leave exit' && outcome.kind !== 'refused';

/** When an agent first learned of an order by a stream, a webhook or a briefing: by then it was admitted. */
function firstTold({ calls, heard }: History): ReadonlyMap<string, number> {
  const reported = new Map<string, number>();
  const note = (orderId: string, at: number): void =>
    void reported.set(orderId, Math.min(reported.get(orderId) ?? Number.POSITIVE_INFINITY, at));
  // Of an order that waits for its owner, too, an event tells.
  for (const { event, at } of heard)
    if (event.orderId !== undefined && !event.type.startsWith('approval.')) note(event.orderId, at);
  for (const { outcome, returnedAt } of calls) {
    if (outcome.kind !== 'ok') continue;
    for (const [orderId] of outcome.answer.changed ?? []) note(orderId, returnedAt);
    for (const orderId of outcome.answer.orderIds ?? []) note(orderId, returnedAt);
  }
  return reported;
}

/** Between the first call that can have placed it, unless a later read found nothing, and the first that knows it. */
function admission(order: DeskOrder, calls: readonly Call[], toldAt: number): Step<Event> | null {
  const own = calls.filter(
    ({ operation }) =>
      ('orderId' in operation && operation.orderId === order.orderId) || isSetCallOf(order, operation),
  );
  const placing = own.filter((call) => ENTRIES.has(call.operation.kind) && !isDenial(call));
  const left = own.filter(isLeaving);
  if (left.length > 0)
    // The desk sends it when it will, and again where it was refused.
    return {
      op: { kind: 'admitted', order, calls: left },
      invokedAt: Math.min(...[...placing, ...left].map(({ invokedAt }) => invokedAt)),
      returnedAt: Number.POSITIVE_INFINITY,
      mayBeLeftOut: false,
    };
  if (placing.length === 0) return null;
  const knowing = own.filter(({ outcome }) => outcome.kind === 'ok').map(({ returnedAt }) => returnedAt);
  const missing = own
    .filter(({ outcome }) => outcome.kind === 'refused' && outcome.code === 'order_not_found')
    .map(({ invokedAt }) => invokedAt);
  return {
    op: { kind: 'admitted', order, calls: placing },
    invokedAt: Math.max(Math.min(...placing.map(({ invokedAt }) => invokedAt)), ...missing),
    returnedAt: Math.min(toldAt, ...knowing),
    mayBeLeftOut: false,
  };
}

function stepsOf(
  agent: string,
  { calls, facts }: History,
  reported: ReadonlyMap<string, number>,
): Step<Event>[] {
  const own = calls.filter(({ operation }) => operation.agent === agent);
  const admitted = facts.orders
    .filter((order) => order.agent === agent)
    .flatMap((order) => admission(order, own, reported.get(order.orderId) ?? Number.POSITIVE_INFINITY) ?? []);
  const others = own
    .filter(
      (call) =>
        call.operation.kind === 'change settings' ||
        // A read without an answer says nothing.
        (call.operation.kind === 'read usage' && call.outcome.kind !== 'unknown') ||
        isDenial(call),
    )
    .map((call): Step<Event> => {
      const isUnknown = call.outcome.kind === 'unknown';
      return {
        op: { kind: 'call', call },
        invokedAt: call.invokedAt,
        returnedAt: isUnknown ? Number.POSITIVE_INFINITY : call.returnedAt,
        mayBeLeftOut: isUnknown,
      };
    });
  return [...admitted, ...others];
}

const nameOf = (event: Event): string =>
  event.kind === 'call' ? named(event.call) : list(event.calls.map(named), 1);

function slackOf(agent: string, { exits, orders }: FinalFacts): Slack {
  const own = exits.filter((exit) => exit.agent === agent);
  const ids = new Set(own.map(({ orderId }) => orderId));
  const amount = orders.reduce((sum, { orderId, reserved }) => sum + (ids.has(orderId) ? reserved : 0n), 0n);
  return { trades: own.length, amount };
}

export function checkStanding(history: History): string[] {
  const { calls, facts } = history;
  const reported = firstTold(history);
  const agents = new Set(calls.map(({ operation }) => operation.agent));
  return [...agents].flatMap((agent) => {
    const model = standingModel(!facts.hasMidnight, slackOf(agent, facts));
    const found = linearize(model, stepsOf(agent, history, reported));
    if (found.kind === 'yes') return [];
    if (found.kind === 'too many')
      return [`Agent ${agent} ${TOO_MANY} for its limits to be checked: ${list(found.stuck.map(nameOf))}.`];
    return [
      `No order of its calls explains how the limits of agent ${agent} were judged: ${list(found.stuck.map(nameOf))}.`,
    ];
  });
}

/** Each trade counts once, with what it spent. */
export function checkBudgets({ facts }: History): string[] {
  if (facts.hasMidnight) return [];
  return facts.budgets.flatMap(({ agent, trades, amount }) => {
    const own = facts.orders.filter((order) => order.agent === agent);
    const counted = own.filter(({ isTrade }) => isTrade);
    const used = own.reduce((sum, order) => sum + usedBy(order), 0n);
    return trades === counted.length && amount === used
      ? []
      : [
          `The budget of agent ${agent} says ${trades} trades and ${amount}, and its orders make ${counted.length} trades and ${used} (micro-units).`,
        ];
  });
}
