/**
 * A first trade, from registration to a position, written only with the SDK. Every step is checked; a failed check ends
 * the run with a non-zero status. The signing key is created here, never leaves this process and is never printed.
 *
 *   npm start                  in one terminal
 *   npm run demo               in another; finds the service; BELLWETHER_URL names another
 */
import {
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  type Market,
  type Me,
  orderIdOf,
  priceToReach,
  Signer,
  type TradeRequest,
} from '@bellwether/sdk';
import { findService } from '../find-service.ts';
import { CheckFailed, check, close, credit, money, run, say, shares, step, until } from './example.ts';

const BASE_URL = await findService();
/** Collateral that the market order spends. */
const SPEND = 25;
/** Search terms, tried until a tradable market is found. */
const SEARCHES = ['will', 'the', 'win', 'price', 'be'];

async function register(): Promise<BellwetherClient> {
  step('Register the agent');
  const visitor = new BellwetherClient({ baseUrl: BASE_URL });
  const agent = await visitor.registerAgent({
    name: 'First trade',
    description: 'The example agent of examples/first-trade.',
  });
  say(`agent ${agent.agentId}, to be claimed by its owner at ${agent.claimUrl}`);
  const client = visitor.withApiKey(agent.apiKeyCode);
  const me = await client.getMe();
  check(me.agentId === agent.agentId, 'GET /agents/me is not the agent just registered');
  const venue = me.venues.find((candidate) => candidate.kind === 'A');
  check(
    venue?.backend === 'paper',
    `venue A is not paper but ${venue?.backend}: this example trades no real money`,
  );
  say(`venue ${venue.name}: ${venue.backend} money, ${venue.status}`);
  return client;
}

async function openWallet(client: BellwetherClient, signer: Signer): Promise<Me> {
  step('Prove the wallet to the venue and register its credentials');
  const credentials = await createVenueCredentials({ clobUrl: `${BASE_URL}/paper/clob`, signer });
  const registered = await client.registerCredentials(credentialRequest(signer, credentials));
  check(
    registered.hasCredentials && registered.signatureType === 0,
    'the credentials were not stored as type 0',
  );
  const stored = await client.checkCredentials(signer.address);
  check(stored.hasCredentials, 'GET /wallet/credentials/check does not know the wallet');
  const me = await client.getMe();
  check(me.simulationBalance > 0, 'the wallet was not credited');
  say(`wallet ${signer.address}`);
  say(`balance ${money(me.simulationBalance)}, ${me.tradesRemaining} trades left today`);
  return me;
}

/** The most liquid open market whose book has both sides, away from the edges. */
async function findMarket(client: BellwetherClient): Promise<Market> {
  step('Find a market');
  for (const q of SEARCHES) {
    const found = await client.listMarkets({ q, order: 'liquidity', limit: 50 });
    const market = found.find(
      (candidate) =>
        candidate.active &&
        Number(candidate.bestBid) >= 0.1 &&
        Number(candidate.bestAsk) <= 0.9 &&
        Number(candidate.bestAsk) > Number(candidate.bestBid) &&
        Date.parse(candidate.endDate) > Date.now() + 600_000,
    );
    if (market === undefined) continue;
    say(`"${market.question}" (${market.category})`);
    say(
      `YES (${market.outcomes[0]}) ${market.bestBid} bid, ${market.bestAsk} asked, tick ${market.tickSize}`,
    );
    return market;
  }
  throw new CheckFailed('no open market with a two-sided book was found');
}

async function readContext(client: BellwetherClient, market: Market): Promise<void> {
  step('Look before trading');
  const context = await client.getMarketContext(market.id, { side: 'BUY', size: SPEND, myProbability: 0.5 });
  check(context.market.conditionId === market.conditionId, 'the context is of another market');
  for (const warning of context.warnings) say(`${warning.severity}: ${warning.message}`);
  const mine = context.slippage.find(
    (row) => row.side === 'BUY' && row.outcome === 'YES' && row.amount === SPEND,
  );
  if (mine !== undefined && mine.averagePrice !== null)
    say(`${money(SPEND)} would buy ${shares(mine.filledShares)} YES at ${mine.averagePrice} on average`);
  const { maxTradeAmount, tradesToday } = context.safeguards;
  say(
    `safeguards: ${maxTradeAmount ?? 'no'} per trade, ${tradesToday.used} of ${tradesToday.limit} trades used today`,
  );
}

