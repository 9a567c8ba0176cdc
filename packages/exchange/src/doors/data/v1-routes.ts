/** Version 1 of the data API, which the venue retires and clients of today still call: plain arrays, camel case, offsets. */
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type HistoryRow,
  legacyActivityRow,
  legacyTradeRow,
  readPage,
  type Source,
  tradeSources,
} from './history.ts';
import {
  holderRows,
  isRedeemable,
  legacyPositionRow,
  marketsOfEvent,
  openInterestOf,
  type Position,
  portfolioValue,
  totalOf,
  unrealizedOf,
} from './positions.ts';
import type { Reads } from './reads.ts';
import { invalid, Params } from './requests.ts';
import { activitySources } from './v2-routes.ts';

const DIRECTIONS = ['ASC', 'DESC'] as const;
const SIDES = ['BUY', 'SELL'] as const;
const AMOUNTS = ['CASH', 'TOKENS'] as const;
const ONE = 1_000_000n;
const MOST_OFFSET = 10_000;
const READ_ROWS = 1_000;

type SortKey = (position: Position) => number | string;

const averageOf = ({ cost, size, bought, boughtCost }: Position): number =>
  size > 0n ? Number(cost) / Number(size) : bought === 0n ? 0 : Number(boughtCost) / Number(bought);

const SORT_KEYS = {
  CURRENT: ({ value }) => Number(value),
  INITIAL: ({ cost }) => Number(cost),
  TOKENS: ({ size }) => Number(size),
  CASHPNL: (position) => Number(unrealizedOf(position)),
  PERCENTPNL: (position) =>
    position.cost === 0n ? 0 : Number(unrealizedOf(position)) / Number(position.cost),
  TITLE: ({ facts }) => facts.question,
  RESOLVING: ({ facts }) => facts.endDate,
  PRICE: ({ price }) => price,
  AVGPRICE: averageOf,
  REALIZEDPNL: ({ realized }) => Number(realized),
  TIMESTAMP: ({ lastAt }) => lastAt,
} as const satisfies Record<string, SortKey>;

const OPEN_SORTS = [
  'CURRENT',
  'INITIAL',
  'TOKENS',
  'CASHPNL',
  'PERCENTPNL',
  'TITLE',
  'RESOLVING',
  'PRICE',
  'AVGPRICE',
] as const;
const CLOSED_SORTS = ['REALIZEDPNL', 'TITLE', 'PRICE', 'AVGPRICE', 'TIMESTAMP'] as const;

function sorted(positions: readonly Position[], keyOf: SortKey, ascending: boolean): readonly Position[] {
  const direction = ascending ? 1 : -1;
  return positions
    .map((position) => ({ position, key: keyOf(position) }))
    .sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -direction : direction))
    .map(({ position }) => position);
}

export function v1Routes(door: FastifyInstance, reads: Reads): void {
  bindPositions(door, reads);
  bindHistory(door, reads);
  bindMarkets(door, reads);
  v1MarketLists(door, reads);
  door.get('/', (_request, reply) => reply.send({ data: 'OK' }));
}

function pageFrom(params: Params, page: { fallback: number; most: number; offset: number }) {
  const limit = params.whole('limit', page.fallback, page.most);
  return { limit, offset: params.whole('offset', 0, page.offset) };
}

