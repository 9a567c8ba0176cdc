import { type Static, Type } from 'typebox';
import { EitherVenueQuery, Iso, LIMITS, Notice, WalletOfEitherVenue } from '../fields.ts';
import { operation } from '../operation.ts';
import { Position, positionFilters } from './markets.ts';

const user = Type.Optional(WalletOfEitherVenue);

/** A position whose last share was sold or redeemed: `size` is 0, `initialValue` all that was ever paid. */
export const ClosedPosition = Type.Object({
  ...Position.properties,
  closedAt: Iso,
});

export const getClosedPositions = operation({
  id: 'getClosedPositions',
  method: 'GET',
  path: '/markets/closed-positions',
  summary:
    'Positions sold or redeemed to the last share, latest first; also of markets the venue has archived',
  tag: 'positions',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object({
    venue: EitherVenueQuery,
    user,
    ...positionFilters,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.positionsPerPage, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(ClosedPosition),
  errors: ['unknown_venue', 'unknown_sort_field', 'wallet_not_found', 'service_unavailable'],
});

export const WalletPositions = Type.Object({
  walletAddress: Type.String(),
  positionCount: Type.Integer(),
  positions: Type.Array(Position),
  totalValue: Type.Number({ description: 'what the positions are worth now, in collateral' }),
});

export const getWalletPositions = operation({
  id: 'getWalletPositions',
  method: 'GET',
  path: '/markets/wallet/{address}/positions',
  summary: "Positions held by one of the owner's wallets that the agent reaches",
  tag: 'positions',
  permission: 'agent',
  rateClass: 'read',
  params: Type.Object({ address: WalletOfEitherVenue }),
  query: Type.Object({ venue: EitherVenueQuery }),
  unknownFields: 'refuse',
  status: 200,
  response: WalletPositions,
  errors: ['unknown_venue', 'wallet_not_found', 'service_unavailable'],
});

export const ExpiringPositions = Type.Object({
  positions: Type.Array(
    Type.Object({
      ...Position.properties,
      resolutionTimestamp: Iso,
      hoursUntilResolution: Type.Number({ description: '0 when the end has passed' }),
    }),
  ),
  total: Type.Integer(),
  hours: Type.Number(),
  venue: Type.String(),
});

/** Positions in markets that end within `query.hours`, 24 when left out. */
export const getExpiringPositions = operation({
  id: 'getExpiringPositions',
  method: 'GET',
  path: '/markets/positions/expiring',
  summary: 'Positions in markets that end within so many hours and are not resolved yet, soonest first',
  tag: 'positions',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object({
    venue: EitherVenueQuery,
    user,
    hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 8760, default: 24 })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LIMITS.currentPositionsPerPage, description: 'all when left out' }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: ExpiringPositions,
  errors: ['unknown_venue', 'wallet_not_found', 'service_unavailable'],
});

const Exposure = Type.Number({
  description:
    'what would be lost if every held outcome lost: cost, less what a pair of YES and NO is sure to pay',
});

export const Portfolio = Type.Object({
  venue: Type.String({
    description: 'whose figures stand beside it; those of each venue are in `venues`, their sums in `total`',
  }),
  balance: Type.Number({ description: 'collateral, what open BUY orders hold included' }),
  totalExposure: Exposure,
  positionsCount: Type.Integer(),
  redeemableCount: Type.Integer(),
  pnl24h: Type.Number({ description: 'realised in the last 24 hours, after fees' }),
  pnlTotal: Type.Number({ description: 'realised and unrealised, after fees' }),
  realizedPnl: Type.Number({ description: 'before fees' }),
  unrealizedPnl: Type.Number(),
  fees: Type.Number(),
  concentration: Type.Object({
    topMarketPct: Type.Number({ description: 'share of the largest market in the value of all, 0 to 100' }),
    top3MarketsPct: Type.Number(),
  }),
  warnings: Type.Array(Notice),
  venues: Type.Record(
    Type.String(),
    Type.Object({
      balance: Type.Number(),
      pnl: Type.Number(),
      positionsCount: Type.Integer(),
      totalExposure: Exposure,
    }),
  ),
  total: Type.Object(
    {
      balance: Type.Number(),
      positionsCount: Type.Integer(),
      redeemableCount: Type.Integer(),
      totalExposure: Exposure,
      pnl24h: Type.Number(),
      pnlTotal: Type.Number(),
      realizedPnl: Type.Number(),
      unrealizedPnl: Type.Number(),
      fees: Type.Number(),
    },
    { description: 'of all venues that were asked for' },
  ),
});

export const getPortfolio = operation({
  id: 'getPortfolio',
  method: 'GET',
  path: '/markets/portfolio',
  summary: 'Balance, exposure, P&L and concentration of a wallet in one answer',
  tag: 'positions',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object({ venue: EitherVenueQuery, user }),
  status: 200,
  response: Portfolio,
  errors: ['unknown_venue', 'wallet_not_found', 'service_unavailable'],
});

export type ClosedPosition = Static<typeof ClosedPosition>;
export type WalletPositions = Static<typeof WalletPositions>;
export type ExpiringPositions = Static<typeof ExpiringPositions>;
export type Portfolio = Static<typeof Portfolio>;
