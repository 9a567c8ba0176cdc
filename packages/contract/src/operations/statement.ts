/**
 * The statement: everything that moved the money of wallets in a span of time, with what it cost, what it brought and what was paid
 * for it, and the balances at both ends. The same figures as JSON, page by page, and as CSV, whole.
 */
import { type Static, Type } from 'typebox';
import { cursorText, formed, Iso, Nullable, Outcome, OutcomeName, Uuid } from '../fields.ts';
import { operation } from '../operation.ts';

export const STATEMENT_LIMITS = {
  eventsPerPage: 1_000,
  /** Groups of each kind; the smallest ones are added up in one called "others". */
  groups: 200,
} as const;

/** How shares that are sold are matched with those that were bought. */
export type CostMethod = 'average' | 'fifo';

/** What an event is. CSV has three kinds of lines more: `opening`, `not_explained` and `closing`. */
const StatementKind = Type.Union(
  [
    Type.Literal('buy'),
    Type.Literal('sell'),
    Type.Literal('split'),
    Type.Literal('merge'),
    Type.Literal('convert'),
    Type.Literal('payout'),
    Type.Literal('loss'),
    Type.Literal('deposit'),
    Type.Literal('first_seen'),
    Type.Literal('transfer'),
    Type.Literal('platform_fee'),
  ],
  {
    description:
      'payout: a redemption; loss: shares that the resolution made worthless; deposit: paper money; first_seen: what a live wallet had when the desk saw it first; transfer: paid by one wallet for shares that another one received',
  },
);
export type StatementKind = Static<typeof StatementKind>;

const TIME = '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?Z)?$';
const Time = (description: string) =>
  formed(TIME, 'a day or a moment in UTC, such as 2026-01-01 or 2026-01-01T00:00:00Z', {
    maxLength: 30,
    description,
  });

const statementFields = {
  from: Type.Optional(
    Time('first moment, as 2026-01-01 or 2026-01-01T00:00:00Z, in UTC; default: the beginning of this year'),
  ),
  to: Type.Optional(Time('the moment after the last one, in the same form; default: now')),
  method: Type.Optional(
    Type.Union([Type.Literal('average'), Type.Literal('fifo')], {
      default: 'average',
      description:
        'cost of what is sold: the average of the position, or that of the shares that were bought first',
    }),
  ),
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv')], {
      default: 'json',
      description: 'csv: every event in one answer of the type text/csv',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: STATEMENT_LIMITS.eventsPerPage,
      default: 100,
      description: 'events of one page; json only',
    }),
  ),
  cursor: cursorText(600, '`next` of the page before; json only'),
};

const signed = (description: string) => Type.Number({ description });

export const StatementEvent = Type.Object({
  id: Type.String({ description: 'names the event among those of all wallets' }),
  at: Iso,
  kind: StatementKind,
  venue: Type.String(),
  walletAddress: Type.String(),
  marketId: Nullable(Type.String()),
  title: Nullable(Type.String({ description: 'written by third parties, as plain text' })),
  category: Nullable(Type.String()),
  outcome: Nullable(Outcome),
  outcomeName: OutcomeName,
  shares: Nullable(signed('change of the holding: below zero for what was sold, redeemed or lost')),
  price: Nullable(Type.Number()),
  amount: signed('collateral paid (below zero) or received, before fees'),
  venueFee: Type.Number({ description: 'charged by the venue' }),
  platformFee: Type.Number({ description: 'charged by the desk' }),
  cash: signed('change of the balance: amount less both fees'),
  costBasis: signed('change of what the held shares have cost, before fees'),
  realizedPnl: signed('gain or loss of what was sold, redeemed or lost, before fees'),
  pastDesk: signed('received for shares of which the desk did not know; neither a gain nor a loss'),
  balance: Nullable(signed('of all wallets of the statement, after the event')),
  agentId: Nullable(Type.String({ description: 'null: it was not one of your agents' })),
  agentName: Nullable(Type.String()),
  isOther: Type.Boolean({
    description: 'by another agent of the same wallet: its order, name and strategy are not shown',
  }),
  source: Nullable(Type.String()),
  skillSlug: Nullable(Type.String()),
  orderId: Nullable(Type.String()),
  tradeId: Nullable(Type.String()),
});

export const StatementBalance = Type.Object({
  at: Iso,
  cash: signed('collateral of all wallets, what rests in orders included'),
  costBasis: signed('what the held shares have cost, before fees'),
  positionsValue: Nullable(
    signed(
      'worth of what is held: at current prices where the span ends now, else as it was recorded last before that time; null: not known',
    ),
  ),
  unrealizedPnl: Nullable(signed('positionsValue less costBasis')),
});

