/**
 * Quoted orders on venue B up to the payout, written only with the SDK: quote, verify the transaction, sign it here,
 * submit, wait; then the fee, a sale, and a redemption. Every step is checked; a failed check ends the run with a
 * non-zero status. The Solana key is created here, never leaves this process and is never printed.
 *
 *   npm start                  in one terminal
 *   npm run demo:venue-b       in another; finds the service; BELLWETHER_URL names another
 */
import {
  BellwetherClient,
  linkSolanaWallet,
  type Market,
  type Quote,
  type QuoteAsk,
  type QuotedOrderDetail,
  QuoteError,
  type QuoteTrading,
  SolanaSigner,
  UnsafeTransaction,
} from '@bellwether/sdk';
import { findService } from '../find-service.ts';
import { CheckFailed, check, close, money, run, say, step, until } from '../first-trade/example.ts';

const BASE_URL = await findService();
/** Collateral of the first order. */
const SPEND = 10;
/** Collateral for each outcome of the market that the example holds to its end. */
const SPEND_TO_REDEEM = 3;
/** The most that the platform may charge as fees. */
const ALLOWANCE = 1;
const FEE_RATE = 0.01;
/** Search terms; the last ones find the markets that end soonest. */
const SEARCHES = ['will', 'the', 'price', 'be', 'above', 'minute'];
/** Time for two orders before a market ends; a short wait for its end, and the longest. */
const TIME_TO_TRADE_MS = 15_000;
const SHORT_MS = 150_000;
const LONGEST_WAIT_MS = 10 * 60_000;
const SOURCE = 'sdk:venue-b';

interface Desk {
  readonly client: BellwetherClient;
  readonly venueB: QuoteTrading;
  /** Venue B's name. */
  readonly venue: string;
  readonly signer: SolanaSigner;
}

const contracts = (size: number): string => `${size} ${size === 1 ? 'contract' : 'contracts'}`;

async function register(): Promise<Desk> {
  step('Register the agent');
  const visitor = new BellwetherClient({ baseUrl: BASE_URL });
  const agent = await visitor.registerAgent({
    name: 'Venue B',
    description: 'The example agent of examples/quoted-trade.',
  });
  const client = visitor.withApiKey(agent.apiKeyCode);
  const venue = (await client.getMe()).venues.find(({ kind }) => kind === 'B');
  check(
    venue?.backend === 'paper',
    `venue B is not paper but ${venue?.backend}: this example trades no real money`,
  );
  say(`agent ${agent.agentId}; venue ${venue.name}: ${venue.backend} money, ${venue.status}`);
  return { client, venueB: client.venueB, venue: venue.name, signer: SolanaSigner.generate() };
}

/** Collateral in the wallet, as the chain says it. */
async function balanceOf({ venueB, signer }: Desk): Promise<number> {
  return Number((await venueB.delegation(signer.address)).balance);
}

async function linkWallet(desk: Desk): Promise<void> {
  step('Make a Solana key here and prove it to the service');
  const { client, signer } = desk;
  const linked = await linkSolanaWallet(client, signer);
  check(linked.success, 'the wallet was not linked');
  const me = await client.getMe();
  check(me.solAddress === signer.address, 'the agent has another Solana address than the one just proved');
  const balance = await until(
    'the wallet is credited',
    async () => {
      const held = await balanceOf(desk);
      return held > 0 ? held : undefined;
    },
    { seconds: 15 },
  );
  say(`wallet ${signer.address}, ${money(balance)} of paper money on it`);
}

/** Open markets of venue B, the soonest to end first. */
async function openMarkets({ client, venue }: Desk): Promise<Market[]> {
  const found = new Map<string, Market>();
  for (const q of SEARCHES)
    for (const market of await client.listMarkets({
      q,
      venue,
      limit: 100,
      order: 'endDate',
      ascending: true,
    }))
      if (market.active && market.venue === venue) found.set(market.id, market);
  return [...found.values()].sort((a, b) => Date.parse(a.endDate) - Date.parse(b.endDate));
}

const timeLeft = (market: Market): number => Date.parse(market.endDate) - Date.now();