function bindPositions(door: FastifyInstance, reads: Reads): void {
  door.get('/positions', async (request, reply) => {
    const params = new Params(request);
    const user = params.requiredAddress('user');
    const { limit, offset } = pageFrom(params, { fallback: 100, most: 500, offset: MOST_OFFSET });
    await reads.chargeRows(request, limit);
    const least = params.amount('size_threshold', ONE);
    const conditions = reads.conditions(params, 'market');
    const [redeemable, mergeable] = [params.flag('redeemable', false), params.flag('mergeable', false)];
    const title = params.text('title')?.toLowerCase();
    const shown = (await reads.positions(request, user)).filter(
      (position) =>
        position.size > 0n &&
        position.size >= least &&
        (conditions === null || conditions.includes(position.facts.conditionId)) &&
        (!redeemable || isRedeemable(position)) &&
        (!mergeable || position.isMergeable) &&
        (title === undefined || position.facts.question.toLowerCase().includes(title)),
    );
    const sort = params.choice('sort_by', OPEN_SORTS, 'TOKENS');
    const ascending = params.choice('sort_direction', DIRECTIONS, 'DESC') === 'ASC';
    const page = sorted(shown, SORT_KEYS[sort], ascending).slice(offset, offset + limit);
    return reply.send(page.map(legacyPositionRow));
  });

  door.get('/closed-positions', async (request, reply) => {
    const params = new Params(request);
    const user = params.requiredAddress('user');
    const { limit, offset } = pageFrom(params, { fallback: 10, most: 50, offset: 100_000 });
    await reads.chargeRows(request, limit);
    const conditions = reads.conditions(params, 'market');
    const shown = (await reads.positions(request, user)).filter(
      ({ size, facts }) => size === 0n && (conditions === null || conditions.includes(facts.conditionId)),
    );
    const sort = params.choice('sort_by', CLOSED_SORTS, 'REALIZEDPNL');
    const ascending = params.choice('sort_direction', DIRECTIONS, 'DESC') === 'ASC';
    const page = sorted(shown, SORT_KEYS[sort], ascending).slice(offset, offset + limit);
    return reply.send(
      page.map((position) => ({
        ...legacyPositionRow(position),
        timestamp: Math.floor(position.lastAt / 1000),
      })),
    );
  });

  door.get('/value', (request, reply) => {
    const params = new Params(request);
    const user = params.requiredAddress('user');
    const value = portfolioValue(reads.exchange, user, reads.conditions(params, 'market'));
    return reply.send([{ user, value: microToNumber(value) }]);
  });
  door.get('/traded', async (request, reply) => {
    const user = new Params(request).requiredAddress('user');
    return reply.send({ user, traded: (await reads.totals(request, user)).markets });
  });
}

function bindHistory(door: FastifyInstance, reads: Reads): void {
  /** Offsets have no cursor to go on from, so all that is skipped is read and paid for at once. */
  const rowsAt = async (
    request: FastifyRequest,
    sources: readonly Source[],
    { limit, offset, oldestFirst }: { limit: number; offset: number; oldestFirst: boolean },
  ): Promise<readonly HistoryRow[]> => {
    const wanted = offset + limit;
    await reads.chargeRows(request, wanted);
    const pay = async () => true;
    const mostReads = sources.length + Math.ceil((2 * wanted) / READ_ROWS) + 5;
    const { rows } = await readPage({
      sources,
      limit: wanted,
      cursor: undefined,
      oldestFirst,
      pay,
      mostReads,
    });
    return rows.slice(offset);
  };

  door.get('/trades', async (request, reply) => {
    const params = new Params(request);
    const account = params.address('user');
    const { limit, offset } = pageFrom(params, { fallback: 100, most: 10_000, offset: MOST_OFFSET + 1 });
    if (offset > MOST_OFFSET) throw invalid('max historical trades offset of 10000 exceeded');
    const sources = tradeSources(
      { history: reads.exchange.history, find: (id) => reads.exchange.market(id) },
      {
        conditions: reads.conditions(params, 'market'),
        account,
        side: params.text('side') === undefined ? undefined : params.choice('side', SIDES, 'BUY'),
        takerOnly: params.flag('taker_only', true),
        since: params.time('start'),
        until: params.time('end'),
        oldestFirst: false,
        fits: amountFilter(params),
      },
    );
    const rows = await rowsAt(request, sources, { limit, offset, oldestFirst: false });
    return reply.send(rows.map(legacyTradeRow));
  });

  door.get('/activity', async (request, reply) => {
    const params = new Params(request);
    const account = params.requiredAddress('user');
    const { limit, offset } = pageFrom(params, { fallback: 100, most: 500, offset: 5_001 });
    if (offset > 5_000) throw invalid('max historical activity offset of 5000 exceeded');
    const oldestFirst = params.choice('sort_direction', DIRECTIONS, 'DESC') === 'ASC';
    const sort = params.choice('sort_by', ['TIMESTAMP', 'TOKENS', 'CASH'], 'TIMESTAMP');
    const sources = activitySources(reads, params, {
      conditions: reads.conditions(params, 'market'),
      account,
      side: params.text('side') === undefined ? undefined : params.choice('side', SIDES, 'BUY'),
      takerOnly: false,
      since: params.time('start'),
      until: params.time('end'),
      oldestFirst,
      fits: () => true,
    });
    const rows = await rowsAt(request, sources, { limit, offset, oldestFirst });
    return reply.send(bySize(rows, sort, oldestFirst).map(legacyActivityRow));
  });
}

