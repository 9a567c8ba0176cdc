/** Version 2 of the data API: envelopes, snake case, cursors. Wire reference 3.1 and 3.2. */
import { type Micro, microToNumber, PIPS, pipsToNumber } from '@bellwether/contract/decimals';
import { approvalCalls } from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AccountId } from '../../paper-exchange.ts';
import type { Basis } from './cost-basis.ts';
import {
  activityRow,
  type HistoryRow,
  moveSources,
  readPage,
  type Source,
  tradeRow,
  tradeSources,
  type Wanted,
} from './history.ts';
import {
  hasStatus,
  holderRows,
  openInterestOf,
  POSITION_SORTS,
  POSITION_STATUSES,
  type Position,
  type PositionOrder,
  portfolioValue,
  positionPage,
  positionRow,
  profitOf,
  readCursor,
  resolutionRow,
  resultRow,
} from './positions.ts';
import type { Reads } from './reads.ts';
import { dataPage, invalid, Params } from './requests.ts';

const DEFAULT_LIMIT = 100;
const MOST_LIMIT = 1_000;
const YEARS_3_MS = 3 * 365 * 86_400_000;
/** A cent: what the venue hides unless it is asked for. */
const SMALLEST_SHOWN = 10_000n;

const DIRECTIONS = ['ASC', 'DESC'] as const;
const SIDES = ['BUY', 'SELL'] as const;
const AMOUNTS = ['CASH', 'TOKENS'] as const;
/** Kinds of moves that the paper venue has, by the API's names; the other names are known and never occur. */
const MOVE_KINDS = {
  SPLIT: 'split',
  MERGE: 'merge',
  CONVERSION: 'convert',
  REDEEM: 'redeem',
  DEPOSIT: 'deposit',
} as const;
const ACTIVITY_TYPES = [
  ...['TRADE', 'SPLIT', 'MERGE', 'REDEEM', 'CONVERSION', 'MIGRATION', 'REWARD', 'YIELD', 'MAKER_REBATE'],
  ...['TAKER_REBATE', 'REFERRAL_REWARD', 'DEPOSIT', 'WITHDRAWAL', 'TIP'],
];

const limitOf = (params: Params): number => Math.max(1, params.whole('limit', DEFAULT_LIMIT, MOST_LIMIT));

/** @throws DataError for names of version 1 that would be ignored otherwise */
function paramsOf(request: FastifyRequest): Params {
  const params = new Params(request);
  params.refuse(['offset'], 'use cursor');
  params.refuse(['market'], 'use condition');
  return params;
}

/** The index's names of the approvals that trading needs, in the order in which they are made. */
const APPROVALS = [
  ...['UsdcExchange', 'CtfExchangeIsApprovedForAll'],
  ...['UsdcNegRiskExchange', 'CtfNegRiskExchangeIsApprovedForAll'],
  ...['UsdcCollateralAdapter', 'CtfCollateralAdapterIsApprovedForAll'],
  ...['UsdcNegRiskCollateralAdapter', 'CtfNegRiskCollateralAdapterIsApprovedForAll'],
  ...['PusdV2Exchange', 'V2PositionManagerExchangeIsApprovedForAll'],
  ...['PusdV2Router', 'V2PositionManagerRouterIsApprovedForAll'],
];
const POLYGON = 137;

const volumeRow = ({ shares, volume, fills }: Pick<Basis, 'shares' | 'volume' | 'fills'>) => ({
  volume: microToNumber(shares),
  volume_usdc: microToNumber(volume),
  trade_count: fills,
});

const NAMES = ['condition', 'condition_id'] as const;

export function v2Routes(door: FastifyInstance, reads: Reads): void {
  bindPositions(door, reads);
  bindHistory(door, reads);
  bindAccounts(door, reads);
  bindMarkets(door, reads);
  priceRoute(door, reads);
  bindAbsent(door, reads);
}

