/** Statements: who asks for which wallets and which span, and the figures of the answer. */

import {
  type CostMethod,
  LAST_MS,
  outcomeName,
  STATEMENT_LIMITS,
  type Statement,
  type StatementBalance,
  type StatementEvent,
  type StatementGroup,
} from '@bellwether/contract';
import { type Micro, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import type { AgentStore } from '../agents/index.ts';
import type { EquityPoint, EquityStore, OwnerReads } from '../console/index.ts';
import { familyOf, type WalletAddress } from '../domain/records.ts';
import { utcDay } from '../domain/safeguards.ts';
import { READ_PATIENCE_MS, within } from '../domain/unavailable.ts';
import { refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import { holdings, type PositionNeeds } from '../positions/index.ts';
import { type HasVenues, venueOf, venuesFor } from '../venues/asking.ts';
import {
  addTo,
  type Booked,
  type DepositEvent,
  type Entry,
  type MoneyEvent,
  netOf,
  noResults,
  Replay,
  type Results,
} from './replay.ts';
import type { MarketOfStatement, StatementStore } from './store.ts';

export interface StatementNeeds extends PositionNeeds {
  readonly agents: AgentStore;
  readonly ownerReads: OwnerReads;
  readonly statements: StatementStore;
  readonly equity: EquityStore;
  readonly simulationBalance: Micro;
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

// Results, fees and losses of a statement: all together, and by market, category, skill and day.

const NO_MARKET = 'No market';
const NO_CATEGORY = 'No category';
const NO_SKILL = 'No skill';
const OTHERS = { key: 'others', title: 'All others' };

type Summed = Pick<Statement, 'totals' | 'otherAgents' | 'byMarket' | 'byCategory' | 'bySkill' | 'byDay'>;

type Groups = Map<string, Results>;

const size = (value: Micro): Micro => (value < 0n ? -value : value);

interface SummariesOptions {
  readonly markets: ReadonlyMap<string, MarketOfStatement>;
  /** An agent whose acts count as those of others. */
  readonly isOther: (agentId: string) => boolean;
}

class Summaries {
  readonly #markets: SummariesOptions['markets'];
  readonly #isOther: SummariesOptions['isOther'];
  readonly #all = noResults();
  readonly #byMarket: Groups = new Map();
  readonly #byCategory: Groups = new Map();
  readonly #bySkill: Groups = new Map();
  readonly #byDay: Groups = new Map();
  #bought = 0n;
  #sold = 0n;
  #payouts = 0n;
  #deposits = 0n;
  #pastDesk = 0n;
  #others = { cash: 0n, realized: 0n, fees: 0n };

  constructor({ markets, isOther }: SummariesOptions) {
    this.#markets = markets;
    this.#isOther = isOther;
  }

  add(entry: Entry): void {
    const { event, kind, amount } = entry;
    addTo(this.#all, entry);
    this.#pastDesk += entry.pastDesk;
    if (event.kind === 'deposit') this.#deposits += amount;
    else if (kind === 'payout') this.#payouts += amount;
    else if (amount < 0n) this.#bought -= amount;
    else this.#sold += amount;
    if (event.kind === 'deposit') return;
    if (event.agentId !== null && this.#isOther(event.agentId)) {
      this.#others.cash += entry.cash;
      this.#others.realized += entry.realized;
      this.#others.fees += entry.venueFee + entry.platformFee;
      return;
    }
    const conditionId = event.kind === 'fill' ? event.conditionId : '';
    const skill = event.kind === 'fill' ? (event.skillSlug ?? '') : '';
    addTo(groupOf(this.#byMarket, conditionId), entry);
    addTo(groupOf(this.#byCategory, this.#markets.get(conditionId)?.category ?? ''), entry);
    addTo(groupOf(this.#bySkill, skill), entry);
    addTo(groupOf(this.#byDay, utcDay(event.at)), entry);
  }

  answer(notExplained: Micro): Summed {
    const markets = this.#markets;
    const days = [...this.#byDay].filter(([, results]) => !isNothing(results));
    return {
      totals: {
        ...resultsOf(this.#all),
        bought: microToNumber(this.#bought),
        sold: microToNumber(this.#sold),
        payouts: microToNumber(this.#payouts),
        deposits: microToNumber(this.#deposits),
        notExplained: microToNumber(notExplained),
        pastDesk: microToNumber(this.#pastDesk),
      },
      otherAgents: {
        cash: microToNumber(this.#others.cash),
        realizedPnl: microToNumber(this.#others.realized),
        fees: microToNumber(this.#others.fees),
      },
      byMarket: largest(this.#byMarket, (id) => (id === '' ? NO_MARKET : (markets.get(id)?.title ?? id))),
      byCategory: largest(this.#byCategory, (category) => category || NO_CATEGORY),
      bySkill: largest(this.#bySkill, (skill) => skill || NO_SKILL),
      byDay: days
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([day, results]) => ({ key: day, title: day, ...resultsOf(results) })),
    };
  }
}

function groupOf(groups: Groups, key: string): Results {
  const known = groups.get(key);
  if (known !== undefined) return known;
  const results = noResults();
  groups.set(key, results);
  return results;
}

const isNothing = (results: Results): boolean =>
  results.gains === 0n && results.losses === 0n && results.venueFees === 0n && results.platformFees === 0n;

const resultsOf = (results: Results) => ({
  trades: results.trades,
  volume: microToNumber(results.volume),
  gains: microToNumber(results.gains),
  losses: microToNumber(results.losses),
  realizedPnl: microToNumber(results.gains + results.losses),
  venueFees: microToNumber(results.venueFees),
  platformFees: microToNumber(results.platformFees),
  net: microToNumber(netOf(results)),
});

/** The largest results first, gains and losses alike; what is beyond the limit is added up. */
function largest(groups: Groups, titleOf: (key: string) => string): StatementGroup[] {
  const sorted = [...groups].sort(
    ([a, one], [b, two]) => compare(size(netOf(two)), size(netOf(one))) || (a < b ? -1 : 1),
  );
  const shown = sorted
    .slice(0, STATEMENT_LIMITS.groups)
    .map(([key, results]) => ({ key, title: titleOf(key), ...resultsOf(results) }));
  if (sorted.length <= STATEMENT_LIMITS.groups) return shown;
  const rest = noResults();
  for (const [, results] of sorted.slice(STATEMENT_LIMITS.groups)) {
    rest.trades += results.trades;
    rest.volume += results.volume;
    rest.gains += results.gains;
    rest.losses += results.losses;
    rest.venueFees += results.venueFees;
    rest.platformFees += results.platformFees;
  }
  return [...shown, { ...OTHERS, ...resultsOf(rest) }];
}

const compare = (a: Micro, b: Micro): number => (a < b ? -1 : a > b ? 1 : 0);

// What wallets really hold, beside what the books say. A live wallet pays and receives past the desk, of which the desk learns only
// that the balance is another one: that is the part of a statement that is not explained.

/** Readings until two agree: books and balance cannot be read at the same moment, and a trade comes between them. */
const READINGS = 8;
const READ_AGAIN_MS = 60;
/** In a row. */
const AGREE = 3;

/** Wallets whose money nothing but the desk's own exchange moves. */
const isClosedSystem = (needs: HasVenues, wallet: WalletAddress): boolean =>
  venuesFor(needs, wallet).every(
    ({ paper, signedOrders }) => paper !== undefined && signedOrders !== undefined,
  );

/**
 * By how much the balance of wallets differs from their books now, `null` where it cannot be told.
 * One reading without a difference is enough; another one must be seen several times in a row, because a trade looks like it.
 */
async function presentDrift(needs: StatementNeeds, wallets: readonly WalletAddress[]): Promise<Micro | null> {
  if (wallets.length === 0) return 0n;
  let last: Micro | null = null;
  let times = 0;
  for (let reading = 0; reading < READINGS; reading += 1) {
    const [balance, booked] = await Promise.all([
      presentBalance(needs, wallets),
      needs.statements.cash(wallets, needs.simulationBalance),
    ]);
    if (balance === null) return null;
    const drift = balance - booked;
    if (drift === 0n) return drift;
    times = drift === last ? times + 1 : 1;
    if (times >= AGREE) return drift;
    last = drift;
    await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
  }
  return null;
}

/** @returns `null` while a venue does not answer: an older balance would look like a transfer */
async function presentBalance(
  { venues }: HasVenues,
  wallets: readonly WalletAddress[],
): Promise<Micro | null> {
  const balances = await Promise.all(
    [...venues.values()].map(({ accounts }) =>
      accounts.balances(
        wallets.filter((wallet) => familyOf(wallet) === accounts.family),
        { freshMs: 0, patienceMs: READ_PATIENCE_MS },
      ),
    ),
  );
  const isPresent = balances.every(({ ageMs }) => ageMs !== null && ageMs <= 2 * READ_PATIENCE_MS);
  return isPresent ? balances.reduce((sum, { total }) => sum + total, 0n) : null;
}

/** What was recorded of each wallet last before a time, compared with what the books said at that moment. */
class Observed {
  readonly #points: readonly { readonly wallet: WalletAddress; readonly point: EquityPoint }[];
  readonly #isClosed: (wallet: WalletAddress) => boolean;
  #next = 0;
  /** How the balances differed from the books. */
  drift: Micro = 0n;
  /** Value of what was held. */
  value: Micro = 0n;
  /** What it had cost. */
  cost: Micro = 0n;

  private constructor(
    points: readonly { readonly wallet: WalletAddress; readonly point: EquityPoint }[],
    isClosed: (wallet: WalletAddress) => boolean,
  ) {
    this.#points = points;
    this.#isClosed = isClosed;
  }

  static async before(
    needs: StatementNeeds,
    wallets: readonly WalletAddress[],
    at: number,
  ): Promise<Observed> {
    const points = [...(await needs.equity.lastBefore(wallets, at))]
      .map(([wallet, point]) => ({ wallet, point }))
      .sort((a, b) => a.point.at - b.point.at);
    return new Observed(points, (wallet) => isClosedSystem(needs, wallet));
  }

  /** The same, with nothing compared yet. */
  restarted(): Observed {
    return new Observed(this.#points, this.#isClosed);
  }

  /** Anything was ever recorded. */
  get isComplete(): boolean {
    return this.#points.length > 0;
  }

  /** Compares the points before a time; call it before each event, and once at the end. */
  compare(until: number, booked: (wallet: WalletAddress) => Booked): void {
    for (; ; this.#next += 1) {
      const { wallet, point } = this.#points[this.#next] ?? {};
      if (wallet === undefined || point === undefined || point.at >= until) return;
      const { cash, cost, netDeposits } = booked(wallet);
      const drift = this.#isClosed(wallet) ? 0n : point.deposits - netDeposits;
      this.drift += drift;
      this.value += point.equity - (cash + drift);
      this.cost += cost;
    }
  }
}

// Learns what venues sort traded markets under, behind the trades: a venue forgets its old markets, a statement of a year must not.

/** Of one turn. */
const MARKETS_PER_TURN = 200;

/** One turn: what a venue does not tell now is asked for again; what it has forgotten has no category. */
async function learnCategories(needs: StatementNeeds): Promise<void> {
  const asked = await needs.statements.withoutCategory(MARKETS_PER_TURN);
  const learnt = new Map<string, string>();
  await Promise.all(
    [...Map.groupBy(asked, ({ venue }) => venue)].map(async ([name, markets]) => {
      const venue = needs.venues.get(name ?? '') ?? needs.venues.default;
      const ids = markets.map(({ conditionId }) => conditionId);
      const found = await within(READ_PATIENCE_MS, venue.markets.findAll(ids));
      if (found === null) return;
      for (const id of ids) learnt.set(id, '');
      for (const { conditionId, category } of found) learnt.set(conditionId, category);
    }),
  );
  if (learnt.size > 0) await needs.statements.learnCategories(learnt);
}

export const statementJobs = (needs: StatementNeeds): readonly Job[] => [
  { name: 'learn categories', everyMs: 20_000, run: () => learnCategories(needs) },
];