/** A market with both outcomes on offer, away from the edges of the price range, that does not end at once. */
async function findMarket(desk: Desk): Promise<Market> {
  step('Find a market of venue B');
  const open = (await openMarkets(desk)).filter(
    ({ bestBid, bestAsk }) => Number(bestBid) >= 0.1 && Number(bestAsk) > 0 && Number(bestAsk) <= 0.9,
  );
  const byLiquidity = open
    .filter((market) => timeLeft(market) > LONGEST_WAIT_MS)
    .sort((a, b) => Number(b.liquidity) - Number(a.liquidity));
  const market = byLiquidity[0];
  check(market !== undefined, 'no open market of venue B with a two-sided book was found');
  say(`"${market.title}" (${market.id})`);
  say(`YES ${market.bestBid} bid, ${market.bestAsk} asked`);
  return market;
}

function showQuote(quote: Quote): void {
  const expected = Number(quote.outAmount) / 1e6;
  const least = Number(quote.minOutAmount) / 1e6;
  say(
    `${quote.action} ${quote.side}: at most ${Number(quote.inAmount) / 1e6} for ${expected}, at least ${least}`,
  );
  say(`valid until ${new Date(quote.expiresAt).toISOString()}`);
}

/** A dishonest service: the figures say 1, the bytes still move the full amount. */
function refuseTampered({ venueB, signer }: Desk, quote: Quote, ask: QuoteAsk): void {
  const lie = { ...quote, amount: '1', scaledAmount: '1000000', inAmount: '1000000' };
  try {
    venueB.verify(lie, { ...ask, action: 'BUY', amount: 1 }, { wallet: signer.address, use: signer.use });
  } catch (error) {
    if (!(error instanceof UnsafeTransaction)) throw error;
    check(
      error.reasons.some(({ code }) => code === 'input_exceeded'),
      `the tampered quote was refused for another reason: ${error.message}`,
    );
    say(`had the quote said 1 instead, the SDK would have refused: ${error.message}`);
    return;
  }
  throw new CheckFailed('the SDK would have signed a transaction that takes more than its quote says');
}

async function buy(desk: Desk, market: Market): Promise<QuotedOrderDetail> {
  step('Quote, verify the transaction, sign it here, submit');
  const { venueB, signer } = desk;
  const ask: QuoteAsk = { ticker: market.id, side: 'YES', action: 'BUY', amount: SPEND };
  const before = await balanceOf(desk);
  const quote = await venueB.quote(ask, signer.address);
  showQuote(quote);
  const verified = venueB.verify(quote, ask, { wallet: signer.address, use: signer.use });
  refuseTampered(desk, quote, ask);
  const signed = venueB.sign(verified, signer);
  const labels = { source: SOURCE, reasoning: 'To see how it goes.' };
  const submitted = await venueB.submit(quote.quoteId, signed, labels);
  check(submitted.success, `not submitted: ${submitted.errorMessage ?? submitted.errorCode}`);
  say(`submitted as ${submitted.txSignature.slice(0, 20)}…`);
  const again = await venueB.submit(quote.quoteId, signed, labels);
  check(
    again.orderId === submitted.orderId && again.txSignature === submitted.txSignature,
    'the same signed transaction, submitted again, gave another answer',
  );
  say('submitted a second time: the same answer, one order');
  const order = await venueB.wait(submitted.orderId);
  check(
    order.filledSize > 0,
    `nothing was filled: ${order.status}, ${order.errorMessage ?? 'no reason given'}`,
  );
  await settle(desk, order, before);
  return order;
}

/** The fill came in a later transaction; the chain's balance moved by exactly what the order says. */
async function settle(desk: Desk, order: QuotedOrderDetail, before: number): Promise<void> {
  const moved =
    order.action === 'BUY' ? -(order.filledAmount + order.feePaid) : order.filledAmount - order.feePaid;
  const price = order.avgPrice === null ? '' : ` at ${order.avgPrice}`;
  say(`${order.status}: ${contracts(order.filledSize)}${price}, fee ${order.feePaid}`);
  for (const fill of order.fills) say(`filled by ${fill.txSignature.slice(0, 20)}…`);
  for (const revert of order.reverts) say(`came back: ${Number(revert.amount) / 1e6}`);
  await until('the balance is what the order says', async () =>
    close((await balanceOf(desk)) - before, moved) ? true : undefined,
  );
  say(`balance ${before} → ${await balanceOf(desk)}`);
}

