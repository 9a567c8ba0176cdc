/**
 * The parts of DFlow's answers that the desk reads. Sources: reference §1.3, §1.4, §2.3 to §2.5. Fields that are sometimes
 * missing are optional; words and what is only shown have any type, and `translate.ts` reads what it can of them: none of them
 * may cost a market that somebody holds.
 */

import type { SolanaAddress } from '@bellwether/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import { plainText, wordOf } from '../../domain/untrusted-text.ts';
import {
  checkedBy,
  createHttp,
  type Http,
  type HttpOptions,
  type HttpReply,
  type HttpSend,
  tryJson,
} from '../../platform/outbound/http.ts';

const MAX_TICKER_CHARS = 120;

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
type WireOnchainTrade = Static<typeof OnchainTrade>;
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

// DFlow's calls: metadata (markets, book, fills), trade (orders and their outcomes) and Proof (identities). Every answer is checked against
// its schema; without a valid answer a call throws VenueUnavailable. The API key appears only in a header.

export const MAX_MARKETS_PER_PAGE = 255;
export const MAX_IDS_PER_BATCH = 100;
export const MAX_MINTS_PER_FILTER = 200;
const MAX_ONCHAIN_TRADES = 200;
const METADATA_TIMEOUT_MS = 6_000;
const ORDER_TIMEOUT_MS = 10_000;
const MESSAGE_CHARS = 300;
/** A quote waits for it, and DFlow looks again at the order. */
const PROOF_TIMEOUT_MS = 2_000;
/** Its answer has 18. */
const PROOF_CHARS = 4_000;
/**
 * How long a wallet counts as verified. A person can take it from their identity again, which costs no money, because DFlow
 * looks again at every order: ten minutes spare the question before nearly every quote of a trader. That a wallet is not
 * verified is never remembered: a person waits for it to change.
 */
const VERIFIED_MS = 10 * 60_000;
const MOST_VERIFIED = 10_000;
const NOT_FOUND = 404;
const URI_TOO_LONG = 414;
const UNPROCESSABLE = 422;
const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** DFlow's reason for not building an order. */
export interface OrderRefusal {
  /** In small letters. */
  readonly code: string;
  /** Untrusted text, cleaned and bounded. */
  readonly message: string;
  /** URL of the identity verification. */
  readonly deepLink: string | null;
}

type OrderAnswer =
  | { readonly kind: 'order'; readonly order: WireOrder }
  | { readonly kind: 'refused'; readonly refusal: OrderRefusal };

export interface DflowClientOptions extends Pick<HttpOptions, 'clock' | 'log' | 'arrived'> {
  readonly metadataUrl: string;
  readonly tradeUrl: string;
  /** Public: it must not receive the API key. */
  readonly proofUrl: string;
  readonly apiKey: string | null;
  /** Kalshi's public status; `null`: not used. */
  readonly exchangeStatusUrl: string | null;
  readonly send: HttpSend;
}

type Query = Readonly<Record<string, string | number | boolean | null>>;

