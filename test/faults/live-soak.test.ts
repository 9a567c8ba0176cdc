/**
 * A desk of two replicas against a venue that does everything that venues do at times: it restarts, refuses, loses answers after
 * it has executed orders, delays matches, cuts and freezes sockets, repeats and swaps events. Afterwards everything that the
 * desk says is what the venue says.
 */
import { inspect } from 'node:util';
import { BellwetherApiError, BellwetherClient, type Market } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { type FaultPlan, Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { call, marketBuy, openMarkets, type TestService, type Trader } from '../harness.ts';
import { type LiveVenue, liveOrder, newLiveTrader, PROFILE, poolOf, startLiveDesk } from '../live-desk.ts';
import { startStandAloneVenue } from '../stand-alone-venue.ts';

const SEED = Number(process.env.SOAK_SEED ?? 1);
const TRADERS = 4;
const STEPS = Number(process.env.SOAK_STEPS ?? 30);
const DOUBT_S = 6;
const SETTLE_MS = 180_000;

const PLAN: Partial<FaultPlan> = {
  seed: String(SEED),
  restart: { everyMs: 9_000, downMs: 900, postOnlyMs: 1_200 },
  latencyMs: { least: 0, most: 15 },
  limitedShare: 0.03,
  bareLimitedShare: 0.01,
  unavailableShare: 0.02,
  droppedShare: 0.07,
  failedAfterShare: 0.07,
  garbledShare: 0.07,
  timedOutShare: 0.06,
  delayedShare: 0.1,
  delayedMs: 700,
  failingTradesShare: 0.2,
  balanceLagMs: 2_000,
  frozenSocketsShare: 0.3,
  droppedSocketsShare: 0.3,
  duplicatesShare: 0.25,
  reorderedShare: 0.25,
  gapsShare: 0.15,
};

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const isExpected = (error: unknown): boolean =>
  error instanceof BellwetherApiError &&
  // Doubt, pauses of the venue, and what a lagging balance or a moved market makes of an order.
  [
    'order_outcome_unknown',
    'service_unavailable',
    'insufficient_balance',
    'idempotency_in_flight',
    'overloaded',
  ].includes(error.code ?? '');

interface Stage {
  readonly venue: LiveVenue;
  readonly desks: readonly TestService[];
  readonly traders: readonly Trader[];
  readonly markets: readonly Market[];
}

/** One agent's random walk: it buys, sells, rests and cancels, at either replica, and sends lost orders again. */
async function walk({ desks, markets }: Stage, trader: Trader, random: () => number): Promise<string[]> {
  const unexpected: string[] = [];
  const clients = desks.map((desk) => new BellwetherClient({ baseUrl: desk.url, apiKey: trader.apiKey }));
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const tryIt = async (what: () => Promise<unknown>): Promise<void> => {
    await what().catch((error: unknown) => {
      if (!isExpected(error)) unexpected.push(String(error));
    });
  };
  for (let step = 0; step < STEPS; step += 1) {
    const [client, market, draw] = [pick(clients), pick(markets), random()];
    const [bid, ask] = [Number(market.bestBid), Number(market.bestAsk)];
    const outcome = 'YES' as const;
    const size = 5 + Math.floor(random() * 20);
    if (draw < 0.12) await tryIt(() => client.cancelAll());
    else if (draw < 0.24) {
      const open = await client.listOpenOrders({ limit: 100 }).catch(() => []);
      if (open.length > 0) await tryIt(() => client.cancelOrder(pick(open).orderId));
    } else {
      const order =
        draw < 0.4
          ? await marketBuy(trader, market, size, {
              profile: PROFILE,
              outcome,
              worstPrice: Math.min(0.99, Number((ask + 0.03).toFixed(2))),
              type: random() < 0.5 ? 'FAK' : 'FOK',
            })
          : await liveOrder(trader, market, {
              ...{ outcome, size, side: random() < 0.55 ? 'BUY' : 'SELL' },
              price: Number((bid + (ask - bid) * random()).toFixed(2)),
              ...(random() < 0.2 ? { postOnly: true } : {}),
            } as never);
      // Some go there with others.
      if (random() < 0.25) await tryIt(() => batchOf(client, trader, market, order));
      else await tryIt(() => client.placeTrade(order));
      // An agent without an answer asks again with the same order, perhaps elsewhere.
      if (random() < 0.3) await tryIt(() => pick(clients).placeTrade(order));
    }
  }
  return unexpected;
}

/** Three orders in one request. @throws the first error that one of them alone would have */
async function batchOf(
  client: BellwetherClient,
  trader: Trader,
  market: Market,
  order: Awaited<ReturnType<typeof liveOrder>>,
): Promise<void> {
  const bids = [5, 6].map((size) => liveOrder(trader, market, { side: 'BUY', size }));
  const { results } = await client.batchTrade([order, ...(await Promise.all(bids))]);
  for (const { problem } of results)
    if (problem !== null) throw new BellwetherApiError(problem.status, problem as never);
}

interface DeskOrder {
  readonly order_id: string;
  readonly status: string;
  readonly side: 'BUY' | 'SELL';
  readonly filled: bigint;
  readonly cost: bigint;
  readonly fees: bigint;
  readonly shares: bigint;
  /** Figures that the safeguards counted. */
  readonly reserved_amount: bigint;
  readonly agent_id: string;
  readonly funder: string;
  readonly token_id: string;
  readonly condition_id: string;
  readonly first_answer: { readonly success: boolean } | null;
}

/** Reads what the venue has of an order: its fills that were not taken back, and whether it rests. */
async function atVenue({ exchange }: LiveVenue, orderId: string) {
  const record = await exchange.orderRecord(orderId);
  const fills = (record?.events ?? []).flatMap((event) =>
    event.kind === 'fill' && event.orderId === orderId ? [event] : [],
  );
  const trades = await exchange.history.tradesOfMatches(fills.map(({ matchId }) => matchId));
  const hasFailed = ({ matchId }: { readonly matchId: number }): boolean => {
    const own = trades.filter(({ number }) => number <= matchId);
    return own.sort((a, b) => b.number - a.number)[0]?.settlement.status === 'FAILED';
  };
  const counted = fills.filter((fill) => !hasFailed(fill));
  const sum = (of: (fill: (typeof fills)[number]) => bigint) =>
    counted.reduce((total, fill) => total + of(fill), 0n);
  return {
    isKnown: record !== undefined && !record.events.some((event) => event.kind === 'order_rejected'),
    isOpen: exchange.openOrder(orderId) !== undefined,
    hasFailed: fills.some(hasFailed),
    filled: sum(({ size }) => size),
    cost: sum(({ cost }) => cost),
    fees: sum(({ fee }) => fee),
  };
}

const countsOf = ({ desks }: Stage) => desks.map(({ needs }) => needs.venues.default.counts?.());

const RESTING = new Set(['live', 'partially_filled', 'unmatched']);
const UNDONE = ['submitting', 'unknown', 'matched', 'delayed'];

async function compare(stage: Stage): Promise<void> {
  const [desk] = stage.desks as [TestService];
  const sql = poolOf(desk);
  const orders =
    (await sql`select * from orders where venue = 'polymarket'`) as unknown as readonly DeskOrder[];
  for (const order of orders) {
    const real = await atVenue(stage.venue, order.order_id);
    const said = {
      orderId: order.order_id,
      status: order.status,
      filled: order.filled,
      cost: order.cost,
      fees: order.fees,
    };
    expect(said).toEqual({ ...said, filled: real.filled, cost: real.cost, fees: real.fees });
    expect({ ...said, isOpen: RESTING.has(order.status) }).toEqual({ ...said, isOpen: real.isOpen });
    if (order.status === 'rejected')
      expect({ ...said, isKnown: real.isKnown && real.filled > 0n }).toEqual({ ...said, isKnown: false });
    if (!RESTING.has(order.status))
      expect({ ...said, hasFailed: order.status === 'settlement_failed' }).toEqual({
        ...said,
        hasFailed: real.hasFailed,
      });
  }
  await comparePositions(stage);
  for (const { agentId } of stage.traders) await compareBudget(desk, agentId, orders);
  for (const { needs } of stage.desks)
    expect(needs.venues.default.counts?.()).toMatchObject({ contradictions: 0, frames_not_understood: 0 });
}

/** The sentence of a failed comparison. */
const differenceOf = (error: unknown): string => {
  const { message, actual, expected } = error as { message: string; actual?: unknown; expected?: unknown };
  return inspect({ message, actual, expected }, { depth: 5 });
};

/** The desk's positions are the accounts' tokens at the venue, of which all came through the desk. */
async function comparePositions({ desks: [desk], venue, traders, markets }: Stage): Promise<void> {
  const sql = poolOf(desk as TestService);
  for (const { funder } of traders)
    for (const market of markets) {
      const held = venue.exchange.account(funder).tokens.get(market.conditionId);
      const rows = await sql`select outcome, size from positions where wallet = ${funder}
        and condition_id = ${market.conditionId}`;
      const sizeOf = (outcome: string) => rows.find((row) => row.outcome === outcome)?.size ?? 0n;
      expect({ funder, yes: sizeOf('YES'), no: sizeOf('NO') }).toEqual({
        funder,
        yes: (held?.yes ?? 0n) + (held?.yesHeld ?? 0n),
        no: (held?.no ?? 0n) + (held?.noHeld ?? 0n),
      });
    }
}

/** Compares the use of the day: what its orders spent, and what those that rest may spend. */
async function compareBudget(
  desk: TestService,
  agentId: string,
  orders: readonly DeskOrder[],
): Promise<void> {
  const sql = poolOf(desk);
  const own = orders.filter((order) => order.agent_id === agentId && order.status !== 'rejected');
  const amount = own.reduce((sum, { status, side, reserved_amount: counted, cost, shares, filled }) => {
    if (RESTING.has(status)) return sum + counted;
    if (side === 'BUY') return sum + (cost < counted ? cost : counted);
    return sum + counted - (counted * (shares > filled ? shares - filled : 0n)) / shares;
  }, 0n);
  const [used] =
    await sql`select u.* from usage_of_day(${agentId}::uuid, (now() at time zone 'UTC')::date) u`;
  expect({ agentId, trades: used?.trades, amount: used?.amount }).toEqual({
    agentId,
    trades: own.length,
    amount,
  });
}

test('after a venue with every fault, the desk says what the venue says', { timeout: 600_000 }, async () => {
  const faults = new Faults(Date.now);
  const venue = await startStandAloneVenue(faults);
  const first = await startLiveDesk(venue, { VENUE_A_DOUBT_S: String(DOUBT_S) }, { jobs: 'by timer' });
  const second = await startLiveDesk(
    venue,
    { VENUE_A_DOUBT_S: String(DOUBT_S), DATABASE_URL: first.databaseUrl, MASTER_KEY: first.masterKey },
    { jobs: 'by timer' },
  );
  const traders: Trader[] = [];
  for (let nth = 0; nth < TRADERS; nth += 1) traders.push(await newLiveTrader(first, venue));
  const markets = (await openMarkets((traders[0] as Trader).client)).slice(0, 3);
  const stage: Stage = { venue, desks: [first, second], traders, markets };
  faults.set(PLAN);
  const walks = traders.map((trader, nth) => walk(stage, trader, seeded(SEED * 1_000 + nth)));
  const unexpected = (await Promise.all(walks)).flat();
  faults.set({});
  const sql = poolOf(first);
  const undone = async () =>
    (await sql`select order_id, status from orders where status = any(${UNDONE}::text[])`).map((row) => ({
      ...row,
    }));
  await expect.poll(undone, { timeout: SETTLE_MS, interval: 500 }).toEqual([]);
  // A resting order may still get a fill that a lost event announced.
  await expect
    .poll(() => compare(stage).then(() => 'agrees', differenceOf), { timeout: 60_000, interval: 2_000 })
    .toBe('agrees');
  await compare(stage);
  expect(unexpected).toEqual([]);
  const [{ placed, filled, rejected, failed }] = (await sql`select count(*)::int as placed,
    count(*) filter (where filled > 0)::int as filled, count(*) filter (where status = 'rejected')::int as rejected,
    count(*) filter (where status = 'settlement_failed')::int as failed
    from orders`) as unknown as [{ placed: number; filled: number; rejected: number; failed: number }];
  // Figures for the notes of a release.
  if (process.env.SOAK_STEPS !== undefined)
    console.log({ seed: SEED, placed, filled, rejected, failed, counts: countsOf(stage) });
  expect(placed).toBeGreaterThan(TRADERS * STEPS * 0.3);
  expect(filled).toBeGreaterThan(10);
  expect(failed).toBeGreaterThan(0);
  // The operator sees what the venue did not answer, by its reason.
  const { body } = await call(first, 'GET', '/metrics');
  expect(body).toMatch(
    /^bellwether_external_call_failures_total\{service="[^"]*",reason="(server_error|network|timeout)"\} [1-9]/m,
  );
});
