/**
 * Rules for splits, merges, conversions and redemptions: one effect for one name, what was answered is there, what was refused is not,
 * the desk's books say what the venue's ledger says, and a resolved market pays what it resolved to, once.
 */
import type { DeskFill, DeskOrder, FinalFacts, VenueMove } from './final-facts.ts';
import type { Call, History, Operation, SetOperation } from './history.ts';
import { list, money, named, short } from './sentences.ts';

const KINDS: ReadonlySet<string> = new Set(['split', 'merge', 'convert']);

export const isOfSets = ({ kind }: Pick<DeskOrder, 'kind'>): boolean => KINDS.has(kind);
const isSetOperation = (operation: Operation): operation is SetOperation => KINDS.has(operation.kind);

const sum = <T>(items: readonly T[], of: (item: T) => bigint): bigint =>
  items.reduce((total, item) => total + of(item), 0n);

/** A call that asks for exactly this: another amount under its name is another order, which must be refused. */
export const isSetCallOf = (order: DeskOrder, operation: Operation): boolean =>
  isSetOperation(operation) &&
  operation.kind === order.kind &&
  operation.agent === order.agent &&
  operation.name === order.name &&
  operation.amount === order.shares;

/** What the fills of a set's order come to: each set is a share of both outcomes, and a conversion moves no collateral. */
export function setFigures(
  { kind }: Pick<DeskOrder, 'kind'>,
  fills: readonly DeskFill[],
): { readonly filled: bigint; readonly cost: bigint } {
  if (kind !== 'convert') {
    const of = (outcome: DeskFill['outcome']): bigint =>
      sum(
        fills.filter((fill) => fill.outcome === outcome),
        ({ size }) => size,
      );
    const [yes, no] = [of('YES'), of('NO')];
    return { filled: yes === no ? yes : -1n, cost: sum(fills, ({ cost }) => cost) };
  }
  const [sold, made] = [
    fills.filter(({ side }) => side === 'SELL'),
    fills.filter(({ side }) => side === 'BUY'),
  ];
  const filled = sum(sold, ({ size }) => size);
  const isEven =
    made.every(({ size }) => size === filled) &&
    sum(sold, ({ cost }) => cost) === sum(made, ({ cost }) => cost) &&
    (filled === 0n || made.length > 0);
  return { filled: isEven ? filled : -1n, cost: isEven ? filled : -1n };
}

/** Refusals that prove nothing: another call of the name was under way. */
const PROVES_NOTHING: ReadonlySet<string> = new Set(['idempotency_in_flight', 'request_timeout']);

const setCalls = (calls: readonly Call[]): readonly (Call & { readonly operation: SetOperation })[] =>
  calls.filter((call): call is Call & { readonly operation: SetOperation } => isSetOperation(call.operation));

/** A name has one order that was not refused, and its repetitions one answer. */
export function checkSetNames({ calls, facts, run }: History): string[] {
  const byName = Map.groupBy(
    setCalls(calls),
    ({ operation: { agent, kind, name } }) => `${agent} ${kind} ${name}`,
  );
  return [...byName.values()].flatMap((own) => {
    const [{ operation }] = own as [(typeof own)[number]];
    const named_ = facts.orders.filter(
      ({ agent, kind, name, status }) =>
        agent === operation.agent &&
        kind === operation.kind &&
        name === operation.name &&
        status !== 'rejected',
    );
    const twice =
      named_.length > 1
        ? [
            `One name had ${named_.length} effects: ${operation.kind} "${operation.name}" of ${operation.agent}, by ${list(own.map(named))}.`,
          ]
        : [];
    // What a live venue makes of it is told with each repetition.
    if (run.setUp === 'live') return twice;
    const answers = own.flatMap((call) =>
      call.outcome.kind === 'ok' ? [{ call, whole: call.outcome.answer.whole }] : [],
    );
    const byAmount = Map.groupBy(answers, ({ call }) => call.operation.amount);
    const differing = [...byAmount.values()].flatMap(([first, ...others]) => {
      const other = others.find(({ whole }) => whole !== first?.whole);
      return first === undefined || other === undefined
        ? []
        : [
            `The same ${operation.kind} "${operation.name}" had two answers: ${named(first.call)} and ${named(other.call)}.`,
          ];
    });
    return [...twice, ...differing];
  });
}

const CAPS = /^(trading_paused|claim_required|max_|daily_|approval_)/;

