/** Shared by the routes of both versions: finds markets, positions and holders for a request. */
import type { FastifyRequest } from 'fastify';
import type { AccountId, ConditionId, PaperExchange, PriceHistory } from '../../paper-exchange.ts';
import type { MovePlace, MoveRecord, TradeHistory, TradePlace, TradeRecord } from '../../trade-history.ts';
import { charge, ENTRIES_PER_TOKEN, type Guarded, TooManyRequests } from '../limits.ts';
import { wireAddress } from '../polymarket/index.ts';
import { type Basis, BasisChange, NOTHING } from './cost-basis.ts';
import { marketsOfEvent, type Position, positionsOf } from './positions.ts';
import { DataError, invalid, type Params } from './requests.ts';

export interface DataExchange
  extends Pick<PaperExchange, 'account' | 'market' | 'marketByToken' | 'markets' | 'holders'> {
  readonly history: Pick<TradeHistory, 'trades' | 'moves' | 'market'>;
  readonly prices: PriceHistory;
}

export interface DataDoorOptions {
  /** `undefined` while another process leads the exchange. */
  readonly exchange: () => DataExchange | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly guard: Guarded;
}

/** Tokens for a thousand rows of history, read beyond what a request pays for anyway. */
const TOKENS_PER_READ = 4;
/** Tokens for a look at all positions of all accounts. */
const TOKENS_PER_SCAN = 5;
const MOST_CONDITIONS = 20;
/** Accounts whose positions in a market one answer shows: each of them has a history of its own. */
const MOST_HOLDERS_POSITIONS = 20;
/** Markets of the events that a request names. */
const MOST_MARKETS = 50;
const CONDITION = /^0x[0-9a-f]{64}$/;

export class Reads {
  readonly #options: DataDoorOptions;
  readonly #bases: AccountBases;

  constructor(options: DataDoorOptions) {
    this.#options = options;
    this.#bases = new AccountBases(() => this.exchange.history);
  }

  /** @throws DataError while it is not open here */
  get exchange(): DataExchange {
    const open = this.#options.exchange();
    if (open === undefined) throw new DataError('dependency_unavailable', 'the exchange is not open here');
    return open;
  }

  get now(): number {
    return this.#options.now();
  }

  chargeRows(request: FastifyRequest, rows: number): Promise<void> {
    return charge(this.#options.guard, request, rows / ENTRIES_PER_TOKEN);
  }

  /** @returns pays for one more read of history, if the caller can */
  payer(request: FastifyRequest): () => Promise<boolean> {
    return async () => {
      try {
        await this.#payForRead(request);
        return true;
      } catch (error) {
        if (error instanceof TooManyRequests) return false;
        throw error;
      }
    };
  }

  #payForRead(request: FastifyRequest): Promise<void> {
    return charge(this.#options.guard, request, TOKENS_PER_READ);
  }

  async positions(request: FastifyRequest, account: AccountId): Promise<readonly Position[]> {
    const basis = await this.#bases.of(account, () => this.#payForRead(request));
    return positionsOf(this.exchange, account, basis);
  }

  /** What the account has traded, and in how many markets; `firstAt` is null of one that the exchange does not know. */
  async totals(request: FastifyRequest, account: AccountId) {
    const { holdings, ...totals } = await this.#bases.of(account, () => this.#payForRead(request));
    const conditions = [...holdings.values()].map(({ market }) => market.conditionId);
    return { ...totals, markets: new Set(conditions).size };
  }

  async holders(request: FastifyRequest, conditionId: ConditionId) {
    await charge(this.#options.guard, request, TOKENS_PER_SCAN);
    return this.exchange.holders(conditionId);
  }

  /** Those who hold most in a market; the house is not among them. */
  async largestHolders(request: FastifyRequest, conditionId: ConditionId): Promise<readonly AccountId[]> {
    const holders = (await this.holders(request, conditionId)).filter(
      ({ account }) => wireAddress(account) === account,
    );
    return holders
      .toSorted((a, b) => Number(b.yes + b.no - (a.yes + a.no)))
      .slice(0, MOST_HOLDERS_POSITIONS)
      .map(({ account }) => account);
  }

  /** The markets that a request names by condition or event. `null`: it names none. @throws DataError */
  conditions(params: Params, ...names: readonly [string, ...string[]]): readonly ConditionId[] | null {
    const conditions = params.list(MOST_CONDITIONS, ...names).map((text) => text.toLowerCase());
    const events = params.list(MOST_CONDITIONS, 'event_id');
    if (conditions.length > 0 && events.length > 0)
      throw invalid(`${names[0]} and event_id exclude each other`, 'event_id');
    const odd = conditions.find((condition) => !CONDITION.test(condition));
    if (odd !== undefined) throw invalid(`${names[0]} must be 0x and 64 hex digits`, names[0]);
    if (conditions.length > 0) return conditions;
    if (events.length === 0) return null;
    const found = events.flatMap((id) => marketsOfEvent(this.exchange, id));
    if (found.length > MOST_MARKETS) throw invalid('event_id: too many markets at once', 'event_id');
    return found.map(({ conditionId }) => conditionId);
  }
}

// The cost basis of accounts, from their trades and moves. What is final is kept and never read again; trades that may still
// fail are read at each call. Strangers may ask for any address: what is kept is bounded, and a caller pays for each page of
// history that is read, while what was read stays.

const PAGE_ROWS = 1_000;
/** Accounts, and holdings of all of them. */
const KEPT_ACCOUNTS = 5_000;
const KEPT_HOLDINGS = 200_000;

interface Kept {
  readonly basis: Basis;
  /** Everything up to here is in it. */
  readonly trade?: TradePlace;
  readonly move?: MovePlace;
}

type BasisStep =
  | { readonly at: number; readonly trade: TradeRecord }
  | { readonly at: number; readonly move: MoveRecord };

/** Draws tokens for a page of history. @throws TooManyRequests */
type Pay = () => Promise<void>;

const isFinal = (step: BasisStep): boolean =>
  'move' in step || step.trade.settlement.status === 'CONFIRMED' || step.trade.settlement.status === 'FAILED';

/** At one time: what makes tokens, trades, what uses them up (a conversion does both: its tokens come from before). */
const rankOf = (step: BasisStep): number => ('trade' in step ? 1 : step.move.kind === 'split' ? 0 : 2);

export class AccountBases {
  readonly #history: () => Pick<TradeHistory, 'trades' | 'moves'>;
  /** The most recently used are at the end. */
  readonly #kept = new Map<AccountId, Kept>();
  readonly #reading = new Map<AccountId, Promise<Basis>>();
  #holdings = 0;

  constructor(history: () => Pick<TradeHistory, 'trades' | 'moves'>) {
    this.#history = history;
  }

  /** Callers that ask for the same account meanwhile share the reading, and its failure. */
  of(account: AccountId, pay: Pay): Promise<Basis> {
    const running = this.#reading.get(account);
    // The failure of another caller's reading, such as its own limit, is not this caller's.
    if (running !== undefined) return running.catch(() => this.of(account, pay));
    const reading = this.#read(account, pay).finally(() => this.#reading.delete(account));
    this.#reading.set(account, reading);
    return reading;
  }

  async #read(account: AccountId, pay: Pay): Promise<Basis> {
    let kept = this.#kept.get(account) ?? { basis: NOTHING };
    for (;;) {
      const { steps, isLast } = await this.#page(account, kept);
      const open = steps.findIndex((step) => !isFinal(step));
      const final = open < 0 ? steps : steps.slice(0, open);
      kept = advance(kept, final, account);
      this.#keep(account, kept);
      if (isLast) return advance(kept, steps.slice(final.length), account).basis;
      await pay();
      // So many trades at once that a page of them is not final yet: they are folded without being kept.
      if (final.length === 0) return this.#readOn(account, advance(kept, steps, account), pay);
    }
  }

  async #readOn(account: AccountId, from: Kept, pay: Pay): Promise<Basis> {
    let at = from;
    for (;;) {
      const { steps, isLast } = await this.#page(account, at);
      at = advance(at, steps, account);
      if (isLast) return at.basis;
      await pay();
    }
  }

