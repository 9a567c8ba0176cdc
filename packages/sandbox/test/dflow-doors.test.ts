/** The venue's wire format: shapes, limits and every refusal, with its texts. */
import { MICRO } from '@bellwether/contract/decimals';
import { toBase58, USDC_MINT } from '@bellwether/protocol';
import { fastify } from 'fastify';
import { describe, expect, test, vi } from 'vitest';
import { dflowTradeDoor } from '../src/dflow/index.ts';
import { readOrderRequest } from '../src/dflow/quotes.ts';
import { isResting } from '../src/dflow/refusals.ts';
import type { WireMarket } from '../src/dflow/wire.ts';
import { accountsOf, ok, openStage, type Stage, signWith, USDC } from './stage.ts';

const UNKNOWN = toBase58(new Uint8Array(32).fill(7));

describe('metadata', () => {
  test('markets: the venue’s fields, pages of at most 255, offsets as cursors', async () => {
    const stage = await openStage();
    const first = ok(await stage.metadata('/api/v1/markets?limit=50'));
    expect(first).toMatchObject({ cursor: 50 });
    const rest = ok(await stage.metadata('/api/v1/markets?limit=255&cursor=50'));
    expect(rest.cursor).toBeNull();
    expect(first.markets.length + rest.markets.length).toBe(145);
    for (const query of [
      'limit=256',
      'limit=0',
      'cursor=x',
      'status=open',
      'sort=price',
      'isInitialized=maybe',
    ])
      expect(await stage.metadata(`/api/v1/markets?${query}`), query).toMatchObject({ status: 400 });
    expect(ok(await stage.metadata('/api/v1/markets?isInitialized=false')).markets).toEqual([]);

    for (const market of [...first.markets, ...rest.markets] as WireMarket[]) {
      expect(market.ticker).toMatch(/^KX[A-Z]+-\d+-\d+$/);
      expect(market.ticker.startsWith(`${market.eventTicker}-`)).toBe(true);
      expect(market).toMatchObject({ status: 'active', result: '', marketType: 'binary' });
      expect(market.closeTime).toBeLessThan(1e12);
      for (const price of [market.yesBid, market.yesAsk, market.noBid, market.noAsk])
        if (price !== null) expect(price).toMatch(/^0\.\d{4}$/);
      if (market.yesAsk !== null) expect(Number(market.noBid)).toBeCloseTo(1 - Number(market.yesAsk), 6);
      expect(Object.keys(market.accounts)).toEqual([USDC_MINT]);
      expect(market.accounts[USDC_MINT]).toMatchObject({ isInitialized: true, redemptionStatus: null });
    }
    const sorted = ok(await stage.metadata('/api/v1/markets?sort=volume&limit=255')).markets as WireMarket[];
    expect(sorted.map(({ volume }) => volume)).toEqual(
      sorted.map(({ volume }) => volume).sort((a, b) => b - a),
    );
  });

  test('outcomes have the names that they have on the exchange, also once it has dropped the market', async () => {
    const stage = await openStage();
    const named = [...stage.sandbox.catalog.all()].find(({ view }) => view.outcomes.join() !== 'Yes,No')!;
    const { conditionId, ticker, mints, view } = named;
    const [yesSubTitle, noSubTitle] = view.outcomes;
    const says = async () => ok(await stage.metadata(`/api/v1/market/${ticker}`));
    expect(await says()).toMatchObject({ yesSubTitle, noSubTitle });
    // Its mints exist from the first order that is built.
    const buyer = (await stage.wallet('ann')).address;
    const query = { inputMint: USDC_MINT, outputMint: mints.YES, amount: 5n * USDC, userPublicKey: buyer };
    ok(await stage.trade('/order', query));
    const market = vi.spyOn(stage.exchange, 'market').mockReturnValue(undefined);
    expect(await says()).toMatchObject({ yesSubTitle, noSubTitle, yesAsk: null });
    expect(market).toHaveBeenCalledWith(conditionId);
  });

  test('one market by ticker, mint or ledger, the same at every start; batches drop what is unknown', async () => {
    const stage = await openStage();
    const market = await stage.market();
    const { yesMint, noMint, marketLedger } = accountsOf(market);
    await stage.restart();
    for (const path of [market.ticker, `by-mint/${yesMint}`, `by-mint/${noMint}`, `by-mint/${marketLedger}`])
      expect(ok(await stage.metadata(`/api/v1/market/${path}`)), path).toEqual(market);
    for (const path of ['KXNONE-1-2', `by-mint/${UNKNOWN}`, 'by-mint/x', `by-mint/${USDC_MINT}`])
      expect(await stage.metadata(`/api/v1/market/${path}`), path).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    const batch = { tickers: [market.ticker, 'KXNONE-1-2'], mints: [noMint, UNKNOWN] };
    expect(ok(await stage.metadata('/api/v1/markets/batch', batch)).markets).toEqual([market]);
    const many = { mints: Array.from({ length: 101 }, () => UNKNOWN) };
    expect((await stage.metadata('/api/v1/markets/batch', many)).status).toBe(400);
    expect((await stage.metadata('/api/v1/markets/batch', [])).status).toBe(400);
    expect((await stage.metadata('/api/v1/filter_outcome_mints', { addresses: 'x' })).status).toBe(400);
    const all = ok(await stage.metadata('/api/v1/outcome_mints')).mints;
    expect(new Set(all).size).toBe(290);
    const addresses = [yesMint, UNKNOWN, USDC_MINT, marketLedger, 'x'];
    expect(ok(await stage.metadata('/api/v1/filter_outcome_mints', { addresses }))).toEqual({
      outcomeMints: [yesMint],
    });
  });

  test('books have only bids; an offer of one outcome is a bid for the other', async () => {
    const stage = await openStage();
    const market = await stage.market();
    const book = ok(await stage.metadata(`/api/v1/orderbook/${market.ticker}`));
    expect(Object.keys(book).sort()).toEqual(['no_bids', 'sequence', 'yes_bids']);
    const best = (side: Record<string, number>) => Math.max(...Object.keys(side).map(Number));
    expect(best(book.yes_bids)).toBeCloseTo(Number(market.yesBid), 6);
    expect(1 - best(book.no_bids)).toBeCloseTo(Number(market.yesAsk), 6);
    for (const price of Object.keys(book.yes_bids)) expect(price).toMatch(/^0\.\d{4}$/);
    expect(ok(await stage.metadata(`/api/v1/orderbook/by-mint/${accountsOf(market).noMint}`))).toEqual(book);
    expect((await stage.metadata('/api/v1/orderbook/KXNONE-1-2')).status).toBe(404);
  });

  test('events, search, series, trades', async () => {
    const stage = await openStage();
    const { events } = ok(await stage.metadata('/api/v1/events?withNestedMarkets=true&limit=255'));
    expect(events.length).toBe(131);
    const contest = events.find((event: { markets: unknown[] }) => event.markets.length === 8);
    expect(ok(await stage.metadata(`/api/v1/event/${contest.ticker}?withNestedMarkets=true`))).toEqual(
      contest,
    );
    expect(ok(await stage.metadata(`/api/v1/event/${contest.ticker}`))).not.toHaveProperty('markets');
    expect((await stage.metadata('/api/v1/event/KXNONE-1')).status).toBe(404);
    const sports = ok(await stage.metadata('/api/v1/events?seriesTickers=KXSPORTS&limit=255')).events;
    expect(new Set(sports.map((event: { seriesTicker: string }) => event.seriesTicker))).toEqual(
      new Set(['KXSPORTS']),
    );

    const [word] = contest.markets[0].title.split(' ').filter((part: string) => part.length > 5);
    const found = ok(
      await stage.metadata(`/api/v1/search?q=${encodeURIComponent(`${word} WILL`)}&limit=255`),
    ).events;
    expect(found.map((event: { ticker: string }) => event.ticker)).toContain(contest.ticker);
    expect(ok(await stage.metadata('/api/v1/search?q=zzzzzz')).events).toEqual([]);
    expect((await stage.metadata('/api/v1/search')).status).toBe(400);
    expect(ok(await stage.metadata('/api/v1/series/KXSPORTS'))).toMatchObject({ category: 'Sports' });
    expect(Object.keys(ok(await stage.metadata('/api/v1/tags_by_categories')).tagsByCategories)).toContain(
      'Crypto',
    );

    for (let i = 0; i < 40; i += 1) {
      stage.clock.time += 1_000;
      await stage.exchange.step();
    }
    const { trades } = ok(await stage.metadata('/api/v1/trades?limit=5'));
    expect(trades.length).toBe(5);
    expect(Number(trades[0].yesPriceDollars) + Number(trades[0].noPriceDollars)).toBeCloseTo(1, 6);
    const next = ok(await stage.metadata(`/api/v1/trades?limit=1&cursor=${trades[4].tradeId}`)).trades;
    expect(Number(next[0].tradeId)).toBeLessThan(Number(trades[4].tradeId));
    const own = ok(await stage.metadata(`/api/v1/trades?ticker=${trades[0].ticker}`)).trades;
    expect(new Set(own.map((trade: { ticker: string }) => trade.ticker))).toEqual(
      new Set([trades[0].ticker]),
    );
  });
});