/** What was answered as made is there, what was refused is not made, and nothing stands in the way of exits. */
export function checkSetAnswers({ calls, facts }: History): string[] {
  const own = setCalls(calls);
  const byRequest = Map.groupBy(
    own,
    ({ operation: { agent, kind, name, amount } }) => `${agent} ${kind} ${name} ${amount}`,
  );
  const broken = [...byRequest.values()].flatMap((some) => {
    const [{ operation }] = some as [(typeof some)[number]];
    const made = facts.orders.filter((order) => isSetCallOf(order, operation) && order.filled > 0n);
    const done = some.filter(
      ({ outcome }) =>
        outcome.kind === 'ok' && outcome.answer.success === true && outcome.answer.status === 'filled',
    );
    const isRefused = some.every(
      ({ outcome }) =>
        (outcome.kind === 'refused' && !PROVES_NOTHING.has(outcome.code)) ||
        (outcome.kind === 'ok' && outcome.answer.success === false),
    );
    if (done.length > 0 && sum(made, ({ filled }) => filled) !== operation.amount)
      return [`What was answered as made is not there: ${list(done.map(named))}.`];
    return isRefused && made.length > 0
      ? [`What was refused was made all the same: ${list(some.map(named))}.`]
      : [];
  });
  const blocked = calls.filter(
    ({ operation, outcome }) =>
      (operation.kind === 'merge' || operation.kind === 'redeem') &&
      outcome.kind === 'refused' &&
      CAPS.test(outcome.code),
  );
  return [
    ...broken,
    ...(blocked.length === 0
      ? []
      : [`A safeguard stands in the way of an exit: ${list(blocked.map(named))}.`]),
  ];
}

/** A split or conversion counts its collateral, like a BUY; a merge counts nothing. */
export const checkSetReserves = ({ facts }: History): string[] =>
  facts.orders.filter(isOfSets).flatMap(({ orderId, kind, shares, reserved }) => {
    const counted = kind === 'merge' ? 0n : shares;
    return reserved === counted
      ? []
      : [
          `The ${kind} ${short(orderId)} of ${money(shares)} counted ${money(reserved)} under the safeguards, not ${money(counted)}.`,
        ];
  });

const MATCH_KINDS: Readonly<Record<string, VenueMove['kind']>> = {
  SPLIT: 'split',
  MERGED: 'merge',
  CONVERTED: 'convert',
  REDEEMED: 'redeem',
};

const paidBy = (facts: FinalFacts): ReadonlyMap<string, string> =>
  new Map(facts.payouts.map(({ conditionId, payout }) => [conditionId, payout]));

/** Wallet by wallet, market by market: the desk has booked exactly the sets and payouts of the venue's ledger. */
export function checkMoves({ facts, run }: History): string[] {
  const payouts = paidBy(facts);
  const there = new Map<string, [yes: bigint, no: bigint, collateral: bigint]>();
  const here = new Map<string, [yes: bigint, no: bigint, collateral: bigint]>();
  const add = (to: typeof there, { wallet, kind, conditionId, yes, no, collateral }: VenueMove): void => {
    const key = `${wallet} ${kind} ${conditionId}`;
    const [a, b, c] = to.get(key) ?? [0n, 0n, 0n];
    // A loser is closed by the resolution: no event tells that its tokens were burnt.
    const [isYes, isNo] =
      kind === 'redeem'
        ? [payouts.get(conditionId) !== 'NO', payouts.get(conditionId) !== 'YES']
        : [true, true];
    // A live desk values the shares itself; no collateral moves.
    const worth = kind === 'convert' && run.setUp === 'live' ? 0n : collateral;
    to.set(key, [a + (isYes ? yes : 0n), b + (isNo ? no : 0n), c + worth]);
  };
  for (const move of facts.moves) add(there, move);
  const wallets = new Set(facts.wallets.map(({ wallet }) => wallet));
  for (const { wallet, matchKind, conditionId, outcome, size, cost } of facts.fills) {
    const kind = MATCH_KINDS[matchKind];
    if (kind === undefined || !wallets.has(wallet)) continue;
    const [yes, no] = outcome === 'YES' ? [size, 0n] : [0n, size];
    add(here, { wallet, kind, conditionId, yes, no, collateral: cost });
  }
  return [...new Set([...there.keys(), ...here.keys()])].flatMap((key) => {
    const [real, said] = [there.get(key) ?? [0n, 0n, 0n], here.get(key) ?? [0n, 0n, 0n]];
    if (String(real) === String(said)) return [];
    const [wallet = '', kind, conditionId = ''] = key.split(' ');
    const text = ([yes, no, collateral]: readonly bigint[]): string =>
      `${money(yes ?? 0n)} YES, ${money(no ?? 0n)} NO and ${money(collateral ?? 0n)}`;
    return [
      `Wallet ${short(wallet)} has a ${kind} of ${text(real)} in market ${short(conditionId)}, and the desk has booked ${text(said)}.`,
    ];
  });
}

