import { z } from 'zod';
import { idOf, numberOf, timeOf, wordOf } from '../facts.ts';
import { READS, tool } from '../tool.ts';
import { EITHER_VENUE, limitOf } from './terms.ts';

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
