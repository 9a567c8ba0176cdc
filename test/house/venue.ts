/**
 * A third venue, for tests: signed orders on one market, against a house that buys and sells any amount at its prices.
 * Its state is in memory; the outcome of an order is written to the desk before the answer, as at every venue.
 */
import { exchangeDomains } from '@bellwether/protocol';
import type { FillEvidence, FirstAnswer } from '../../packages/server/src/domain/evidence.ts';
import { type OrderEventKind, requireTransition } from '../../packages/server/src/domain/lifecycle.ts';
import type { MarketRecord } from '../../packages/server/src/domain/market.ts';
import { isEverything, selectMarkets } from '../../packages/server/src/domain/market-search.ts';
import type { VenueTools } from '../../packages/server/src/venues/configured.ts';
import type { VenueOrder, VenueWith } from '../../packages/server/src/venues/venue.ts';

type Outcome = 'YES' | 'NO';

const MICRO = 1_000_000n;
const WHOLE = 10_000;
const NOTHING = { filled: 0n, cost: 0n, fees: 0n, errorCode: null } as const;
const newAccount = () => ({ available: 0n, held: 0n, YES: 0n, NO: 0n });

/** @param market with the house's prices as `bestBid` and `bestAsk` */
export function createHouseVenue(
  id: string,
  market: MarketRecord,
  { clock, evidence, chainId }: Pick<VenueTools, 'clock' | 'evidence' | 'chainId'>,
): VenueWith<'signedOrders' | 'cancel' | 'paper'> {
  const accounts = new Map<string, ReturnType<typeof newAccount>>();
  const resting = new Map<string, VenueOrder>();
  const answers = new Map<string, FirstAnswer>();
  const ids = [market.id, market.conditionId, market.slug, ...market.tokenIds];
  const accountOf = (address: string) => {
    if (!accounts.has(address)) accounts.set(address, newAccount());
    return accounts.get(address) as ReturnType<typeof newAccount>;
  };
  const priceFor = (side: 'BUY' | 'SELL', outcome: Outcome): number => {
    const yes = ((side === 'BUY') === (outcome === 'YES') ? market.bestAsk : market.bestBid) as number;
    return outcome === 'YES' ? yes : WHOLE - yes;
  };
  const holdOf = ({ shares, limit }: VenueOrder) => (shares * BigInt(limit)) / BigInt(WHOLE);

  const record = (
    order: VenueOrder,
    event: OrderEventKind,
    first: FirstAnswer | null,
    fill?: FillEvidence,
  ) => {
    const at = clock.now();
    const status = requireTransition('signed', event === 'accepted' ? 'submitting' : 'live', event);
    const {
      success: _success,
      status: _word,
      ...amounts
    } = first ?? { ...NOTHING, success: true, status: '' };
    return evidence.record({
      outcomes: [{ ...amounts, orderId: order.orderId, status, first, at, journal: [{ at, event, status }] }],
      fills: fill === undefined ? [] : [fill],
      markets: [{ ...market, marketId: market.id, venue: id }],
      resolutions: [],
      deposits: [],
    });
  };

  const fill = async (order: VenueOrder, price: number): Promise<FirstAnswer> => {
    const { orderId, funder: wallet, conditionId, outcome, side, shares: size } = order;
    const account = accountOf(wallet);
    const cost = (size * BigInt(price)) / BigInt(WHOLE);
    account.available += side === 'BUY' ? -cost : cost;
    account[outcome] += side === 'BUY' ? size : -size;
    const first = { ...NOTHING, success: true, status: 'matched', filled: size, cost };
    await record(order, 'filled_completely', first, {
      ...{ wallet, orderId, conditionId, outcome, side, price, size, cost, at: clock.now() },
      ...{ tradeId: 0, tokenId: market.tokenIds[outcome === 'YES' ? 0 : 1], fee: 0n },
      ...{ liquidity: 'taker', matchKind: 'HOUSE' },
    });
    return first;
  };

  const rest = async (order: VenueOrder): Promise<FirstAnswer> => {
    accountOf(order.funder).available -= holdOf(order);
    accountOf(order.funder).held += holdOf(order);
    resting.set(order.orderId, order);
    const first = { ...NOTHING, success: true, status: 'live' };
    await record(order, 'accepted', first);
    return first;
  };

  const cancel = async (orderId: string): Promise<boolean> => {
    const order = resting.get(orderId);
    if (order === undefined) return false;
    resting.delete(orderId);
    accountOf(order.funder).available += holdOf(order);
    accountOf(order.funder).held -= holdOf(order);
    await record(order, 'canceled', null);
    return true;
  };

  return {
    id,
    backend: 'paper',
    status: () => 'ready',
    markets: {
      announcesResolutions: false,
      canBeId: (text) => ids.includes(text),
      find: async (text) => (ids.includes(text) ? market : null),
      findAll: async (wanted) => (wanted.includes(market.conditionId) ? [market] : []),
      listedAfter: async (after) => ({
        markets: market.createdAt > after ? [market] : [],
        latest: market.createdAt,
      }),
      byToken: async (token) => {
        const nth = market.tokenIds.indexOf(token);
        return nth < 0 ? null : { market, outcome: nth === 0 ? 'YES' : 'NO' };
      },
      search: async (search) =>
        selectMarkets(
          isEverything(search.words) || market.question.includes(search.words) ? [market] : [],
          search,
        ),
      book: async (conditionId, outcome) => ({
        ...{ conditionId, outcome, sequence: 1, changedAt: market.updatedAt },
        bids: [[priceFor('SELL', outcome), 1_000n * MICRO]],
        asks: [[priceFor('BUY', outcome), 1_000n * MICRO]],
      }),
    },
    accounts: {
      family: 'evm',
      async balances(addresses) {
        const available = addresses.reduce((sum, one) => sum + accountOf(one).available, 0n);
        return {
          available,
          total: addresses.reduce((sum, one) => sum + accountOf(one).held, available),
          ageMs: 0,
        };
      },
      inMarket: async (address) => ({ available: accountOf(address).available, free: accountOf(address) }),
    },
    signedOrders: {
      signing: { domains: exchangeDomains(chainId), chainId, profile: 'interface' },
      rules: { gtdMinLeadS: 60 },
      verifyCredentials: async () => null,
      balance: async (address) => ({
        ...accountOf(address),
        shares: (_, outcome) => accountOf(address)[outcome],
      }),
      async submit(order) {
        const price = priceFor(order.side, order.outcome);
        const crosses = order.side === 'BUY' ? order.limit >= price : order.limit <= price;
        const first = crosses ? await fill(order, price) : await rest(order);
        answers.set(order.orderId, first);
        return { kind: 'accepted', ...first, status: crosses ? 'matched' : 'live' };
      },
      async resolve(orderId) {
        const first = answers.get(orderId);
        if (first === undefined) return { kind: 'never_received' };
        return { kind: 'accepted', ...first, status: first.filled > 0n ? 'matched' : 'live' };
      },
    },
    cancel: {
      async orders(_account, orderIds) {
        const canceled: string[] = [];
        for (const orderId of orderIds) if (await cancel(orderId)) canceled.push(orderId);
        const rest = orderIds.filter((orderId) => !canceled.includes(orderId));
        return {
          kind: 'answered',
          canceled,
          notCanceled: Object.fromEntries(rest.map((one) => [one, 'not open'])),
        };
      },
    },
    paper: {
      async credit(address) {
        const account = accountOf(address);
        if (account.available + account.held === 0n) account.available = 1_000n * MICRO;
      },
    },
  };
}
