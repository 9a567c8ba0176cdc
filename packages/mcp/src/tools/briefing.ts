import type { Briefing } from '@bellwether/sdk';
import { z } from 'zod';
import { cursorOf, flagOf, idOf, listOf, numberOf, recordOf, timeOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { READS, tool } from '../tool.ts';
import { orderFacts } from './orders.ts';
import { marketFacts } from './search-markets.ts';
import { EITHER_VENUE, limitOf, spendingOf } from './terms.ts';

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
