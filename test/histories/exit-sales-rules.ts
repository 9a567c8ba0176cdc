/**
 * Rules for what exits have sold: one effect each and of each group, never more than was held, never below its price, and never without
 * its trigger. What an agent does with the very order of its exit is its own trade, and proves nothing of the exit.
 */
import { callsAbout, isLeaving, isOpenWord, shownIn } from './exit-rules.ts';
import type { DeskExit, VenueOrder } from './final-facts.ts';
import type { Call, History } from './history.ts';
import { list, money, named, short } from './sentences.ts';

/** Clocks of replicas are off by so much, and a look comes twice a second. */
const MOST_SKEW_MS = 4_500;
/** The least that a SELL can name. */
const DUST = 10_000n;

interface Sale {
  readonly exit: DeskExit;
  readonly about: readonly Call[];
  /** What the venue did of its order. */
  readonly venue: VenueOrder | undefined;
  /** Its agent has placed its very order, too: then it may be sold by that. */
  readonly isPlacedByAgent: boolean;
}

function salesOf({ calls, facts }: History): readonly Sale[] {
  const atVenue = new Map(facts.venueOrders.map((order) => [order.orderId, order]));
  const placed = new Set(
    calls.flatMap(({ operation }) => (operation.kind === 'place' ? [operation.orderId] : [])),
  );
  const byOrder = Map.groupBy(facts.exits, ({ orderId }) => orderId);
  // An order that was left anew, once it had been taken back, is of several exits.
  const alone = [...byOrder.values()].filter(({ length }) => length === 1).flat();
  return alone.map((exit) => ({
    exit,
    about: callsAbout(exit, calls),
    venue: atVenue.get(exit.orderId),
    isPlacedByAgent: placed.has(exit.orderId),
  }));
}

const groupOf = ({ agent, group }: DeskExit): string => `${agent} ${group}`;

/** Groups of which an exit has sold. */
function sellersOf({ facts }: History): ReadonlySet<string> {
  const sold = new Set(facts.venueOrders.flatMap(({ orderId, filled }) => (filled > 0n ? [orderId] : [])));
  return new Set(facts.exits.filter(({ orderId }) => sold.has(orderId)).map(groupOf));
}

/** A live venue keeps nothing that it refused: only what it took ends an exit, and be it an immediate order that then met nothing. */
const ENDS_BY_VENUE: ReadonlySet<string> = new Set([
  ...['settlement_failed', 'not_filled', 'fak_no_match', 'fok_not_filled'],
]);

const hasEffect = (venue: VenueOrder | undefined): boolean =>
  venue !== undefined && (venue.filled > 0n || venue.isOpen);

/** An exit and its order say the same, and an exit that is due is sent or says why not. */
export function checkExitEnds(history: History): string[] {
  const sellers = sellersOf(history);
  const walks = walksOf(history);
  return salesOf(history).flatMap(({ exit, venue, isPlacedByAgent }) => {
    const { status, because, shares, isSettled } = exit;
    const name = `Exit ${short(exit.exitId)}`;
    const filled = venue?.filled ?? 0n;
    const says: string[] = [];
    if (status === 'canceled' && because === 'group' && !sellers.has(groupOf(exit)))
      says.push(`${name} was canceled by its group, of which none has sold.`);
    const walk = walks.get(`${exit.agent} ${exit.token}`);
    if (status === 'canceled' && because === 'position_closed' && isKept(walk))
      says.push(`${name} ended with its position, which was never closed.`);
    if (status === 'failed' && history.run.setUp === 'live' && !ENDS_BY_VENUE.has(because ?? ''))
      says.push(`${name} was ended by a refusal: ${because}.`);
    if (status === 'firing') says.push(`${name} stays in doubt: it is still being sent.`);
    if (status === 'armed' && exit.isDue && exit.trouble === null && !exit.mustLetGo)
      says.push(`${name} is silent: its trigger holds, and it is armed without a trouble.`);
    if (status === 'fired') {
      if (!isSettled && venue?.isOpen !== true && !venue?.hasFailed)
        says.push(`${name} has an order that has ended, and does not say what that sold.`);
      if (isSettled && filled === 0n) says.push(`${name} is fired, and its order has sold nothing.`);
      const isPart = shares - filled >= DUST;
      if (isSettled && filled > 0n && isPart !== (because === 'filled_in_part'))
        says.push(
          `${name} says ${because ?? 'that all is sold'}, and its order has sold ${money(filled)} of ${money(shares)}.`,
        );
    } else if (status === 'canceled' && because === 'order_placed') {
      if (!isPlacedByAgent) says.push(`${name} says that its agent has placed its order, which it has not.`);
    } else if (hasEffect(venue) && !(isPlacedByAgent && status !== 'armed' && status !== 'suspended'))
      says.push(
        `${name} is ${status}, and its order has sold ${money(filled)}${venue?.isOpen ? ' and rests' : ''}.`,
      );
    if (filled > shares) says.push(`${name} was left for ${money(shares)}, and has sold ${money(filled)}.`);
    return says;
  });
}