/** A resolved market pays what it resolved to for the tokens that there were, once; no answer told of more. */
export function checkPayouts({ calls, facts }: History): string[] {
  return facts.payouts.flatMap(({ conditionId, payout }) =>
    facts.wallets.flatMap(({ wallet, agent, tokens }) => {
      const own = facts.moves.filter(
        (move) => move.wallet === wallet && move.kind === 'redeem' && move.conditionId === conditionId,
      );
      const fills = facts.fills.filter(
        (fill) =>
          fill.wallet === wallet &&
          fill.conditionId === conditionId &&
          fill.matchKind !== 'REDEEMED' &&
          fill.matchKind !== 'LOST',
      );
      const held = tokens.find((one) => one.conditionId === conditionId);
      const came = (outcome: DeskFill['outcome']): bigint =>
        sum(
          fills.filter((fill) => fill.outcome === outcome),
          ({ side, size }) => (side === 'BUY' ? size : -size),
        );
      const found: string[] = [];
      for (const [outcome, burnt, left] of [
        ['YES', sum(own, ({ yes }) => yes), held?.yes ?? 0n],
        ['NO', sum(own, ({ no }) => no), held?.no ?? 0n],
      ] as const)
        if (burnt + left !== came(outcome))
          found.push(
            `Agent ${agent} has redeemed ${money(burnt)} ${outcome} of market ${short(conditionId)} and holds ${money(left)}, and its fills make ${money(came(outcome))}.`,
          );
      const paid = sum(own, ({ collateral }) => collateral);
      const won =
        payout === 'YES' ? sum(own, ({ yes }) => yes) : payout === 'NO' ? sum(own, ({ no }) => no) : null;
      if (won !== null && won !== paid)
        found.push(
          `Market ${short(conditionId)} resolved ${payout} and has paid ${money(paid)} for ${money(won)} of it to agent ${agent}.`,
        );
      const answers = calls.filter(
        ({ operation }) =>
          operation.kind === 'redeem' && operation.agent === agent && operation.market === conditionId,
      );
      const told = sum(answers, ({ outcome }) => (outcome.kind === 'ok' ? (outcome.answer.paid ?? 0n) : 0n));
      if (told > paid)
        found.push(
          `Answers told agent ${agent} of ${money(told)} for market ${short(conditionId)}, which has paid ${money(paid)}: ${list(answers.map(named))}.`,
        );
      return found;
    }),
  );
}

/**
 * An agent that has had one `maxPositionValue` all the time: what it has put into a market since its first split there, and not got back,
 * is within it with each further split. Whatever it had before only makes that more.
 */
export function checkPositionLimits({ calls, facts, run }: History): string[] {
  if (run.setUp === 'live') return [];
  return facts.wallets.flatMap(({ wallet, agent }) => {
    const own = calls.filter(({ operation }) => operation.agent === agent);
    const limits = own.flatMap(({ operation }) =>
      operation.kind === 'change settings' && operation.changes.maxPositionValue !== undefined
        ? [operation.changes.maxPositionValue]
        : [],
    );
    const [limit] = limits;
    const isFirst = own[0]?.operation.kind === 'change settings' && own[0].outcome.kind === 'ok';
    if (limit === undefined || limit === null || limits.length > 1 || !isFirst) return [];
    const mine = facts.fills.filter((fill) => fill.wallet === wallet);
    return [...Map.groupBy(mine, ({ conditionId }) => conditionId)].flatMap(([conditionId, fills]) => {
      const spent = (until: readonly DeskFill[]): bigint =>
        sum(until, ({ side, cost }) => (side === 'BUY' ? cost : -cost));
      const first = fills.findIndex(({ matchKind }) => matchKind === 'SPLIT');
      const before = spent(fills.slice(0, Math.max(0, first)));
      for (const [nth, { matchKind, at }] of fills.entries()) {
        if (matchKind !== 'SPLIT' || nth < first) continue;
        const then = fills.filter((fill, other) => other >= first && fill.at <= at);
        const value = spent(then) + (before < 0n ? before : 0n);
        if (value > limit)
          return [
            `With a split agent ${agent} has ${money(value)} in market ${short(conditionId)}, and its limit is ${money(limit)}.`,
          ];
      }
      return [];
    });
  });
}
