/** Quotes of DFlow: when a quote is executable, and why a quote is refused. */
import { readTransaction, USDC_MINT } from '@bellwether/protocol';
import type { FastifyReply } from 'fastify';
import { describe, expect, test } from 'vitest';
import {
  ask,
  base,
  CAPTURED_BUY,
  capturedMarket,
  checked,
  degraded,
  dflow,
  HEIGHT,
  key,
  logged,
  MINTS,
  NOON,
  orderOf,
  seen,
  stage,
  TICKER,
  useStage,
  venue,
  WALLET,
} from './dflow-venue-stage.ts';

useStage();

const MAINTENANCE = Date.parse('2026-02-19T08:30:00Z');

const refusal =
  (code: string, more: object = {}) =>
  (reply: FastifyReply) =>
    reply.code(400).send({ code, msg: `says ${code}`, ...more });

describe('a quote', () => {
  test('is executable when all checks pass', async () => {
    const quote = await ask();
    expect(quote).toMatchObject({
      kind: 'executable',
      market: { id: TICKER },
      amounts: {
        inputMint: USDC_MINT,
        outputMint: MINTS.yes,
        inAmount: CAPTURED_BUY.paid,
        outAmount: 11_000_000n,
        minOutAmount: 10_780_000n,
        isRedemption: false,
      },
      lastValidBlockHeight: HEIGHT + 150,
      expectedEnd: NOON + 150 * 450,
    });
    if (quote.kind !== 'executable') return;
    expect(readTransaction(quote.wire).message).toEqual(quote.message);
    expect(seen.map(({ key }) => key)).toEqual(['the-key', 'the-key']);
    const asked = new URL(seen[1]!.url, base).searchParams;
    expect(Object.fromEntries(asked)).toEqual({
      inputMint: USDC_MINT,
      outputMint: MINTS.yes,
      amount: '1000000',
      userPublicKey: WALLET,
      slippageBps: '200',
      predictionMarketSlippageBps: '200',
      priceImpactTolerancePct: '10',
      includeAddressLookupTables: 'true',
    });
    expect(logged).toEqual([]);
  });

  test('without a wallet is a preview', async () => {
    dflow['/order'] = orderOf({ transaction: undefined, lastValidBlockHeight: undefined });
    expect(await ask({ wallet: null })).toMatchObject({
      kind: 'preview',
      amounts: { outAmount: 11_000_000n },
    });
    expect(seen[1]!.url).not.toContain('userPublicKey');
  });

  test('of a SELL names the contracts as they were asked for', async () => {
    stage.holds = { [MINTS.yes]: 2_500_000n, [USDC_MINT]: 0n };
    await ask({ side: 'SELL', amount: 2_000_000n });
    expect(seen[1]!.url).toContain(`inputMint=${MINTS.yes}`);
    expect(seen[1]!.url).toContain('amount=2000000');
  });

  test('of a SELL of the winning outcome redeems', async () => {
    stage.holds = { [MINTS.yes]: 2_000_000n, [USDC_MINT]: 0n };
    dflow['/api/v1/market/'] = capturedMarket(
      { status: 'finalized', result: 'yes' },
      { redemptionStatus: 'open' },
    );
    const redeemed = (outAmount: string, minOutAmount = outAmount) => {
      dflow['/order'] = orderOf({
        inputMint: MINTS.yes,
        outputMint: USDC_MINT,
        inAmount: '2000000',
        outAmount,
        minOutAmount,
        otherAmountThreshold: minOutAmount,
        revertMint: MINTS.yes,
        priceImpactPct: '0.9',
      });
      return ask({ side: 'SELL', amount: 2_000_000n, wallet: null });
    };
    expect(await redeemed('2000000')).toMatchObject({ kind: 'preview', amounts: { isRedemption: true } });
    expect(seen[1]!.url).not.toContain('priceImpact');
    // The result says what they pay, whatever DFlow offers.
    expect(await redeemed('1999999')).toMatchObject(
      degraded('route_not_found', expect.stringContaining('it pays 1.999999, and these contracts pay 2')),
    );
    expect(await redeemed('2000000', '1')).toMatchObject(
      degraded('route_not_found', expect.stringContaining('allows no less than 1.96')),
    );
  });
});

