/** Markets, events, books and trades in the shapes of DFlow's metadata API. Pure. */
import { MICRO, type Micro, microToNumber, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { BookView, Level } from '@bellwether/exchange';
import { USDC_MINT } from '@bellwether/protocol';
import type { ListedMarket } from './catalog.ts';
import type { OrderRow } from './orders.ts';
import { MICRO_PER_PIP, payoutOf } from './pricing.ts';
import type { TapeTrade } from './sandbox.ts';

export const MARKET_STATUSES = [
  'initialized',
  'active',
  'inactive',
  'closed',
  'determined',
  'finalized',
] as const;
type MarketStatus = (typeof MARKET_STATUSES)[number];

export const statusOf = ({ status }: ListedMarket): MarketStatus =>
  status === 'open' ? 'active' : status === 'closed' ? 'closed' : 'finalized';

/** Four decimals, always: 6100 is "0.6100". */
const dollars = (price: Pips): string =>
  `${Math.floor(price / PIPS)}.${String(price % PIPS).padStart(4, '0')}`;

const seconds = (at: number): number => Math.floor(at / 1000);
const whole = (amount: Micro): number => Number(amount / MICRO);
/** Two decimals, as in the venue's fixed-point fields. */
const fixed = (amount: Micro): string =>
  `${amount / MICRO}.${String((amount % MICRO) / 10_000n).padStart(2, '0')}`;

const mirrored = (price: Pips | undefined): Pips | undefined =>
  price === undefined ? undefined : PIPS - price;
const quoted = (price: Pips | undefined): string | null => (price === undefined ? null : dollars(price));

function result({ payout }: ListedMarket): string {
  return payout === 'YES' ? 'yes' : payout === 'NO' ? 'no' : '';
}

/**
 * Its volume is in collateral, as in the paper world, not in contracts.
 * @param outstanding micro-contracts of both outcomes that exist on the chain
 */
export function wireMarket(market: ListedMarket, outstanding: Micro) {
  const { view } = market;
  const prices = market.status === 'open' ? view : null;
  return {
    ticker: market.ticker,
    eventTicker: market.eventTicker,
    marketType: 'binary',
    title: market.question,
    subtitle: '',
    yesSubTitle: market.outcomes[0],
    noSubTitle: market.outcomes[1],
    openTime: seconds(market.createdAt),
    closeTime: seconds(market.endDate),
    expirationTime: seconds(market.endDate),
    status: statusOf(market),
    result: result(market),
    yesBid: quoted(prices?.bestBid),
    yesAsk: quoted(prices?.bestAsk),
    noBid: quoted(mirrored(prices?.bestAsk)),
    noAsk: quoted(mirrored(prices?.bestBid)),
    volume: whole(view?.volume ?? 0n),
    volumeFp: fixed(view?.volume ?? 0n),
    volume24hFp: fixed(view?.volume24h ?? 0n),
    liquidity: whole(view?.liquidity ?? 0n),
    liquidityFp: fixed(view?.liquidity ?? 0n),
    openInterest: whole(outstanding),
    openInterestFp: fixed(outstanding),
    canCloseEarly: false,
    earlyCloseCondition: '',
    fractionalTradingEnabled: false,
    rulesPrimary: market.rules,
    rulesSecondary: '',
    accounts: {
      [USDC_MINT]: {
        marketLedger: market.ledger,
        yesMint: market.mints.YES,
        noMint: market.mints.NO,
        isInitialized: true,
        redemptionStatus: market.status === 'resolved' ? 'open' : null,
        ...(market.payout === null || result(market) !== ''
          ? {}
          : { scalarOutcomePct: Number(payoutOf(market, 'YES') / MICRO_PER_PIP) }),
      },
    },
  };
}

export type WireMarket = ReturnType<typeof wireMarket>;

/** @param markets of one event, at least one @param outstanding micro-contracts over all of them */
export function wireEvent(
  markets: readonly ListedMarket[],
  outstanding: Micro,
  nested: readonly WireMarket[] | null,
) {
  const first = markets[0]!;
  const sum = (pick: (market: ListedMarket) => Micro | undefined): number =>
    whole(markets.reduce((total, market) => total + (pick(market) ?? 0n), 0n));
  return {
    ticker: first.eventTicker,
    seriesTicker: first.seriesTicker,
    title: first.eventTitle,
    subtitle: '',
    competition: null,
    competitionScope: null,
    imageUrl: null,
    volume: sum(({ view }) => view?.volume),
    volume24h: sum(({ view }) => view?.volume24h),
    liquidity: sum(({ view }) => view?.liquidity),
    openInterest: whole(outstanding),
    strikeDate: seconds(first.endDate),
    strikePeriod: null,
    settlementSources: [],
    ...(nested === null ? {} : { markets: nested }),
  };
}

const levels = (side: readonly Level[]): Record<string, number> =>
  Object.fromEntries(side.map(([price, size]) => [dollars(price), microToNumber(size)]));

/** Bids only: an offer of YES at p is a bid for NO at 1 − p. */
export const wireBook = (yes: BookView, no: BookView) => ({
  yes_bids: levels(yes.bids),
  no_bids: levels(no.bids),
  sequence: yes.sequence,
});

export const wireTrade = (trade: TapeTrade, ticker: string) => ({
  tradeId: String(trade.id),
  ticker,
  count: whole(trade.size),
  price: trade.price,
  yesPrice: trade.price,
  noPrice: PIPS - trade.price,
  yesPriceDollars: dollars(trade.price),
  noPriceDollars: dollars(PIPS - trade.price),
  takerSide: trade.takerSide.toLowerCase(),
  createdTime: seconds(trade.at),
});

export function wireOnchainTrade(order: OrderRow, outcomeMint: string) {
  const isBuy = order.kind === 'BUY';
  return {
    id: order.messageHash,
    wallet: order.wallet,
    orderAccount: order.signature,
    fillRecipient: order.recipient,
    refundRecipient: order.refund,
    inputMint: isBuy ? USDC_MINT : outcomeMint,
    outputMint: isBuy ? outcomeMint : USDC_MINT,
    inputAmount: String(order.filledIn),
    outputAmount: String(order.filledOut),
    feeAmount: String(order.fee),
    side: order.outcome.toLowerCase(),
    marketTicker: order.ticker,
    transactionSignature: order.closingSignature,
    createdAt: seconds(order.closedAt ?? 0),
  };
}

/** GET /order-status of a recorded order. */
export function wireOrderStatus(order: OrderRow, outcomeMint: string) {
  const isBuy = order.kind === 'BUY';
  const inputMint = isBuy ? USDC_MINT : outcomeMint;
  const outputMint = isBuy ? outcomeMint : USDC_MINT;
  const signature = order.closingSignature;
  return {
    status: order.status === 'issued' ? 'pending' : order.status,
    inAmount: String(order.filledIn),
    outAmount: String(order.filledOut),
    fills:
      order.filledOut === 0n && order.filledIn === 0n
        ? []
        : [
            {
              signature,
              inputMint,
              inAmount: String(order.filledIn),
              outputMint,
              outAmount: String(order.filledOut),
            },
          ],
    reverts: order.reverted === 0n ? [] : [{ signature, mint: inputMint, amount: String(order.reverted) }],
  };
}