  /** Reads the steps that follow, oldest first, complete up to its last step. */
  async #page(
    account: AccountId,
    from: Kept,
  ): Promise<{ readonly steps: readonly BasisStep[]; readonly isLast: boolean }> {
    const window = { account, oldestFirst: true, limit: PAGE_ROWS };
    const trades = await this.#history().trades({
      ...window,
      ...(from.trade === undefined ? {} : { after: from.trade }),
    });
    const moves = await this.#history().moves({
      ...window,
      ...(from.move === undefined ? {} : { after: from.move }),
    });
    const steps: BasisStep[] = [
      ...trades.map((trade) => ({ at: trade.at, trade })),
      ...moves.map((move) => ({ at: move.at, move })),
    ];
    steps.sort((a, b) => a.at - b.at || rankOf(a) - rankOf(b));
    // A full page of one kind says nothing about what the other kind has behind it.
    const ends = [trades, moves]
      .filter(({ length }) => length >= PAGE_ROWS)
      .map((rows) => rows.at(-1)?.at ?? 0);
    const until = Math.min(...ends);
    return ends.length === 0
      ? { steps, isLast: true }
      : { steps: steps.filter(({ at }) => at <= until), isLast: false };
  }

  #keep(account: AccountId, kept: Kept): void {
    const before = this.#kept.get(account);
    this.#kept.delete(account);
    this.#kept.set(account, kept);
    this.#holdings += kept.basis.holdings.size - (before?.basis.holdings.size ?? 0);
    for (const [oldest, { basis }] of this.#kept) {
      const isBounded = this.#kept.size <= KEPT_ACCOUNTS && this.#holdings <= KEPT_HOLDINGS;
      if (isBounded || oldest === account) break;
      this.#kept.delete(oldest);
      this.#holdings -= basis.holdings.size;
    }
  }
}

function advance(kept: Kept, steps: readonly BasisStep[], account: AccountId): Kept {
  if (steps.length === 0) return kept;
  const change = new BasisChange(kept.basis);
  let { trade, move } = kept;
  for (const step of steps) {
    if ('move' in step) {
      change.move(step.move);
      move = step.move;
      continue;
    }
    if (step.trade.settlement.status !== 'FAILED') change.trade(step.trade, account);
    trade = step.trade;
  }
  return {
    basis: change.basis,
    ...(trade === undefined ? {} : { trade: { at: trade.at, number: trade.number } }),
    ...(move === undefined ? {} : { move: { at: move.at, seq: move.seq, part: move.part } }),
  };
}
