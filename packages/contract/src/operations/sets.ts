/**
 * Full sets and redemption, which change a wallet's tokens without a trade; and what the owner of a wallet signs for
 * it: transactions to send, or a request for the venue's relayer. The service holds no key that could.
 */
import { type Static, Type } from 'typebox';
import {
  Address,
  ClientOrderId,
  EXACT,
  formed,
  Iso,
  LIMITS,
  label,
  MARKET_NAMES,
  Nullable,
  namesMarket,
  note,
  OLDER_WORD,
  Outcome,
  PRINTABLE,
  refusedBecause,
  text,
  words,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { CAP_DENIALS } from '../safeguards.ts';

export const UnsignedTransaction = Type.Object({
  from: Type.String({ description: 'the wallet itself or its owner: who sends it, and pays the network' }),
  to: Type.String(),
  data: Type.String(),
  value: Type.String({ description: 'always 0' }),
  chainId: Type.Integer(),
  description: Type.String(),
});

export const RelayRecord = Type.Object(
  {
    type: words(['PROXY', 'SAFE', 'WALLET'], 'by the kind of the wallet'),
    nonce: Type.String(),
    relay: Nullable(Type.String({ description: 'PROXY: the only account that may deliver it' })),
    deadline: {
      ...Iso,
      description:
        'a whole second: the desk does not forward it later. For WALLET its epoch seconds are part of what is signed',
    },
    chainId: Type.Integer(),
    digest: Type.String({ description: '32 bytes: what the key of the owner signs, as it is' }),
    body: Type.Record(Type.String(), Type.Unknown(), {
      description: 'what the relayer gets, without the signature: every field of it is in the digest',
    }),
  },
  {
    description:
      'live venues with a relayer, with status unsigned: compare it with your own (verifyRelay of the SDK), sign the digest, and send the signature with POST /markets/relay. No network price is paid',
  },
);

export type RelayRecord = Static<typeof RelayRecord>;
export type UnsignedTransaction = Static<typeof UnsignedTransaction>;

// Full sets: one YES and one NO share of a market are worth one collateral together. A split makes sets of collateral, a
// merge makes collateral of sets; a conversion makes YES shares of the other markets of an event of NO shares of one. All are orders of the desk: under an id of their own, with one effect.

const SETS_MAX = 1e9;

export const SetRequest = Type.Object(
  {
    clientOrderId: {
      ...ClientOrderId,
      description:
        'your own name for it. The same body under the same name is the same order: sent again, it answers what became of it and changes nothing. Another one under a name that is taken is 409 client_order_id_already_used, unless the first was refused',
    },
    venue: Type.Optional(text(LIMITS.venueChars, { minLength: 1 })),
    ...MARKET_NAMES,
    amount: Type.Number({
      exclusiveMinimum: 0,
      maximum: SETS_MAX,
      ...EXACT,
      description:
        'sets: so many YES and so many NO shares, and so much collateral; of a conversion the NO shares, which become as many YES shares of each of the other markets',
    }),
    walletAddress: Type.Optional({
      ...Address,
      description: "whose sets they are. Default: the agent's own wallet",
    }),
    address: Type.Optional({ ...Address, description: 'the same as walletAddress' }),
    reasoning: note(LIMITS.reasoningChars),
    source: label(LIMITS.sourceChars, 'suggested form sdk:<strategy-name>'),
    skillSlug: label(LIMITS.skillSlugChars),
  },
  namesMarket(['clientOrderId', 'amount'], { address: 'walletAddress' }),
);

export const SetResponse = Type.Object({
  success: Type.Boolean({ description: 'false: the venue refused; errorCode says why' }),
  orderId: Type.String({ description: 'GET /markets/orders/{orderId} and its receipt tell of it' }),
  clientOrderId: Type.String({ description: 'empty for a redemption' }),
  status: words(
    ['filled', 'rejected', 'unsigned', 'submitted', 'expired'],
    'completely, or not at all. unsigned (live venues): the owner of the wallet has something to sign; submitted: the relayer has it, or may have it; expired: nothing was seen in time. The record of an order that is unsigned or submitted says live',
  ),
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  conditionId: OLDER_WORD,
  walletAddress: Type.String({ description: 'the account that paid, or was paid' }),
  amount: Type.Number({
    description:
      'sets that were made or merged, or shares that were converted; 0 where the venue refused, or before they are',
  }),
  txHash: Nullable(Type.String({ description: 'null on paper, and before it is known' })),
  submittedAt: Iso,
  transactions: Type.Optional(
    Type.Array(UnsignedTransaction, {
      description:
        'live venues, with status unsigned: check these against your own (verifyWalletCalls of the SDK), sign and send them once, in this order. The service holds no key. If you have sent them, do not send them again',
    }),
  ),
  relay: Type.Optional(RelayRecord),
  expiresAt: Type.Optional({
    ...Iso,
    description: 'until when the desk looks for the transaction and keeps the budget of a split reserved',
  }),
  ...refusedBecause,
});

const ofSets = {
  method: 'POST',
  repeatable: true,
  tag: 'positions',
  permission: 'agent',
  idempotent: true,
  body: SetRequest,
  unknownFields: 'refuse',
  status: 200,
  response: SetResponse,
} as const;

const ERRORS_OF_SETS = [
  'unknown_venue',
  'wrong_venue_route',
  'market_not_found',
  'market_not_active',
  'credentials_not_registered',
  'insufficient_balance',
  'client_order_id_already_used',
  'order_outcome_unknown',
  'service_unavailable',
] as const;

/** Makes full sets of collateral: an entry. */
export const splitSets = operation({
  ...ofSets,
  id: 'splitSets',
  path: '/markets/split',
  summary: 'Split collateral into YES and NO shares of a market; judged like a BUY of that collateral',
  description:
    'Each set is one YES and one NO share, for one collateral and without a fee. It is an entry: a pause stops it, and it counts as one trade of its collateral under every safeguard but maxOpenOrders. Above approvalAbove it asks the owner: once it is approved, send the same body again. On a live venue nothing is split yet: the answer is `unsigned`, with the transactions that the owner of the wallet signs. The budget is reserved from then on, until the split is seen on the chain, or for a day; what was counted for its day stays counted.',
  rateClass: 'trade',
  errors: [...ERRORS_OF_SETS, 'trading_paused', 'claim_required', ...CAP_DENIALS],
});

/** Makes collateral of full sets: an exit. */
export const mergeSets = operation({
  ...ofSets,
  id: 'mergeSets',
  path: '/markets/merge',
  summary: 'Merge YES and NO shares of a market into collateral; never blocked by a safeguard',
  description:
    'Each pair of one YES and one NO share is one collateral, whatever the market costs. Shares that open SELL orders hold are not merged: cancel those first. It counts as no trade. Once the market is resolved, POST /markets/redeem pays instead. On a live venue the answer is `unsigned`, with the transactions that the owner of the wallet signs.',
  rateClass: 'exit',
  errors: ERRORS_OF_SETS,
});

/** Makes YES shares of the other markets of an event of NO shares of one: an entry. */
export const convertSets = operation({
  ...ofSets,
  id: 'convertSets',
  path: '/markets/convert',
  summary:
    'Convert NO shares of a market into YES shares of all other markets of its event; judged like a BUY',
  description:
    'Exactly one market of a negative-risk event resolves YES, so both pay the same, and no collateral moves. It is an entry: a pause stops it, and it counts as one trade of one collateral a share under maxTradeAmount, dailyTradeAmountLimit, maxTradesPerDay, dailyLossLimit and approvalAbove. It makes positions in several markets at once, so it is refused while maxPositionValue is set. For NO shares of several markets convert one after another, and merge the pairs that come of it. On a live venue, in markets of version v2 alone, the answer is `unsigned`, as of a split.',
  rateClass: 'trade',
  errors: [...ERRORS_OF_SETS, 'conversion_not_supported', 'trading_paused', 'claim_required', ...CAP_DENIALS],
});

export const RelayRequest = Type.Object({
  orderId: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: PRINTABLE,
    description: 'of the split, merge or redemption',
  }),
  signature: formed('^0x[0-9a-fA-F]{130}$', 'a signature of 65 bytes: 0x and 130 hex digits', {
    description: 'of the digest, by the key of the wallet’s owner: 65 bytes',
  }),
});

