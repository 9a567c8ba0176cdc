/** What happened: the briefing, the next event, and the journal of decisions. */
import type { AgentEvent, Briefing } from '@bellwether/sdk';
import { z } from 'zod';
import {
  cursorOf,
  flagOf,
  idOf,
  listOf,
  numberOf,
  recordOf,
  type StrangersTexts,
  timeOf,
  wordOf,
} from '../answer.ts';
import { EITHER_VENUE, limitOf, READS, spendingOf, tool } from '../tool.ts';
import { marketFacts } from './markets.ts';
import { orderFacts } from './orders.ts';

const SHORT_LIST = 3;
const LONG_LIST = 20;

function briefingFacts(briefing: Briefing, texts: StrangersTexts, count: number) {
  const { agent, settings, riskAlerts, opportunities } = briefing;
  const alerts = riskAlerts.slice(0, LONG_LIST);
  for (const [at, { message }] of alerts.entries()) texts.add(`riskAlerts.${at}.message`, message);
  const exitChanges = listOf(briefing.exitChanges).slice(0, LONG_LIST);
  for (const [at, { data }] of exitChanges.entries())
    texts.add(`exitChanges.${at}.message`, recordOf(data).message);
  const venues = Object.entries(recordOf(briefing.venues)).map(([name, value], place) => {
    const venue = recordOf(value);
    const actions = listOf(venue.actions).slice(0, LONG_LIST);
    for (const [at, { message }] of actions.entries())
      texts.add(`venues.${place}.actions.${at}.message`, message);
    return {
      venue: wordOf(name),
      openOrdersCount: numberOf(venue.openOrdersCount),
      positionsCount: numberOf(venue.currentPositionsCount),
      available: numberOf(venue.availableBalance),
      positionsValue: numberOf(venue.positionsValue),
      actions: actions.map(({ code }) => wordOf(code)),
    };
  });
  return {
    timestamp: timeOf(briefing.timestamp),
    tradingPaused: flagOf(settings.tradingPaused),
    tradesToday: numberOf(agent.tradesToday),
    tradesRemaining: numberOf(agent.tradesRemaining),
    amountRemaining: numberOf(agent.amountRemaining),
    realizedToday: numberOf(agent.realizedToday),
    riskAlerts: alerts.map(({ code, severity, marketId, exitIds }) => ({
      code: wordOf(code),
      severity: wordOf(severity),
      market: marketId === undefined ? null : idOf(marketId),
      ...(exitIds === undefined ? {} : { exitIds: exitIds.map(idOf) }),
    })),
    exitChanges: exitChanges.map(({ type, createdAt, data }) => {
      const { exitId, status, because, size, filledSize } = recordOf(data);
      return {
        ...{ type: wordOf(type), at: timeOf(createdAt), exitId: idOf(exitId), status: wordOf(status) },
        ...{ because: because === null ? null : wordOf(because), size: numberOf(size) },
        filledSize: numberOf(filledSize),
      };
    }),
    venues,
    recentOrders: briefing.recentTrades
      .slice(0, count)
      .map((order, at) => orderFacts(order, texts, `recentOrders.${at}`)),
    moreOrdersChanged: flagOf(briefing.recentTradesTruncated) || briefing.recentTrades.length > count,
    newMarkets: opportunities.newMarkets
      .slice(0, count)
      .map((market, at) => marketFacts(market, texts, `newMarkets.${at}.`)),
    nextCursor: cursorOf(briefing.nextCursor),
  };
}

export const getBriefing = tool({
  name: 'get_briefing',
  title: 'Get the briefing',
  description:
    'How the agent stands, what needs attention, what changed. Give the last nextCursor as since, and only what came or changed in between is listed; moreOrdersChanged: list_orders has the others.',
  annotations: READS,
  input: z.strictObject({
    since: z
      .string()
      .min(1)
      .max(4000)
      .optional()
      .describe('nextCursor of the last briefing, or a time (ISO 8601)'),
    venue: EITHER_VENUE,
    limit: limitOf(SHORT_LIST, LONG_LIST),
  }),
  async run({ since, venue, limit }, { desk, texts, signal }) {
    const briefing = await desk.client.getBriefing(
      { ...(since === undefined ? {} : { since }), ...(venue === undefined ? {} : { venue }) },
      { signal },
    );
    return { ...briefingFacts(briefing, texts, limit), spendingLimit: spendingOf(desk.limit.standing()) };
  },
});

/** Below the minute after which clients give a call up. */
// The next event.

const LONGEST_SECONDS = 50;

/** How each field of an event is shown; a field that is not named here is left out. */
const EVENT_FIELDS = {
  id: [
    'exitId',
    'orderId',
    'approvalId',
    'tradeId',
    'marketConditionId',
    'marketId',
    'tokenId',
    'walletAddress',
  ],
  word: [
    'status',
    'because',
    'venue',
    'outcome',
    'side',
    'orderType',
    'errorCode',
    'reason',
    'payout',
    'code',
    'severity',
    'liquidity',
  ],
  number: [
    'price',
    'orderSize',
    'filledSize',
    'filledAmount',
    'feePaid',
    'size',
    'cost',
    'fee',
    'avgPrice',
    'realizedPnl',
    'change',
    'amount',
    'payout',
  ],
  time: ['waitsUntil', 'approvedUntil'],
  flag: ['tradingPaused', 'ready'],
  text: ['marketQuestion', 'message'],
} as const;

