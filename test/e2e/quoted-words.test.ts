/**
 * What venue B says otherwise than is known, at the desk's door: one odd field hides no holding and blocks no sale, and a word
 * that money depends on is named where it is refused. Another desk's sandbox plays the venue; an altering relay changes its words.
 */
import { linkSolanaWallet, type Market } from '@bellwether/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';
import { alteredVenue, claim, startLiveQuoteDesk } from '../live-desk.ts';
import { newSandboxTrader, type SandboxTrader, sandboxMarkets } from '../sandbox.ts';
import { movingClock } from '../world.ts';

type Json = Record<string, unknown>;

/** Longer than the desk keeps a market. */
const MARKET_LIFE_MS = 2_001;
const clock = movingClock();
let world: TestService;
let live: TestService;
let trader: SandboxTrader;
/** Held: 10 YES or so. */
let market: Market;
let held: number;
/** Changes an object of the venue's answers; by default none. */
let says: (record: Json) => Json = (record) => record;

beforeAll(async () => {
  world = await startTestService({ PAPER_WORLD: 'off' });
  const url = await alteredVenue(world.url, (record) => says(record));
  ({ desk: live } = await startLiveQuoteDesk(world, url, {
    clock,
    environment: { VENUE_B_PRICE_IMPACT_PERCENT: '12' },
  }));
  trader = await newSandboxTrader(live);
  [market] = (await sandboxMarkets(trader.client)) as [Market];
  await claim(live, trader.agentId);
  await linkSolanaWallet(trader.client, trader.signer);
  // The money comes from the desk that runs the chain.
  const giver = await newSandboxTrader(world);
  await giver.quote({ marketTicker: market.id, ...BUY, userPublicKey: trader.wallet });
  ({ filledSize: held } = await trader.trade({ ticker: market.id, ...BUY }));
});
beforeEach(() => {
  says = (record) => record;
  clock.advance(MARKET_LIFE_MS);
});

/** Half past three or half past four in New York. */
function nextThursday(now: number): number {
  const day = new Date(now);
  const days = (4 - day.getUTCDay() + 7) % 7 || 7;
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + days, 8, 30);
}

const BUY = { side: 'YES', action: 'BUY', amount: 10 } as const;
const sell = () => trader.quote({ marketTicker: market.id, side: 'YES', action: 'SELL', shares: 1 });
const positions = async ({ apiKey } = trader) =>
  (await call(live, 'GET', '/venueb/agent/positions', { key: apiKey })).body as Json[];

const ofMarket = (change: (record: Json) => Json) => (record: Json) =>
  record.ticker === market.id && 'accounts' in record ? change(record) : record;
const ofRail = (changes: Json) =>
  ofMarket((record) => ({
    ...record,
    accounts: Object.fromEntries(
      Object.entries(record.accounts as Json).map(([mint, rail]) => [
        mint,
        { ...(rail as Json), ...changes },
      ]),
    ),
  }));

