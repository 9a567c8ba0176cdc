/**
 * The parts of DFlow's answers that the desk reads. Sources: reference §1.3, §1.4, §2.3 to §2.5. Fields that are sometimes
 * missing are optional; names of states are plain texts, which `translate.ts` interprets.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { checkedBy } from '../../platform/outbound/json.ts';

export const MAX_TICKER_CHARS = 120;

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([Type.Null(), type]));

/** Atoms are decimal texts. */
const Atoms = Type.String({ pattern: '^\\d{1,20}$' });
const AtomsOrInteger = Type.Union([Atoms, Type.Integer({ minimum: 0 })]);
const Price = Type.Union([Type.String({ maxLength: 32 }), Type.Number()]);
const Count = Type.Union([Type.String({ maxLength: 40 }), Type.Number()]);

const Market = Type.Object({
  ticker: Type.String({ minLength: 1, maxLength: MAX_TICKER_CHARS }),
  eventTicker: maybe(Type.String()),
  title: Type.String(),
  subtitle: maybe(Type.String()),
  yesSubTitle: maybe(Type.String()),
  noSubTitle: maybe(Type.String()),
  openTime: maybe(Type.Number()),
  closeTime: maybe(Type.Number()),
  status: Type.String(),
  result: maybe(Type.String()),
  yesBid: maybe(Price),
  yesAsk: maybe(Price),
  noBid: maybe(Price),
  noAsk: maybe(Price),
  volume: maybe(Type.Number()),
  volumeFp: maybe(Count),
  volume24hFp: maybe(Count),
  liquidity: maybe(Count),
  liquidityFp: maybe(Count),
  rulesPrimary: maybe(Type.String()),
  rulesSecondary: maybe(Type.String()),
  /** By settlement mint. Other rails are not read, so their format does not matter. */
  accounts: Type.Record(Type.String(), Type.Unknown()),
});

const Rail = Type.Object({
  yesMint: Type.String(),
  noMint: Type.String(),
  isInitialized: maybe(Type.Boolean()),
  redemptionStatus: maybe(Type.String()),
  /** Basis points paid to YES. */
  scalarOutcomePct: maybe(Type.Integer({ minimum: 0, maximum: 10_000 })),
});

const Event = Type.Object({ ticker: Type.String(), markets: maybe(Type.Array(Type.Unknown())) });

const Side = Type.Record(Type.String({ maxLength: 32 }), Count);
const Orderbook = Type.Object({
  yes_bids: maybe(Side),
  no_bids: maybe(Side),
  sequence: maybe(Type.Integer({ minimum: 0 })),
});

const OnchainTrade = Type.Object({
  transactionSignature: Type.String(),
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
  outcomeMints: checkedBy(Type.Object({ outcomeMints: Type.Array(Type.String()) })),
  onchainTrade: checkedBy(OnchainTrade),
  onchainTrades: checkedBy(Type.Object({ trades: Type.Array(Type.Unknown()) })),
  order: checkedBy(Order),
  orderStatus: checkedBy(OrderStatus),
  refusal: checkedBy(Refusal),
  exchangeStatus: checkedBy(ExchangeStatus),
} as const;