function amountFilter(params: Params): (row: HistoryRow) => boolean {
  const least: Micro = params.amount('filter_amount', 0n);
  const by = params.choice('filter_type', AMOUNTS, 'CASH');
  return (row) => (by === 'CASH' ? row.usdc_size : row.size) >= microToNumber(least);
}

/** Within the page: pages themselves go by time. */
function bySize(
  rows: readonly HistoryRow[],
  sort: 'TIMESTAMP' | 'TOKENS' | 'CASH',
  ascending: boolean,
): readonly HistoryRow[] {
  if (sort === 'TIMESTAMP') return rows;
  const keyOf = (row: HistoryRow): number => (sort === 'TOKENS' ? row.size : row.usdc_size);
  return rows.toSorted((a, b) => (ascending ? keyOf(a) - keyOf(b) : keyOf(b) - keyOf(a)));
}

const MOST_HOLDERS = 20;

function bindMarkets(door: FastifyInstance, reads: Reads): void {
  const required = (params: Params): readonly string[] => {
    const conditions = reads.conditions(params, 'market');
    if (conditions === null) throw invalid('market is required', 'market');
    return conditions;
  };
  door.get('/holders', async (request, reply) => {
    const params = new Params(request);
    const limit = params.whole('limit', MOST_HOLDERS, MOST_HOLDERS);
    const least = params.amount('min_balance', ONE);
    const tokens: object[] = [];
    for (const conditionId of required(params)) {
      const holders = await reads.holders(request, conditionId);
      const market = reads.exchange.market(conditionId);
      if (market === undefined) continue;
      const rows = holderRows(market, holders, least);
      for (const token of market.tokenIds)
        tokens.push({
          token,
          holders: rows
            .filter(({ token_id }) => token_id === token)
            .slice(0, limit)
            .map((row) => legacyHolder(row)),
        });
    }
    return reply.send(tokens);
  });
  door.get('/oi', async (request, reply) => {
    const rows: object[] = [];
    for (const market of required(new Params(request)))
      rows.push({ market, value: microToNumber(openInterestOf(await reads.holders(request, market))) });
    return reply.send(rows);
  });
}

const legacyHolder = ({
  proxy_wallet,
  token_id,
  outcome_index,
  amount,
}: ReturnType<typeof holderRows>[number]) => ({
  ...{ proxyWallet: proxy_wallet, asset: token_id, amount, outcomeIndex: outcome_index },
  ...{ name: '', pseudonym: '', bio: '', profileImage: '', displayUsernamePublic: false, verified: false },
});

// The newer lists of version 1, below `/v1`, which the venue's client for TypeScript asks for: who has what in a market, and what an
// event traded. Rankings, builders and combined positions do not exist on the paper venue: their lists are empty.

const LIST_STATUSES = ['OPEN', 'CLOSED', 'ALL'] as const;
const LIST_SORTS = ['TOKENS', 'CASH_PNL', 'REALIZED_PNL', 'TOTAL_PNL'] as const;
const DEFAULT_LIST_LIMIT = 50;
const MOST_LIST_LIMIT = 500;

