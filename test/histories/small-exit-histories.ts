/** Histories of guarded exits, for the tests of the checker: what an agent asked and was answered, and what the desk and the venue say in the end. */
import type { DeskExit, VenueOrder } from './final-facts.ts';
import type { Operation, Outcome } from './history.ts';
import {
  A,
  at,
  fill,
  type Line,
  ORDER,
  OTHER,
  ok,
  place,
  type Reported,
  resting,
  restingThere,
  settings,
  UNIT,
} from './small-histories.ts';

export const EXIT = 'exit-1';
/** An exit of twenty shares that waits for a price. */
export const exitOf = (changes: Partial<DeskExit> = {}): DeskExit => ({
  ...{ exitId: EXIT, agent: A, orderId: ORDER, status: 'armed', because: null, group: null, token: 'yes' },
  ...{ shares: 20n * UNIT, worstPrice: UNIT / 2n, isSettled: false, isDue: false, mustLetGo: false },
  trouble: null,
  ...changes,
});
/** What its order sold. */
export const sold = (orderId = ORDER, changes: Partial<VenueOrder> = {}): VenueOrder =>
  restingThere(orderId, {
    ...{ isOpen: false, filled: 20n * UNIT, cost: 10n * UNIT },
    matches: [{ number: 2, price: UNIT / 2n, size: 20n * UNIT }],
    ...changes,
  });
export const leave = (
  changes: Partial<Extract<Operation, { readonly kind: 'leave exit' }>> = {},
): Operation => ({
  ...{ kind: 'leave exit', agent: A, orderId: ORDER, trigger: { kind: 'price' } },
  ...changes,
});
export const shows = (status: string, exitId = EXIT): Outcome => ok({ exitId, status });
export const readExit = (exitId = EXIT): Operation => ({ kind: 'read exit', agent: A, exitId });

export const cancelExit: Operation = { kind: 'cancel exit', agent: A, exitId: EXIT };
export const resumeExit: Operation = { kind: 'resume exit', agent: A, exitId: EXIT };
export const left = at(0, 1, leave(), shows('armed'));
export const pauseAt = (from: number, to: number): Line =>
  at(from, to, settings({ tradingPaused: true }), ok());
export const goOnAt = (from: number, to: number): Line =>
  at(from, to, settings({ tradingPaused: false }), ok());

/** What is told of an exit that came to this. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  armed: [],
  firing: [],
  suspended: ['suspended'],
  fired: ['sent', 'filled'],
  failed: ['failed'],
  canceled: ['canceled'],
  expired: ['expired'],
};

/** Histories of these exits, with what the desk says of them. Orders of the venue are the desk's. */
export const ofExits = (
  exits: readonly DeskExit[],
  calls: readonly Line[],
  {
    told = exits.flatMap(({ exitId, status, isSettled }) =>
      (status === 'fired' && !isSettled ? ['sent'] : (TOLD[status] ?? [])).map((became) => ({
        exitId,
        became,
      })),
    ),
    venue = exits.map(({ orderId, status, isSettled }) =>
      status === 'fired' && isSettled
        ? sold(orderId)
        : restingThere(orderId, { isKnown: false, isOpen: false }),
    ),
    more = {},
  }: {
    readonly told?: readonly { readonly exitId: string; readonly became: string }[];
    readonly venue?: readonly VenueOrder[];
    readonly more?: NonNullable<Reported['facts']>;
  } = {},
): Reported => {
  const orders = venue
    .filter(({ isKnown }) => isKnown)
    .map(({ orderId, isOpen, filled, cost }) =>
      resting(orderId, {
        ...{
          status: isOpen ? 'live' : 'filled',
          word: isOpen ? 'live' : 'filled',
          side: 'SELL',
          reserved: 0n,
        },
        ...{ filled, cost },
      }),
    );
  return {
    calls,
    facts: {
      ...{ exits, toldExits: told, venueOrders: venue, orders },
      fills: orders
        .filter(({ filled }) => filled > 0n)
        .map(({ orderId, filled, cost }) => ({
          ...{ ...fill, orderId, side: 'SELL', size: filled, cost, fee: 0n },
        })),
      ordersWithReceipt: orders.map(({ orderId }) => orderId),
      ...more,
    },
  };
};
export const fired = exitOf({ status: 'fired', isSettled: true });
export const suspended = exitOf({ status: 'suspended', because: 'pause' });
export const canceled = exitOf({ status: 'canceled', because: 'by_agent' });
export const failed = exitOf({ status: 'failed', because: 'not_filled' });

