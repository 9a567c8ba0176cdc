/** Statements: who asks for which wallets and which span, and the figures of the answer. */

import {
  type CostMethod,
  LAST_MS,
  outcomeName,
  type Statement,
  type StatementBalance,
  type StatementEvent,
} from '@bellwether/contract';
import { type Micro, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import { holdings, type PositionNeeds } from '../positions/index.ts';
import { venueOf } from '../venues/asking.ts';
import { type BalanceNeeds, Observed, presentDrift } from './balances.ts';
import { learnCategories } from './jobs.ts';
import { type Booked, type DepositEvent, type Entry, type MoneyEvent, Replay } from './replay.ts';
import type { MarketOfStatement } from './store.ts';
import { Summaries } from './summaries.ts';

export interface StatementNeeds extends PositionNeeds, BalanceNeeds {
  readonly clock: Clock;
  /** Of a text, as hex digits. */
  readonly sha256: (text: string) => string;
}

const DEFAULT_PAGE = 100;

/** Whose money, and who asks. */
export interface Subject {
  readonly wallets: readonly WalletAddress[];
  /** Agents whose acts are shown with their names. */
  readonly names: ReadonlyMap<string, string>;
  /** Another agent of the wallets, whose acts count as those of others. */
  readonly isOther: (agentId: string) => boolean;
}

export interface StatementQuery {
  readonly from?: string;
  readonly to?: string;
  readonly method?: CostMethod;
}

interface Span {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** It reaches to the present, so nothing that happened is after it. */
  readonly isNow: boolean;
}

/** @throws Refusal invalid_request, contradictory_filter */
function spanOf({ from, to }: StatementQuery, now: number): Span {
  const until = to === undefined ? now : timeOf(to, 'to');
  const isNow = until >= now;
  const end = isNow ? now : until;
  const start = from === undefined ? Date.UTC(new Date(end).getUTCFullYear(), 0, 1) : timeOf(from, 'from');
  if (start > end || (start === end && !isNow))
    throw refusal('contradictory_filter', 'from must be before to, and not in the future.', {
      path: 'from',
      fix: 'Send an earlier from, or a later to.',
    });
  return { from: start, to: end, isNow };
}

/** @throws Refusal invalid_request for a day that no calendar has */
function timeOf(text: string, path: string): number {
  const whole = text.length === 10 ? `${text}T00:00:00.000Z` : text;
  const at = Date.parse(whole);
  const isReal = !Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, 10));
  if (isReal) return at;
  throw refusal('invalid_request', `${path}: ${text} is no time of the calendar.`, { path });
}

/** One moment of the balances, in micro-units. */
interface Standing {
  readonly at: number;
  readonly cash: Micro;
  readonly cost: Micro;
  readonly value: Micro | null;
  readonly unrealized: Micro | null;
}

/** The lines of a statement in their order. */
export type Line =
  | { readonly kind: 'opening'; readonly standing: Standing }
  | { readonly kind: 'event'; readonly entry: Entry; readonly balance: Micro }
  | { readonly kind: 'closing'; readonly standing: Standing; readonly notExplained: Micro };

export interface Run {
  readonly span: Span;
  readonly method: CostMethod;
  readonly subject: Subject;
  readonly isCurrent: boolean;
  readonly markets: ReadonlyMap<string, MarketOfStatement>;
  readonly lines: () => AsyncGenerator<Line>;
}