/** Bids well below the market, post-only, so that the order rests. */
async function restOrder(client: BellwetherClient, signer: Signer, market: Market): Promise<string> {
  step('Sign and place a limit order that rests');
  const tick = Number(market.tickSize);
  const ticks = Math.max(1, Math.floor((Number(market.bestBid) * 0.6) / tick));
  const price = (ticks * tick).toFixed(4);
  const order = await buildLimitOrder({
    signer,
    market,
    outcome: 'YES',
    side: 'BUY',
    price,
    size: Math.max(10, market.minOrderSize),
    postOnly: true,
    source: 'sdk:first-trade',
    reasoning: 'Cheap enough to wait for.',
  });
  const placed = await client.placeTrade(order);
  check(
    placed.success && placed.status === 'live',
    `the order did not rest: ${placed.errorCode ?? placed.status}`,
  );
  check(placed.orderId === orderIdOf(order), 'the service gave the order another id');
  const open = await client.listOpenOrders();
  check(
    open.some((each) => each.orderId === placed.orderId),
    'the order is not among the open ones',
  );
  say(
    `${shares(order.orderSize)} YES wanted at ${Number(price)}, resting as ${placed.orderId.slice(0, 18)}…`,
  );
  return placed.orderId;
}

/** Spends SPEND at once, with a limit a little beyond the book, because the book moves. */
async function buildTaking(client: BellwetherClient, signer: Signer, market: Market): Promise<TradeRequest> {
  const [yes] = market.clobTokenIds;
  check(yes !== undefined, 'the market has no YES token');
  const reach = priceToReach(await client.getOrderBook(yes), { side: 'BUY', amount: SPEND });
  check(reach.price !== null, 'there are no offers of YES');
  const tick = Number(market.tickSize);
  const highest = Math.round(1 / tick) - 1;
  const ticks = Math.min(highest, Math.round(reach.price / tick) + Math.max(2, Math.ceil(0.03 / tick)));
  return buildMarketOrder({
    signer,
    market,
    outcome: 'YES',
    side: 'BUY',
    amount: SPEND,
    worstPrice: (ticks * tick).toFixed(4),
    source: 'sdk:first-trade',
  });
}

async function takeOffer(client: BellwetherClient, signer: Signer, market: Market): Promise<string> {
  step('Sign and place a market order that fills');
  const order = await buildTaking(client, signer, market);
  const placed = await client.placeTrade(order);
  check(
    placed.success && placed.status === 'matched',
    `it did not fill: ${placed.errorCode ?? placed.status}`,
  );
  check(placed.filledSize > 0 && placed.avgPrice !== null, 'a matched order without a fill');
  say(`bought ${shares(placed.filledSize)} YES at ${placed.avgPrice}, fee ${money(placed.feePaid)}`);
  const again = await client.placeTrade(order);
  check(
    again.orderId === placed.orderId && again.filledSize === placed.filledSize,
    'the same signed order, sent again, gave another answer',
  );
  say('sent a second time, the same signed order gave the same answer and no second trade');
  return placed.orderId;
}

async function showResult(
  client: BellwetherClient,
  before: Me,
  market: Market,
  orderId: string,
): Promise<void> {
  step('Fills, position, balance');
  const order = await until('the fills are recorded', async () => {
    const detail = await client.getOrder(orderId);
    return detail.fills.length > 0 ? detail : undefined;
  });
  let cost = 0;
  let size = 0;
  for (const fill of order.fills) {
    say(
      `fill ${shares(fill.size)} at ${fill.price} (${fill.liquidity}, ${fill.matchKind}), fee ${money(fill.fee)}`,
    );
    cost += fill.cost + fill.fee;
    size += fill.size;
  }
  check(close(size, order.filledSize), 'the fills do not add up to what the order says');
  const position = await until('the position shows', async () =>
    (await client.getCurrentPositions()).find(
      (each) => each.conditionId === market.conditionId && each.outcome === 'YES',
    ),
  );
  check(close(position.size, size), 'the position is not what was bought');
  say(`position ${shares(position.size)} YES, cost ${position.avgPrice} each, now ${position.currentPrice}`);
  const after = await client.getMe();
  check(
    close(before.simulationBalance - after.simulationBalance, cost),
    `the balance fell by ${before.simulationBalance - after.simulationBalance}, the fills cost ${cost}`,
  );
  check(after.tradesToday - before.tradesToday === 2, 'two trades were made, but not counted');
  say(`balance ${money(before.simulationBalance)} → ${money(after.simulationBalance)}: ${credit(-cost)}`);
}

async function cancel(client: BellwetherClient, orderId: string): Promise<void> {
  step('Cancel the resting order');
  const answer = await client.cancelOrder(orderId);
  check(
    answer.canceled.includes(orderId),
    `not canceled: ${answer.notCanceled[orderId] ?? 'no reason given'}`,
  );
  const open = await client.listOpenOrders();
  check(open.length === 0, 'an order is still open');
  const { status } = await client.getOrder(orderId);
  check(status === 'canceled', `the canceled order is ${status}`);
  say('canceled; nothing is open any more');
}

async function main(): Promise<void> {
  const client = await register();
  const signer = Signer.generate();
  const before = await openWallet(client, signer);
  const market = await findMarket(client);
  await readContext(client, market);
  const resting = await restOrder(client, signer, market);
  const taking = await takeOffer(client, signer, market);
  await showResult(client, before, market, taking);
  await cancel(client, resting);
  console.log('\nDone: a first trade, checked at every step.');
}

await run(main);
