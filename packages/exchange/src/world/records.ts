/** The world's records of events and markets: plain data, so that a snapshot is a list of them; and its canonical bytes. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { ConditionId, OrderId, Payout, TokenId } from '../engine/commands.ts';
import { Engine } from '../engine/engine.ts';
import type { OutcomeNames } from './markets.ts';
import { Random, type RandomState } from './random.ts';
import type { V2Share } from './slots.ts';

/** A probability in millionths. */
export type Millionths = number;
export const CERTAIN: Millionths = 1_000_000;
export const MILLIONTHS_PER_PIP = 100;

/** One of the maker's orders on the book. */
export interface Quote {
  readonly orderId: OrderId;
  readonly side: QuoteSide;
  /** YES price. */
  readonly price: Pips;
  /** Size that the live level of a mirrored market still has, taken here or not. */
  size: Micro;
  remaining: Micro;
}

/** `bid` buys YES; `ask` buys NO, which on the unified book offers YES. */
export type QuoteSide = 'bid' | 'ask';

export interface WorldMarket {
  readonly id: string;
  readonly conditionId: ConditionId;
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  /** Absent: `YES_NO`. */
  outcomes?: OutcomeNames | undefined;
  tickSize: Pips;
  readonly createdAt: number;
  updatedAt: number;
  status: 'open' | 'closed' | 'resolved';
  payout: Payout | undefined;
  resolvedAt: number | undefined;

  /** Hidden: the chance that the market resolves YES. */
  probability: Millionths;
  /** Hidden: how far the probability moves at a time. */
  readonly moveSize: Millionths;

  /** Ticks that the maker backs off from fair, per side, because that side was filled. Decays. */
  pressure: { bid: number; ask: number };
  quotes: Quote[];
  /** Shares of each side when it was last quoted: the reference of `thin`. */
  quoted: { bid: Micro; ask: Micro };
  /** Volume at the start of each of the last hours, newest last; at most 24. */
  hourlyVolumes: Micro[];
}

/** Facts that a slot gives to its markets, for a market that is another venue's. */
export interface MirrorTerms {
  readonly category: string;
  readonly negRisk: boolean;
  readonly feeRate: Micro;
  readonly feeExponent: number;
  minOrderSize: Micro;
  /** The live book is not known. */
  isPaused: boolean;
}

export interface WorldEvent {
  readonly id: string;
  readonly title: string;
  /** Index into SLOTS; of a mirrored market −1. */
  readonly slot: number;
  /** Its markets are of the venue's Protocol V2. Absent: of V1. */
  readonly version?: 'v2';
  /** Terms of a mirrored market, which is alone in its event here. */
  readonly mirror?: MirrorTerms;
  endDate: number;
  /** Time at which the event is due for its outcome (closed) or for the archive (resolved). */
  dueAt: number;
  /** Time of the maker's next visit. */
  nextQuoteAt: number;
  /** Not yet archived. */
  markets: WorldMarket[];
}

/** The world's state besides the engine's. */
export interface WorldState {
  readonly seed: string;
  /** In thousandths. */
  speed: number;
  /** Whole hours since the epoch at the last step: a change starts a new hour of volume. */
  hour: number;
  /** A command removes a bounded number of orders of closed markets and expired ones. */
  hasBoundedSweeps: boolean;
  /** The token ids of what is listed follow from the condition; worlds of earlier releases drew them. */
  hasDerivedTokens: boolean;
  /** Fixed at the founding; worlds of earlier releases have none. */
  readonly v2Share: V2Share | undefined;
  /** By slot: every slot always has an event. */
  readonly open: WorldEvent[];
  /** Closed, waiting for the outcome; oldest first. */
  readonly closed: WorldEvent[];
  /** Resolved, waiting for the archive; next due first. */
  readonly resolved: WorldEvent[];
  /** Events of a live venue, in the order of listing, until they are archived. */
  mirrored: WorldEvent[];
}