/** Reads what the statement needs beside its events. @throws Refusal */
export async function prepareStatement(
  needs: StatementNeeds,
  subject: Subject,
  query: StatementQuery,
): Promise<Run> {
  const span = spanOf(query, needs.clock.now());
  const { wallets } = subject;
  const { method = 'average' } = query;
  const until = span.isNow ? LAST_MS : span.to;
  const [atFrom, atTo, unseen, held] = await Promise.all([
    Observed.before(needs, wallets, span.from),
    Observed.before(needs, wallets, until),
    needs.statements.unseen(wallets),
    span.isNow ? holdings(needs, wallets) : null,
    learnCategories(needs),
  ]);
  const seen = wallets.filter((wallet) => !unseen.has(wallet));
  const [markets, brought, present, firstFillAt] = await Promise.all([
    needs.statements.markets(wallets),
    presentDrift(needs, [...unseen]),
    span.isNow ? presentDrift(needs, seen) : 0n,
    needs.statements.firstFillAt([...unseen]),
  ]);
  const isCurrent = present !== null && brought !== null && (held === null || held.silent.size === 0);
  const given = {
    until,
    simulationBalance: needs.simulationBalance,
    firstSeen: firstSeenOf([...unseen], brought ?? 0n, firstFillAt ?? span.to),
  };

  async function* lines(): AsyncGenerator<Line> {
    const replay = new Replay(method);
    const booked = replay.booked.bind(replay);
    const ends = { from: atFrom.restarted(), to: atTo.restarted() };
    let shift: Micro | null = null;
    const begin = (): Line & { readonly kind: 'opening' } => {
      ends.from.compare(span.from, booked);
      shift = ends.from.drift;
      return { kind: 'opening', standing: standingOf(span.from, replay.total, ends.from) };
    };
    for await (const event of needs.statements.events(wallets, given)) {
      if (shift === null && event.at >= span.from) yield begin();
      if (shift === null) ends.from.compare(event.at, booked);
      ends.to.compare(event.at, booked);
      const entry = replay.take(event);
      if (shift !== null) yield { kind: 'event', entry, balance: replay.total.cash + shift };
    }
    if (shift === null) yield begin();
    ends.to.compare(until, booked);
    const drift = span.isNow && present !== null ? present : ends.to.drift;
    const standing = standingOf(span.to, replay.total, ends.to, drift);
    const value = held?.held.reduce((sum, { value: worth }) => sum + worth, 0n);
    yield {
      kind: 'closing',
      standing: value === undefined ? standing : { ...standing, value, unrealized: value - standing.cost },
      notExplained: drift - (shift ?? 0n),
    };
  }
  return { span, method, subject, isCurrent, markets, lines };
}

/** What wallets have of which the desk knows no deposit: it has not looked at them yet. */
const firstSeenOf = ([wallet]: readonly WalletAddress[], amount: Micro, at: number): DepositEvent | null =>
  wallet === undefined || amount === 0n
    ? null
    : { kind: 'deposit', id: `first:${wallet}`, wallet, at, amount, reason: 'first_seen' };

function standingOf(
  at: number,
  { cash, cost }: Booked,
  { drift: observed, value, cost: valuedCost, isComplete }: Observed,
  drift: Micro = observed,
): Standing {
  const isKnown = isComplete || cost === 0n;
  return {
    at,
    cash: cash + drift,
    cost,
    value: isKnown ? value : null,
    unrealized: isKnown ? value - valuedCost : null,
  };
}

/** The whole answer, with one page of events. @throws Refusal */
export async function statement(
  needs: StatementNeeds,
  subject: Subject,
  query: StatementQuery & { readonly limit?: number; readonly cursor?: string },
): Promise<Statement> {
  const { limit = DEFAULT_PAGE, cursor } = query;
  const after = cursor === undefined ? null : pageAfter(cursor);
  const run = await prepareStatement(needs, subject, after === null ? query : { ...query, to: after.to });
  const { span } = run;
  const describe = describer(needs, run);
  const summaries = new Summaries({ markets: run.markets, isOther: subject.isOther });
  const events: StatementEvent[] = [];
  let [hasPassed, hasMore, total] = [after === null, false, 0];
  let opening: Standing | null = null;
  let closing: Standing | null = null;
  let notExplained = 0n;
  for await (const line of run.lines()) {
    if (line.kind === 'opening') opening = line.standing;
    else if (line.kind === 'closing') ({ standing: closing, notExplained } = line);
    else {
      total += 1;
      summaries.add(line.entry);
      if (!hasPassed) hasPassed = eventId(needs, line.entry.event) === after?.id;
      else if (events.length < limit) events.push(describe(line));
      else hasMore = true;
    }
  }
  if (opening === null || closing === null) throw new Error('a statement has two ends');
  if (!hasPassed)
    throw refusal(
      'invalid_request',
      'cursor: take it from `next` of the page before, of the same statement.',
      {
        path: 'cursor',
      },
    );
  const last = events.at(-1);
  const to = new Date(span.to).toISOString();
  return {
    from: new Date(span.from).toISOString(),
    to,
    method: run.method,
    wallets: [...subject.wallets],
    isCurrent: run.isCurrent,
    opening: balanceOf(opening),
    closing: balanceOf(closing),
    ...summaries.answer(notExplained),
    eventsTotal: total,
    events,
    next: hasMore && last !== undefined ? cursorOf({ to, id: last.id }) : null,
  };
}

