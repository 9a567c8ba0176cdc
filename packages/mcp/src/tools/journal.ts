import { z } from 'zod';
import { idOf, numberOf, timeOf, wordOf } from '../facts.ts';
import { READS, tool } from '../tool.ts';
import { amount, EITHER_VENUE, limitOf, time } from './terms.ts';

export const readJournal = tool({
  name: 'read_journal',
  title: 'Read the journal',
  description:
    'The decisions of this agent, newest first: its orders and the attempts that the desk refused, with the reasons that were given.',
  annotations: READS,
  input: z.strictObject({
    venue: EITHER_VENUE,
    limit: limitOf(10, 100),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: {
    total: amount,
    entries: z.array(
      z.object({
        createdAt: time,
        venue: z.string(),
        marketConditionId: z.string(),
        action: z.string(),
        outcome: z.string(),
        size: amount,
        amount,
        status: z.string().describe('of the order; denied: the desk refused it'),
        orderId: z.string().nullable(),
        errorCode: z.string().nullable(),
      }),
    ),
  },
  async run({ venue, limit, offset }, { desk, texts, signal }) {
    const { total, trades } = await desk.client.listAgentTrades(
      { limit, offset, ...(venue === undefined ? {} : { venue }) },
      { signal },
    );
    return {
      total: numberOf(total),
      entries: trades.slice(0, limit).map((trade, at) => {
        texts.add(`entries.${at}.market`, trade.marketConditionName);
        // The agent's own words may repeat what a stranger wrote.
        texts.add(`entries.${at}.reasoning`, trade.reasoning);
        texts.add(`entries.${at}.error`, trade.errorMessage);
        return {
          createdAt: timeOf(trade.createdAt),
          venue: wordOf(trade.platform),
          marketConditionId: idOf(trade.marketConditionId),
          action: wordOf(trade.actionType),
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