// Encodes and decodes the world's canonical bytes: the length of a JSON text, the text, the engine's snapshot. The text
// is canonical because every record is written field by field in one order; amounts are decimal strings.

const VERSION = 1;
const LENGTH_BYTES = 4;

/** The whole state of a world. */
export interface WorldParts {
  readonly engine: Engine;
  readonly state: WorldState;
  readonly random: { readonly latent: Random; readonly catalogue: Random; readonly crowd: Random };
  /** Number of markets ever listed. */
  readonly listed: { readonly markets: number; readonly events: number };
  /** Number of the house's next order. */
  readonly nextOrder: number;
}

type QuoteRow = readonly [OrderId, QuoteSide, price: number, size: string, remaining: string];

interface MarketRow {
  readonly id: string;
  readonly conditionId: string;
  readonly tokenIds: readonly [string, string];
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly outcomes?: OutcomeNames;
  readonly tickSize: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly status: WorldMarket['status'];
  readonly payout: Payout | null;
  readonly resolvedAt: number | null;
  readonly probability: number;
  readonly moveSize: number;
  readonly pressure: readonly [bid: number, ask: number];
  readonly quotes: readonly QuoteRow[];
  readonly quoted: readonly [bid: string, ask: string];
  readonly hourlyVolumes: readonly string[];
}

interface MirrorRow {
  readonly category: string;
  readonly negRisk: boolean;
  readonly feeRate: string;
  readonly feeExponent: number;
  readonly minOrderSize: string;
  readonly isPaused: boolean;
}

interface EventRow {
  readonly id: string;
  readonly title: string;
  readonly slot: number;
  readonly version?: 'v2';
  readonly mirror?: MirrorRow;
  readonly endDate: number;
  readonly dueAt: number;
  readonly nextQuoteAt: number;
  readonly markets: readonly MarketRow[];
}

interface WorldRow {
  readonly version: number;
  readonly seed: string;
  readonly speed: number;
  readonly hour: number;
  readonly listed: readonly [markets: number, events: number];
  readonly nextOrder: number;
  readonly random: readonly [latent: RandomState, catalogue: RandomState, crowd: RandomState];
  /** Absent in worlds of earlier releases. */
  readonly boundedSweeps?: true;
  readonly derivedTokens?: true;
  readonly v2Share?: V2Share;
  readonly open: readonly EventRow[];
  readonly closed: readonly EventRow[];
  readonly resolved: readonly EventRow[];
  /** Absent where nothing is mirrored. */
  readonly mirrored?: readonly EventRow[];
}

export function encodeWorld(parts: WorldParts): Uint8Array {
  const { state, random, listed } = parts;
  const row: WorldRow = {
    version: VERSION,
    seed: state.seed,
    speed: state.speed,
    hour: state.hour,
    listed: [listed.markets, listed.events],
    nextOrder: parts.nextOrder,
    random: [random.latent.state(), random.catalogue.state(), random.crowd.state()],
    ...(state.hasBoundedSweeps ? { boundedSweeps: true } : {}),
    ...(state.hasDerivedTokens ? { derivedTokens: true } : {}),
    ...(state.v2Share === undefined ? {} : { v2Share: state.v2Share }),
    open: state.open.map(eventRow),
    closed: state.closed.map(eventRow),
    resolved: state.resolved.map(eventRow),
    ...(state.mirrored.length > 0 ? { mirrored: state.mirrored.map(eventRow) } : {}),
  };
  const text = new TextEncoder().encode(JSON.stringify(row));
  const engine = parts.engine.snapshot();
  const bytes = new Uint8Array(LENGTH_BYTES + text.length + engine.length);
  new DataView(bytes.buffer).setUint32(0, text.length);
  bytes.set(text, LENGTH_BYTES);
  bytes.set(engine, LENGTH_BYTES + text.length);
  return bytes;
}

