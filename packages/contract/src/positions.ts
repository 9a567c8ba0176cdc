/**
 * Describes what happens to the holding of one wallet in one token, and what that is worth: the only description of average cost,
 * results, closing, redemption, losses by resolution, failed settlements and fills that are reported late.
 * Pure. Sizes are micro-shares, money is micro-units, times are epoch milliseconds.
 *
 * - A purchase adds its size and cost. A sale takes the sold share of the cost, rounded down; the last share takes the rest.
 *   Its result is what it brought less what it took. Fees are counted beside, and are part of what a closed position won or lost.
 * - A wallet on a chain also holds what came to it past the desk: a sale of shares that the desk does not know of is neither
 *   a gain nor a loss. At a paper venue nothing is sold that is not there.
 * - A resolution closes what is left worthless: a sale for nothing. A redemption is a sale for what the resolution pays; a split
 *   buys and a merge sells one share of each outcome for one unit together. A conversion sells NO shares for what they are worth and
 *   buys YES shares of the other markets for the same.
 * - On a chain a fill, or a set's leg, may be reported late, and a fill may be taken back when its settlement fails. Then the position is computed anew
 *   from all its fills (`recount`), which the caller has read.
 */
import { formatMicro, MICRO, type Micro, PIPS, type Pips, parseMicro } from './decimals.ts';

/** A fill's effect on a holding. */
export interface Move {
  readonly side: 'BUY' | 'SELL';
  readonly size: bigint;
  /** Amount paid or received, without the fee. */
  readonly cost: bigint;
  readonly fee: bigint;
  readonly at: number;
}

export interface Position {
  readonly size: bigint;
  /** Cost of the shares that are left. */
  readonly cost: bigint;
  /** Results of all sales, before fees. */
  readonly realized: bigint;
  readonly fees: bigint;
  /** The part of `realized`, after fees, that was won or lost when it was closed last. */
  readonly settled: bigint;
  readonly boughtSize: bigint;
  readonly boughtCost: bigint;
  /** `null`: it is open. */
  readonly closedAt: number | null;
}

export const NO_POSITION: Position = {
  size: 0n,
  cost: 0n,
  realized: 0n,
  fees: 0n,
  settled: 0n,
  boughtSize: 0n,
  boughtCost: 0n,
  closedAt: null,
};

/** The changes of one fill. */
export interface Step {
  readonly position: Position;
  readonly gain: bigint;
  /** Shares of the fill that the desk knows of: of a sale, at most those that were held. */
  readonly known: bigint;
  /** Result of a position that it closed: won or lost with all its fees; else 0. */
  readonly net: bigint;
}

/**
 * @example
 * const { position, gain } = step(NO_POSITION, { side: 'BUY', size: 10n, cost: 5n, fee: 0n, at: 0 });
 */
export function step(before: Position, { side, size, cost, fee, at }: Move): Step {
  const fees = before.fees + fee;
  if (side === 'BUY') {
    const position: Position = {
      size: before.size + size,
      cost: before.cost + cost,
      realized: before.realized,
      fees,
      settled: before.settled,
      boughtSize: before.boughtSize + size,
      boughtCost: before.boughtCost + cost,
      closedAt: null,
    };
    return { position, gain: 0n, known: size, net: 0n };
  }
  const closes = size >= before.size;
  const known = closes ? before.size : size;
  const gave = closes ? before.cost : (before.cost * size) / before.size;
  const gain = (known === size ? cost : (cost * known) / size) - gave;
  const realized = before.realized + gain;
  const position: Position = {
    size: before.size - known,
    cost: before.cost - gave,
    realized,
    fees,
    settled: closes ? realized - fees : before.settled,
    boughtSize: before.boughtSize,
    boughtCost: before.boughtCost,
    closedAt: closes ? at : null,
  };
  // A result that was closed before cannot be won or lost again.
  const net = closes && before.size > 0n ? realized - fees - before.settled : 0n;
  return { position, gain, known, net };
}

/** Shares of one purchase that are still held. */
export interface Lot {
  readonly move: Move;
  readonly size: bigint;
  readonly cost: bigint;
}