function bindPositions(door: FastifyInstance, reads: Reads): void {
  door.get('/v2/positions', async (request) => {
    const params = paramsOf(request);
    const user = params.address('user');
    const conditions = reads.conditions(params, ...NAMES);
    if (user === undefined && conditions?.length !== 1)
      throw invalid('user or one condition is required', 'user');
    const limit = limitOf(params);
    await reads.chargeRows(request, limit);
    const cursor = params.text('cursor');
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const order: PositionOrder = after ?? {
      status: params.choice('status', POSITION_STATUSES, 'OPEN'),
      sort: params.choice('sort_by', POSITION_SORTS, 'CURRENT_VALUE'),
      ascending: params.choice('sort_direction', DIRECTIONS, 'DESC') === 'ASC',
    };
    const fits = positionFilter(params, conditions);
    const accounts = user === undefined ? await reads.largestHolders(request, conditions?.[0] ?? '') : [user];
    const found: Position[] = [];
    for (const account of accounts) found.push(...(await reads.positions(request, account)));
    const shown = found.filter((position) => hasStatus(position, order.status) && fits(position));
    const { page, next } = positionPage(shown, order, { limit, after });
    return dataPage(page.map(positionRow), limit, next);
  });
}

function positionFilter(
  params: Params,
  conditions: readonly string[] | null,
): (position: Position) => boolean {
  const least = params.amount('filter_amount', 0n);
  const by = params.choice('filter_type', AMOUNTS, 'TOKENS');
  const title = params.text('title')?.toLowerCase();
  const [start, end] = [params.time('start'), params.time('end')];
  const wanted = conditions === null ? null : new Set(conditions);
  return ({ facts, size, value, lastAt }) =>
    (wanted === null || wanted.has(facts.conditionId)) &&
    (by === 'CASH' ? value : size) >= least &&
    (title === undefined || facts.question.toLowerCase().includes(title)) &&
    lastAt >= (start ?? 0) &&
    lastAt <= (end ?? Number.MAX_SAFE_INTEGER);
}

function amountFilter(params: Params, fallback: Micro): (row: HistoryRow) => boolean {
  const least = microToNumber(params.amount('filter_amount', fallback));
  const by = params.choice('filter_type', AMOUNTS, 'CASH');
  return (row) => (by === 'CASH' ? row.usdc_size : row.size) >= least;
}

function bindHistory(door: FastifyInstance, reads: Reads): void {
  const answer = async (
    request: FastifyRequest,
    params: Params,
    { sources, oldestFirst }: { readonly sources: readonly Source[]; readonly oldestFirst: boolean },
  ) => {
    const limit = limitOf(params);
    await reads.chargeRows(request, limit + sources.length);
    const pay = reads.payer(request);
    const { rows, next } = await readPage({
      sources,
      limit,
      cursor: params.text('cursor'),
      oldestFirst,
      pay,
    });
    return { rows, next, limit };
  };
  const find = (conditionId: string) => reads.exchange.market(conditionId);

  door.get('/v2/trades', async (request) => {
    const params = paramsOf(request);
    const account = params.address('user');
    const side = params.text('side') === undefined ? undefined : params.choice('side', SIDES, 'BUY');
    const wanted: Wanted = {
      conditions: reads.conditions(params, ...NAMES),
      account,
      side,
      takerOnly: params.flag('taker_only', true),
      // Honoured for one user only, as at the venue.
      since: account === undefined ? undefined : (params.time('start') ?? reads.now - YEARS_3_MS),
      until: account === undefined ? undefined : params.time('end'),
      oldestFirst: false,
      fits: amountFilter(params, SMALLEST_SHOWN),
    };
    const sources = tradeSources({ history: reads.exchange.history, find }, wanted);
    const { rows, next, limit } = await answer(request, params, { sources, oldestFirst: false });
    return dataPage(rows.map(tradeRow), limit, next);
  });

  door.get('/v2/activity', async (request) => {
    const params = paramsOf(request);
    const account = params.requiredAddress('user');
    const oldestFirst = params.choice('sort_direction', DIRECTIONS, 'DESC') === 'ASC';
    params.choice('sort_by', ['TIMESTAMP'], 'TIMESTAMP');
    const wanted = {
      conditions: reads.conditions(params, ...NAMES),
      account,
      side: params.text('side') === undefined ? undefined : params.choice('side', SIDES, 'BUY'),
      takerOnly: false,
      since: params.time('start'),
      until: params.time('end'),
      oldestFirst,
      fits: () => true,
    };
    const sources = activitySources(reads, params, wanted);
    const { rows, next, limit } = await answer(request, params, { sources, oldestFirst });
    return dataPage(rows.map(activityRow), limit, next);
  });
}

