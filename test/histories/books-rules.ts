/**
 * Rules for the desk's books in the end: each holding and each agent's results are what the fills make by average cost, and no order
 * gave more than was signed. The arithmetic stands here once more, by hand, from what docs/decisions/positions.md promises.
 */
import { isTrade } from '@bellwether/contract/positions';
import type { Books, DeskFill, DeskOrder, Results } from './final-facts.ts';
import type { History, SetUpName } from './history.ts';
import { money, short } from './sentences.ts';

const compare = (a: bigint | number | string, b: typeof a): number => (a < b ? -1 : a > b ? 1 : 0);

/** On paper one journal orders fills. Live they come from several clocks: there their own time counts, purchases first. */
const ordered = (fills: readonly DeskFill[], setUp: SetUpName): readonly DeskFill[] =>
  fills.toSorted((a, b) =>
    setUp === 'paper'
      ? compare(a.nth, b.nth)
      : compare(a.at, b.at) || compare(a.side, b.side) || compare(a.orderId, b.orderId),
  );

/** Of fills of one moment a live desk may have heard of the sale first: then each of two results is right. */
const isAmbiguous = (fills: readonly DeskFill[]): boolean =>
  fills.some(({ side, at }) => side === 'SELL' && fills.some((one) => one.side === 'BUY' && one.at === at));

interface Folded {
  readonly sums: Books['sums'];
  /** One for each fill. */
  readonly gains: readonly bigint[];
  readonly results: Results['sums'];
}

/** Average cost: a sale takes its share of what was paid, rounded down, and the last share takes the rest. */
function fold(fills: readonly DeskFill[]): Folded {
  const sums = { size: 0n, cost: 0n, realized: 0n, fees: 0n, boughtSize: 0n, boughtCost: 0n };
  const gains: bigint[] = [];
  let [volume, settled, wins, losses] = [0n, 0n, 0n, 0n];
  for (const { side, size, cost, fee, matchKind } of fills) {
    const isBuy = side === 'BUY';
    const closes = !isBuy && size >= sums.size;
    const gave = isBuy ? 0n : closes ? sums.cost : (sums.cost * size) / sums.size;
    const gain = isBuy ? 0n : cost - gave;
    gains.push(gain);
    volume += isTrade(matchKind) ? cost : 0n;
    sums.size += isBuy ? size : -size;
    sums.cost += isBuy ? cost : -gave;
    sums.boughtSize += isBuy ? size : 0n;
    sums.boughtCost += isBuy ? cost : 0n;
    sums.realized += gain;
    sums.fees += fee;
    if (!closes) continue;
    // Won or lost is a life of the position, with all its fees.
    const net = sums.realized - sums.fees - settled;
    settled += net;
    wins += net > 0n ? 1n : 0n;
    losses += net < 0n ? 1n : 0n;
  }
  const { fees, realized } = sums;
  return { sums, gains, results: { volume, fees, realized, wins, losses } };
}

function differences<Word extends string>(
  whose: string,
  said: Readonly<Record<Word, bigint>> | undefined,
  made: Readonly<Record<Word, bigint>>,
): string[] {
  return (Object.keys(made) as Word[]).flatMap((word) => {
    const here = said?.[word] ?? 0n;
    return here === made[word]
      ? []
      : [`${whose}: the desk says ${word} ${money(here)}, and the fills make ${money(made[word])}.`];
  });
}

const keyOf = ({ wallet, token }: Pick<DeskFill, 'wallet' | 'token'>): string => `${wallet} ${token}`;

/** Books that are right about these fills. */
export function booksOf(fills: readonly DeskFill[], setUp: SetUpName) {
  const gains = new Map<DeskFill, bigint>();
  const books = [...Map.groupBy(fills, keyOf).values()].map((own): Books => {
    const inOrder = ordered(own, setUp);
    const made = fold(inOrder);
    for (const [nth, one] of inOrder.entries()) gains.set(one, made.gains[nth] ?? 0n);
    const [{ wallet, token }] = own as [DeskFill];
    return { wallet, token, sums: made.sums };
  });
  return { fills: fills.map((one) => ({ ...one, gain: gains.get(one) ?? 0n })), books };
}

/** Every sum to the millionth, and the gain of each fill. */
export function checkBooks({ run, facts }: History): string[] {
  const fills = Map.groupBy(facts.fills, keyOf);
  const books = new Map(facts.books.map((one) => [keyOf(one), one]));
  const folded = new Map([...fills].map(([key, own]) => [key, fold(ordered(own, run.setUp))]));
  const isOpen = (key: string): boolean => run.setUp === 'live' && isAmbiguous(fills.get(key) ?? []);
  const keys = [...new Set([...fills.keys(), ...books.keys()])].filter((key) => !isOpen(key));
  const holdings = keys.flatMap((key) => {
    const made = folded.get(key) ?? fold([]);
    const [wallet = '', token = ''] = key.split(' ');
    const parts = ordered(fills.get(key) ?? [], run.setUp).flatMap(({ orderId, tradeId, gain }, nth) =>
      gain === made.gains[nth]
        ? []
        : [
            `Fill ${short(tradeId)} of order ${short(orderId)} gained ${money(made.gains[nth] ?? 0n)}, and the desk says ${money(gain)}.`,
          ],
    );
    return [
      ...differences(`Position ${short(token)} of ${short(wallet)}`, books.get(key)?.sums, made.sums),
      ...parts,
    ];
  });
  const agents = facts.wallets.flatMap(({ wallet, agent }) => {
    const own = [...folded].filter(([key]) => key.startsWith(`${wallet} `));
    if (own.some(([key]) => isOpen(key))) return [];
    const said = facts.results.find((one) => one.agent === agent);
    const total = fold([]).results as Record<keyof Results['sums'], bigint>;
    for (const [, { results }] of own)
      for (const word of Object.keys(total) as (keyof typeof total)[]) total[word] += results[word];
    const { fees, realized } = total;
    return [
      ...differences(`Agent ${agent}`, said?.sums, total),
      ...differences(`Agent ${agent} by day`, said?.days, { fees, realized }),
    ];
  });
  return [...holdings, ...agents];
}

/** Each match rounds once, in favour of either side; a live venue tells several as one trade. */
function pricesOf(
  { orderId, side, shares, money: signed, filled, cost }: DeskOrder,
  matches: bigint,
): string[] {
  const name = `Order ${short(orderId)}`;
  // At better prices a purchase of so much collateral gets more shares; at none it gives more collateral.
  const [gave, most] = side === 'BUY' ? [cost, signed] : [filled, shares];
  const worse = side === 'BUY' ? cost * shares - filled * signed : filled * signed - cost * shares;
  return [
    ...(gave > most ? [`${name} gave ${money(gave)}, and ${money(most)} was signed.`] : []),
    ...(worse > matches * shares ? [`${name} was filled at a worse price than it signed.`] : []),
  ];
}

export function checkSigned({ facts }: History): string[] {
  const matches = new Map(facts.venueOrders.map((order) => [order.orderId, order.matches.length]));
  return facts.orders
    .filter(({ kind }) => kind === 'signed')
    .flatMap((order) => pricesOf(order, BigInt(matches.get(order.orderId) ?? 0)));
}