const queryOf = (query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

export type DflowClient = ReturnType<typeof createDflowClient>;

export function createDflowClient(options: DflowClientOptions) {
  const { metadataUrl, tradeUrl, proofUrl, apiKey, exchangeStatusUrl } = options;
  const { send, clock, log, arrived } = options;
  const metadata = createHttp({ service: 'the DFlow metadata API', send, clock, log, arrived });
  const trade = createHttp({ service: 'the DFlow trade API', send, clock, log, arrived });
  const proof = createHttp({ service: 'DFlow Proof', send, clock, log, arrived });
  const key: Record<string, string> = apiKey === null ? {} : { 'x-api-key': apiKey };
  let saidSo = false;
  /** With the time until which it is believed. */
  const verified = new BoundedCache<number>({
    entries: MOST_VERIFIED,
    weight: MOST_VERIFIED,
    weightOf: () => 1,
  });
  let saidProof = false;

  /** The readable items. A venue that changed its format must not look like one without items. */
  const itemsOf = <T>(items: readonly unknown[], check: (value: unknown) => T | null): readonly T[] => {
    const read = items.map(check).filter((item) => item !== null);
    if (read.length < items.length && !saidSo) {
      saidSo = true;
      log.warn({ left: items.length - read.length }, 'DFlow lists things in a shape that is not known');
    }
    return read;
  };

  const get = (http: Http, url: string, timeoutMs: number): Promise<HttpReply> =>
    answered(
      http.call({
        method: 'GET',
        url,
        headers: { accept: 'application/json', ...key },
        timeoutMs,
        repeatable: true,
      }),
    );
  const read = (path: string, query: Query = {}): Promise<HttpReply> =>
    get(metadata, `${metadataUrl}/api/v1${path}${queryOf(query)}`, METADATA_TIMEOUT_MS);
  /** Has no effect at DFlow, even with POST. */
  const ask = (path: string, body: unknown): Promise<HttpReply> =>
    answered(
      metadata.call({
        method: 'POST',
        url: `${metadataUrl}/api/v1${path}`,
        headers: { accept: 'application/json', 'content-type': 'application/json', ...key },
        body: JSON.stringify(body),
        timeoutMs: METADATA_TIMEOUT_MS,
        repeatable: true,
      }),
    );

  return {
    /** Of what a trade needs: without Proof it goes on. */
    status(): string {
      return [metadata, trade].map((http) => http.status()).find((text) => text !== 'ready') ?? 'ready';
    },

    async market(ticker: string): Promise<WireMarket | null> {
      if (!canBeTicker(ticker)) return null;
      const reply = await read(`/market/${encodeURIComponent(ticker)}`);
      return isNoSuchId(reply) ? null : checked(reply, READ.market);
    },

    /** The markets that the venue knows; unknown ids are left out. */
    async marketsBatch(ids: { readonly tickers: readonly string[]; readonly mints: readonly string[] }) {
      return itemsOf(checked(await ask('/markets/batch', ids), READ.markets).markets, READ.market);
    },

    /** @param query `cursor` is the number of rows to skip */
    async markets(query: Query): Promise<{ readonly markets: readonly WireMarket[]; readonly rows: number }> {
      const { markets } = checked(await read('/markets', query), READ.markets);
      return { markets: itemsOf(markets, READ.market), rows: markets.length };
    },

    /** Events whose words match, with their markets. @param page `cursor` is the number of rows to skip */
    async search(
      words: string,
      page: { readonly limit: number; readonly cursor: number },
    ): Promise<{ readonly events: readonly WireEvent[]; readonly rows: number }> {
      const reply = await read('/search', {
        q: words,
        ...page,
        withNestedMarkets: true,
        withMarketAccounts: true,
      });
      const { events } = checked(reply, READ.events);
      return { events: itemsOf(events, READ.event), rows: events.length };
    },

    /** `null`: the market has no book. */
    async orderbook(ticker: string): Promise<WireOrderbook | null> {
      if (!canBeTicker(ticker)) return null;
      const reply = await read(`/orderbook/${encodeURIComponent(ticker)}`);
      return isNoSuchId(reply) ? null : checked(reply, READ.orderbook);
    },

    /** The mints among `addresses` that are outcome tokens; at most 200 per call. */
    async filterOutcomeMints(addresses: readonly string[]): Promise<readonly string[]> {
      const { outcomeMints } = checked(await ask('/filter_outcome_mints', { addresses }), READ.outcomeMints);
      return itemsOf(outcomeMints, (mint) => (typeof mint === 'string' ? mint : null));
    },

    /** A market's newest trades. */
    async onchainTrades(ticker: string): Promise<readonly WireOnchainTrade[]> {
      if (!canBeTicker(ticker)) return [];
      const reply = await read(`/onchain-trades/by-market/${encodeURIComponent(ticker)}`, {
        limit: MAX_ONCHAIN_TRADES,
        sortBy: 'createdAt',
        sortOrder: 'desc',
      });
      return itemsOf(checked(reply, READ.onchainTrades).trades, READ.onchainTrade);
    },

    async order(query: Query): Promise<OrderAnswer> {
      const reply = await get(trade, `${tradeUrl}/order${queryOf(query)}`, ORDER_TIMEOUT_MS);
      if (reply.status < BAD_REQUEST) return { kind: 'order', order: checked(reply, READ.order) };
      return { kind: 'refused', refusal: refusalOf(reply) };
    },

    /** Whether a person has proved their identity for the wallet; `null`: there is no readable answer. */
    async isVerified(wallet: SolanaAddress): Promise<boolean | null> {
      if ((verified.get(wallet) ?? 0) > clock.now()) return true;
      try {
        const reply = await proof.call({
          method: 'GET',
          url: `${proofUrl}/verify/${wallet}`,
          headers: { accept: 'application/json' },
          timeoutMs: PROOF_TIMEOUT_MS,
          // One try has all of the time.
          repeatable: false,
        });
        if (reply.body.length > PROOF_CHARS) throw new VenueUnavailable("DFlow Proof's answer is too large");
        const is = checked(reply, READ.proof).verified;
        if (is) verified.set(wallet, clock.now() + VERIFIED_MS);
        return is;
      } catch (error) {
        const reason = (error as Error).message;
        if (!saidProof) log.warn({ reason }, 'DFlow does not say whether an identity is verified');
        saidProof = true;
        return null;
      }
    },
    /** DFlow's own word about an order comes before what was remembered. */
    forgetVerified: (wallet: SolanaAddress): void => verified.delete(wallet),

    /** `null`: the venue does not know the signature, or not yet. */
    async orderStatus(signature: string, lastValidBlockHeight: number): Promise<WireOrderStatus | null> {
      const url = `${tradeUrl}/order-status${queryOf({ signature, lastValidBlockHeight })}`;
      const reply = await get(trade, url, METADATA_TIMEOUT_MS);
      return isMissing(reply) ? null : checked(reply, READ.orderStatus);
    },

    /** Whether Kalshi trades; `true` unless its status says otherwise. */
    async exchangeTrades(): Promise<boolean> {
      if (exchangeStatusUrl === null) return true;
      try {
        // Another service: it must not receive the API key.
        const reply = await send({
          method: 'GET',
          url: exchangeStatusUrl,
          headers: { accept: 'application/json' },
          timeoutMs: METADATA_TIMEOUT_MS,
        });
        const status = READ.exchangeStatus(tryJson(reply.body));
        return status === null || (status.exchange_active && status.trading_active);
      } catch {
        return true;
      }
    },
  };
}

const isMissing = ({ status }: HttpReply): boolean => status === NOT_FOUND;

/** For requests by id: a service that rejects the id has nothing with that id. */
const isNoSuchId = ({ status }: HttpReply): boolean => NOT_KNOWN.has(status);
const NOT_KNOWN: ReadonlySet<number> = new Set([NOT_FOUND, BAD_REQUEST, URI_TOO_LONG, UNPROCESSABLE]);

/**
 * Whether a text has the form of a ticker: visible ASCII, within the maximum length, and not a path step. Other texts are
 * never looked up, so they cannot make a batch fail.
 */
export const canBeTicker = (text: string): boolean =>
  TICKER.test(text) && text.length <= MAX_TICKER_CHARS && text !== '.' && text !== '..';
const TICKER = /^[!-~]+$/;

async function answered(reply: Promise<HttpReply>): Promise<HttpReply> {
  try {
    return await reply;
  } catch (error) {
    throw new VenueUnavailable((error as Error).message);
  }
}

/** @throws VenueUnavailable */
function checked<T>(reply: HttpReply, check: (value: unknown) => T | null): T {
  if (reply.status >= BAD_REQUEST) throw new VenueUnavailable(`DFlow refuses the request (${reply.status})`);
  const value = check(tryJson(reply.body));
  if (value === null) throw new VenueUnavailable("DFlow's answer has another shape than is known");
  return value;
}

/** @throws VenueUnavailable when the refusal is not about this order: no code, or DFlow rejects our key */
function refusalOf(reply: HttpReply): OrderRefusal {
  const refusal = READ.refusal(tryJson(reply.body));
  const code = wordOf(refusal?.code);
  const concernsKey = reply.status === FORBIDDEN && !ABOUT_THE_CALLER.has(code);
  if (refusal === null || concernsKey || reply.status === UNAUTHORIZED)
    throw new VenueUnavailable(`DFlow refuses the request (${reply.status})`);
  return {
    code,
    message: plainText(refusal.msg ?? '', MESSAGE_CHARS),
    deepLink: deepLinkOf(refusal.details),
  };
}

/** Any other 403 is about the API key. */
const ABOUT_THE_CALLER = new Set(['geoblocked', 'wallet_restricted', 'unverified_wallet_not_allowed']);

const MAX_LINK_CHARS = 500;

function deepLinkOf(details: unknown): string | null {
  const link = (details as { deepLink?: unknown } | null | undefined)?.deepLink;
  const sane = typeof link === 'string' && link.length <= MAX_LINK_CHARS && /^https:\/\/[!-~]+$/.test(link);
  return sane ? link : null;
}
