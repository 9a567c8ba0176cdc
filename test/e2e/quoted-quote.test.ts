/** Quotes, and every reason to refuse a signed transaction, in their order. */

import type { QuoteErrorCode } from '@bellwether/contract';
import { QUOTE_ERRORS, Quote, SubmitResponse } from '@bellwether/contract';
import { parseTransactionBytes, toBase64 } from '@bellwether/protocol';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createFakeQuoteVenue,
  createFakeWallet,
  type FakeQuoteVenue,
  fakeMarket,
  fakeTransaction,
} from '../fake-quote-venue.ts';
import { call, newAgent, startTestService, type TestService } from '../harness.ts';
import { BUY_TEN, newQuoteTrader, type TraderB } from '../quote-trader.ts';
import { type ManualClock, manualClock } from '../world.ts';

let service: TestService;
let venue: FakeQuoteVenue;
let trader: TraderB;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock();
  venue = createFakeQuoteVenue('kalshi', clock.now);
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [venue], clock });
  trader = await newQuoteTrader(service);
});

afterEach(() => {
  Object.assign(venue.controls, {
    silent: false,
    simulation: { kind: 'unknown' },
    quote: null,
    creditFails: false,
    status: 'ready',
  });
});

const ajv = formats.default(new Ajv({ strict: false }));
const conforms = (schema: object, value: unknown): void => {
  const validate = ajv.compile(schema);
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
};
const ask = (body: unknown, key = trader.apiKey) =>
  call(service, 'POST', '/venueb/agent/quote', { key, body });

describe('a quote', () => {
  test('of a BUY contains the transaction that the wallet must sign', async () => {
    const quote = await trader.quote();
    conforms(Quote, quote);
    const market = venue.listed.get('KXTEST-1');
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
      yesMint: market?.tokenIds[0],
      noMint: market?.tokenIds[1],
      inputMint: venue.quotes.collateralMint,
      outputMint: market?.tokenIds[0],
      scaledAmount: '10000000',
      inAmount: '10000000',
      outAmount: '16000000',
      minOutAmount: '16000000',
      expiresAt: clock.now() + 120_000,
      previewOnly: false,
      isRedemption: false,
      kycRequired: false,
      geoblocked: false,
    });
    expect(quote.quoteErrorCode).toBeUndefined();
    expect(quote.shares).toBeUndefined();
    expect(venue.credited).toContain(trader.wallet.address);
    expect(quote.unsignedTransaction).toMatch(/^[A-Za-z0-9+/]+=*$/);
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
    const agent = await newAgent(service);
    const preview = await ask(BUY_TEN, agent.apiKey);
    conforms(Quote, preview.body);
    expect(preview.body).toMatchObject({ previewOnly: true, outAmount: '16000000' });
    expect(preview.body.unsignedTransaction).toBeUndefined();
    const wallet = createFakeWallet();
    const set = await call(service, 'POST', '/wallet/update-sol-address', {
      key: agent.apiKey,
      body: { solAddress: wallet.address },
    });
    expect(set.status).toBe(200);
    const quote = await ask(BUY_TEN, agent.apiKey);
    expect(quote.body).toMatchObject({ previewOnly: false, unsignedTransaction: expect.any(String) });
    const refused = await call(service, 'POST', '/venueb/agent/submit', {
      key: agent.apiKey,
      body: { quoteId: preview.body.quoteId, signedTransaction: wallet.sign(quote.body.unsignedTransaction) },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'quote_not_executable' } });
  });

  test('expires with its blockhash when that is earlier', async () => {
    const wallet = trader.wallet.address;
    venue.controls.quote = (question) => ({
      kind: 'executable',
      market: fakeMarket(question.ticker),
      amounts: {
        inputMint: venue.quotes.collateralMint,
        outputMint: wallet,
        inAmount: 10_000_000n,
        outAmount: 1_000_000n,
        minOutAmount: 1_000_000n,
        isRedemption: false,
      },
      ...fakeTransaction({ wallet, mint: venue.quotes.collateralMint, amount: 10_000_000n }),
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
    expect(body.errors.map((fault: { path: string; code: string }) => `${fault.path} ${fault.code}`)).toEqual(
      [
        'shares shares_not_allowed',
        'amount too_many_decimals',
        'userPublicKey invalid_solana_address',
        'destinationWallet invalid_solana_address',
      ],
    );
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
      conforms(Quote, quote);
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
      const refused = await trader.post('/venueb/agent/submit', {
        quoteId: quote.quoteId,
        signedTransaction: 'AAAA',
      });
      expect(refused).toMatchObject({ status: 400, body: { code: 'quote_not_executable' } });
      expect(refused.body.detail).toContain(code);
    },
  );

  test('is degraded, not refused, while paper money cannot be credited', async () => {
    venue.controls.creditFails = true;
    expect((await trader.quote()).quoteErrorCode).toBe('venue_unavailable');
  });

  test('with an Idempotency-Key is replayed, but a failed one is requested again', async () => {
    const keyed = (key: string) =>
      trader.post(
        '/venueb/agent/quote',
        { ...BUY_TEN, userPublicKey: trader.wallet.address },
        { 'idempotency-key': key },
      );
    const first = await keyed('one');
    expect((await keyed('one')).body).toEqual(first.body);
    venue.controls.creditFails = true;
    expect((await keyed('two')).body.quoteErrorCode).toBe('venue_unavailable');
    venue.controls.creditFails = false;
    expect((await keyed('two')).body.quoteErrorCode).toBeUndefined();
  });
});