/** Whether both were there before either had sold: each was shown open once the other had been left. */
const metEachOther = (one: Sale, other: Sale): boolean =>
  [
    [one, other],
    [other, one],
  ].every(([first, second]) => {
    const left = (first as Sale).about
      .filter((call) => isLeaving(call) && call.outcome.kind === 'ok')
      .map(({ returnedAt }) => returnedAt);
    const since = Math.min(...left);
    return (second as Sale).about.some((call) => {
      const shown = shownIn((second as Sale).exit.exitId, call);
      return call.invokedAt > since && isOpenWord(shown);
    });
  });

export function checkExitGroups(history: History): string[] {
  const grouped = salesOf(history).filter(
    ({ exit, venue, isPlacedByAgent }) => exit.group !== null && hasEffect(venue) && !isPlacedByAgent,
  );
  const groups = Map.groupBy(grouped, ({ exit }) => groupOf(exit));
  return [...groups.values()].flatMap((own) =>
    own.flatMap((one, nth) =>
      own
        .slice(nth + 1)
        .filter((other) => metEachOther(one, other))
        .map(
          (other) =>
            `Two exits of the group "${one.exit.group}" have sold: ${short(one.exit.exitId)} and ${short(other.exit.exitId)}.`,
        ),
    ),
  );
}

/** Never below its price, and never far below the market: what it sold for was paid by the best bid. */
export function checkExitPrices(history: History): string[] {
  return salesOf(history).flatMap(({ exit, venue, isPlacedByAgent }) => {
    const prices = (venue?.matches ?? []).map(({ price }) => price);
    const name = `Exit ${short(exit.exitId)}`;
    const low = prices.filter((price) => price < exit.worstPrice);
    const high = isPlacedByAgent ? [] : prices.filter((price) => price > 2n * exit.worstPrice);
    return [
      ...low.map(
        (price) => `${name} has sold at ${money(price)}, below its worst price ${money(exit.worstPrice)}.`,
      ),
      ...high
        .slice(0, 1)
        .map((price) => `${name} was sent at ${money(exit.worstPrice)} where the book paid ${money(price)}.`),
    ];
  });
}

/** A time is no earlier at any replica, and one that came before an exit was resumed sells nothing. */
export function checkExitTimes(history: History): string[] {
  return salesOf(history).flatMap(({ exit, about, venue, isPlacedByAgent }) => {
    if (isPlacedByAgent) return [];
    const times = about.flatMap(({ operation, invokedAt }) =>
      operation.kind === 'leave exit' && operation.trigger.kind === 'time'
        ? [invokedAt + operation.trigger.dueInMs]
        : [],
    );
    if (times.length === 0) return [];
    const name = `Exit ${short(exit.exitId)}`;
    const early = about.find((call) => {
      const shown = shownIn(exit.exitId, call);
      return (shown === 'firing' || shown === 'fired') && call.returnedAt + MOST_SKEW_MS < Math.min(...times);
    });
    const says = early === undefined ? [] : [`${name} was sent before its time: ${named(early)}.`];
    if (!hasEffect(venue)) return says;
    const late = Math.max(...times) + MOST_SKEW_MS;
    const resuming = about.filter(
      ({ operation, outcome }) => operation.kind === 'resume exit' && outcome.kind !== 'refused',
    );
    const wasSuspended = about.some(
      (call) => call.invokedAt > late && shownIn(exit.exitId, call) === 'suspended',
    );
    const isLate = resuming.length > 0 && resuming.every(({ invokedAt }) => invokedAt > late);
    return wasSuspended && isLate
      ? [
          ...says,
          `${name} was sold by a trigger that had held since before it was resumed: ${list(resuming.map(named))}.`,
        ]
      : says;
  });
}