describe('no quote', () => {
  test('of an unknown market', async () => {
    dflow['/api/v1/market/'] = null;
    expect(await ask()).toEqual({ kind: 'degraded', code: 'market_not_found', message: null, market: null });
  });

  test.each(['.', '..'])('of a ticker that would change the path: %s', async (ticker) => {
    expect(await ask({ ticker })).toMatchObject({ kind: 'degraded', code: 'market_not_found' });
    expect(seen).toHaveLength(0);
  });

  test.each([
    [{ status: 'closed' }, {}, 'BUY', 'closed'],
    [{ status: 'inactive' }, {}, 'BUY', 'not trade at the moment'],
    [{ status: 'an unknown state' }, {}, 'BUY', 'not trade at the moment'],
    [{}, { isInitialized: false }, 'BUY', 'not trade at the moment'],
    [{ status: 'finalized', result: 'yes' }, { redemptionStatus: 'open' }, 'BUY', 'settled'],
    [{ status: 'finalized', result: 'no' }, { redemptionStatus: 'open' }, 'SELL', 'has lost'],
    [
      { status: 'finalized', result: 'yes' },
      { redemptionStatus: 'pending' },
      'SELL',
      'redemption is not open',
    ],
  ] as const)('of a market that is %j %j to a %s', async (market, rail, side, words) => {
    dflow['/api/v1/market/'] = capturedMarket(market, rail);
    expect(await ask({ side })).toMatchObject(degraded('market_closed', expect.stringContaining(words)));
    expect(seen).toHaveLength(1);
  });

  test('for less than a contract', async () => {
    expect(await ask({ amount: 79_999n })).toMatchObject(
      degraded('amount_too_small', 'One contract costs 0.090736 now, fees included.'),
    );
    expect(await ask({ side: 'SELL', amount: 999_999n })).toMatchObject(degraded('amount_too_small'));
  });

  test('for a fraction of a contract, which is never rounded without a word', async () => {
    const fraction = (message: string) => degraded('fraction_of_contract', message);
    const selling = (amount: bigint) => ask({ side: 'SELL', amount });
    stage.holds = { [MINTS.yes]: 2_700_000n, [USDC_MINT]: 0n };
    expect(await selling(2_700_000n)).toMatchObject(fraction('Contracts are whole: sell 2 instead of 2.7.'));
    stage.holds = { [MINTS.yes]: 3_000_000n, [USDC_MINT]: 0n };
    expect(await selling(2_700_000n)).toMatchObject(
      fraction('Contracts are whole: sell 2 or 3 instead of 2.7.'),
    );
    expect(await ask({ side: 'SELL', amount: 2_000_001n, wallet: null })).toMatchObject(
      fraction('Contracts are whole: sell 2 instead of 2.000001.'),
    );
  });

  test('for a wallet that cannot pay; the error has the figures', async () => {
    expect(await ask({ amount: 5_000_001n })).toMatchObject(
      degraded('insufficient_balance', expect.stringMatching(/holds 5 of the 5\.000001 collateral/)),
    );
    stage.holds = {};
    expect(await ask()).toMatchObject(
      degraded('insufficient_balance', expect.stringContaining('holds 0 of')),
    );
    stage.holds = { [USDC_MINT]: 5_000_000n };
    stage.lamports = 2_079_079n;
    expect(await ask()).toMatchObject(
      degraded('insufficient_balance', expect.stringContaining('take at least 2079080')),
    );
    stage.simulation = { kind: 'would_fail', reason: 'InsufficientFundsForRent' };
    stage.lamports = 2_079_080n;
    expect(await ask()).toMatchObject(degraded('insufficient_balance'));
  });

  test.each([
    ['price_impact_too_high', 'price_impact_too_high'],
    ['geoblocked', 'geoblocked'],
    ['wallet_restricted', 'wallet_restricted'],
    ['Price_Impact_Too_High', 'price_impact_too_high'],
    ['zero_out_amount', 'amount_too_small'],
    ['requested_input_amount_is_zero', 'amount_too_small'],
    ['invalid_destination_wallet', 'route_not_found'],
    ['a_code_of_tomorrow', 'route_not_found'],
  ])('when DFlow says %s: %s', async (said, code) => {
    dflow['/order'] = refusal(said);
    expect(await ask()).toMatchObject(degraded(code, expect.stringContaining(`says ${said}`)));
  });

  test('for an unverified wallet; the error has the link', async () => {
    dflow['/order'] = refusal('unverified_wallet_not_allowed', {
      details: { deepLink: 'https://dflow.net/proof?x=1' },
    });
    expect(await ask()).toMatchObject(
      degraded('kyc_required', expect.stringContaining('https://dflow.net/proof?x=1')),
    );
    dflow['/order'] = refusal('unverified_wallet_not_allowed', { details: { deepLink: 'javascript:x' } });
    expect(await ask()).toMatchObject(degraded('kyc_required', expect.not.stringContaining('javascript')));
  });

  test('without a route; the error has the reason', async () => {
    dflow['/order'] = refusal('route_not_found');
    expect(await ask()).toMatchObject(degraded('route_not_found', null));

    dflow['/trade-api'] = { exchange_active: true, trading_active: false };
    expect(await ask()).toMatchObject(degraded('venue_maintenance', null));
    dflow['/trade-api'] = { exchange_active: true, trading_active: true };

    // Enough for the price, not for the fee.
    expect(await ask({ amount: 90_735n })).toMatchObject(degraded('amount_too_small'));
    expect(await ask({ amount: 90_736n })).toMatchObject(degraded('route_not_found', null));

    dflow['/api/v1/market/'] = capturedMarket({ yesAsk: null });
    expect(await ask()).toMatchObject(degraded('route_not_found', 'There is no offer of YES now.'));

    const before = capturedMarket();
    let looks = 0;
    dflow['/api/v1/market/'] = (reply) =>
      reply.send(looks++ === 0 ? before : { ...before, status: 'closed' });
    expect(await ask()).toMatchObject(degraded('market_closed', null));
    looks = 0;
    dflow['/api/v1/market/'] = (reply) => (looks++ === 0 ? reply.send(before) : reply.code(404).send({}));
    expect(await ask()).toMatchObject(degraded('market_not_found', null));
  });

  test('in the weekly maintenance, which is no time to ask for an order; of a silent venue, too', async () => {
    stage.now = MAINTENANCE;
    const closed = degraded('venue_maintenance', expect.stringContaining('until 2026-02-19T10:00:00.000Z'));
    expect(await ask()).toMatchObject(closed);
    expect(seen.map(({ url }) => url.split('/')[1])).toEqual(['api']);
    dflow['/api/v1/market/'] = (reply) => reply.code(503).send('');
    expect(await ask()).toMatchObject(closed);
  });

  test('when DFlow or the node does not answer', async () => {
    stage.simulation = { kind: 'unknown' };
    expect(await ask()).toMatchObject(degraded('venue_unavailable'));
    dflow['/order'] = (reply) => reply.code(403).send({ code: 'forbidden', msg: 'the-key is wrong' });
    expect(await ask()).toMatchObject(degraded('venue_unavailable', expect.not.stringContaining('the-key')));
    dflow['/order'] = { nothing: 'known' };
    expect(await ask()).toMatchObject(degraded('venue_unavailable'));
    dflow['/order'] = (reply) => reply.code(500).send({ code: 'failed_to_compute_route', msg: '' });
    expect(await ask()).toMatchObject(degraded('venue_unavailable'));
    expect(await ask()).toMatchObject(degraded('venue_unavailable'));
    expect(venue.status()).toBe('the DFlow trade API does not answer');
    dflow['/api/v1/market/'] = (reply) => reply.code(503).send('');
    expect(await ask()).toMatchObject({ code: 'venue_unavailable', market: null });
    await expect(venue.quotes.market(TICKER)).rejects.toMatchObject({ name: 'VenueUnavailable' });
  });
});