describe('the venue’s own name', () => {
  test('answers on every route, for the same agent and the same idempotency key', async () => {
    const body = { ...BUY_TEN, userPublicKey: trader.wallet.address };
    const headers = { 'idempotency-key': 'alias' };
    const neutral = await trader.post('/venueb/agent/quote', body, headers);
    const named = await trader.post('/kalshi/agent/quote', body, headers);
    expect(named.headers.get('idempotency-replayed')).toBe('true');
    expect(named.body).toEqual(neutral.body);
    expect((await trader.get('/kalshi/agent/orders')).status).toBe(200);
    expect(await trader.get('/kalshi/agent/quote')).toMatchObject({
      status: 405,
      body: { code: 'method_not_allowed' },
    });
    expect((await trader.get('/kalshi/agent/nothing')).body.code).toBe('route_not_found');
    const spec = (await call(service, 'GET', '/openapi.json')).body;
    expect(Object.keys(spec.paths)).toContain('/venueb/agent/quote');
    expect(Object.keys(spec.paths).filter((path) => path.includes('kalshi'))).toEqual([]);
  });
});

describe('a submit', () => {
  test('is accepted as pending', async () => {
    const quote = await trader.quote();
    const { status, body } = await trader.submit(quote, { reasoning: 'a hunch', source: 'sdk:test' });
    conforms(SubmitResponse, body);
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
      },
    });
    expect(body.txHash).toBe(body.txSignature);
    expect(body.venueOrderId).toBe(body.txSignature);
    expect(venue.sent.at(-1)).toMatchObject({
      signature: body.txSignature,
      wire: new Uint8Array(parseTransactionBytes(trader.wallet.sign(quote.unsignedTransaction))),
    });
  });

  const signedOf = (quote: { unsignedTransaction: string }) => trader.wallet.sign(quote.unsignedTransaction);
  const flipped = (base64: string, index: number) => {
    const bytes = parseTransactionBytes(base64);
    bytes[index < 0 ? bytes.length + index : index]! ^= 1;
    return toBase64(bytes);
  };

  test('of another agent’s quote is refused like an unknown quote', async () => {
    const other = await newQuoteTrader(service);
    const quote = await other.quote();
    const theirs = await trader.submit(quote, {
      signedTransaction: other.wallet.sign(quote.unsignedTransaction),
    });
    const nobodys = await trader.submit(quote, {
      quoteId: '01900000-0000-7000-8000-000000000000',
      signedTransaction: other.wallet.sign(quote.unsignedTransaction),
    });
    expect(theirs).toMatchObject({ status: 404, body: { code: 'quote_not_found' } });
    expect({ ...theirs.body, requestId: '' }).toEqual({ ...nobodys.body, requestId: '' });
    expect((await other.submit(quote)).status).toBe(200);
  });

  test('checks the fields sent along, all at once', async () => {
    const quote = await trader.quote();
    const { status, body } = await trader.submit(quote, {
      marketTicker: 'KXTEST-2',
      side: 'no',
      action: 'SELL',
      amount: 10.5,
      shares: 1,
      userPublicKey: createFakeWallet().address,
    });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'quote_mismatch' });
    expect(body.errors.map((fault: { path: string }) => fault.path)).toEqual([
      'marketTicker',
      'side',
      'action',
      'amount',
      'shares',
      'userPublicKey',
    ]);
    const wrong = await trader.submit(await trader.quote(), {
      destinationWallet: createFakeWallet().address,
      inAmount: '1',
      outAmount: '2',
      minOutAmount: '3',
    });
    expect(wrong.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'destinationWallet',
      'inAmount',
      'outAmount',
      'minOutAmount',
    ]);
    const quoted = await trader.quote();
    const { inAmount, outAmount, minOutAmount } = quoted;
    const right = { destinationWallet: trader.wallet.address, inAmount, outAmount, minOutAmount };
    expect((await trader.submit(quoted, right)).status).toBe(200);
    const same = {
      marketTicker: 'KXTEST-1',
      side: 'yes',
      action: 'buy',
      amount: 10,
      userPublicKey: trader.wallet.address,
    };
    expect((await trader.submit(quote, same)).status).toBe(200);
  });

  test('refuses every transaction except the quoted one, then accepts that one', async () => {
    const quote = await trader.quote();
    const signed = signedOf(quote);
    const other = fakeTransaction({
      wallet: trader.wallet.address,
      mint: venue.quotes.collateralMint,
      amount: 10_000_000n,
      twice: true,
    });
    const version1 = parseTransactionBytes(signed);
    version1[0] = 0x81;
    const attempts: [code: string, signedTransaction: string][] = [
      ['transaction_malformed', 'not base64!'],
      ['transaction_malformed', `${signed.slice(0, -1)}`],
      ['transaction_malformed', toBase64(parseTransactionBytes(signed).slice(0, -1))],
      ['transaction_malformed', toBase64(new Uint8Array([...parseTransactionBytes(signed), 0]))],
      ['transaction_version_not_supported', toBase64(version1)],
      // One byte of the message, here in the last instruction's data.
      ['transaction_mismatch', flipped(signed, -6)],
      // An extra instruction, signed by the right key.
      ['transaction_mismatch', trader.wallet.sign(toBase64(other.wire))],
      // Another quote's transaction.
      ['transaction_mismatch', signedOf(await trader.quote())],
      ['transaction_not_signed', quote.unsignedTransaction],
      ['transaction_signature_invalid', flipped(signed, 5)],
    ];
    const before = venue.sent.length;
    for (const [code, signedTransaction] of attempts) {
      const { status, body } = await trader.submit(quote, { signedTransaction });
      expect({ status, code: body.code }, signedTransaction).toEqual({ status: 400, code });
      if (code.startsWith('transaction_not') || code.endsWith('invalid')) {
        expect(body.detail).toBe('Invalid order payload');
        expect(body.diagnosis).toMatchObject({ check: expect.any(String), signer: trader.wallet.address });
      }
      if (code === 'transaction_malformed') expect(body.context.fault).toEqual(expect.any(String));
    }
    expect(venue.sent).toHaveLength(before);
    expect((await trader.submit(quote)).status).toBe(200);
    const { trades } = (await trader.get('/agents/trades?venue=kalshi&limit=200')).body;
    expect(
      trades.filter(
        (one: { status: string; errorCode: string }) =>
          one.status === 'denied' && one.errorCode === 'transaction_mismatch',
      ).length,
    ).toBeGreaterThanOrEqual(3);
  });

  test('is refused when the simulation fails or moves more than quoted, not when the chain is silent', async () => {
    const quote = await trader.quote();
    const account = trader.wallet.address;
    const change = {
      account,
      mint: venue.quotes.collateralMint,
      before: 100_000_000n,
      after: 90_000_000n,
      authorityChanged: false,
    };
    const outcome = quote.outputMint;
    for (const simulation of [
      { kind: 'would_fail', reason: 'custom program error: 0x1' },
      { kind: 'ok', changes: [{ ...change, after: 89_999_999n }] },
      { kind: 'ok', changes: [change, { ...change, mint: outcome, before: 1n, after: 0n }] },
      { kind: 'ok', changes: [{ ...change, authorityChanged: true }] },
    ] as const) {
      venue.controls.simulation = simulation;
      expect(await trader.submit(quote)).toMatchObject({
        status: 400,
        body: { code: 'transaction_would_fail' },
      });
    }
    // The wallet has spent its money since the quote: said in words, before what the chain says.
    venue.controls.simulation = { kind: 'would_fail', reason: 'instruction 2: Custom 1' };
    const { body } = await trader.submit(quote);
    expect(body.detail).toMatch(/^The wallet holds 0 collateral, and this takes 10\. /);
    expect(body.fix).toContain('Fund the wallet');
    venue.controls.simulation = {
      kind: 'ok',
      changes: [change, { ...change, mint: null, before: 5n, after: 1n }],
    };
    expect((await trader.submit(quote)).status).toBe(200);
    venue.controls.simulation = { kind: 'unknown' };
    expect((await trader.submit(await trader.quote())).status).toBe(200);
  });

  test('is refused when too late by our clock, or by the chain’s', async () => {
    const late = await trader.quote();
    const dead = await trader.quote();
    venue.controls.height += 151;
    expect(await trader.submit(dead)).toMatchObject({ status: 400, body: { code: 'quote_expired' } });
    const fresh = await trader.quote();
    clock.advance(119_999);
    expect((await trader.submit(fresh)).status).toBe(200);
    clock.advance(1);
    // Expiry is reported before any fault of the transaction.
    expect(await trader.submit(late, { signedTransaction: 'AAAA' })).toMatchObject({
      status: 400,
      body: { code: 'quote_expired' },
    });
  });

  test('gets the same answer when repeated; any other transaction for the quote is refused', async () => {
    const quote = await trader.quote();
    const first = await trader.submit(quote);
    const reserved = await trader.usage();
    clock.advance(200_000);
    expect((await trader.submit(quote)).body).toEqual(first.body);
    expect(await trader.usage()).toEqual(reserved);
    for (const signedTransaction of [quote.unsignedTransaction, flipped(signedOf(quote), 3), '!']) {
      expect(await trader.submit(quote, { signedTransaction })).toMatchObject({
        status: 409,
        body: { code: 'quote_already_used', orderId: quote.quoteId },
      });
    }
  });

  test('to a venue that accepts nothing is refused before anything is reserved', async () => {
    const quote = await trader.quote();
    const before = await trader.usage();
    venue.controls.status = 'the node does not answer';
    expect(await trader.submit(quote)).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(await trader.usage()).toEqual(before);
    venue.controls.status = 'ready';
    expect((await trader.submit(quote)).status).toBe(200);
  });
});
