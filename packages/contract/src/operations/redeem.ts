import { type Static, Type } from 'typebox';
import {
  Address,
  LIMITS,
  MARKET_NAMES,
  Nullable,
  namesMarket,
  OLDER_WORD,
  Outcome,
  text,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { RelayRecord, UnsignedTransaction } from '../unsigned-transactions.ts';

const fields = {
  venue: Type.Optional(text(LIMITS.venueChars, { minLength: 1 })),
  ...MARKET_NAMES,
  side: Type.Optional(Outcome),
  walletAddress: Type.Optional(Address),
  address: Type.Optional(Type.String({ ...Address, description: 'the same as walletAddress' })),
};

export const RedeemRequest = Type.Object(fields, namesMarket([], { address: 'walletAddress' }));

export const RedeemResponse = Type.Object({
  success: Type.Boolean(),
  status: Type.String({ description: 'redeemed, nothing_to_redeem, or unsigned (live venues)' }),
  redeemedAmount: Type.Number({ description: 'collateral received; 0 for tokens that lost' }),
  txHash: Nullable(Type.String({ description: 'null on paper' })),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  conditionId: OLDER_WORD,
  wallets: Type.Array(
    Type.Object({
      walletAddress: Type.String(),
      yes: Type.Number({ description: 'YES tokens burnt' }),
      no: Type.Number({ description: 'NO tokens burnt' }),
      redeemedAmount: Type.Number(),
    }),
    { description: 'one row per wallet that had something to redeem' },
  ),
  relays: Type.Optional(
    Type.Array(
      Type.Object({
        orderId: Type.String({ description: 'its name for POST /markets/relay' }),
        walletAddress: Type.String(),
        relay: RelayRecord,
      }),
      {
        description:
          'live venues with a relayer: one request per wallet to sign, instead of its transactions',
      },
    ),
  ),
  transactions: Type.Optional(
    Type.Array(UnsignedTransaction, {
      description:
        'live venues: check these against your own (verifyWalletCalls of the SDK), sign and send them in this order; the service holds no key',
    }),
  ),
});

/** Exchanges the tokens of a resolved market for collateral. Repeated calls pay once. */
export const redeemPosition = operation({
  id: 'redeemPosition',
  method: 'POST',
  path: '/markets/redeem',
  repeatable: true,
  summary: 'Exchange the tokens of a resolved market for collateral; never blocked by a safeguard',
  description:
    'Without walletAddress: every wallet within the reach of this agent. A venue redeems both outcomes at once; with ' +
    'side, nothing happens unless tokens of that side are held. What lost was closed by the resolution, and is burnt ' +
    'for 0 along with it. It pays exactly once, however often and however concurrently it is called.',
  tag: 'positions',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  body: RedeemRequest,
  unknownFields: 'refuse',
  status: 200,
  response: RedeemResponse,
  errors: [
    'unknown_venue',
    'wrong_venue_route',
    'market_not_found',
    'market_not_resolved',
    'wallet_not_found',
    'service_unavailable',
  ],
});

export type RedeemRequest = Static<typeof RedeemRequest>;
export type RedeemResponse = Static<typeof RedeemResponse>;