/** Where the wire has another name for what the tools name alike. The id of a market goes before that of its condition. */
const EVENT_FIELD_NAMES: Readonly<Record<string, string>> = {
  marketConditionId: 'market',
  marketId: 'market',
  orderType: 'timeInForce',
  orderSize: 'size',
  feePaid: 'fee',
  avgPrice: 'averagePrice',
  marketQuestion: 'title',
};

const eventFieldName = (field: string): string => EVENT_FIELD_NAMES[field] ?? field;

const shownBy = {
  id: (value: unknown) => (typeof value === 'string' ? idOf(value) : null),
  word: (value: unknown) => (typeof value === 'string' ? wordOf(value) : null),
  number: (value: unknown) => (typeof value === 'number' ? numberOf(value) : null),
  time: (value: unknown) => timeOf(value),
  flag: (value: unknown) => (typeof value === 'boolean' ? flagOf(value) : null),
};

type Shown = Record<string, string | number | boolean>;

function eventFacts(event: AgentEvent, texts: StrangersTexts, place: string) {
  const data = recordOf(event.data);
  const shown: Shown = {};
  for (const kind of ['id', 'word', 'number', 'time', 'flag'] as const)
    for (const name of EVENT_FIELDS[kind]) {
      const value = Object.hasOwn(data, name) ? shownBy[kind](data[name]) : null;
      if (value !== null) shown[eventFieldName(name)] = value;
    }
  texts.addName(`${place}.outcomeName`, data.outcome, data.outcomeName);
  texts.addNames(`${place}.`, data.outcomes);
  for (const name of EVENT_FIELDS.text) texts.add(`${place}.${eventFieldName(name)}`, data[name]);
  return {
    type: wordOf(event.type),
    at: timeOf('createdAt' in event ? event.createdAt : null),
    data: shown,
  };
}

const isWanted = (type: string, wanted: readonly string[] | undefined): boolean =>
  wanted === undefined
    ? type !== 'ready' && type !== 'venue'
    : wanted.some((one) => (one.endsWith('.*') ? type.startsWith(one.slice(0, -1)) : type === one));

export const waitForEvent = tool({
  name: 'wait_for_event',
  title: 'Wait for an event',
  description:
    'Waits until something happens to this agent: a fill, an order that ends, an exit, a resolution, a risk alert. Give the cursor of the last answer as after, and nothing in between is missed. event is null when nothing happened in time.',
  annotations: READS,
  input: z.strictObject({
    types: z
      .array(z.string().regex(/^[a-z_]+(\.([a-z_]+|\*))?$/))
      .min(1)
      .max(20)
      .optional()
      .describe(
        'such as fill, order.*, exit.*, position, balance, market.resolved, risk, safeguards; any when left out',
      ),
    after: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('cursor of the last answer; from now on when left out'),
    seconds: z.int().min(1).max(LONGEST_SECONDS).default(30),
  }),
  async run({ types, after, seconds }, { desk, texts, signal }) {
    const ending = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
    let cursor = after ?? null;
    for await (const event of desk.client.events({
      signal: ending,
      ...(after === undefined ? {} : { after }),
    })) {
      cursor = cursorOf(event.cursor) ?? cursor;
      if (isWanted(event.type, types)) return { event: eventFacts(event, texts, 'event'), cursor };
    }
    return { event: null, cursor };
  },
});

// The journal of decisions.

export const readJournal = tool({
  name: 'read_journal',
  title: 'Read the journal',
  description:
    'The decisions of this agent, newest first: its orders and the attempts that the desk refused (status denied), with the reasons that were given.',
  annotations: READS,
  input: z.strictObject({
    venue: EITHER_VENUE,
    limit: limitOf(10, 100),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  async run({ venue, limit, offset }, { desk, texts, signal }) {
    const { total, trades } = await desk.client.listAgentTrades(
      { limit, offset, ...(venue === undefined ? {} : { venue }) },
      { signal },
    );
    return {
      total: numberOf(total),
      entries: trades.slice(0, limit).map((trade, at) => {
        texts.add(`entries.${at}.title`, trade.marketConditionName);
        texts.addName(`entries.${at}.outcomeName`, trade.direction, trade.outcomeName);
        // The agent's own words may repeat what a stranger wrote.
        texts.add(`entries.${at}.reasoning`, trade.reasoning);
        texts.add(`entries.${at}.error`, trade.errorMessage);
        return {
          createdAt: timeOf(trade.createdAt),
          venue: wordOf(trade.platform),
          market: idOf(trade.marketConditionId),
          side: wordOf(trade.actionType),
          outcome: wordOf(trade.direction),
          size: numberOf(trade.orderSize),
          amount: numberOf(trade.amount),
          status: wordOf(trade.status),
          orderId: trade.orderId === null ? null : idOf(trade.orderId),
          errorCode: trade.errorCode === null ? null : wordOf(trade.errorCode),
        };
      }),
    };
  },
});