/**
 * The shares of one token by purchase, the oldest sold first: for statements that ask for it. Takes the moves in the order in which
 * they count.
 * @example
 * const lots = new Lots();
 * lots.take({ side: 'BUY', size: 10n, cost: 5n, fee: 0n, at: 0 });
 */
export class Lots {
  readonly #lots: Lot[] = [];
  /** Those before it are sold. */
  #first = 0;
  #cost = 0n;

  /** Oldest first; their sizes add up to that of the position. */
  get open(): readonly Lot[] {
    return this.#lots.slice(this.#first);
  }

  /** Cost of the shares that are left. */
  get cost(): bigint {
    return this.#cost;
  }

  /** @returns the result of a sale, as a {@link Step} has it for averages */
  take(move: Move): Pick<Step, 'gain' | 'known'> {
    if (move.side === 'BUY') {
      this.#lots.push({ move, size: move.size, cost: move.cost });
      this.#cost += move.cost;
      return { gain: 0n, known: move.size };
    }
    let left = move.size;
    let gave = 0n;
    while (left > 0n && this.#first < this.#lots.length) {
      const lot = this.#lots[this.#first] as Lot;
      if (lot.size > left) {
        const cost = (lot.cost * left) / lot.size;
        this.#lots[this.#first] = { ...lot, size: lot.size - left, cost: lot.cost - cost };
        gave += cost;
        left = 0n;
      } else {
        gave += lot.cost;
        left -= lot.size;
        this.#first += 1;
      }
    }
    this.#forgetSold();
    this.#cost -= gave;
    const known = move.size - left;
    return { gain: (left === 0n ? move.cost : (move.cost * known) / move.size) - gave, known };
  }

  #forgetSold(): void {
    if (this.#first < SOLD_KEPT || this.#first * 2 < this.#lots.length) return;
    this.#lots.splice(0, this.#first);
    this.#first = 0;
  }
}

/** Fewer are not worth moving the others for. */
const SOLD_KEPT = 64;

/** `chain`: the wallet may hold more than the desk knows of. `ends`: a payout after the resolution, which is no trade. */
export type Reach = 'venue' | 'chain' | 'ends';

/** Effects of a fill's kind of match. */
const REACHES: Readonly<Record<string, Reach>> = {
  LIVE: 'chain',
  DFLOW: 'chain',
  REDEEM: 'chain',
  // At a live venue they may use shares that came past the desk; on paper the exchange itself knows what there is.
  SPLIT: 'chain',
  MERGED: 'chain',
  CONVERTED: 'chain',
  REDEEMED: 'ends',
  LOST: 'ends',
};

/**
 * @example
 * reachOf('LIVE'); // 'chain'
 */
export const reachOf = (matchKind: string): Reach => REACHES[matchKind] ?? 'venue';

const NO_TRADES: ReadonlySet<string> = new Set([
  'SPLIT',
  'MERGED',
  'CONVERTED',
  'REDEEM',
  'REDEEMED',
  'LOST',
]);

/**
 * Whether two parties traded: it counts as volume, and names the agent of the position.
 * @example
 * isTrade('REDEEM'); // false
 */
export const isTrade = (matchKind: string): boolean => !NO_TRADES.has(matchKind);

/** The most by which clocks of replicas, and the whole seconds of a venue, differ. */
export const CLOCKS_DIFFER_MS = 10_000;

export interface Token {
  readonly wallet: string;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: 'YES' | 'NO';
}

/** Names a fill among those of its order and wallet. A number inside; records and cursors carry it as text. */
export type FillId = number;

/** One order's part in a match, or what else moved a position. */
export interface Fill extends Move, Token {
  readonly orderId: string;
  readonly tradeId: FillId;
  readonly price: Pips;
  readonly liquidity: 'maker' | 'taker';
  /** As the venue names it. */
  readonly matchKind: string;
}