/** An exit whose shares were sold does not sell what is bought afterwards. */
export function checkExitHoldings(history: History): string[] {
  const { calls, facts } = history;
  const desk = new Map(facts.orders.map((order) => [order.orderId, order]));
  const walks = walksOf(history);
  return salesOf(history).flatMap(({ exit, about, venue, isPlacedByAgent }) => {
    const walk = walks.get(`${exit.agent} ${exit.token}`);
    if (isPlacedByAgent || !hasEffect(venue) || walk === undefined || walk.hasFailed) return [];
    const leftAt = Math.min(
      ...about
        .filter((call) => isLeaving(call) && call.outcome.kind === 'ok')
        .map(({ returnedAt }) => returnedAt),
    );
    const closing = walk.steps.find(({ orderId, held }) => {
      if (held >= DUST || desk.get(orderId)?.side !== 'SELL' || orderId === exit.orderId) return false;
      const own = calls.filter(({ operation }) => 'orderId' in operation && operation.orderId === orderId);
      const placing = own.filter(({ operation }) => operation.kind === 'place');
      const knownAt = Math.min(
        ...own
          .filter(({ outcome }) => outcome.kind === 'ok' && outcome.answer.status === 'filled')
          .map(({ returnedAt }) => returnedAt),
      );
      return (
        placing.length > 0 &&
        placing.every(({ invokedAt }) => invokedAt > leftAt) &&
        about.some((call) => {
          const shown = shownIn(exit.exitId, call);
          return call.invokedAt > knownAt && (shown === 'armed' || shown === 'suspended');
        })
      );
    });
    return closing === undefined
      ? []
      : [
          `Exit ${short(exit.exitId)} has sold, although order ${short(closing.orderId)} had closed its position.`,
        ];
  });
}

interface Walk {
  readonly hasFailed: boolean;
  /** What was held after each match, in the venue's order. */
  readonly steps: readonly { readonly orderId: string; readonly held: bigint }[];
}

/** By agent and token. */
function walksOf({ facts }: History): ReadonlyMap<string, Walk> {
  const atVenue = new Map(facts.venueOrders.map((order) => [order.orderId, order]));
  const byToken = Map.groupBy(facts.orders, ({ agent, token }) => `${agent} ${token}`);
  return new Map(
    [...byToken].map(([key, orders]) => {
      let held = 0n;
      const moves = orders.flatMap(({ orderId, side }) =>
        (atVenue.get(orderId)?.matches ?? []).map((match) => ({ orderId, side, ...match })),
      );
      const steps = moves
        .sort((a, b) => a.number - b.number)
        .map(({ orderId, side, size }) => {
          held += side === 'BUY' ? size : -size;
          return { orderId, held };
        });
      const hasFailed = orders.some(({ orderId }) => atVenue.get(orderId)?.hasFailed === true);
      return [key, { hasFailed, steps }];
    }),
  );
}

const isKept = (walk: Walk | undefined): boolean => walk?.steps.every(({ held }) => held >= DUST) === true;

/** So much is held in the end, and was all the time since it was bought first: no holding was closed. `null`: that is not known. */
const keptIn = (walk: Walk | undefined): bigint | null =>
  walk === undefined || walk.hasFailed || !isKept(walk) ? null : (walk.steps.at(-1)?.held ?? null);

/** A look names so many of one token. */
const MOST_UNGUARDED = 20;

/** What ended unsold is told until there is nothing left to guard. */
export function checkExitAlerts(history: History): string[] {
  const { facts } = history;
  const walks = walksOf(history);
  const alerted = new Set(facts.unguarded);
  const byToken = Map.groupBy(facts.exits, ({ agent, token }) => `${agent} ${token}`);
  return [...byToken].flatMap(([key, exits]) => {
    const held = keptIn(walks.get(key));
    const isGuarded = exits.some(
      ({ status, isSettled }) =>
        status === 'armed' || status === 'firing' || (status === 'fired' && !isSettled),
    );
    if (held === null || held < DUST || isGuarded || exits.length > MOST_UNGUARDED) return [];
    return exits
      .filter(
        ({ exitId, status, because }) =>
          (status === 'failed' || status === 'expired' || because === 'filled_in_part') &&
          because !== 'market_ended' &&
          !alerted.has(exitId),
      )
      .map(
        ({ exitId, status, because }) =>
          `Exit ${short(exitId)} ended (${because ?? status}), ${money(held)} is held that nothing sells, and no alert says so.`,
      );
  });
}
