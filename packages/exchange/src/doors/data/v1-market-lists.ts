/**
 * The newer lists of version 1, below `/v1`, which the venue's client for TypeScript asks for: who has what in a market, and what an
 * event traded. Rankings, builders and combined positions do not exist on the paper venue: their lists are empty.
 */
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { FastifyInstance } from 'fastify';
import { invalid } from './data-error.ts';
import { marketsOfEvent } from './market-facts.ts';
import { Params } from './params.ts';
import { legacyPositionRow, type Position, totalOf, unrealizedOf } from './positions.ts';
import type { Reads } from './reads.ts';

const DIRECTIONS = ['ASC', 'DESC'] as const;
const STATUSES = ['OPEN', 'CLOSED', 'ALL'] as const;
const SORTS = ['TOKENS', 'CASH_PNL', 'REALIZED_PNL', 'TOTAL_PNL'] as const;
const DEFAULT_LIMIT = 50;
const MOST_LIMIT = 500;
const MOST_OFFSET = 10_000;

const KEYS: Readonly<Record<(typeof SORTS)[number], (position: Position) => Micro>> = {
  TOKENS: ({ size }) => size,
  CASH_PNL: unrealizedOf,
  REALIZED_PNL: ({ realized }) => realized,
  TOTAL_PNL: totalOf,
};

export function v1MarketLists(door: FastifyInstance, reads: Reads): void {
  door.get('/v1/market-positions', async (request, reply) => {
    const params = new Params(request);
    const [conditionId, ...others] = reads.conditions(params, 'market') ?? [];
    if (conditionId === undefined || others.length > 0) throw invalid('one market is required', 'market');
    const user = params.address('user');
    const limit = params.whole('limit', DEFAULT_LIMIT, MOST_LIMIT);
    const offset = params.whole('offset', 0, MOST_OFFSET);
    const status = params.choice('status', STATUSES, 'ALL');
    const keyOf = KEYS[params.choice('sort_by', SORTS, 'TOTAL_PNL')];
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
      const limit = params.whole('limit', DEFAULT_LIMIT, MOST_LIMIT);
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