const numberOrNull = (value: Micro | null): number | null => (value === null ? null : microToNumber(value));

const balanceOf = ({ at, cash, cost, value, unrealized }: Standing): StatementBalance => ({
  at: new Date(at).toISOString(),
  cash: microToNumber(cash),
  costBasis: microToNumber(cost),
  positionsValue: numberOrNull(value),
  unrealizedPnl: numberOrNull(unrealized),
});

interface Place {
  /** The end of the statement whose pages they are. */
  readonly to: string;
  /** Of the last event of the page before. */
  readonly id: string;
}

const cursorOf = ({ to, id }: Place): string => Buffer.from(`${to} ${id}`).toString('base64url');

const PLACE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{32})$/;

/** @throws Refusal invalid_request */
function pageAfter(cursor: string): Place {
  const [, to, id] = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (to === undefined || id === undefined)
    throw refusal('invalid_request', 'cursor: take it from `next` of the page before.', { path: 'cursor' });
  return { to, id };
}

/** A name without the order's: other agents of a wallet see the event, and not whose order it was. */
function eventId({ sha256 }: Pick<StatementNeeds, 'sha256'>, event: MoneyEvent): string {
  const name = event.kind === 'fill' ? `${event.wallet} ${event.orderId} ${event.tradeId}` : event.id;
  return sha256(name).slice(0, 32);
}

type EventLine = Line & { readonly kind: 'event' };

/** Events as the answer has them, for JSON and CSV alike. */
export function describer(
  needs: StatementNeeds,
  { subject, markets }: Run,
): (line: EventLine) => StatementEvent {
  const { names, isOther } = subject;
  return ({ entry, balance }) => {
    const { event } = entry;
    const fill = event.kind === 'fill' ? event : null;
    const market = fill === null ? undefined : markets.get(fill.conditionId);
    const agentId = event.kind === 'deposit' ? null : event.agentId;
    const name = agentId === null ? null : (names.get(agentId) ?? null);
    const isHidden = agentId !== null && name === null;
    return {
      id: eventId(needs, event),
      at: new Date(event.at).toISOString(),
      kind: entry.kind,
      venue: venueOf(needs, market?.venue ?? null, event.wallet).id,
      walletAddress: event.wallet,
      marketId: market?.marketId ?? fill?.conditionId ?? null,
      title: market?.title ?? null,
      category: market?.category || null,
      outcome: fill?.outcome ?? null,
      outcomeName: outcomeName(market?.outcomes, fill?.outcome ?? ''),
      shares: fill === null ? null : microToNumber(entry.shares),
      price: fill === null ? null : pipsToNumber(fill.price),
      amount: microToNumber(entry.amount),
      venueFee: microToNumber(entry.venueFee),
      platformFee: microToNumber(entry.platformFee),
      cash: microToNumber(entry.cash),
      costBasis: microToNumber(entry.costBasis),
      realizedPnl: microToNumber(entry.realized),
      pastDesk: microToNumber(entry.pastDesk),
      balance: microToNumber(balance),
      agentId: isHidden ? null : agentId,
      agentName: name,
      isOther: agentId !== null && isOther(agentId),
      source: isHidden ? null : (fill?.source ?? null),
      skillSlug: isHidden ? null : (fill?.skillSlug ?? null),
      orderId: isHidden ? null : (fill?.orderId ?? null),
      tradeId: isHidden ? null : (fill?.tradeId ?? null),
    };
  };
}