describe('a market that is held', () => {
  test.each<[string, Json]>([
    ['a volume in a text', { volume: '12345' }],
    ['a volume beyond every integer', { volume: 1e20, volumeFp: null }],
    ['times in words', { closeTime: '2030-01-02T03:04:05Z', openTime: 'last year' }],
    ['no title', { title: null }],
    ['rules that are a number', { rulesPrimary: 5, rulesSecondary: {} }],
    ['prices and names that are none', { yesBid: {}, noAsk: [], yesSubTitle: 7, eventTicker: false }],
  ])('is shown and sold although the venue says %s', async (_what, changes) => {
    says = ofMarket((record) => ({ ...record, ...changes }));
    expect(await positions()).toMatchObject([
      { marketTicker: market.id, size: held, marketStatus: 'active' },
    ]);
    expect((await sell()).body).toHaveProperty('unsignedTransaction');
  });

  test('a time is read in text, too; an end that the venue does not name is not near', async () => {
    says = ofMarket((record) => ({ ...record, closeTime: '2030-01-02T03:04:05Z' }));
    expect((await trader.client.getMarket(market.id)).endDate).toBe('2030-01-02T03:04:05.000Z');
    says = ofMarket((record) => ({ ...record, closeTime: null }));
    clock.advance(MARKET_LIFE_MS);
    const { warnings, market: shown } = await trader.client.getMarketContext(market.id);
    expect(warnings.map(({ code }) => code)).not.toContain('market_closing_soon');
    expect(shown.endDate).toBe('9999-12-31T23:59:59.999Z');
    expect((await positions())[0]).toMatchObject({ endDate: '9999-12-31T23:59:59.999Z' });
  });

  test.each<[string, Json]>([
    ['a part in a text', { scalarOutcomePct: '2500' }],
    ['a yes in a text', { isInitialized: 'True' }],
    ['a part that is none, of a market that is not decided', { scalarOutcomePct: 'half' }],
  ])('is sold although the venue says %s', async (_what, rail) => {
    says = ofRail(rail);
    expect((await sell()).body).toHaveProperty('unsignedTransaction');
  });

  test.each<[string, () => (record: Json) => Json, string?]>([
    ['has tokens that cannot be read', () => ofRail({ noMint: 5 }), 'venue_unavailable'],
    ['has no state', () => ofMarket((record) => ({ ...record, status: null })), 'venue_unavailable'],
    [
      'is missing from the list',
      () => (record) =>
        Array.isArray(record.markets)
          ? { ...record, markets: record.markets.filter((one) => one.ticker !== market.id) }
          : record,
    ],
  ])('that %s is listed all the same, by what the desk knows of it', async (_what, alter, code) => {
    says = alter();
    expect(await positions()).toMatchObject([
      {
        ...{ marketTicker: market.id, tokenId: market.clobTokenIds[0], size: held, outcome: 'YES' },
        ...{ marketStatus: 'unknown', redeemable: false, title: market.question },
      },
    ]);
    // A quote asks of the market alone, so one that is only missing from a list is sold.
    expect((await sell()).body.quoteErrorCode).toBe(code);
  });

  test('that is unreadable is listed, too, where the desk has traded nothing of it', async () => {
    const other = await newSandboxTrader(live);
    await other.client.updateSolAddress(trader.wallet);
    says = ofRail({ yesMint: null });
    expect(await positions(other)).toMatchObject([
      {
        ...{ tokenId: market.clobTokenIds[0], size: held, marketStatus: 'unknown', currentValue: 0 },
        ...{ marketTicker: '', title: '', outcome: '', outcomeName: null },
      },
    ]);
  });
});

describe('the book', () => {
  const isBook = (record: Json) => 'yes_bids' in record || 'no_bids' in record;
  const ofBook = (change: (record: Json) => Json) => (record: Json) =>
    isBook(record) ? change(record) : record;
  const book = () =>
    call(live, 'GET', `/markets/orderbook/${market.clobTokenIds[0]}`, { key: trader.apiKey });

  test.each<[string, Json]>([
    ['an error', { code: 'internal', msg: 'try later' }],
    ['nothing', {}],
    ['prices in cents', { yes_bids: { '40': 3 }, no_bids: { '55': 3 } }],
    ['lists of levels', { yes_bids: [['0.40', 3]], no_bids: [] }],
  ])('is not empty because the venue answers %s with 200: nothing is known', async (_what, answer) => {
    says = ofBook(() => answer);
    expect(await book()).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  });

  test('is read without a level that is odd, with one price written in two ways, and without a sequence', async () => {
    says = ofBook(() => ({
      yes_bids: { '0.4000': 3, '0.40': '4.5', '.4': {}, '0.39': 1 },
      no_bids: null,
      sequence: 'seven',
    }));
    const { status, body } = await book();
    expect([status, body.asks]).toEqual([200, []]);
    expect(body.bids).toMatchObject([
      { price: '0.4', size: '7.5' },
      { price: '0.39', size: '1' },
    ]);
    says = ofBook(() => ({ yes_bids: {} }));
    expect(await book()).toMatchObject({ status: 200, body: { bids: [], asks: [] } });
  });
});

