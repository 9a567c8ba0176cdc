/** Where the clients that others wrote are tried: a running desk in both order profiles, and the exchange that stands alone. */
import { Faults } from '../packages/exchange/src/doors/polymarket/index.ts';
import { sharedTestService, type TestService } from './harness.ts';
import { startStandAloneVenue } from './stand-alone-venue.ts';

export interface World {
  readonly url: string;
  readonly exchange: Pick<TestService['exchange'], 'execute' | 'markets'>;
}

export const WORLDS: readonly (readonly [string, () => Promise<World>])[] = [
  ['a desk of the order profile interface', () => sharedTestService()],
  [
    'a desk of the order profile polymarket',
    () => sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' }),
  ],
  ['the stand-alone exchange', () => startStandAloneVenue(new Faults(Date.now))],
];

const FUNDS = 10_000_000_000n;

export const fund = ({ exchange }: World, account: string) =>
  exchange.execute({
    kind: 'deposit',
    account: account.toLowerCase(),
    amount: FUNDS,
    reason: 'faucet',
  });

/** How often each market was given away: what a file takes from a book on a shared desk is missing for the next one. */
const given = new Map<string, number>();

/**
 * An open market with room below its best bid, on the grid of 0.01: one whose book is untouched, while there is one. The last ones come
 * first, because `openMarkets` begins with the first.
 */
export function tradedMarket({ url, exchange }: World, version: 'v1' | 'v2' = 'v1') {
  const open = [...exchange.markets()].filter(
    ({ status, tickSize, negRisk, bestBid = 0, bestAsk = 0, version: its }) =>
      status === 'open' &&
      tickSize === 100 &&
      !negRisk &&
      its === version &&
      bestBid > 1_000 &&
      bestAsk < 9_000 &&
      bestAsk > 0,
  );
  const timesOf = ({ conditionId }: { readonly conditionId: string }) =>
    given.get(`${url} ${conditionId}`) ?? 0;
  const [found] = open.reverse().sort((a, b) => timesOf(a) - timesOf(b));
  if (found === undefined) throw new Error(`no such market of version ${version}`);
  given.set(`${url} ${found.conditionId}`, timesOf(found) + 1);
  return found;
}
