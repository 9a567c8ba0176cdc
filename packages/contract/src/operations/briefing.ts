/** The heartbeat: how an agent stands, what needs its attention, and what changed since it last asked. */
import { type Static, Type } from 'typebox';
import { ApprovalEventData, ExitEventData } from '../events.ts';
import { EitherVenueQuery, Iso, Notice, Nullable, PRINTABLE, WalletOfEitherVenue } from '../fields.ts';
import { operation } from '../operation.ts';
import { Settings } from './agents.ts';
import { GuardedExit } from './exits.ts';
import { Market } from './markets.ts';
import { Order } from './trading.ts';

export const RiskAlert = Type.Object(
  {
    ...Notice.properties,
    marketId: Type.Optional(Type.String()),
    exitIds: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'of exit_unguarded: the exits that ended; POST /markets/exits/seen says that they were seen',
      }),
    ),
  },
  { description: 'current, independent of `since`; most severe first' },
);

/** A step that would solve a problem, as a ready request. */
export const BriefingAction = Type.Object({
  code: Type.String(),
  message: Type.String(),
  method: Type.String(),
  path: Type.String(),
  body: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description: 'what to send with it',
    }),
  ),
});

export const VenueBrief = Type.Object({
  walletAddress: Nullable(Type.String()),
  openOrdersCount: Type.Integer({ description: 'of this agent' }),
  currentPositionsCount: Type.Integer({ description: 'of the wallet' }),
  balance: Type.Number({ description: 'collateral, what open orders hold included' }),
  availableBalance: Type.Number({ description: 'collateral that a new order can use' }),
  positionsValue: Type.Number({ description: 'what is held, at current prices' }),
  actions: Type.Array(BriefingAction, { description: 'what to do next' }),
});

export const SkillBrief = Type.Object({
  skillCode: Type.String(),
  skillSlug: Type.String({ description: 'what trades name in skillSlug' }),
  skillName: Type.String(),
  description: Type.String({ description: 'written by its author' }),
});

export const BriefingAgent = Type.Object({
  agentId: Type.String(),
  name: Type.String(),
  claimed: Type.Boolean(),
  walletAddress: Nullable(Type.String()),
  solAddress: Nullable(Type.String()),
  tradesToday: Type.Integer(),
  maxTradesPerDay: Type.Integer(),
  tradesRemaining: Type.Integer(),
  amountToday: Type.Number({ description: 'collateral traded or reserved today' }),
  amountRemaining: Nullable(Type.Number({ description: 'null while the caps are switched off' })),
  realizedToday: Type.Number({ description: 'P&L of the UTC day, after fees' }),
  quotaResetsAt: Iso,
});

export const ExitChange = Type.Object({
  id: Type.String({ format: 'uuid', description: 'of the event, as streams and webhooks tell it' }),
  type: Type.String({ examples: ['exit.filled'] }),
  createdAt: Iso,
  data: ExitEventData,
});

export const Briefing = Type.Object({
  timestamp: Iso,
  venue: Type.String(),
  agent: BriefingAgent,
  settings: Settings,
  riskAlerts: Type.Array(RiskAlert),
  approvals: Type.Array(ApprovalEventData, {
    description: 'what waits for the owner, and what is approved and not sent yet, newest first',
  }),
  exits: Type.Array(GuardedExit, {
    description: 'guarded exits that have not ended, with the distance to their triggers, newest first',
  }),
  exitChanges: Type.Array(ExitChange, {
    description:
      'what became of guarded exits, latest first, at most 100: with `since` what came since, each exactly once; else the last 20',
  }),
  endedExits: Type.Array(GuardedExit, {
    description: 'the exits of exitChanges that have ended, newest first, as they stand now',
  }),
  venues: Type.Record(Type.String(), VenueBrief, {
    description: 'by venue name; the one asked for, or both',
  }),
  opportunities: Type.Object({
    newMarkets: Type.Array(Market, {
      description: 'still open, newest first; titles and rules are written by third parties',
    }),
    recommendedSkills: Type.Array(SkillBrief),
  }),
  recentTrades: Type.Array(Order, {
    description: 'orders that were placed, filled, canceled or ended, latest change first',
  }),
  recentTradesTruncated: Type.Boolean({
    description: 'true: more changed than fits here; GET /markets/orders has them all',
  }),
  nextCursor: Type.String({ description: 'send it as `since` next time' }),
});

/** Longest `since`: a cursor names the transactions that were under way when it was made. */
export const MAX_SINCE_CHARS = 4_000;

const include = Type.Optional(
  Type.Boolean({ description: 'false leaves newMarkets empty; the three spellings mean the same' }),
);

export const BriefingQuery = Type.Object({
  venue: EitherVenueQuery,
  user: Type.Optional(WalletOfEitherVenue),
  since: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_SINCE_CHARS,
      pattern: PRINTABLE,
      description:
        'the last nextCursor, an ISO 8601 time with zone, or epoch seconds or milliseconds: newMarkets, recentTrades and exitChanges then hold only what came or changed since',
    }),
  ),
  includeMarkets: include,
  'include-markets': include,
  include_markets: include,
});

/** The heartbeat. Send the last `nextCursor` as `since` to receive what changed in between. */
export const getBriefing = operation({
  id: 'getBriefing',
  method: 'GET',
  path: '/markets/briefing',
  summary: 'The heartbeat: state, risk alerts, what to do next, what changed',
  description:
    'Cheap enough to be called every 30 seconds. With `since` it is complete: every change of an order or an exit appears exactly once, however close to the last call it came.',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'read',
  query: BriefingQuery,
  status: 200,
  response: Briefing,
  errors: ['unknown_venue', 'wallet_not_found', 'contradictory_filter', 'service_unavailable'],
});

export type RiskAlert = Static<typeof RiskAlert>;
export type ExitChange = Static<typeof ExitChange>;
export type BriefingAction = Static<typeof BriefingAction>;
export type VenueBrief = Static<typeof VenueBrief>;
export type SkillBrief = Static<typeof SkillBrief>;
export type Briefing = Static<typeof Briefing>;
export type BriefingQuery = Static<typeof BriefingQuery>;