/** Trades until it fills: the market moves, and the venue reverts what it cannot fill at the quoted price. */
async function trade(desk: Desk, ask: QuoteAsk): Promise<QuotedOrderDetail> {
  for (let attempt = 1; ; attempt++) {
    const before = await balanceOf(desk);
    const submitted = await desk.venueB.trade({ ...ask, signer: desk.signer, source: SOURCE });
    const order = await desk.venueB.wait(submitted.orderId);
    if (order.filledSize > 0) {
      await settle(desk, order, before);
      return order;
    }
    check(order.status === 'reverted' && attempt < 4, `nothing was filled: ${order.status}`);
    say('the price moved, and everything came back; once more');
  }
}

async function payFee(desk: Desk, order: QuotedOrderDetail): Promise<void> {
  step('Let the platform take its fee, once');
  const { venueB, signer } = desk;
  const approved = await venueB.approveDelegate({ signer, amount: ALLOWANCE });
  check(
    close(Number(approved.delegation.delegatedAmount), ALLOWANCE),
    `approved were ${ALLOWANCE}, delegated are ${approved.delegation.delegatedAmount}`,
  );
  say(`${approved.delegation.delegate} may take up to ${money(ALLOWANCE)}`);
  const before = await balanceOf(desk);
  const amount = Math.max(0.01, order.filledAmount * FEE_RATE).toFixed(6);
  const fee = { amount, fromAddress: signer.address };
  const options = { idempotencyKey: `fee-${order.orderId}` };
  const charged = await venueB.chargeFee(fee, options);
  await until('the fee has left the wallet', async () =>
    close(before - (await balanceOf(desk)), Number(amount)) ? true : undefined,
  );
  const again = await venueB.chargeFee(fee, options);
  check(again.txSignature === charged.txSignature, 'the same charge was answered with another transaction');
  const left = await venueB.delegation(signer.address);
  check(
    close(before - Number(left.balance), Number(amount)) &&
      close(ALLOWANCE - Number(left.delegatedAmount), Number(amount)),
    'the fee was taken more than once',
  );
  say(`${amount} charged by ${charged.txSignature.slice(0, 20)}…; asked again with the same key: not again`);
}

async function sellPart(desk: Desk, bought: QuotedOrderDetail): Promise<void> {
  step('Sell a part');
  const part = Math.max(1, Math.floor(bought.filledSize / 2));
  const sold = await trade(desk, { ticker: bought.marketTicker, side: 'YES', action: 'SELL', shares: part });
  await until('the position shows what is left', async () => {
    const position = await positionOf(desk, bought.marketTicker, 'YES');
    return close(position?.size ?? 0, bought.filledSize - sold.filledSize) ? true : undefined;
  });
  say(`left: ${contracts(bought.filledSize - sold.filledSize)}`);
}

const positionOf = async ({ venueB }: Desk, ticker: string, outcome: 'YES' | 'NO') =>
  (await venueB.positions()).find(
    (position) => position.marketTicker === ticker && position.outcome === outcome,
  );