/** A fill of the past. */
export interface PastFill extends Move {
  readonly orderId: string;
  readonly tradeId: FillId;
  readonly matchKind: string;
  /** The gain that it counts with. */
  readonly gain: bigint;
  /** When it counts, where that is not when it happened. */
  readonly countsAt: number | null;
}

/** Facts about a holding before new events. */
export interface Holding {
  readonly token: Token;
  readonly position: Position;
  /** When it changed last. */
  readonly changedAt: number;
  /** Recorded losses of the wallet in this market: the next one is numbered by it. */
  readonly losses: number;
  /** Shares of the token that were redeemed past the desk, and in how many records. */
  readonly redeemed: { readonly size: bigint; readonly records: number };
  /**
   * All its fills in any order, where they were read. Who tells fills of a chain late (`mayBeLate`), or takes some back, has read
   * them.
   */
  readonly history: readonly PastFill[] | null;
}

/**
 * A holding of which nothing is known. @param history `[]`: there was nothing before
 * @example
 * const { position } = holdingOf(token); // of a wallet that never traded this token
 */
export const holdingOf = (
  { wallet, conditionId, tokenId, outcome }: Token,
  history: Holding['history'] = null,
): Holding => ({
  token: { wallet, conditionId, tokenId, outcome },
  position: NO_POSITION,
  changedAt: 0,
  losses: 0,
  redeemed: { size: 0n, records: 0 },
  history,
});

/**
 * @example
 * holdingKey({ wallet: '0xa11ce', tokenId: '7' });
 */
export const holdingKey = ({ wallet, tokenId }: Pick<Token, 'wallet' | 'tokenId'>): string =>
  `${wallet} ${tokenId}`;

/** What a resolved market pays: one for a share of an outcome, half for each, or '0.24' for YES and the rest of one for NO. */
export type Payout = 'YES' | 'NO' | 'HALF' | `0.${string}`;

/**
 * @param yes what a share of YES pays, from 0 to one collateral
 * @example
 * payoutOf(240_000n); // '0.24'
 */
export function payoutOf(yes: Micro): Payout {
  if (yes < 0n || yes > MICRO) throw new RangeError(`a share cannot pay ${yes} micro-units`);
  if (yes === MICRO) return 'YES';
  if (yes === 0n) return 'NO';
  return yes * 2n === MICRO ? 'HALF' : (formatMicro(yes) as Payout);
}

/**
 * What a share of an outcome pays.
 * @example
 * paysOf('0.24', 'NO'); // 760_000n
 */
export function paysOf(payout: Payout, outcome: 'YES' | 'NO'): Micro {
  if (payout === 'HALF') return MICRO / 2n;
  if (payout === 'YES' || payout === 'NO') return payout === outcome ? MICRO : 0n;
  const yes = parseMicro(payout);
  return outcome === 'YES' ? yes : MICRO - yes;
}

/**
 * What shares of an outcome are redeemed for, rounded down.
 * @example
 * redeemedFor('0.24', 'YES', 10_000_000n); // 2_400_000n
 */
export const redeemedFor = (payout: Payout, outcome: 'YES' | 'NO', size: bigint): Micro =>
  (size * paysOf(payout, outcome)) / MICRO;

export type PositionEvent =
  /** Fills that are reported together, in the order in which they happened. */
  | { readonly kind: 'fills'; readonly fills: readonly Fill[] }
  /** Fills that never happened: their settlement failed. One that is not there is ignored. */
  | {
      readonly kind: 'reversal';
      readonly key: string;
      readonly fills: readonly FillName[];
      readonly at: number;
    }
  /** A market's resolution: worthless tokens are lost at that moment. */
  | {
      readonly kind: 'resolution';
      readonly conditionId: string;
      readonly payout: Payout;
      readonly at: number;
    }
  /** How many shares of a token were redeemed past the desk until now, all together. */
  | {
      readonly kind: 'redemption';
      readonly key: string;
      readonly size: bigint;
      readonly payout: Payout;
      readonly at: number;
    };

type FillName = Pick<PastFill, 'orderId' | 'tradeId'>;

/** A fill that was added, with what it did. */
export interface Counted {
  readonly fill: Fill;
  readonly gain: bigint;
  readonly net: bigint;
}

