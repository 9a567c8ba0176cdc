/** Rules for the end, when everything has come to rest: desk and venue agree, money and shares are conserved, nothing is in doubt. */
import type { DeskFill, DeskOrder, Tokens, VenueOrder, Wallet } from './final-facts.ts';
import type { History } from './history.ts';
import { list, money, named, short } from './sentences.ts';
import { isOfSets, setFigures } from './sets-rules.ts';

const IN_DOUBT: ReadonlySet<string> = new Set(['submitting', 'unknown', 'matched', 'delayed']);
const RESTING: ReadonlySet<string> = new Set(['live', 'partially_filled', 'unmatched']);

/** Orders that are placed, and so answered, are there; and nothing stays in doubt for ever. */
export function checkDoubt({ calls, facts }: History): string[] {
  const known = new Set(facts.orders.map(({ orderId }) => orderId));
  const lost = calls.filter(
    ({ operation, outcome }) =>
      operation.kind === 'place' && outcome.kind === 'ok' && !known.has(operation.orderId),
  );
  return [
    ...facts.orders
      .filter(({ status }) => IN_DOUBT.has(status))
      .map(({ orderId, status }) => `Order ${short(orderId)} stays in doubt: it is still ${status}.`),
    ...(lost.length === 0
      ? []
      : [
          `Orders that were answered are gone: ${list(lost.map(({ operation }) => short((operation as { readonly orderId: string }).orderId)))}.`,
        ]),
  ];
}

/** Who was told that an order is canceled buys elsewhere: it must not rest, whenever the desk learns the rest. */
export function checkCanceled({ calls, facts }: History): string[] {
  const open = new Set(
    facts.orders.filter(({ status }) => RESTING.has(status)).map(({ orderId }) => orderId),
  );
  return calls.flatMap((call) =>
    call.operation.kind === 'cancel' &&
    call.outcome.kind === 'ok' &&
    call.outcome.answer.success === true &&
    open.has(call.operation.orderId)
      ? [`Order ${short(call.operation.orderId)} rests in the end, and ${named(call)} had canceled it.`]
      : [],
  );
}

/** An answer says nothing as filled or charged that was not, but for what failed to settle afterwards. */
export function checkAnswers({ calls, facts }: History): string[] {
  const orders = new Map(facts.orders.map((order) => [order.orderId, order]));
  return calls.flatMap((call) => {
    if (call.operation.kind !== 'place' || call.outcome.kind !== 'ok') return [];
    const order = orders.get(call.operation.orderId);
    const { filled = 0n, fees = 0n } = call.outcome.answer;
    if (order === undefined || order.status === 'settlement_failed') return [];
    return filled > order.filled || fees > order.fees
      ? [
          `${named(call)} says ${money(filled)} filled for ${money(fees)}, and it was ${money(order.filled)} for ${money(order.fees)}.`,
        ]
      : [];
  });
}

function compare(order: DeskOrder, real: VenueOrder | undefined): string[] {
  const { orderId, status, filled, cost, fees } = order;
  const venue = real ?? { isKnown: false, isOpen: false, hasFailed: false, filled: 0n, cost: 0n, fees: 0n };
  const name = `Order ${short(orderId)}`;
  const figures = [
    ['filled', filled, venue.filled],
    ['cost', cost, venue.cost],
    ['fees', fees, venue.fees],
  ] as const;
  const differences = figures.flatMap(([what, desk, there]) =>
    desk === there
      ? []
      : [`${name} is ${status}: the desk says ${what} ${money(desk)}, the venue ${money(there)}.`],
  );
  if (RESTING.has(status) !== venue.isOpen)
    differences.push(
      `${name} ${venue.isOpen ? 'rests' : 'does not rest'} at the venue, and the desk says ${status}.`,
    );
  if (status === 'rejected' && venue.isKnown && venue.filled > 0n)
    differences.push(`${name} is rejected at the desk, and the venue has filled it.`);
  if (!RESTING.has(status) && !IN_DOUBT.has(status) && (status === 'settlement_failed') !== venue.hasFailed)
    differences.push(
      `${name} is ${status}, and a trade of it ${venue.hasFailed ? 'failed' : 'did not fail'} to settle.`,
    );
  return differences;
}

const sum = <T>(items: readonly T[], of: (item: T) => bigint): bigint =>
  items.reduce((total, item) => total + of(item), 0n);