/** Has the venue's relayer make what the wallet's owner signed. */
export const relaySet = operation({
  id: 'relaySet',
  method: 'POST',
  path: '/markets/relay',
  repeatable: true,
  summary:
    'Give the signature of a prepared split or merge; the desk forwards the request to the relayer once',
  description:
    'The desk forwards the request that it prepared, byte for byte, and only before its deadline: the caller gives a signature and nothing else. Sent again, it is not forwarded again; the answer says what has become of it. A pause since then stops a split, never a merge or a redemption.',
  tag: 'positions',
  permission: 'agent',
  rateClass: 'relay',
  idempotent: true,
  body: RelayRequest,
  unknownFields: 'refuse',
  status: 200,
  response: SetResponse,
  errors: ['order_not_found', 'transaction_signature_invalid', 'trading_paused', 'service_unavailable'],
});

export type RelayRequest = Static<typeof RelayRequest>;
export type SetRequest = Static<typeof SetRequest>;
export type SetResponse = Static<typeof SetResponse>;

// Redemption: collateral for what a resolved market pays.

const redeemFields = {
  venue: Type.Optional(text(LIMITS.venueChars, { minLength: 1 })),
  ...MARKET_NAMES,
  side: Type.Optional(Outcome),
  walletAddress: Type.Optional(Address),
  address: Type.Optional(Type.String({ ...Address, description: 'the same as walletAddress' })),
};

export const RedeemRequest = Type.Object(redeemFields, namesMarket([], { address: 'walletAddress' }));

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
