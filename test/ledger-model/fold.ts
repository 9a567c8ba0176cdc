/**
 * What fills make of a position, as pure functions: the rules of `apply_fills` and `reverse_fills`
 * (packages/server/src/adapters/postgres/functions), which a test compares with these, row by row. Sizes are micro-shares, money is
 * micro-units, times are epoch milliseconds.
 */

/** `live`: the wallet is on a chain, and may hold more than the desk knows of. */
export type FillKind = 'paper' | 'live' | 'redeemed';

export interface Fill {
  readonly orderId: string;
  readonly tradeId: bigint;
  readonly agent: string | null;
  readonly side: 'BUY' | 'SELL';
  readonly kind: FillKind;
  readonly size: bigint;
  readonly cost: bigint;
  readonly fee: bigint;
  readonly at: number;
}

export interface Position {
  readonly size: bigint;
  readonly cost: bigint;
  /** Gains before fees. */
  readonly realized: bigint;
  readonly fees: bigint;
  /** Of `realized`, after fees, what was won or lost when it was closed last. */
  readonly settled: bigint;
  readonly boughtSize: bigint;
  readonly boughtCost: bigint;
  readonly closedAt: number | null;
}

export const EMPTY: Position = {
  ...{ size: 0n, cost: 0n, realized: 0n, fees: 0n, settled: 0n, boughtSize: 0n, boughtCost: 0n },
  closedAt: null,
};

/** What one fill did. */
export interface Step {
  readonly position: Position;
  readonly gain: bigint;
  /** Shares of a sale that the desk knew of. */
  readonly known: bigint;
  /** Of a position that it closed: won or lost with all its fees; else 0. */
  readonly outcomeNet: bigint;
}

export function step(before: Position, { side, size, cost, fee, at }: Fill): Step {
  const fees = before.fees + fee;
  if (side === 'BUY') {
    const position: Position = {
      ...{ size: before.size + size, cost: before.cost + cost, realized: before.realized, fees },
      ...{
        settled: before.settled,
        boughtSize: before.boughtSize + size,
        boughtCost: before.boughtCost + cost,
      },
      closedAt: null,
    };
    return { position, gain: 0n, known: size, outcomeNet: 0n };
  }
  const closes = size >= before.size;
  const known = closes ? before.size : size;
  // The last share takes the rest of the cost.
  const gave = closes ? before.cost : (before.cost * size) / before.size;
  const gain = (known === size ? cost : (cost * known) / size) - gave;
  const realized = before.realized + gain;
  const net = realized - fees - before.settled;
  return {
    position: {
      ...{ size: before.size - known, cost: before.cost - gave, realized, fees },
      settled: closes ? realized - fees : before.settled,
      ...{ boughtSize: before.boughtSize, boughtCost: before.boughtCost, closedAt: closes ? at : null },
    },
    ...{ gain, known, outcomeNet: closes && before.size > 0n ? net : 0n },
  };
}

/** When each fill counts, where that is not when it happened. */
export type Moves = ReadonlyMap<Fill, number>;

const NO_MOVES: Moves = new Map();

const isBefore = (a: Fill, b: Fill, moves: Moves, late: readonly Fill[]): number =>
  late.indexOf(a) - late.indexOf(b) ||
  (moves.get(a) ?? a.at) - (moves.get(b) ?? b.at) ||
  // Of fills of one moment the purchases come first: nothing is sold before it is there.
  (a.side === b.side ? 0 : a.side === 'BUY' ? -1 : 1) ||
  (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : 0) ||
  Number(a.tradeId - b.tradeId);

/** A position anew, from all its fills. @param late fills that count after all others, in this order */
export function replay(
  fills: readonly Fill[],
  moves: Moves = NO_MOVES,
  late: readonly Fill[] = [],
): ReadonlyMap<Fill, Step> {
  const ordered = fills.toSorted((a, b) => isBefore(a, b, moves, late));
  const steps = new Map<Fill, Step>();
  let position = EMPTY;
  for (const fill of ordered) {
    const done = step(position, fill);
    position = done.position;
    steps.set(fill, done);
  }
  return steps;
}

export const lastOf = (steps: ReadonlyMap<Fill, Step>): Position =>
  [...steps.values()].at(-1)?.position ?? EMPTY;

/** The most by which clocks of replicas, and the whole seconds of a venue, differ. */
export const CLOCKS_DIFFER_MS = 10_000;

/**
 * Which sales count when, where they sell what only later purchases brought: what was sold of fills that are without effect, and
 * what a purchase brought that seems to come a few seconds after the sale of its shares.
 * @param before what each sale knew of until now
 */
export function salesToMove(left: readonly Fill[], before: ReadonlyMap<Fill, Step>): Moves {
  const moves = new Map<Fill, number>();
  for (;;) {
    const after = replay(left, moves);
    const place = (fill: Fill): number => moves.get(fill) ?? fill.at;
    const lacking = left
      .filter(({ side }) => side === 'SELL')
      .map((sale) => ({
        sale,
        at: Math.min(...left.filter((one) => one.side === 'BUY' && place(one) > place(sale)).map(place)),
      }))
      .filter(({ sale, at }) => {
        const { known } = after.get(sale) as Step;
        const isLate = sale.kind === 'live' && known < sale.size && at <= sale.at + CLOCKS_DIFFER_MS;
        return at !== Number.POSITIVE_INFINITY && (known < (before.get(sale) as Step).known || isLate);
      })
      .sort(
        ({ sale: a }, { sale: b }) =>
          place(a) - place(b) ||
          (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : Number(a.tradeId - b.tradeId)),
      );
    const [next] = lacking;
    if (next === undefined) return moves;
    moves.set(next.sale, next.at);
  }
}

/** Whether sales sold shares of which the desk does not know, the last of them shortly before the given moment. */
export function lacksShares(fills: readonly Fill[], { size }: Position, at: number): boolean {
  const isNear = (one: Fill): boolean =>
    one.side === 'SELL' && one.kind === 'live' && one.at <= at && one.at >= at - CLOCKS_DIFFER_MS;
  return (
    fills.some(isNear) &&
    size > fills.reduce((sum, one) => sum + (one.side === 'BUY' ? one.size : -one.size), 0n)
  );
}