const results = {
  trades: Type.Integer({ description: 'fills of two parties' }),
  volume: Type.Number({ description: 'collateral that changed hands in trades, both ways, before fees' }),
  gains: Type.Number({ description: 'realised gains added up, before fees' }),
  losses: Type.Number({ description: 'realised losses added up, before fees: zero or below' }),
  realizedPnl: signed('gains and losses together, before fees'),
  venueFees: Type.Number(),
  platformFees: Type.Number(),
  net: signed('realizedPnl less all fees'),
};

export const StatementGroup = Type.Object({
  key: Type.String({
    description:
      'the market’s condition id, a category, a skill’s slug or a UTC day; empty: none. "others" adds up the smallest groups',
  }),
  title: Type.String({ description: 'for people, as plain text' }),
  ...results,
});

export const StatementTotals = Type.Object({
  ...results,
  bought: Type.Number({ description: 'collateral paid for shares' }),
  sold: Type.Number({ description: 'collateral received for shares, payouts apart' }),
  payouts: Type.Number({ description: 'collateral received for redeemed shares' }),
  deposits: signed('paper money, what live wallets had when the desk saw them first, and transfers'),
  notExplained: signed(
    'how the balances moved past the desk: transfers in less transfers out. On paper it is zero',
  ),
  pastDesk: signed('received for shares of which the desk did not know'),
});

export const Statement = Type.Object({
  from: Iso,
  to: Iso,
  method: Type.Union([Type.Literal('average'), Type.Literal('fifo')]),
  wallets: Type.Array(Type.String()),
  isCurrent: Type.Boolean({
    description:
      'false: a venue did not answer, or a wallet traded while it was read; the closing balance is the one of the books',
  }),
  opening: StatementBalance,
  closing: StatementBalance,
  totals: StatementTotals,
  otherAgents: Type.Object(
    { cash: signed('change of the balance'), realizedPnl: signed('before fees'), fees: Type.Number() },
    { description: 'the part of `totals` that other agents of the same wallets made' },
  ),
  byMarket: Type.Array(StatementGroup, { description: 'the largest result first, gain or loss' }),
  byCategory: Type.Array(StatementGroup, { description: 'the largest result first, gain or loss' }),
  bySkill: Type.Array(StatementGroup, { description: 'the largest result first, gain or loss' }),
  byDay: Type.Array(StatementGroup, {
    description: 'UTC days on which something was realised or paid, oldest first',
  }),
  eventsTotal: Type.Integer({ description: 'in the span' }),
  events: Type.Array(StatementEvent, { description: 'one page, oldest first' }),
  next: Nullable(Type.String({ description: '`cursor` of the next page; null: this is the last one' })),
});

const shared = {
  method: 'GET',
  rateClass: 'search',
  unknownFields: 'refuse',
  alsoProduces: 'text/csv',
  status: 200,
  response: Statement,
} as const;

const DESCRIPTION =
  'Everything that moved the money of the wallets, counted by the one description of positions that the desk itself uses. What the span began with, its events and `notExplained` add up to what it ended with, to the millionth. CSV holds the same events between the lines `opening` and `not_explained`; its columns `cash` and `costBasis` add up to the closing balance, which its last line says. Wallets that several agents use are shown whole.';

export const getStatement = operation({
  ...shared,
  id: 'getStatement',
  tag: 'positions',
  permission: 'agent',
  path: '/agents/statement',
  summary: 'Statement of the wallets within this agent’s reach, for any span, as JSON or CSV',
  description: DESCRIPTION,
  query: Type.Object(statementFields),
  errors: ['contradictory_filter'],
});

export const getOwnerStatement = operation({
  ...shared,
  id: 'getOwnerStatement',
  tag: 'owners',
  permission: 'owner',
  path: '/owner/statement',
  summary: 'Statement of all wallets of the signed-in owner, or of those of one agent',
  description: DESCRIPTION,
  query: Type.Object({
    ...statementFields,
    agentId: Type.Optional(Uuid),
  }),
  errors: ['agent_not_found', 'contradictory_filter'],
});

export type StatementEvent = Static<typeof StatementEvent>;
export type StatementBalance = Static<typeof StatementBalance>;
export type StatementGroup = Static<typeof StatementGroup>;
export type StatementTotals = Static<typeof StatementTotals>;
export type Statement = Static<typeof Statement>;