const LIST_KEYS: Readonly<Record<(typeof LIST_SORTS)[number], (position: Position) => Micro>> = {
  TOKENS: ({ size }) => size,
  CASH_PNL: unrealizedOf,
  REALIZED_PNL: ({ realized }) => realized,
  TOTAL_PNL: totalOf,
};

function v1MarketLists(door: FastifyInstance, reads: Reads): void {
  door.get('/v1/market-positions', async (request, reply) => {
    const params = new Params(request);
    const [conditionId, ...others] = reads.conditions(params, 'market') ?? [];
    if (conditionId === undefined || others.length > 0) throw invalid('one market is required', 'market');
    const user = params.address('user');
    const limit = params.whole('limit', DEFAULT_LIST_LIMIT, MOST_LIST_LIMIT);
    const offset = params.whole('offset', 0, MOST_OFFSET);
    const status = params.choice('status', LIST_STATUSES, 'ALL');
    const keyOf = LIST_KEYS[params.choice('sort_by', LIST_SORTS, 'TOTAL_PNL')];
    const direction = params.choice('sort_direction', DIRECTIONS, 'DESC') === 'ASC' ? 1 : -1;
    await reads.chargeRows(request, limit);
    const accounts = user === undefined ? await reads.largestHolders(request, conditionId) : [user];
    const found: Position[] = [];
    for (const account of accounts) found.push(...(await reads.positions(request, account)));
    const shown = found
      .filter(
        ({ facts, size }) =>
          facts.conditionId === conditionId && (status === 'ALL' || (status === 'OPEN') === size > 0n),
      )
      .sort((a, b) => direction * Number(keyOf(a) - keyOf(b)));
    const facts = shown[0]?.facts ?? reads.exchange.market(conditionId);
    return reply.send(
      (facts?.tokenIds ?? []).map((token, index) => ({
        token,
        positions: shown
          .filter(({ outcome }) => outcome === (index === 0 ? 'YES' : 'NO'))
          .slice(offset, offset + limit)
          .map(marketPositionRow),
      })),
    );
  });

  door.get('/live-volume', (request, reply) => {
    const id = new Params(request).text('id');
    if (id === undefined) throw invalid('id is required', 'id');
    const markets = marketsOfEvent(reads.exchange, id);
    const total = markets.reduce((sum, { volume }) => sum + volume, 0n);
    return reply.send([
      {
        total: microToNumber(total),
        markets: markets.map(({ conditionId, volume }) => ({
          market: conditionId,
          value: microToNumber(volume),
        })),
      },
    ]);
  });

  for (const path of ['leaderboard', 'builders/leaderboard', 'builders/volume'])
    door.get(`/v1/${path}`, (_request, reply) => reply.send([]));
  for (const [path, name] of [
    ['positions', 'combos'],
    ['activity', 'activity'],
  ] as const)
    door.get(`/v1/${path}/combos`, (request, reply) => {
      const params = new Params(request);
      params.requiredAddress('user');
      const limit = params.whole('limit', DEFAULT_LIST_LIMIT, MOST_LIST_LIMIT);
      return reply.send({ [name]: [], pagination: { limit, offset: 0, has_more: false } });
    });
}

function marketPositionRow(position: Position) {
  const row = legacyPositionRow(position);
  const { proxyWallet, asset, conditionId, avgPrice, size, curPrice, currentValue, cashPnl } = row;
  const { totalBought, realizedPnl, outcome, outcomeIndex } = row;
  return {
    ...{ proxyWallet, name: '', profileImage: '', verified: false, asset, conditionId, avgPrice, size },
    ...{ currPrice: curPrice, currentValue, cashPnl, totalBought, realizedPnl },
    totalPnl: microToNumber(totalOf(position)),
    ...{ outcome, outcomeIndex },
  };
}
