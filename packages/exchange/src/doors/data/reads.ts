/** Shared by the routes of both versions: finds markets, positions and holders for a request. */
import type { FastifyRequest } from 'fastify';
import type { AccountId, ConditionId, PaperExchange, PriceHistory } from '../../paper-exchange.ts';
import type { TradeHistory } from '../../trade-history.ts';
import { charge, ENTRIES_PER_TOKEN, type Guarded, TooManyRequests } from '../limits.ts';
import { wireAddress } from '../polymarket/index.ts';
import { AccountBases } from './account-bases.ts';
import { DataError, invalid } from './data-error.ts';
import { marketsOfEvent } from './market-facts.ts';
import type { Params } from './params.ts';
import { type Position, positionsOf } from './positions.ts';

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