describe('a refusal', () => {
  const settled = (rail: Json) => (record: Json) =>
    ofMarket((one) => ({ ...one, status: 'Finalized', result: 'YES' }))(ofRail(rail)(record));

  /** The identity check passes, so that the order is asked for. */
  const verifiedBut = (change: (record: Json) => Json) => (record: Json) =>
    'verified' in record ? { verified: true } : change(record);

  test('has the same code in any casing', async () => {
    world.sandbox.venue.switches.kyc = 'required';
    says = verifiedBut((record) =>
      typeof record.code === 'string' ? { ...record, code: record.code.toUpperCase() } : record,
    );
    const { body } = await trader.quote({ marketTicker: market.id, ...BUY });
    world.sandbox.venue.switches.kyc = 'off';
    expect(body).toMatchObject({ quoteErrorCode: 'kyc_required', kycRequired: true });
    expect(body.quoteErrorMessage).toContain('https://dflow.net/proof');
  });

  test('is no member of every object', async () => {
    world.sandbox.venue.switches.kyc = 'required';
    says = verifiedBut((record) => ('code' in record ? { ...record, code: 'constructor' } : record));
    const { body } = await trader.quote({ marketTicker: market.id, ...BUY });
    world.sandbox.venue.switches.kyc = 'off';
    expect(body.quoteErrorCode).toBe('route_not_found');
  });

  test('of a redemption names the state that the desk does not know', async () => {
    says = settled({ redemptionStatus: 'paused' });
    const { body } = await sell();
    expect([body.quoteErrorCode, body.quoteErrorMessage]).toEqual([
      'market_closed',
      expect.stringContaining('says "paused" of its redemption, which this desk does not know'),
    ]);
    says = settled({ redemptionStatus: 'OPEN' });
    expect((await sell()).body).toMatchObject({ status: 'settled', yesPrice: '1' });
  });

  test.each([
    ['0.85', '85 %'],
    ['-0.850001', '85.0001 %'],
    ['0.120001', '12.0001 %'],
  ])('names a price impact of %s', async (priceImpactPct, percent) => {
    says = (record) => ('priceImpactPct' in record ? { ...record, priceImpactPct } : record);
    for (const { body } of [await trader.quote({ marketTicker: market.id, ...BUY }), await sell()]) {
      expect(body).toMatchObject({
        quoteErrorCode: 'price_impact_too_high',
        quoteErrorMessage: `The order would move the price by ${percent}, and this desk takes at most 12 %: order less.`,
      });
      expect(body).not.toHaveProperty('unsignedTransaction');
    }
  });

  test('is not given for a small price impact, or for one that the venue leaves out; one that is no number is', async () => {
    const quoted = async (priceImpactPct: unknown) => {
      says = (record) => ('priceImpactPct' in record ? { ...record, priceImpactPct } : record);
      return (await trader.quote({ marketTicker: market.id, ...BUY })).body;
    };
    expect(await quoted('0.12')).toMatchObject({
      priceImpactPercent: 12,
      unsignedTransaction: expect.any(String),
    });
    const unsaid = await quoted(null);
    expect(unsaid).toMatchObject({ unsignedTransaction: expect.any(String) });
    expect(unsaid).not.toHaveProperty('priceImpactPercent');
    expect(await quoted('much')).toMatchObject({
      quoteErrorCode: 'route_not_found',
      quoteErrorMessage: expect.stringContaining('its price impact cannot be read'),
    });
  });

  test('in the weekly maintenance says when it ends, before the venue is asked, and of a redemption, too', async () => {
    clock.moveTo(nextThursday(clock.now()));
    const closed = {
      quoteErrorCode: 'venue_maintenance',
      quoteErrorMessage: expect.stringMatching(
        /maintenance until \S+T(09|10):00:00\.000Z; ask again then\.$/,
      ),
    };
    expect((await trader.quote({ marketTicker: market.id, ...BUY })).body).toMatchObject(closed);
    const { body } = await sell();
    expect(body).toMatchObject(closed);
    says = settled({ redemptionStatus: 'open' });
    world.sandbox.venue.switches.maintenance = 'on';
    expect((await sell()).body).toMatchObject(closed);
    world.sandbox.venue.switches.maintenance = 'off';
    says = (record) => record;
    clock.moveTo(Date.parse(/until (\S+);/.exec(body.quoteErrorMessage)?.[1] ?? ''));
    expect((await sell()).body).toHaveProperty('unsignedTransaction');
  });
});
