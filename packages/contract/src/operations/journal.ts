import { type Static, Type } from 'typebox';
import {
  ALL_VENUES,
  CHAIN_STATUS_WORDS,
  EitherVenueQuery,
  Iso,
  LIMITS,
  Nullable,
  ORDER_STATUS_WORDS,
  OutcomeName,
  pageQuery,
  words,
} from '../fields.ts';
import { operation } from '../operation.ts';

/** One attempt to trade: an order, or one that the desk refused (status `denied`). */
export const AgentTrade = Type.Object({
  createdAt: Iso,
  marketConditionId: Type.String(),
  marketConditionName: Type.String({ description: 'the question, as the agent sent it' }),
  skillCode: Nullable(
    Type.String({ description: 'of the registered skill that skillSlug names, if there is one' }),
  ),
  skillSlug: Nullable(Type.String()),
  sourceTag: Nullable(Type.String()),
  reasoning: Nullable(Type.String()),
  platform: Type.String({ description: 'venue name' }),
  actionType: Type.String({ description: 'BUY or SELL' }),
  direction: Type.String({ description: 'YES or NO; BOTH: a split or a merge of full sets' }),
  outcomeName: OutcomeName,
  orderSize: Type.Number({ description: 'shares' }),
  amount: Type.Number({ description: 'collateral asked for, fees apart' }),
  walletAddress: Type.String(),
  orderId: Nullable(Type.String({ description: 'null for a refused attempt' })),
  status: words(
    [...new Set([...ORDER_STATUS_WORDS, ...CHAIN_STATUS_WORDS, 'denied'])],
    'status of the order, or denied: the desk refused it',
  ),
  errorCode: Nullable(Type.String({ description: 'why the venue or the desk refused' })),
  errorMessage: Nullable(Type.String()),
});

export const AgentTrades = Type.Object({
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  venue: Type.String({ description: `the one asked for, or "${ALL_VENUES}"` }),
  trades: Type.Array(AgentTrade),
});

/** The decision journal: orders and refused attempts, newest first. */
export const listAgentTrades = operation({
  id: 'listAgentTrades',
  method: 'GET',
  path: '/agents/trades',
  summary: "The agent's decision journal, newest first: its orders and what the desk refused",
  description: `Refused attempts are kept to the last ${LIMITS.refusalsKept} of each agent.`,
  tag: 'agents',
  permission: 'agent',
  rateClass: 'search',
  query: Type.Object({
    venue: EitherVenueQuery,
    ...pageQuery(LIMITS.agentTradesPerPage),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: AgentTrades,
  errors: ['unknown_venue', 'contradictory_filter'],
});

/** Beyond the interface. */
export const StrategyResult = Type.Object({
  source: Nullable(Type.String()),
  skillSlug: Nullable(Type.String()),
  trades: Type.Integer({ description: 'orders that the venue took' }),
  volume: Type.Number({ description: 'collateral that changed hands, both ways, fees apart' }),
  fees: Type.Number(),
  realizedPnl: Type.Number({ description: 'of what was sold or redeemed, before fees' }),
});

export const listTradesByStrategy = operation({
  id: 'listTradesByStrategy',
  method: 'GET',
  path: '/agents/trades/by-strategy',
  summary:
    'What each strategy of this agent has made, by the labels source and skillSlug; largest volume first',
  description:
    'P&L belongs to the labels of the order that sold; of a redemption, to those of the last trade of the token.',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'read',
  status: 200,
  response: Type.Array(StrategyResult),
  errors: [],
});

export const LeaderboardEntry = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'plain text; the agent’s own word, as under untrustedText' }),
  status: Type.String({ description: 'active (called within 5 minutes), idle (24 hours) or offline' }),
  totalPnl: Type.Number({ description: 'realised, after fees' }),
  pnlPercent: Type.Number({ description: 'totalPnl in percent of the simulation balance' }),
  tradesCount: Type.Integer(),
  winCount: Type.Integer({ description: 'positions closed with a gain, fees counted' }),
  lossCount: Type.Integer(),
  winRate: Nullable(
    Type.Number({ description: 'wins among wins and losses, 0 to 1; null before the first' }),
  ),
  description: Type.String({ description: 'plain text; the agent’s own word, as under untrustedText' }),
  ownerWalletAddress: Nullable(Type.String({ description: 'masked, e.g. 0x1234…abcd' })),
  isClaimed: Type.Boolean(),
  createdAt: Iso,
  lastTradeAt: Nullable(Iso),
  untrustedText: Type.Object(
    { notice: Type.String(), name: Type.String(), description: Type.String() },
    { description: 'texts of third parties' },
  ),
});

export const Leaderboard = Type.Object({
  entries: Type.Array(LeaderboardEntry),
  totalAgents: Type.Integer({ description: 'agents registered; those without a trade are not ranked' }),
});

export const getLeaderboard = operation({
  id: 'getLeaderboard',
  method: 'GET',
  path: '/agents/leaderboard',
  summary: 'Agents by total P&L; the one read across owners, a few seconds old at most',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'search',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.leaderboardEntries, default: 20 })),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: Leaderboard,
  errors: [],
});

export type AgentTrade = Static<typeof AgentTrade>;
export type AgentTrades = Static<typeof AgentTrades>;
export type StrategyResult = Static<typeof StrategyResult>;
export type LeaderboardEntry = Static<typeof LeaderboardEntry>;
export type Leaderboard = Static<typeof Leaderboard>;