/** A fill that a recount describes otherwise than before. */
export interface Recounted {
  readonly fill: PastFill;
  /** It never happened. */
  readonly isGone: boolean;
  readonly gain: bigint;
  /** Positions to add to those that were won, and to those that were lost. */
  readonly wins: number;
  readonly losses: number;
  readonly countsAt: number | null;
}

export interface Change {
  readonly token: Token;
  readonly before: Position;
  readonly after: Position;
  readonly at: number;
}

/** Changes by events, in the order in which they were made. Each part is written as a set. */
export type Part =
  | {
      readonly kind: 'counted';
      readonly isEnd: boolean;
      readonly fills: readonly Counted[];
      readonly changes: readonly Change[];
    }
  | {
      readonly kind: 'recounted';
      readonly fills: readonly Recounted[];
      /** `isEmpty`: none of its fills is left. */
      readonly change: Change & { readonly isEmpty: boolean };
    };

export interface Folded {
  readonly holdings: ReadonlyMap<string, Holding>;
  readonly parts: readonly Part[];
}

/**
 * Holdings after events, with what the events did.
 * @param holdings those of every sale, reversal and redemption of the events, and all held ones of each market that is resolved.
 *   A purchase of another one is counted from nothing: `before` and `after` of its change differ by what it adds.
 * @throws RangeError for a sale at a paper venue of more than is held
 * @example
 * const before = new Map([[holdingKey(token), holdingOf(token)]]);
 * const { holdings } = fold(before, [{ kind: 'resolution', conditionId: token.conditionId, payout: 'YES', at: 1 }]);
 */
export function fold(holdings: ReadonlyMap<string, Holding>, events: readonly PositionEvent[]): Folded {
  const folding = new Folding(holdings);
  for (const event of events) folding.take(event);
  return { holdings: folding.touched, parts: folding.parts };
}

class Folding {
  readonly #known: ReadonlyMap<string, Holding>;
  /** Those that an event has changed. */
  readonly touched = new Map<string, Holding>();
  readonly parts: Part[] = [];

  constructor(known: ReadonlyMap<string, Holding>) {
    this.#known = known;
  }

  take(event: PositionEvent): void {
    switch (event.kind) {
      case 'fills':
        this.#takeFills(event.fills);
        break;
      case 'reversal':
        this.#reverse(event.key, event.fills, event.at);
        break;
      case 'resolution':
        this.#count(this.#lostBy(event), true);
        break;
      case 'redemption':
        this.#count(this.#redeemedBy(event), true);
    }
  }

