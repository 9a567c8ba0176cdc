/** Quotes, and every reason to refuse a signed transaction, in their order; `quoted-mutations.test.ts` changes the transaction itself. */
import type { QuoteErrorCode } from '@bellwether/contract';
import { QUOTE_ERRORS, Quote, SubmitResponse } from '@bellwether/contract';
import { parseTransactionBytes, toBase64 } from '@bellwether/protocol';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  CALM,
  createFakeWallet,
  type FakeQuoteVenue,
  fakeMarket,
  tokenTransfer,
} from '../fake-quote-venue.ts';
import { call, newAgent, type TestService } from '../harness.ts';
import { BUY_TEN, expectShape, newQuoteTrader, startQuotingDesk, type TraderB } from '../quote-trader.ts';
import { manualClock } from '../world.ts';

const clock = manualClock();
let service: TestService;
let venue: FakeQuoteVenue;
let trader: TraderB;

beforeAll(async () => {
  ({ service, venue } = await startQuotingDesk(clock));
  trader = await newQuoteTrader(service);
});
afterEach(() => Object.assign(venue.controls, CALM));

const ask = (body: unknown, key = trader.apiKey) =>
  call(service, 'POST', '/venueb/agent/quote', { key, body });
const refused = (status: number, code: string) => ({ status, body: { code } });
const pathsOf = ({ body }: { body: { errors: { path: string }[] } }) => body.errors.map(({ path }) => path);

describe('a quote', () => {
  test('of a BUY contains the transaction that the wallet must sign', async () => {
    const quote = await trader.quote();
    expectShape(Quote, quote);
    const [yesMint, noMint] = venue.listed.get('KXTEST-1')?.tokenIds ?? [];
    expect(quote).toMatchObject({
      venue: 'kalshi',
      marketTicker: 'KXTEST-1',
      marketId: 'KXTEST-1',
      title: 'Will KXTEST-1 happen?',
      status: 'active',
      side: 'YES',
      action: 'BUY',
      amount: '10',
      yesPrice: '0.6',
      noPrice: '0.41',
      yesMint,
      noMint,
      inputMint: venue.quotes.collateralMint,
      outputMint: yesMint,
      scaledAmount: '10000000',
      inAmount: '10000000',
      outAmount: '16000000',
      minOutAmount: '16000000',
      expiresAt: clock.now() + 120_000,
      previewOnly: false,
      isRedemption: false,
      kycRequired: false,
      geoblocked: false,
      unsignedTransaction: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
    });
    expect([quote.quoteErrorCode, quote.shares]).toEqual([undefined, undefined]);
    expect(venue.credited).toContain(trader.wallet.address);
  });

  test('of a SELL takes shares, with words in any case', async () => {
    const quote = await trader.quote({ action: 'sell', side: 'no', shares: 5 });
    expect(quote).toMatchObject({
      side: 'NO',
      action: 'SELL',
      shares: '5',
      inputMint: venue.listed.get('KXTEST-1')?.tokenIds[1],
      outputMint: venue.quotes.collateralMint,
      inAmount: '5000000',
      outAmount: '2000000',
    });
    expect(quote.amount).toBeUndefined();
  });

  test('without a wallet is a preview; the agent’s own address is the default', async () => {
    const { apiKey, client } = await newAgent(service);
    const { body: preview } = await ask(BUY_TEN, apiKey);
    expectShape(Quote, preview);
    expect(preview).toMatchObject({ previewOnly: true, outAmount: '16000000' });
    expect(preview.unsignedTransaction).toBeUndefined();
    const wallet = createFakeWallet();
    await client.updateSolAddress(wallet.address);
    const { body: quote } = await ask(BUY_TEN, apiKey);
    expect(quote).toMatchObject({ previewOnly: false, unsignedTransaction: expect.any(String) });
    const body = { quoteId: preview.quoteId, signedTransaction: wallet.sign(quote.unsignedTransaction) };
    expect(await call(service, 'POST', '/venueb/agent/submit', { key: apiKey, body })).toMatchObject(
      refused(400, 'quote_not_executable'),
    );
  });

  test('expires with its blockhash when that is earlier', async () => {
    const wallet = trader.wallet.address;
    const { collateralMint } = venue.quotes;
    venue.controls.quote = ({ ticker }) => ({
      kind: 'executable',
      market: fakeMarket(ticker),
      amounts: {
        inputMint: collateralMint,
        outputMint: wallet,
        inAmount: 10_000_000n,
        outAmount: 1_000_000n,
        minOutAmount: 1_000_000n,
        isRedemption: false,
      },
      ...tokenTransfer({ wallet, mint: collateralMint, amount: 10_000_000n }),
      lastValidBlockHeight: venue.controls.height + 100,
      expectedEnd: clock.now() + 40_000,
    });
    expect((await trader.quote()).expiresAt).toBe(clock.now() + 40_000);
  });

  test('names every fault of the request at once', async () => {
    const { status, body } = await ask({
      ...BUY_TEN,
      amount: 1.0000001,
      shares: 2,
      userPublicKey: '0x12',
      destinationWallet: 'abc',
    });
    expect(status).toBe(400);
    expect(body.errors.map(({ path, code }: { path: string; code: string }) => [path, code])).toEqual([
      ['shares', 'shares_not_allowed'],
      ['amount', 'too_many_decimals'],
      ['userPublicKey', 'invalid_solana_address'],
      ['destinationWallet', 'invalid_solana_address'],
    ]);
  });

  test.each(Object.keys(QUOTE_ERRORS) as QuoteErrorCode[])(
    'that is unavailable (%s) has an error code, and submitting it is refused',
    async (code) => {
      venue.controls.quote = () => ({
        kind: 'degraded',
        code,
        message: code === 'kyc_required' ? 'Verify at https://example.org\u202e/x' : null,
        market: code === 'market_not_found' ? null : (venue.listed.get('KXTEST-1') ?? null),
      });
      const quote = await trader.quote();
      expectShape(Quote, quote);
      expect(quote).toMatchObject({
        quoteErrorCode: code,
        quoteErrorMessage: code === 'kyc_required' ? 'Verify at https://example.org /x' : QUOTE_ERRORS[code],
        kycRequired: code === 'kyc_required',
        geoblocked: code === 'geoblocked',
        previewOnly: false,
      });
      // Nothing is shown of a market that is not known, not even blanks.
      expect(Object.values(quote)).not.toContain('');
      if (code === 'market_not_found') expect(quote).not.toHaveProperty('yesMint');
      expect(quote.unsignedTransaction).toBeUndefined();
      const submitted = await trader.submit(quote, { signedTransaction: 'AAAA' });
      expect(submitted).toMatchObject(refused(400, 'quote_not_executable'));
      expect(submitted.body.detail).toContain(code);
    },
  );

  test('is degraded while paper money cannot be credited; with an Idempotency-Key only a good one is replayed', async () => {
    const keyed = async (key: string) =>
      (
        await trader.post(
          '/venueb/agent/quote',
          { ...BUY_TEN, userPublicKey: trader.wallet.address },
          { 'idempotency-key': key },
        )
      ).body;
    const first = await keyed('one');
    expect(await keyed('one')).toEqual(first);
    venue.controls.creditFails = true;
    expect((await keyed('two')).quoteErrorCode).toBe('venue_unavailable');
    venue.controls.creditFails = false;
    expect((await keyed('two')).quoteErrorCode).toBeUndefined();
  });

  test('has routes by the venue’s own name, too, for the same agent and the same idempotency key', async () => {
    const body = { ...BUY_TEN, userPublicKey: trader.wallet.address };
    const headers = { 'idempotency-key': 'alias' };
    const neutral = await trader.post('/venueb/agent/quote', body, headers);
    const named = await trader.post('/kalshi/agent/quote', body, headers);
    expect(named.headers.get('idempotency-replayed')).toBe('true');
    expect(named.body).toEqual(neutral.body);
    expect((await trader.get('/kalshi/agent/orders')).status).toBe(200);
    expect(await trader.get('/kalshi/agent/quote')).toMatchObject(refused(405, 'method_not_allowed'));
    expect((await trader.get('/kalshi/agent/nothing')).body.code).toBe('route_not_found');
    const paths = Object.keys((await call(service, 'GET', '/openapi.json')).body.paths);
    expect(paths).toContain('/venueb/agent/quote');
    expect(paths.filter((path) => path.includes('kalshi'))).toEqual([]);
  });
});