/** @throws Error when the bytes are not a snapshot of a world, or have another version. */
export function decodeWorld(bytes: Uint8Array): WorldParts {
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0);
  const end = LENGTH_BYTES + length;
  const row = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, end))) as WorldRow;
  if (row.version !== VERSION) throw new Error(`a world snapshot of version ${row.version} cannot be read`);
  const [latent, catalogue, crowd] = row.random;
  return {
    engine: Engine.restore(bytes.subarray(end)),
    state: {
      seed: row.seed,
      speed: row.speed,
      hour: row.hour,
      hasBoundedSweeps: row.boundedSweeps === true,
      hasDerivedTokens: row.derivedTokens === true,
      v2Share: row.v2Share,
      open: row.open.map(eventOf),
      closed: row.closed.map(eventOf),
      resolved: row.resolved.map(eventOf),
      mirrored: (row.mirrored ?? []).map(eventOf),
    },
    random: { latent: new Random(latent), catalogue: new Random(catalogue), crowd: new Random(crowd) },
    listed: { markets: row.listed[0], events: row.listed[1] },
    nextOrder: row.nextOrder,
  };
}

const eventRow = (event: WorldEvent): EventRow => ({
  id: event.id,
  title: event.title,
  slot: event.slot,
  ...(event.version === undefined ? {} : { version: event.version }),
  ...(event.mirror === undefined ? {} : { mirror: mirrorRow(event.mirror) }),
  endDate: event.endDate,
  dueAt: event.dueAt,
  nextQuoteAt: event.nextQuoteAt,
  markets: event.markets.map(marketRow),
});

const mirrorRow = (mirror: MirrorTerms): MirrorRow => ({
  category: mirror.category,
  negRisk: mirror.negRisk,
  feeRate: text(mirror.feeRate),
  feeExponent: mirror.feeExponent,
  minOrderSize: text(mirror.minOrderSize),
  isPaused: mirror.isPaused,
});

const eventOf = ({ mirror, ...row }: EventRow): WorldEvent => ({
  ...row,
  ...(mirror === undefined
    ? {}
    : {
        mirror: {
          ...mirror,
          feeRate: BigInt(mirror.feeRate),
          minOrderSize: BigInt(mirror.minOrderSize),
        },
      }),
  markets: row.markets.map(marketOf),
});

const marketRow = (market: WorldMarket): MarketRow => ({
  id: market.id,
  conditionId: market.conditionId,
  tokenIds: market.tokenIds,
  slug: market.slug,
  question: market.question,
  description: market.description,
  ...(market.outcomes === undefined ? {} : { outcomes: market.outcomes }),
  tickSize: market.tickSize,
  createdAt: market.createdAt,
  updatedAt: market.updatedAt,
  status: market.status,
  payout: market.payout ?? null,
  resolvedAt: market.resolvedAt ?? null,
  probability: market.probability,
  moveSize: market.moveSize,
  pressure: [market.pressure.bid, market.pressure.ask],
  quotes: market.quotes.map(
    (quote): QuoteRow => [quote.orderId, quote.side, quote.price, text(quote.size), text(quote.remaining)],
  ),
  quoted: [text(market.quoted.bid), text(market.quoted.ask)],
  hourlyVolumes: market.hourlyVolumes.map(text),
});

const marketOf = (row: MarketRow): WorldMarket => ({
  ...row,
  payout: row.payout ?? undefined,
  resolvedAt: row.resolvedAt ?? undefined,
  pressure: { bid: row.pressure[0], ask: row.pressure[1] },
  quotes: row.quotes.map(
    ([orderId, side, price, size, remaining]): Quote => ({
      orderId,
      side,
      price,
      size: BigInt(size),
      remaining: BigInt(remaining),
    }),
  ),
  quoted: { bid: BigInt(row.quoted[0]), ask: BigInt(row.quoted[1]) },
  hourlyVolumes: row.hourlyVolumes.map(BigInt),
});

const text = (amount: Micro): string => amount.toString();