  #takeFills(fills: readonly Fill[]): void {
    const trades = fills.filter(({ matchKind }) => reachOf(matchKind) !== 'ends');
    const ends = trades.length === fills.length ? [] : fills.filter((fill) => !trades.includes(fill));
    this.#count(trades, false);
    // The resolution closed it at a loss; the venue burns the tokens when something else of the market is redeemed.
    this.#count(
      ends.filter((fill) => (this.#find(holdingKey(fill))?.position.size ?? 0n) > 0n),
      true,
    );
    const reported = trades.filter(isOnChain);
    for (const key of new Set(reported.map(holdingKey)))
      this.#placeLate(
        key,
        reported.filter((fill) => holdingKey(fill) === key),
      );
  }

  #find(key: string): Holding | undefined {
    return this.touched.get(key) ?? this.#known.get(key);
  }

  #count(fills: readonly Fill[], isEnd: boolean): void {
    if (fills.length === 0) return;
    const counted: Counted[] = [];
    const before = new Map<string, Holding>();
    for (const fill of fills) {
      const key = holdingKey(fill);
      const holding = this.#find(key) ?? holdingOf(fill);
      if (!before.has(key)) before.set(key, holding);
      const isKnownWhole = reachOf(fill.matchKind) !== 'chain';
      if (isKnownWhole && fill.side === 'SELL' && fill.size > holding.position.size)
        throw new RangeError(
          `a fill sells ${fill.size} of token ${fill.tokenId}, of which wallet ${fill.wallet} has ${holding.position.size}`,
        );
      const { position, gain, net } = step(holding.position, fill);
      counted.push({ fill, gain, net });
      this.touched.set(key, {
        ...holding,
        position,
        changedAt: fill.at,
        losses: holding.losses + (fill.matchKind === 'LOST' ? 1 : 0),
        history: holding.history === null ? null : [...holding.history, pastOf(fill, gain)],
      });
    }
    const changes = [...before].map(([key, { token, position }]) => {
      const { position: after, changedAt } = this.touched.get(key) as Holding;
      return { token, before: position, after, at: changedAt };
    });
    this.parts.push({ kind: 'counted', isEnd, fills: counted, changes });
  }

  *#all(): Iterable<Holding> {
    yield* this.touched.values();
    for (const [key, holding] of this.#known) if (!this.touched.has(key)) yield holding;
  }

  #lostBy({ conditionId, payout, at }: PositionEvent & { kind: 'resolution' }): Fill[] {
    if (payout !== 'YES' && payout !== 'NO') return [];
    const lost: Fill[] = [];
    for (const { token, position, losses } of this.#all()) {
      if (token.conditionId !== conditionId || token.outcome === payout || position.size === 0n) continue;
      const { size } = position;
      lost.push({
        ...token,
        orderId: `lost:${conditionId}`,
        tradeId: losses * 2 + (token.outcome === 'YES' ? 0 : 1),
        side: 'SELL',
        price: 0,
        size,
        cost: 0n,
        fee: 0n,
        liquidity: 'taker',
        matchKind: 'LOST',
        at,
      });
    }
    return lost.sort((a, b) => compare(holdingKey(a), holdingKey(b)));
  }

  #redeemedBy({ key, size, payout, at }: PositionEvent & { kind: 'redemption' }): Fill[] {
    const holding = this.#find(key);
    if (holding === undefined) return [];
    const { token, position, changedAt, redeemed } = holding;
    const pays = paysOf(payout, token.outcome);
    if (pays === 0n) return [];
    const left = size - redeemed.size;
    const amount = position.size < left ? position.size : left;
    if (amount <= 0n) return [];
    this.touched.set(key, {
      ...holding,
      redeemed: { size: redeemed.size + amount, records: redeemed.records + 1 },
    });
    return [
      {
        ...token,
        orderId: `redeemed:${token.conditionId}`,
        tradeId: redeemed.records * 2 + (token.outcome === 'YES' ? 0 : 1),
        side: 'SELL',
        price: Number((pays * BigInt(PIPS)) / MICRO),
        size: amount,
        cost: (amount * pays) / MICRO,
        fee: 0n,
        liquidity: 'taker',
        matchKind: 'REDEEMED',
        at: Math.max(at, changedAt),
      },
    ];
  }

  #reverse(key: string, names: readonly FillName[], at: number): void {
    const holding = this.#find(key);
    if (holding === undefined) return;
    const gone = historyOf(holding).filter((fill) => names.some((name) => isSame(fill, name)));
    if (gone.length > 0) this.#recount(key, holding, { gone: new Set(gone), late: [], at });
  }

  /** A sale's tokens were unknown where their purchase was reported later, so it counted as sold past the desk. */
  #placeLate(key: string, reported: readonly Fill[]): void {
    const holding = this.#find(key) as Holding;
    if (holding.history === null) return;
    const late = reported.map((fill) => holding.history?.find((past) => isSame(past, fill)) as PastFill);
    if (!reported.some((fill) => isLate(fill, holding.history as readonly PastFill[], holding.position)))
      return;
    this.#recount(key, holding, { gone: new Set(), late, at: Math.max(...reported.map(({ at }) => at)) });
  }

  #recount(
    key: string,
    holding: Holding,
    { gone, late, at }: { gone: ReadonlySet<PastFill>; late: readonly PastFill[]; at: number },
  ): void {
    const { fills, position, left } = recount(historyOf(holding), gone, late);
    const { token, position: before } = holding;
    const isEmpty = left.length === 0;
    this.touched.set(key, { ...holding, position, changedAt: at, history: left });
    this.parts.push({
      kind: 'recounted',
      fills,
      change: { token, before, after: position, at, isEmpty },
    });
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isSame = (a: FillName, b: FillName): boolean => a.tradeId === b.tradeId && a.orderId === b.orderId;

const pastOf = (fill: Fill, gain: bigint): PastFill => ({
  orderId: fill.orderId,
  tradeId: fill.tradeId,
  matchKind: fill.matchKind,
  side: fill.side,
  size: fill.size,
  cost: fill.cost,
  fee: fill.fee,
  at: fill.at,
  gain,
  countsAt: null,
});

function historyOf({ token, history }: Holding): readonly PastFill[] {
  if (history === null) throw new Error(`the fills of token ${token.tokenId} were not read`);
  return history;
}

/** Facts of a position that tell whether its events may be late. */
export interface Recent {
  /** Its fills from `CLOCKS_DIFFER_MS` before the first that is reported. */
  readonly fills: readonly Pick<PastFill, 'side' | 'matchKind' | 'at'>[];
  /** The sizes of all its sales, added up; where `fills` has none, it may be 0. */
  readonly sold: bigint;
}

/**
 * Whether new fills of a position may change the results of earlier ones. If so, its whole history is needed.
 * @example
 * const needsHistory = mayBeLate(fills, holdingOf(token), recent);
 */
export function mayBeLate(
  reported: readonly Fill[],
  { position }: Holding,
  { fills, sold }: Recent,
): boolean {
  const all = [...fills, ...reported];
  const lacksSome =
    sold + position.size > position.boughtSize || reported.some(({ side }) => side === 'SELL');
  return reported.some(
    (fill) =>
      all.some((other) => isOvertaking(other, fill)) ||
      (lacksSome && fill.side === 'BUY' && all.some((other) => isNearSale(other, fill))),
  );
}

type ReportedFill = Pick<PastFill, 'side' | 'matchKind' | 'at'>;

/** It happened later, is known already, and counts otherwise now: a sale after a purchase, anything after a sale. */
const isOvertaking = (other: ReportedFill, fill: ReportedFill): boolean =>
  other.at > fill.at &&
  (fill.side === 'SELL' ? reachOf(other.matchKind) !== 'venue' : other.side === 'SELL' && isOnChain(other));

const isOnChain = ({ matchKind }: ReportedFill): boolean => reachOf(matchKind) === 'chain';

const BY_SEVERAL_CLOCKS: ReadonlySet<string> = new Set(['LIVE', 'SPLIT', 'MERGED', 'CONVERTED']);

/** Its time is a replica's, the venue's or a block's. */
const hasOwnClock = ({ matchKind }: Pick<PastFill, 'matchKind'>): boolean => BY_SEVERAL_CLOCKS.has(matchKind);

/** A sale shortly before: clocks differ, so the purchase may have brought what it sold. */
const isNearSale = (other: ReportedFill, { matchKind, at }: ReportedFill): boolean =>
  hasOwnClock({ matchKind }) &&
  hasOwnClock(other) &&
  other.side === 'SELL' &&
  other.at <= at &&
  other.at >= at - CLOCKS_DIFFER_MS;

function isLate(fill: Fill, history: readonly PastFill[], { size }: Position): boolean {
  if (!isOnChain(fill)) return false;
  if (history.some((other) => isOvertaking(other, fill))) return true;
  if (fill.side === 'SELL' || !history.some((other) => isNearSale(other, fill))) return false;
  // Sales sold shares of which the desk does not know.
  return size > history.reduce((sum, one) => sum + (one.side === 'BUY' ? one.size : -one.size), 0n);
}

/** When fills count, where that is not when they happened. */
type Moves = ReadonlyMap<PastFill, number>;

const placeOf = (fill: PastFill, moves: Moves): number => moves.get(fill) ?? fill.at;

/** A position anew from all its fills. @param late fills that count after all others, in this order */
function replay(
  fills: readonly PastFill[],
  moves: Moves,
  late: readonly PastFill[] = [],
): ReadonlyMap<PastFill, Step> {
  const lateness = new Map(late.map((fill, nth) => [fill, nth]));
  const ordered = fills.toSorted(
    (a, b) =>
      (lateness.get(a) ?? -1) - (lateness.get(b) ?? -1) ||
      placeOf(a, moves) - placeOf(b, moves) ||
      // Among fills of one moment the purchases come first: nothing is sold before it is there.
      compare(a.side, b.side) ||
      compare(a.orderId, b.orderId) ||
      a.tradeId - b.tradeId,
  );
  const steps = new Map<PastFill, Step>();
  let position = NO_POSITION;
  for (const fill of ordered) {
    const done = step(position, fill);
    position = done.position;
    steps.set(fill, done);
  }
  return steps;
}

/**
 * Which sales count when, where they sell what only later purchases brought: what the desk had sold of fills that are gone was
 * brought by later purchases, or the venue could not have taken those back; and clocks differ by seconds, so a purchase may seem to come
 * a few seconds after the sale of its shares. Such a sale counts with those purchases.
 * @param before what each sale knew of until now
 */
function salesToMove(left: readonly PastFill[], before: ReadonlyMap<PastFill, Step>): Moves {
  const moves = new Map<PastFill, number>();
  const purchases = left.filter(({ side }) => side === 'BUY').toSorted((a, b) => a.at - b.at);
  const purchaseAfter = (at: number): number | undefined => purchases.find((one) => one.at > at)?.at;
  for (;;) {
    const after = replay(left, moves);
    let next: { readonly sale: PastFill; readonly to: number } | undefined;
    for (const sale of left) {
      if (sale.side === 'BUY') continue;
      const { known } = after.get(sale) as Step;
      if (known === sale.size) continue;
      const to = purchaseAfter(placeOf(sale, moves));
      if (to === undefined) continue;
      const isNear = hasOwnClock(sale) && to <= sale.at + CLOCKS_DIFFER_MS;
      if (!isNear && known >= (before.get(sale) as Step).known) continue;
      if (next === undefined || comesFirst(sale, next.sale, moves)) next = { sale, to };
    }
    if (next === undefined) return moves;
    moves.set(next.sale, next.to);
  }
}

const comesFirst = (a: PastFill, b: PastFill, moves: Moves): boolean =>
  (placeOf(a, moves) - placeOf(b, moves) || compare(a.orderId, b.orderId) || a.tradeId - b.tradeId) < 0;

interface Recount {
  /** Those that count in another way than before, and those that are gone. */
  readonly fills: readonly Recounted[];
  readonly position: Position;
  readonly left: readonly PastFill[];
}

function recount(
  history: readonly PastFill[],
  gone: ReadonlySet<PastFill>,
  late: readonly PastFill[],
): Recount {
  const counted: Moves = new Map(
    history.flatMap((fill) => (fill.countsAt === null ? [] : [[fill, fill.countsAt] as const])),
  );
  const remaining = history.filter((fill) => !gone.has(fill));
  const before = replay(history, counted, late);
  const moves = salesToMove(remaining, late.length === 0 ? before : replay(history, counted));
  const after = replay(remaining, moves);
  const fills: Recounted[] = [];
  const left: PastFill[] = [];
  for (const fill of history) {
    const was = before.get(fill) as Step;
    const is = after.get(fill);
    const isGone = is === undefined;
    const gain = is?.gain ?? 0n;
    const net = is?.net ?? 0n;
    const moved = moves.get(fill);
    const countsAt = moved === undefined || moved === fill.at ? null : moved;
    if (!isGone) left.push({ ...fill, gain, countsAt });
    if (!isGone && gain === fill.gain && net === was.net && countsAt === fill.countsAt) continue;
    const wins = Number(net > 0n) - Number(was.net > 0n);
    const losses = Number(net < 0n) - Number(was.net < 0n);
    fills.push({ fill, isGone, gain, wins, losses, countsAt });
  }
  const position = [...after.values()].at(-1)?.position ?? NO_POSITION;
  return { fills, position, left };
}
