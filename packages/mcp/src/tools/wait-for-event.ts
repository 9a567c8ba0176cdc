import type { AgentEvent } from '@bellwether/sdk';
import { z } from 'zod';
import { cursorOf, flagOf, idOf, numberOf, recordOf, timeOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { READS, tool } from '../tool.ts';

/** Below the minute after which clients give a call up. */
const LONGEST_SECONDS = 50;

/** How each field of an event is shown; a field that is not named here is left out. */
const FIELDS = {
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
const NAMES: Readonly<Record<string, string>> = {
  marketConditionId: 'market',
  marketId: 'market',
  orderType: 'timeInForce',
  orderSize: 'size',
  feePaid: 'fee',
  avgPrice: 'averagePrice',
  marketQuestion: 'title',
};

const nameOf = (field: string): string => NAMES[field] ?? field;

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
    for (const name of FIELDS[kind]) {
      const value = Object.hasOwn(data, name) ? shownBy[kind](data[name]) : null;
      if (value !== null) shown[nameOf(name)] = value;
    }
  texts.addName(`${place}.outcomeName`, data.outcome, data.outcomeName);
  texts.addNames(`${place}.`, data.outcomes);
  for (const name of FIELDS.text) texts.add(`${place}.${nameOf(name)}`, data[name]);
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