/** Order by order and to the millionth; and each order's fills make what its row says. */
export function checkVenue({ facts, run }: History): string[] {
  const atVenue = new Map(facts.venueOrders.map((order) => [order.orderId, order]));
  const fills = Map.groupBy(facts.fills, ({ orderId }) => orderId);
  const known = new Set(facts.orders.map(({ orderId }) => orderId));
  const strangers = facts.venueOrders.filter(({ orderId, isKnown }) => isKnown && !known.has(orderId));
  return [
    ...facts.orders.flatMap((order) => {
      const own = fills.get(order.orderId) ?? [];
      const made = isOfSets(order)
        ? setFigures(order, own)
        : { filled: sum(own, ({ size }) => size), cost: sum(own, ({ cost }) => cost) };
      const isRight =
        made.filled === order.filled && made.cost === order.cost && sum(own, ({ fee }) => fee) === order.fees;
      const parts = isRight
        ? []
        : [`The ${own.length} fills of order ${short(order.orderId)} do not make what its row says.`];
      // At a live venue the chain has them under no name: what they come to is compared by market.
      if (isOfSets(order) && run.setUp === 'live') return parts;
      return [...compare(order, atVenue.get(order.orderId)), ...parts];
    }),
    ...strangers.map(
      ({ orderId }) => `The venue has order ${short(orderId)}, of which the desk knows nothing.`,
    ),
  ];
}

function moneyOf({ wallet, deposited }: Wallet, fills: readonly DeskFill[]): bigint {
  const own = fills.filter((fill) => fill.wallet === wallet);
  return deposited + sum(own, ({ side, cost, fee }) => (side === 'BUY' ? -cost : cost) - fee);
}

const tokensOf = (tokens: readonly Tokens[]): ReadonlyMap<string, Tokens> =>
  new Map(tokens.map((one) => [one.conditionId, one]));

function checkPositions(
  { agent, tokens, positions }: Wallet,
  payouts: ReadonlyMap<string, string>,
): string[] {
  const [held, said] = [tokensOf(tokens), tokensOf(positions)];
  return [...new Set([...held.keys(), ...said.keys()])].flatMap((conditionId) => {
    const [there, here] = [held.get(conditionId), said.get(conditionId)];
    return (['yes', 'no'] as const).flatMap((outcome) => {
      const [real, desk] = [there?.[outcome] ?? 0n, here?.[outcome] ?? 0n];
      // The resolution closes what lost, and its tokens are burnt later.
      const payout = payouts.get(conditionId)?.toLowerCase();
      if ((payout === 'yes' || payout === 'no') && payout !== outcome && desk === 0n) return [];
      return real === desk
        ? []
        : [
            `Agent ${agent} holds ${money(real)} ${outcome} of ${short(conditionId)} at the venue, and the desk says ${money(desk)}.`,
          ];
    });
  });
}

/** Wallets hold what was deposited and what the desk's fills made of it; each pair of shares is worth one unit. */
export function checkMoney({ facts }: History): string[] {
  const payouts = new Map(facts.payouts.map(({ conditionId, payout }) => [conditionId, payout]));
  return [
    ...facts.wallets.flatMap((wallet) => {
      const expected = moneyOf(wallet, facts.fills);
      const difference =
        expected === wallet.money
          ? []
          : [
              `Money is not conserved: agent ${wallet.agent} has ${money(wallet.money)}, and its deposit and fills make ${money(expected)}.`,
            ];
      return [...difference, ...checkPositions(wallet, payouts)];
    }),
    ...facts.supplies
      .filter(({ yes, no }) => yes !== no)
      .map(
        ({ conditionId, yes, no }) =>
          `Market ${short(conditionId)} has ${money(yes)} YES and ${money(no)} NO over all accounts.`,
      ),
    ...(facts.ledgerFault === null ? [] : [`The venue's ledger does not hold: ${facts.ledgerFault}.`]),
  ];
}

export function checkReceipts({ facts }: History): string[] {
  const reported = new Set(facts.ordersWithReceipt);
  const missing = facts.orders
    .filter(({ orderId }) => !reported.has(orderId))
    .map(({ orderId }) => short(orderId));
  return [
    ...facts.receiptFaults.map((fault) => `A receipt does not hold: ${fault}.`),
    ...(missing.length === 0 ? [] : [`Orders without a receipt: ${list(missing)}.`]),
  ];
}