describe('the identity check', () => {
  const unverified = (wallet: string) =>
    degraded('kyc_required', expect.stringContaining(`https://dflow.net/proof?wallet=${wallet}`));
  const KEPT_MS = 10 * 60_000;

  test('stops a BUY of an unverified wallet before its balances and without an order; it gets no key of ours', async () => {
    dflow['/verify/'] = { verified: false };
    stage.holds = {};
    expect(await ask()).toMatchObject(unverified(WALLET));
    expect(checked).toEqual([{ url: `/verify/${WALLET}`, key: undefined }]);
    expect(seen.map(({ url }) => url.split('?')[0])).toEqual([`/api/v1/market/${TICKER}`]);
    expect(logged).toEqual([]);
  });

  test('asks for the wallet that receives', async () => {
    const receiver = key(8);
    dflow['/verify/'] = { verified: false };
    expect(await ask({ destination: receiver })).toMatchObject(unverified(receiver));
    expect(checked.map(({ url }) => url)).toEqual([`/verify/${receiver}`]);
  });

  test('concerns neither a SELL, nor a redemption, nor a preview', async () => {
    dflow['/verify/'] = { verified: false };
    dflow['/order'] = refusal('price_impact_too_high');
    stage.holds = { [MINTS.yes]: 2_000_000n };
    const reaches = degraded('price_impact_too_high');
    expect(await ask({ side: 'SELL', amount: 2_000_000n })).toMatchObject(reaches);
    expect(await ask({ wallet: null })).toMatchObject(reaches);
    dflow['/api/v1/market/'] = capturedMarket(
      { status: 'finalized', result: 'yes' },
      { redemptionStatus: 'open' },
    );
    expect(await ask({ side: 'SELL', amount: 2_000_000n })).toMatchObject(reaches);
    expect(checked).toEqual([]);
  });

  test('remembers who is verified for ten minutes, and nothing else', async () => {
    dflow['/verify/'] = { verified: false };
    expect(await ask()).toMatchObject({ kind: 'degraded' });
    dflow['/verify/'] = { verified: true };
    expect(await ask()).toMatchObject({ kind: 'executable' });
    expect(await ask()).toMatchObject({ kind: 'executable' });
    expect(checked).toHaveLength(2);
    dflow['/verify/'] = { verified: false };
    stage.now += KEPT_MS - 1;
    expect(await ask()).toMatchObject({ kind: 'executable' });
    stage.now += 1;
    expect(await ask()).toMatchObject(unverified(WALLET));
  });

  test('forgets who is verified when DFlow refuses the wallet', async () => {
    expect(await ask()).toMatchObject({ kind: 'executable' });
    dflow['/order'] = refusal('unverified_wallet_not_allowed');
    expect(await ask()).toMatchObject(unverified(WALLET));
    await ask();
    expect(checked).toHaveLength(2);
  });

  const padded = { verified: false, more: 'x'.repeat(2_000_000) };
  test.each<[string, unknown]>([
    ['fails', (reply: FastifyReply) => reply.code(500).send('')],
    ['says another thing', { verified: 'false' }],
    ['is no JSON', (reply: FastifyReply) => reply.type('text/html').send('<html>')],
    ['refuses', (reply: FastifyReply) => reply.code(400).send({ verified: false })],
    ['sends elsewhere', (reply: FastifyReply) => reply.redirect(`${base}/elsewhere`)],
    ['answers megabytes', padded],
    ['never answers', () => new Promise(() => {})],
  ])('leaves it to DFlow when the host %s, and says so once', async (_what, answer) => {
    dflow['/verify/'] = answer as object;
    dflow['/elsewhere'] = { verified: false };
    expect(await ask()).toMatchObject({ kind: 'executable' });
    expect(logged.filter((line) => line.includes('identity'))).toEqual([
      expect.stringMatching(/^warn DFlow does not say whether an identity is verified/),
    ]);
    dflow['/order'] = refusal('unverified_wallet_not_allowed');
    expect(await ask()).toMatchObject(unverified(WALLET));
    expect(logged.filter((line) => line.includes('identity'))).toHaveLength(1);
    expect(venue.status()).toBe('ready');
    expect(JSON.stringify(seen)).not.toContain('elsewhere');
  });
});