export function activitySources(
  reads: Reads,
  params: Params,
  wanted: Wanted & { readonly account: AccountId },
): readonly Source[] {
  const types = params.list(ACTIVITY_TYPES.length, 'type').map((type) => type.toUpperCase());
  const odd = types.find((type) => !ACTIVITY_TYPES.includes(type));
  if (odd !== undefined) throw invalid(`type must be one of ${ACTIVITY_TYPES.join(', ')}`, 'type');
  const hidesDeposits = params.flag('exclude_deposits_withdrawals', !types.includes('DEPOSIT'));
  const isWanted = (type: string): boolean =>
    (types.length === 0 || types.includes(type)) && !(type === 'DEPOSIT' && hidesDeposits);
  const kinds = Object.entries(MOVE_KINDS)
    .filter(([type]) => isWanted(type))
    .map(([, kind]) => kind);
  const history = { history: reads.exchange.history, find: (id: string) => reads.exchange.market(id) };
  return [
    ...(isWanted('TRADE') ? tradeSources(history, wanted) : []),
    ...moveSources(history, wanted, kinds),
  ];
}

function bindAccounts(door: FastifyInstance, reads: Reads): void {
  door.get('/v2/value', async (request) => {
    const params = paramsOf(request);
    const user = params.requiredAddress('user');
    const value = portfolioValue(reads.exchange, user, reads.conditions(params, ...NAMES));
    return { data: { proxy_wallet: user, value: microToNumber(value) } };
  });
  door.get('/v2/user-stats', async (request) => {
    const user = paramsOf(request).requiredAddress('user');
    const totals = await reads.totals(request, user);
    if (totals.firstAt === null) return { data: null };
    const positions = await reads.positions(request, user);
    const wins = positions.map(({ realized }) => realized);
    return {
      data: {
        proxy_wallet: user,
        // Distinct markets, as at the venue.
        trades: totals.markets,
        biggest_win: microToNumber(wins.reduce((most, win) => (win > most ? win : most), 0n)),
        views: 0,
        join_date: Math.floor(totals.firstAt / 1000),
        all_time_pnl: {
          timestamp: Math.floor(reads.now / 1000),
          ...resultRow(positions),
          ...volumeRow(totals),
        },
      },
    };
  });
  door.get('/v2/user-volume', async (request) => {
    const totals = await reads.totals(request, paramsOf(request).requiredAddress('user'));
    return { data: totals.firstAt === null ? null : volumeRow(totals) };
  });
  door.get('/v2/user-pnl', async (request) => {
    const user = paramsOf(request).requiredAddress('user');
    const pnl = profitOf(await reads.positions(request, user));
    // The exchange keeps no history of results: the series has its last point only.
    return { data: [{ t: Math.floor(reads.now / 1000), p: microToNumber(pnl) }] };
  });
}