describe('quotes', () => {
  let stage: Stage;
  let base: { inputMint: string; outputMint: string; amount: bigint };
  let user: string;

  const begin = async (): Promise<void> => {
    stage = await openStage();
    const market = await stage.market();
    base = { inputMint: USDC_MINT, outputMint: accountsOf(market).yesMint, amount: 10n * USDC };
    user = (await stage.wallet('ann')).address;
  };
  const code = async (query: Record<string, string | number | bigint | undefined>) => {
    const { status, body } = await stage.trade('/order', { ...base, ...query });
    return status === 200 ? 'ok' : `${status} ${body.code}`;
  };

  test('every fault of the request has the venue’s own code', async () => {
    await begin();
    const other = (await stage.wallet('bob')).address;
    const cases: readonly (readonly [Record<string, string | number | bigint | undefined>, string])[] = [
      [{}, 'ok'],
      [{ inputMint: 'x' }, 'invalid_input_mint'],
      [{ inputMint: undefined }, 'invalid_input_mint'],
      [{ outputMint: 'x' }, 'invalid_output_mint'],
      [{ outputMint: USDC_MINT }, 'same_input_and_output_mint'],
      [{ amount: 0 }, 'requested_input_amount_is_zero'],
      [{ amount: '1.5' }, 'invalid_request'],
      [{ amount: undefined }, 'invalid_request'],
      [{ amount: 2n ** 63n }, 'invalid_request'],
      [{ userPublicKey: 'x' }, 'invalid_user_public_key'],
      [{ sponsor: 'x' }, 'invalid_sponsor'],
      [{ revertWallet: 'x' }, 'invalid_revert_wallet'],
      [{ predictionMarketInitPayer: 'x' }, 'invalid_prediction_market_init_payer'],
      [{ destinationWallet: 'x' }, 'invalid_destination_wallet'],
      [{ destinationWallet: user, destinationTokenAccount: user }, 'both_destination_params_specified'],
      [{ destinationTokenAccount: user }, 'destination_token_account_not_supported'],
      [
        { sponsor: user, predictionMarketInitPayer: other },
        'both_sponsor_and_prediction_market_init_payer_specified',
      ],
      [{ slippageBps: 10_001 }, 'invalid_slippage_bps'],
      [{ slippageBps: 'auto' }, 'ok'],
      [
        { slippageBps: 100, predictionMarketSlippageBps: 50 },
        'prediction_slippage_bps_below_routing_slippage',
      ],
      [{ predictionMarketSlippageBps: 20_000 }, 'prediction_slippage_bps_above_max'],
      [{ priceImpactTolerancePct: 101 }, 'invalid_price_impact_tolerance_pct'],
      [
        { prioritizationFeeLamports: 5, computeUnitPriceMicroLamports: 5 },
        'both_priority_fee_params_specified',
      ],
      [{ prioritizationFeeLamports: 'most' }, 'invalid_request'],
      [{ platformFeeBps: 5 }, 'platform_fee_account_not_specified'],
      [{ platformFeeScale: 5 }, 'platform_fee_account_not_specified_for_platform_fee_scale'],
      [{ platformFeeScale: 5, feeAccount: user }, 'invalid_platform_fee_scale'],
      [{ allowSyncExec: 'false', allowAsyncExec: 'false' }, 'cannot_disable_sync_and_async_execution'],
      [{ allowAsyncExec: 'false' }, 'route_not_found'],
      [{ outputMint: UNKNOWN }, 'route_not_found'],
      [{ inputMint: UNKNOWN, outputMint: base.outputMint }, 'route_not_found'],
      [{ amount: 10_000 }, 'route_not_found'],
      [{ inputMint: base.outputMint, outputMint: USDC_MINT, amount: MICRO - 1n }, 'route_not_found'],
      [{ inputMint: base.outputMint, outputMint: USDC_MINT, amount: MICRO * 10_000_000n }, 'route_not_found'],
      [{ amount: 500_000n * USDC, priceImpactTolerancePct: 1 }, 'price_impact_too_high'],
    ];
    for (const [query, expected] of cases)
      expect(
        await code(query),
        JSON.stringify(query, (_, value) => String(value)),
      ).toBe(expected === 'ok' ? 'ok' : `400 ${expected}`);
  });

  test('switches: KYC, geoblock, maintenance, outage', async () => {
    await begin();
    const { switches } = stage.sandbox;
    switches.kyc = 'required';
    expect(await code({}), 'without a wallet KYC is not checked').toBe('ok');
    const refused = await stage.trade('/order', { ...base, userPublicKey: user });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'unverified_wallet_not_allowed', details: { deepLink: expect.stringContaining(user) } },
    });
    expect(ok(await stage.trade(`/verify/${user}`))).toEqual({ verified: false });
    expect(
      await code({ userPublicKey: user, inputMint: base.outputMint, outputMint: USDC_MINT }),
      'a SELL',
    ).toBe('ok');
    switches.verifiedWallets = new Set([user]);
    expect(await code({ userPublicKey: user })).toBe('ok');
    expect(await code({ userPublicKey: user, destinationWallet: UNKNOWN })).toBe(
      '400 unverified_wallet_not_allowed',
    );
    expect(ok(await stage.trade(`/verify/${user}`))).toEqual({ verified: true });

    switches.geoblock = 'on';
    expect(await code({})).toBe('403 geoblocked');
    switches.geoblock = 'off';

    const exchangeStatus = async () =>
      ok(await stage.metadata('/trade-api/v2/exchange/status')).trading_active;
    expect(await exchangeStatus()).toBe(true);
    switches.maintenance = 'on';
    expect(await code({})).toBe('400 route_not_found');
    expect(await exchangeStatus()).toBe(false);
    switches.maintenance = 'off';

    switches.outage = 'on';
    expect(await code({})).toBe('503 service_unavailable');
    expect((await stage.metadata('/api/v1/markets')).status).toBe(503);
    expect((await stage.trade('/health-check')).status).toBe(503);
  });

  test('an identity: a link that the wallet signed makes it verified, and no other does', async () => {
    await begin();
    stage.sandbox.switches.kyc = 'required';
    const bob = await stage.wallet('bob');
    const at = '1767225600000';
    const signs = (text: string) => toBase58(bob.sign(new TextEncoder().encode(text)));
    const link = {
      wallet: bob.address as string,
      signature: signs(`Proof KYC verification: ${at}`),
      timestamp: at,
      redirect_uri: 'https://example.org/back?a=1',
    };
    const opens = (changes: object) => stage.trade('/proof', { ...link, ...changes });
    for (const changes of [
      { wallet: user },
      { wallet: 'nobody' },
      { signature: signs(`Proof KYC verification: ${at}0`) },
      { signature: signs(`proof KYC verification: ${at}`) },
      { signature: undefined },
      { timestamp: '1767225600' },
      { redirect_uri: 'http://example.org/' },
      { redirect_uri: 'javascript:alert(1)' },
      { redirect_uri: undefined },
    ])
      expect((await opens(changes)).status, JSON.stringify(changes)).toBe(400);
    expect(ok(await stage.trade(`/verify/${bob.address}`))).toEqual({ verified: false });
    expect(ok(await opens({}))).toEqual({ verified: true, redirect_uri: link.redirect_uri });
    expect(ok(await stage.trade(`/verify/${bob.address}`))).toEqual({ verified: true });
    expect(ok(await stage.trade(`/verify/${user}`))).toEqual({ verified: false });
    expect(ok(await stage.trade('/order', { ...base, userPublicKey: bob.address }))).toHaveProperty(
      'transaction',
    );
    expect(ok(await opens({ redirect_uri: 'chrome-extension://abc/back' })).verified).toBe(true);
  });

  test('orders that are open when maintenance begins are returned', async () => {
    await begin();
    const ann = await stage.wallet('ann');
    const signature = await stage.open(ann, base);
    stage.sandbox.switches.maintenance = 'on';
    await stage.settle();
    expect(await stage.status(signature)).toMatchObject({ status: 'closed', fills: [], reverts: [{}] });
  });

  test('priority fees and slippage show in the answer', async () => {
    await begin();
    const paid = { ...base, userPublicKey: user };
    const plain = ok(await stage.trade('/order', paid));
    expect(plain).toMatchObject({
      computeUnitLimit: 200_000,
      prioritizationFeeLamports: 27,
      slippageBps: 200,
    });
    expect(BigInt(plain.minOutAmount)).toBe((BigInt(plain.outAmount) * 98n) / 100n);
    expect(plain.otherAmountThreshold).toBe(plain.minOutAmount);
    expect(plain).not.toHaveProperty('addressLookupTables');
    const tuned = ok(
      await stage.trade('/order', {
        ...{
          ...paid,
          slippageBps: 0,
          prioritizationFeeLamports: 'disabled',
          includeAddressLookupTables: 'true',
        },
      }),
    );
    expect(tuned).toMatchObject({
      prioritizationFeeLamports: 0,
      minOutAmount: tuned.outAmount,
      addressLookupTables: [],
    });
    expect(
      readOrderRequest({ ...paid, amount: '1', prioritizationFeeLamports: '54' }).microLamportsPerUnit,
    ).toBe(270n);
    expect(ok(await stage.trade('/order', base))).not.toHaveProperty('transaction');
  });
});