const inWords = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} seconds` : `${Math.round(ms / 60_000)} minutes`;

/**
 * A market that ends soon, with time left to trade in it; `null` when the next end is too far away. The next
 * two-minute market is listed when one ends, so it may take a moment until there is one with time left.
 */
async function findShortMarket(desk: Desk, tried: ReadonlySet<string>): Promise<Market | null> {
  const patience = Date.now() + 40_000;
  return until(
    'a market that ends later than at once is listed',
    async () => {
      const waiting = Date.now() < patience;
      const next = (await openMarkets(desk)).find(
        (market) => !tried.has(market.id) && timeLeft(market) >= TIME_TO_TRADE_MS,
      );
      if (next === undefined) return undefined;
      if (timeLeft(next) <= (waiting ? SHORT_MS : LONGEST_WAIT_MS)) return next;
      if (waiting) return undefined;
      say(`the next market ends in ${inWords(timeLeft(next))}`);
      return null;
    },
    { seconds: 90, everyMs: 3_000 },
  );
}

interface Pair {
  readonly market: Market;
  readonly orders: readonly QuotedOrderDetail[];
}

/** Buys both outcomes, so that one of them wins. */
async function buyBoth(desk: Desk): Promise<Pair | null> {
  step('Buy both outcomes of a market that is about to end');
  const tried = new Set<string>();
  for (let attempt = 0; attempt < 5; attempt++) {
    const market = await findShortMarket(desk, tried);
    if (market === null) return null;
    tried.add(market.id);
    say(`"${market.title}" (${market.id}), ends in ${inWords(timeLeft(market))}`);
    try {
      const orders: QuotedOrderDetail[] = [];
      for (const side of ['YES', 'NO'] as const)
        orders.push(await trade(desk, { ticker: market.id, side, action: 'BUY', amount: SPEND_TO_REDEEM }));
      return { market, orders };
    } catch (error) {
      if (!(error instanceof QuoteError) || error.code !== 'quote_not_executable') throw error;
      say(`${error.message} Another one, then.`);
    }
  }
  throw new CheckFailed('no market that ends soon could be traded on both sides');
}

async function redeem(desk: Desk, { market, orders }: Pair): Promise<void> {
  step('Wait for the outcome, and redeem the winner');
  const { client, venue, venueB, signer } = desk;
  const ended = Math.max(0, timeLeft(market));
  say(`it ends in ${inWords(ended)}, and is settled some time after`);
  const settled = await until(
    'the market is settled',
    async () => {
      const now = await client.getMarket(market.id, { venue });
      return now.resolved ? now : undefined;
    },
    { seconds: ended / 1000 + 300, everyMs: 2_000 },
  );
  let redeemed = 0;
  for (const { side, filledSize } of orders) {
    const outcome = side as 'YES' | 'NO';
    const payout = outcome === 'YES' ? settled.yesPrice : settled.noPrice;
    const ask: QuoteAsk = { ticker: market.id, side: outcome, action: 'SELL', shares: filledSize };
    if (payout > 0) {
      // Settled and open for redemption may be a moment apart.
      await until(
        'the winner can be redeemed',
        async () => ((await venueB.quote(ask, signer.address)).isRedemption ? true : undefined),
        { seconds: 60, everyMs: 1_000 },
      );
      const order = await trade(desk, ask);
      check(order.isRedemption, `the ${outcome} tokens were sold, not redeemed`);
      check(close(order.filledAmount, filledSize * payout), `${outcome} paid ${order.filledAmount}`);
      check(order.feePaid === 0, 'a redemption has cost a fee');
      say(`${outcome} has won: ${contracts(filledSize)} paid ${money(order.filledAmount)}`);
      redeemed += 1;
      continue;
    }
    const quote = await venueB.quote(ask, signer.address);
    check(quote.quoteErrorCode !== undefined, 'the losing outcome was quoted');
    const worth = (await positionOf(desk, market.id, outcome))?.currentValue ?? 0;
    check(worth === 0, `the losing outcome is shown as worth ${worth}`);
    say(`${outcome} has lost: ${contracts(filledSize)} are worth nothing (${quote.quoteErrorCode})`);
  }
  check(redeemed > 0, 'neither outcome has won');
}

async function main(): Promise<void> {
  const desk = await register();
  await linkWallet(desk);
  const market = await findMarket(desk);
  const bought = await buy(desk, market);
  await payFee(desk, bought);
  await sellPart(desk, bought);
  const pair = await buyBoth(desk);
  if (pair === null) {
    console.log('\nDone up to the sale: no market of this world ends soon enough to see a redemption.');
    return;
  }
  await redeem(desk, pair);
  console.log('\nDone: venue B from the first quote to the payout, checked at every step.');
}

await run(main);