function bindMarkets(door: FastifyInstance, reads: Reads): void {
  const required = (params: Params): readonly string[] => {
    const conditions = reads.conditions(params, ...NAMES);
    if (conditions === null) throw invalid('condition is required', 'condition');
    return conditions;
  };

  door.get('/v2/holders', async (request) => {
    const params = paramsOf(request);
    const least = params.amount('min_balance', 1n);
    const limit = limitOf(params);
    const cursor = params.text('cursor');
    if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw invalid('cursor is not valid', 'cursor');
    await reads.chargeRows(request, limit);
    const rows: { readonly amount: number }[] = [];
    for (const conditionId of required(params)) {
      const holders = await reads.holders(request, conditionId);
      const market = reads.exchange.market(conditionId);
      if (market !== undefined) rows.push(...holderRows(market, holders, least));
    }
    const first = Number(cursor ?? 0);
    const isMore = first + limit < rows.length;
    return dataPage(rows.slice(first, first + limit), limit, isMore ? String(first + limit) : undefined);
  });
  door.get('/v2/oi', async (request) => {
    const rows: object[] = [];
    for (const conditionId of required(paramsOf(request)))
      rows.push({
        condition_id: conditionId,
        value: microToNumber(openInterestOf(await reads.holders(request, conditionId))),
      });
    return { data: rows };
  });
  door.get('/v2/live-volume', (request, reply) => {
    const params = paramsOf(request);
    if (params.text('event_id') === undefined) throw invalid('event_id is required', 'event_id');
    const markets = (reads.conditions(params, ...NAMES) ?? [])
      .map((conditionId) => reads.exchange.market(conditionId))
      .filter((market) => market !== undefined);
    const total = markets.reduce((sum, { volume }) => sum + volume, 0n);
    // The exchange counts what takers paid, not their shares.
    const conditions = markets
      .toSorted((a, b) => Number(b.volume - a.volume))
      .map(({ conditionId, volume }) => ({ condition_id: conditionId, taker_volume: microToNumber(volume) }));
    return reply.send({ data: { taker_volume_total: microToNumber(total), conditions } });
  });
  door.get('/v2/resolutions', async (request) => {
    const rows: object[] = [];
    const params = paramsOf(request);
    // The paper world has no oracle: a market's question is its condition.
    const conditions = reads.conditions(params, ...NAMES, 'question_id');
    if (conditions === null) throw invalid('condition, question_id or event_id is required', 'condition');
    for (const conditionId of conditions) {
      const view = reads.exchange.market(conditionId);
      const facts = view ?? (await reads.exchange.history.market(conditionId));
      if (facts !== undefined) rows.push(resolutionRow(facts, view));
    }
    return { data: rows };
  });
}

/** Answers, for what the paper venue does not have, that there is nothing. */
function bindAbsent(door: FastifyInstance, reads: Reads): void {
  // No account needs an approval on the paper venue: each is there.
  door.get('/v2/approvals', (request, reply) => {
    const address = paramsOf(request).requiredAddress('user');
    const contracts = approvalCalls().map(({ asset, spender, to }, nth) => ({
      id: APPROVALS[nth],
      feature: 'trading',
      ...{ token: to.toLowerCase(), spender: spender.toLowerCase() },
      ...(asset === 'collateral' ? { standard: 'ERC20', amount: 'max' } : { standard: 'ERC1155' }),
      approved: true,
    }));
    const checked_at = new Date(reads.now).toISOString();
    return reply.send({ data: { address, chain_id: POLYGON, checked_at, contracts } });
  });
  door.get('/v2/leaderboard', (request, reply) => {
    const user = paramsOf(request).address('user');
    return reply.send(user === undefined ? dataPage([], DEFAULT_LIMIT, undefined) : { data: null });
  });
  for (const path of ['positions/combos', 'activity/combos', 'biggest-winners', 'builders/*'])
    door.get(`/v2/${path}`, (_request, reply) => reply.send(dataPage([], DEFAULT_LIMIT, undefined)));
  door.get('/v2/status', (_request, reply) =>
    reply.send({ data: { computed_at: Math.floor(reads.now / 1000), age: 0, lag: 0 } }),
  );
}

// `GET /v2/prices-history`: prices of a token, the newest page first; each page is in the order of time.