describe('a submit', () => {
  const effects = async () => ({ ...(await trader.usage()), sent: venue.sent.length });

  test('is accepted as pending', async () => {
    const quote = await trader.quote();
    const { status, body } = await trader.submit(quote, { reasoning: 'a hunch', source: 'sdk:test' });
    expectShape(SubmitResponse, body);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        success: true,
        orderId: quote.quoteId,
        status: 'submitted',
        orderStatus: 1,
        filledSize: 0,
        avgPrice: null,
        venue: 'kalshi',
        aiAgentId: trader.agentId,
        txHash: body.txSignature,
        venueOrderId: body.txSignature,
      },
    });
    expect(venue.sent.at(-1)).toMatchObject({
      signature: body.txSignature,
      wire: new Uint8Array(parseTransactionBytes(trader.wallet.sign(quote.unsignedTransaction))),
    });
  });

  test('of another agent’s quote is refused like an unknown quote', async () => {
    const other = await newQuoteTrader(service);
    const quote = await other.quote();
    const signedTransaction = other.wallet.sign(quote.unsignedTransaction);
    const quoteId = '01900000-0000-7000-8000-000000000000';
    const theirs = await trader.submit(quote, { signedTransaction });
    const nobodys = await trader.submit(quote, { quoteId, signedTransaction });
    expect(theirs).toMatchObject(refused(404, 'quote_not_found'));
    expect({ ...theirs.body, requestId: '' }).toEqual({ ...nobodys.body, requestId: '' });
    expect((await other.submit(quote)).status).toBe(200);
  });

  test('gets the same answer when repeated; any other transaction for the quote is refused', async () => {
    const quote = await trader.quote();
    const first = await trader.submit(quote);
    const before = await effects();
    clock.advance(200_000);
    expect((await trader.submit(quote)).body).toEqual(first.body);
    const spoiled = parseTransactionBytes(trader.wallet.sign(quote.unsignedTransaction));
    spoiled[3]! ^= 1;
    const another = trader.wallet.sign((await trader.quote()).unsignedTransaction);
    for (const signedTransaction of [quote.unsignedTransaction, toBase64(spoiled), another, '!'])
      expect(await trader.submit(quote, { signedTransaction })).toMatchObject({
        status: 409,
        body: { code: 'quote_already_used', orderId: quote.quoteId },
      });
    // The first one has no end.
    expect(await trader.submit(quote, { cancelAfterMs: 60_000 })).toMatchObject(
      refused(409, 'order_already_placed'),
    );
    expect(await effects()).toEqual(before);
  });

  test('is refused when too late by our clock, or by the chain’s, before any fault of the transaction', async () => {
    const dead = await trader.quote();
    venue.controls.height += 151;
    expect(await trader.submit(dead)).toMatchObject(refused(400, 'quote_expired'));
    // The chain would still take these.
    const [fresh, late] = [await trader.quote(), await trader.quote()];
    clock.advance(119_999);
    expect((await trader.submit(fresh)).status).toBe(200);
    clock.advance(1);
    const before = await effects();
    for (const signedTransaction of ['AAAA', late.unsignedTransaction])
      expect(await trader.submit(late, { signedTransaction })).toMatchObject(refused(400, 'quote_expired'));
    expect(await effects()).toEqual(before);
  });

  test('checks the fields sent along, all at once', async () => {
    const [one, two] = [await trader.quote(), await trader.quote()];
    const stranger = createFakeWallet().address;
    const [asked, answered] = [
      {
        marketTicker: 'KXTEST-2',
        side: 'no',
        action: 'SELL',
        amount: 10.5,
        shares: 1,
        userPublicKey: stranger,
      },
      { destinationWallet: stranger, inAmount: '1', outAmount: '2', minOutAmount: '3' },
    ];
    const wrong = await trader.submit(one, asked);
    expect(wrong).toMatchObject(refused(400, 'quote_mismatch'));
    expect(pathsOf(wrong)).toEqual(Object.keys(asked));
    expect(pathsOf(await trader.submit(two, answered))).toEqual(Object.keys(answered));
    const own = trader.wallet.address;
    const same = { ...BUY_TEN, side: 'yes', action: 'buy', userPublicKey: own };
    expect((await trader.submit(one, same)).status).toBe(200);
    const { inAmount, outAmount, minOutAmount } = two;
    const right = { destinationWallet: own, inAmount, outAmount, minOutAmount };
    expect((await trader.submit(two, right)).status).toBe(200);
  });

  test('is refused when the simulation fails or moves more than quoted, not when the chain is silent', async () => {
    const quote = await trader.quote();
    const change = {
      account: trader.wallet.address,
      mint: venue.quotes.collateralMint,
      before: 100_000_000n,
      after: 90_000_000n,
      authorityChanged: false,
    };
    for (const simulation of [
      { kind: 'would_fail', reason: 'custom program error: 0x1' },
      { kind: 'ok', changes: [{ ...change, after: 89_999_999n }] },
      { kind: 'ok', changes: [change, { ...change, mint: quote.outputMint, before: 1n, after: 0n }] },
      { kind: 'ok', changes: [{ ...change, authorityChanged: true }] },
    ] as const) {
      venue.controls.simulation = simulation;
      expect(await trader.submit(quote)).toMatchObject(refused(400, 'transaction_would_fail'));
    }
    // The wallet has spent its money since the quote: said in words, before what the chain says.
    venue.controls.simulation = { kind: 'would_fail', reason: 'instruction 2: Custom 1' };
    const { body } = await trader.submit(quote);
    expect(body.detail).toMatch(/^The wallet holds 0 collateral, and this takes 10\. /);
    expect(body.fix).toContain('Fund the wallet');
    const lamports = { ...change, mint: null, before: 5n, after: 1n };
    venue.controls.simulation = { kind: 'ok', changes: [change, lamports] };
    expect((await trader.submit(quote)).status).toBe(200);
    venue.controls.simulation = { kind: 'unknown' };
    expect((await trader.submit(await trader.quote())).status).toBe(200);
  });

  test('to a venue that accepts nothing is refused before anything is reserved', async () => {
    const quote = await trader.quote();
    const before = await effects();
    venue.controls.status = 'the node does not answer';
    expect(await trader.submit(quote)).toMatchObject(refused(503, 'service_unavailable'));
    expect(await effects()).toEqual(before);
    venue.controls.status = 'ready';
    expect((await trader.submit(quote)).status).toBe(200);
  });
});