describe('order status', () => {
  test('of an order that never landed is not found, and expired once its block height is past', async () => {
    const stage = await openStage();
    const signature = toBase58(new Uint8Array(64).fill(3));
    expect(await stage.trade('/order-status', { signature: 'x' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_signature' },
    });
    const lastValidBlockHeight = (await stage.chain.blockHeight()) + 150;
    expect(await stage.trade('/order-status', { signature })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect((await stage.trade('/order-status', { signature, lastValidBlockHeight })).status).toBe(404);
    stage.clock.time += 121_000;
    expect(ok(await stage.trade('/order-status', { signature, lastValidBlockHeight }))).toMatchObject({
      status: 'expired',
      fills: [],
      reverts: [],
    });
  });

  test('of an order that landed without effect is failed', async () => {
    const stage = await openStage();
    const poor = await stage.wallet('poor', USDC);
    const market = await stage.market();
    const query = { inputMint: USDC_MINT, outputMint: accountsOf(market).yesMint, amount: 5n * USDC };
    const quote = ok(await stage.trade('/order', { ...query, userPublicKey: poor.address }));
    const outcome = await stage.chain.send(signWith(poor, quote.transaction), { skipPreflight: true });
    if (outcome.kind !== 'executed') throw new Error('it was to land');
    expect(outcome.executed.err).not.toBeNull();
    expect(await stage.status(outcome.executed.signature)).toMatchObject({
      status: 'failed',
      fills: [],
      reverts: [],
    });
  });
});

describe('the doors', () => {
  test('answer 503 while no process leads, and hide internal errors', async () => {
    const app = fastify();
    await app.register(dflowTradeDoor, { prefix: '/t', sandbox: () => null, guard: null });
    const answer = await app.inject({ url: '/t/order' });
    expect([answer.statusCode, answer.json().code]).toEqual([503, 'service_unavailable']);
    const broken = fastify();
    await broken.register(dflowTradeDoor, {
      prefix: '/t',
      sandbox: () => {
        throw new Error('secret');
      },
      guard: null,
    });
    const hidden = await broken.inject({ url: '/t/order' });
    expect([hidden.statusCode, hidden.json().code]).toEqual([500, 'internal_server_error']);
    expect(hidden.body).not.toContain('secret');
  });

  test('the schedule rests on Thursday from 03:00 to 05:00 in New York, summer and winter', () => {
    const at = (text: string) => isResting({ maintenance: 'schedule' }, Date.parse(text));
    expect(at('2026-11-19T07:59:59Z')).toBe(false);
    expect(at('2026-11-19T08:00:00Z')).toBe(true);
    expect(at('2026-11-19T09:59:59Z')).toBe(true);
    expect(at('2026-11-19T10:00:00Z')).toBe(false);
    expect(at('2026-07-16T07:00:00Z')).toBe(true);
    expect(at('2026-07-16T09:00:00Z')).toBe(false);
    expect(at('2026-11-20T08:30:00Z')).toBe(false);
  });
});