const SECOND_MS = 1_000;
const MINUTE_S = 60;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_PRICE_SPAN_MS = 15 * DAY_MS;
const DEFAULT_PRICES = 1_000;
const MOST_PRICES = 10_000;
const MOST_BUCKET_S = 30 * 86_400;
const TOKEN_ID = /^[0-9]{1,78}$/;
/** `1m` is a month. */
const PRICE_INTERVALS: Readonly<Record<string, number>> = {
  max: Number.POSITIVE_INFINITY,
  all: Number.POSITIVE_INFINITY,
  '1m': 30 * DAY_MS,
  '1w': 7 * DAY_MS,
  '1d': DAY_MS,
  '6h': 6 * HOUR_MS,
  '1h': HOUR_MS,
};

interface PriceSpan {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** One price: the last one at that time. */
  readonly isMoment: boolean;
}

/** @throws DataError unless exactly one of the three ways is used */
function priceSpanOf(params: Params, now: number): PriceSpan {
  const [interval, start, asOf] = [params.text('interval'), params.time('start'), params.time('as_of')];
  const ways = [interval, start, asOf].filter((way) => way !== undefined);
  if (ways.length !== 1) throw invalid('exactly one of start, interval and as_of is required', 'interval');
  if (asOf !== undefined) return { from: asOf, to: asOf + SECOND_MS - 1, isMoment: true };
  if (start !== undefined) {
    const to = (params.time('end') ?? Math.min(now, start + MOST_PRICE_SPAN_MS)) + SECOND_MS - 1;
    if (to < start) throw invalid('end must not be before start', 'end');
    if (to - start > MOST_PRICE_SPAN_MS + SECOND_MS)
      throw invalid('start and end may lie 15 days apart', 'end');
    return { from: start, to, isMoment: false };
  }
  const length = Object.hasOwn(PRICE_INTERVALS, interval ?? '') ? PRICE_INTERVALS[interval ?? ''] : undefined;
  if (length === undefined)
    throw invalid(`interval must be one of ${Object.keys(PRICE_INTERVALS).join(', ')}`, 'interval');
  return { from: Math.max(0, now - length), to: now, isMoment: false };
}

function priceRoute(door: FastifyInstance, reads: Reads): void {
  door.get('/v2/prices-history', async (request) => {
    const params = new Params(request);
    params.refuse(['offset'], 'use cursor');
    const token = params.text('token_id');
    if (token === undefined || !TOKEN_ID.test(token)) throw invalid('token_id is required', 'token_id');
    const limit = Math.max(1, params.whole('limit', DEFAULT_PRICES, MOST_PRICES));
    const bucketS = Math.max(1, params.whole('bucket_seconds', MINUTE_S, MOST_BUCKET_S));
    const cursor = params.text('cursor');
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw invalid('cursor is not valid', 'cursor');
    const { from, to, isMoment } = priceSpanOf(params, reads.now);
    await reads.chargeRows(request, limit);
    const { prices } = reads.exchange;
    const place = await prices.locate(token);
    if (place === null) return dataPage([], limit, undefined);
    // A cursor is the time of the oldest point that was shown.
    const until = cursor === undefined ? to : Math.min(to, Number(cursor) - 1);
    const asked = { tokenId: place.yesTokenId, from, to: until, bucketMs: bucketS * SECOND_MS };
    const { before, points } = await prices.read({ ...asked, limit: isMoment ? 1 : limit });
    const found = isMoment ? [points.at(-1) ?? before].filter((one) => one !== null) : points.slice(-limit);
    const shown = found.map(({ at, price }) => ({
      t: Math.floor((isMoment ? from : at) / SECOND_MS),
      p: pipsToNumber(place.mirrored ? PIPS - price : price),
    }));
    const isMore = !isMoment && points.length > limit;
    return dataPage(shown, limit, isMore ? String(found[0]?.at) : undefined);
  });
}