export const group = (name: string | null, ...statuses: readonly string[]): readonly DeskExit[] =>
  statuses.map((status, nth) =>
    exitOf({
      ...{ exitId: `exit-${nth + 1}`, orderId: nth === 0 ? ORDER : OTHER, group: name },
      ...{ status, isSettled: status === 'fired', because: status === 'canceled' ? 'group' : null },
    }),
  );
export const bothLeft = (second: number): Line[] => [
  left,
  at(second, second + 1, leave({ orderId: OTHER }), shows('armed', 'exit-2')),
];
export const bothShown = at(
  4,
  5,
  { kind: 'list exits', agent: A },
  ok({
    exits: [
      [EXIT, 'armed'],
      ['exit-2', 'armed'],
    ],
  }),
);

const BUY = '0x0000000003';
const SALE = '0x0000000004';
/** Twenty shares that were bought, sold beside the exit, and bought again. */
export const around = (exit: DeskExit, venue: VenueOrder = sold(ORDER)): Reported => {
  const match = (orderId: string, number: number): VenueOrder =>
    sold(orderId, { matches: [{ number, price: UNIT / 2n, size: 20n * UNIT }] });
  const orders = [match(BUY, 1), match(SALE, 2), match(OTHER, 3)];
  const sides = { [BUY]: 'BUY', [SALE]: 'SELL', [OTHER]: 'BUY', [ORDER]: 'SELL' } as const;
  const all = [
    ...orders,
    ...(venue.isKnown ? [sold(ORDER, { matches: [{ number: 4, price: UNIT / 2n, size: 20n * UNIT }] })] : []),
  ];
  const filled = ok({ success: true, status: 'filled' });
  return {
    calls: [
      at(0, 1, place(BUY), filled),
      at(2, 3, leave(), shows('armed')),
      at(4, 5, place(SALE), filled),
      at(6, 7, readExit(), shows('armed')),
      at(8, 9, place(OTHER), filled),
    ],
    facts: {
      exits: [exit],
      toldExits: (TOLD[exit.status] ?? []).map((became) => ({ exitId: EXIT, became })),
      venueOrders: all,
      orders: all.map(({ orderId, filled: size, cost }) =>
        resting(orderId, {
          ...{
            status: 'filled',
            word: 'filled',
            side: sides[orderId as keyof typeof sides],
            reserved: 0n,
          },
          ...{ filled: size, cost },
        }),
      ),
      fills: all.map(({ orderId, filled: size, cost }) => ({
        ...{ ...fill, orderId, side: sides[orderId as keyof typeof sides], size, cost, fee: 0n },
      })),
      ordersWithReceipt: all.map(({ orderId }) => orderId),
    },
  };
};

/** Held from a purchase on, and nothing else sells it. */
export const bare = (unguarded: readonly string[], exit = failed, more: readonly Line[] = []): Reported =>
  ofExits([exit], [left, ...more], {
    venue: [sold(BUY, { matches: [{ number: 1, price: UNIT / 2n, size: 20n * UNIT }] })],
    more: {
      unguarded,
      orders: [
        resting(BUY, {
          ...{ status: 'filled', word: 'filled', filled: 20n * UNIT, cost: 10n * UNIT },
        }),
      ],
      fills: [{ ...fill, orderId: BUY, cost: 10n * UNIT, fee: 0n }],
    },
  });
