/**
 * The parts of DFlow's answers that the desk reads. Sources: reference §1.3, §1.4, §2.3 to §2.5. Fields that are sometimes
 * missing are optional; words and what is only shown have any type, and `translate.ts` reads what it can of them: none of them
 * may cost a market that somebody holds.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { checkedBy } from '../../platform/outbound/json.ts';

export const MAX_TICKER_CHARS = 120;

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([Type.Null(), type]));

/** Atoms are decimal texts. */
const Atoms = Type.String({ pattern: '^\\d{1,20}$' });
const AtomsOrInteger = Type.Union([Atoms, Type.Integer({ minimum: 0 })]);
const Anything = Type.Optional(Type.Unknown());

const Market = Type.Object({
  ticker: Type.String({ minLength: 1, maxLength: MAX_TICKER_CHARS }),
  status: Type.String(),
  ...{ eventTicker: Anything, title: Anything, yesSubTitle: Anything, noSubTitle: Anything },
  ...{ openTime: Anything, closeTime: Anything, result: Anything },
  ...{ yesBid: Anything, yesAsk: Anything, noBid: Anything, noAsk: Anything },
  ...{
    volume: Anything,
    volumeFp: Anything,
    volume24hFp: Anything,
    liquidity: Anything,
    liquidityFp: Anything,
  },
  ...{ rulesPrimary: Anything, rulesSecondary: Anything },
  /** By settlement mint. Other rails are not read, so their format does not matter. */
  accounts: Type.Record(Type.String(), Type.Unknown()),
});

const Rail = Type.Object({
  yesMint: Type.String(),
  noMint: Type.String(),
  isInitialized: Anything,
  redemptionStatus: Anything,
  /** Basis points paid to YES. */
  scalarOutcomePct: Anything,
});

const Event = Type.Object({ markets: maybe(Type.Array(Type.Unknown())) });

const Side = Type.Record(Type.String(), Type.Unknown());
const Sides = { yes_bids: maybe(Side), no_bids: maybe(Side), sequence: Anything };
/** An object that names neither side is another answer, such as an error with status 200; not a book without offers. */
const Orderbook = Type.Intersect([
  Type.Object(Sides),
  Type.Union([Type.Object({ yes_bids: Type.Unknown() }), Type.Object({ no_bids: Type.Unknown() })]),
]);

const OnchainTrade = Type.Object({
  transactionSignature: Type.String(),
  inputMint: Type.String(),
  inputAmount: AtomsOrInteger,
  outputMint: Type.String(),
  outputAmount: AtomsOrInteger,
  feeAmount: maybe(AtomsOrInteger),
});

const Order = Type.Object({
  inputMint: Type.String(),
  outputMint: Type.String(),
  inAmount: Atoms,
  outAmount: Atoms,
  otherAmountThreshold: Atoms,
  minOutAmount: Atoms,
  executionMode: Type.String(),
  /** `"0.01"` is one percent. */
  priceImpactPct: Anything,
  revertMint: maybe(Type.String()),
  transaction: maybe(Type.String()),
  lastValidBlockHeight: maybe(Type.Integer({ minimum: 0 })),
  prioritizationFeeLamports: maybe(Type.Integer({ minimum: 0 })),
  initPredictionMarketCost: maybe(Type.Integer({ minimum: 0 })),
});

const OrderStatus = Type.Object({
  status: Type.String(),
  fills: maybe(
    Type.Array(
      Type.Object({
        signature: Type.String(),
        inputMint: Type.String(),
        inAmount: AtomsOrInteger,
        outputMint: Type.String(),
        outAmount: AtomsOrInteger,
      }),
    ),
  ),
  reverts: maybe(
    Type.Array(Type.Object({ signature: Type.String(), mint: Type.String(), amount: AtomsOrInteger })),
  ),
});

const Refusal = Type.Object({
  code: Type.String({ maxLength: 100 }),
  msg: maybe(Type.String()),
  details: Type.Optional(Type.Unknown()),
});

const Proof = Type.Object({ verified: Type.Boolean() });

const ExchangeStatus = Type.Object({ exchange_active: Type.Boolean(), trading_active: Type.Boolean() });

export type WireMarket = Static<typeof Market>;
export type WireRail = Static<typeof Rail>;
export type WireEvent = Static<typeof Event>;
export type WireOrderbook = Static<typeof Orderbook>;
export type WireOnchainTrade = Static<typeof OnchainTrade>;
export type WireOrder = Static<typeof Order>;
export type WireOrderStatus = Static<typeof OrderStatus>;

/** Lists are checked item by item: a malformed item is left out, the others are kept. */
export const READ = {
  market: checkedBy(Market),
  rail: checkedBy(Rail),
  markets: checkedBy(Type.Object({ markets: Type.Array(Type.Unknown()) })),
  event: checkedBy(Event),
  events: checkedBy(Type.Object({ events: Type.Array(Type.Unknown()) })),
  orderbook: checkedBy(Orderbook),
  outcomeMints: checkedBy(Type.Object({ outcomeMints: Type.Array(Type.Unknown()) })),
  onchainTrade: checkedBy(OnchainTrade),
  onchainTrades: checkedBy(Type.Object({ trades: Type.Array(Type.Unknown()) })),
  order: checkedBy(Order),
  orderStatus: checkedBy(OrderStatus),
  refusal: checkedBy(Refusal),
  proof: checkedBy(Proof),
  exchangeStatus: checkedBy(ExchangeStatus),
} as const;
