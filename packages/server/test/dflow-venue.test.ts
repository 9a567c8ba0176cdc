/**
 * The adapter against services that speak DFlow's wire over real HTTP and say what a test wrote down, hostile things
 * too; and a chain of which the test says what it holds and simulates.
 */
import {
  asSolanaAddress,
  associatedTokenAddress,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import {
  getApproveInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { type FastifyReply, fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fetchSend } from '../src/adapters/outbound/http.ts';
import { createDflowVenue } from '../src/adapters/venues/dflow/dflow-venue.ts';
import type { BalanceChange, Chain, Simulation, TokenAccount } from '../src/ports/chain.ts';
import type { QuoteQuestion } from '../src/ports/quotes.ts';
import { CAPTURED_BUY, capturedMarket, MINTS, TICKER } from './dflow-fixtures.ts';

const key = (fill: number) => toBase58(new Uint8Array(32).fill(fill)) as SolanaAddress;
const kit = (one: SolanaAddress) => one as string as Address;
const WALLET = key(7);
const STRANGER = key(66);
const YES = asSolanaAddress(MINTS.yes);
const [USDC_ACCOUNT, YES_ACCOUNT] = [
  associatedTokenAddress(WALLET, USDC_MINT, SOLANA_PROGRAMS.token),
  associatedTokenAddress(WALLET, YES, SOLANA_PROGRAMS.token2022),
];
const ESCROW = associatedTokenAddress(key(50), USDC_MINT, SOLANA_PROGRAMS.token);
const HEIGHT = 1_000;
/** Wednesday. */
const NOON = Date.parse('2026-02-18T12:00:00Z');
const MAINTENANCE = Date.parse('2026-02-19T08:30:00Z');

interface Draft {
  readonly payer?: SolanaAddress;
  readonly version?: 'legacy' | 0;
  readonly amount?: bigint;
  readonly more?: readonly Instruction[];
}

const transfer = (from: SolanaAddress, amount: bigint, mint: SolanaAddress = USDC_MINT): Instruction =>
  getTransferCheckedInstruction({
    source: kit(from),
    mint: kit(mint),
    destination: kit(ESCROW),
    authority: createNoopSigner(kit(WALLET)),
    amount,
    decimals: 6,
  });

function transactionOf({
  payer = WALLET,
  version = 0,
  amount = CAPTURED_BUY.paid,
  more = [],
}: Draft = {}): string {
  const opens = getCreateAssociatedTokenIdempotentInstruction({
    payer: createNoopSigner(kit(payer)),
    ata: kit(YES_ACCOUNT),
    owner: kit(WALLET),
    mint: kit(YES),
    tokenProgram: kit(SOLANA_PROGRAMS.token2022),
  });
  const message = pipe(
    createTransactionMessage({ version }),
    (empty) => setTransactionMessageFeePayer(kit(payer), empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: key(9) as string as Blockhash, lastValidBlockHeight: 0n },
        paid,
      ),
    (dated) => appendTransactionMessageInstructions([opens, transfer(USDC_ACCOUNT, amount), ...more], dated),
  );
  return getBase64EncodedWireTransaction(compileTransaction(message));
}

const orderOf = (changes: object = {}) => ({
  inputMint: USDC_MINT,
  outputMint: MINTS.yes,
  inAmount: CAPTURED_BUY.paid.toString(),
  outAmount: '11000000',
  otherAmountThreshold: '10000000',
  minOutAmount: '10000000',
  slippageBps: 200,
  priceImpactPct: '0',
  contextSlot: 5,
  executionMode: 'async',
  revertMint: USDC_MINT,
  transaction: transactionOf(),
  lastValidBlockHeight: HEIGHT + 150,
  computeUnitLimit: 200_000,
  prioritizationFeeLamports: 27,
  platformFee: null,
  ...changes,
});

type Answer = object | null | ((reply: FastifyReply) => unknown);
const refusal =
  (code: string, more: object = {}) =>
  (reply: FastifyReply) =>
    reply.code(400).send({ code, msg: `says ${code}`, ...more });

const seen: { url: string; key: string | undefined; body: unknown }[] = [];
let dflow: Record<string, Answer> = {};
let listing: (status: string, cursor: string) => object[] = () => [];
const services = fastify();
services.get('/api/v1/markets', (request) => {
  seen.push({ url: request.url, key: undefined, body: undefined });
  const { status = '', cursor = '' } = request.query as Record<string, string>;
  return { markets: listing(status, cursor), cursor: null };
});
services.setNotFoundHandler((request, reply) => {
  seen.push({
    url: request.url,
    key: request.headers['x-api-key'] as string | undefined,
    body: request.body,
  });
  const path = request.url.split('?')[0]!;
  const [known] = Object.keys(dflow)
    .filter((each) => path.startsWith(each))
    .sort((one, other) => other.length - one.length);
  const answer = known === undefined ? null : dflow[known]!;
  if (answer === null) return reply.code(404).send({ code: 'not_found', msg: 'Not found' });
  return typeof answer === 'function' ? answer(reply) : reply.send(answer);
});

const tokens = (amount: bigint): TokenAccount => ({
  address: USDC_ACCOUNT,
  mint: USDC_MINT,
  owner: WALLET,
  amount,
  delegate: null,
  delegatedAmount: 0n,
  frozen: false,
});

let holds: Record<string, bigint>;
let lamports: bigint;
let simulation: Simulation;
const chain: Chain = {
  status: () => 'ready',
  blockHeight: async () => HEIGHT,
  blockMs: async () => 450,
  simulate: async (_wire, wallet, signed) => {
    expect({ wallet, signed }).toEqual({ wallet: WALLET, signed: false });
    return simulation;
  },
  lamports: async () => lamports,
  tokenAccount: async (_owner, mint) => (holds[mint] === undefined ? null : tokens(holds[mint]!)),
  send: () => never('send'),
  landings: () => never('landings'),
  outcomeAccounts: () => never('outcomeAccounts'),
  tokenAddress: () => never('tokenAddress'),
  buildDelegatedTransfer: () => never('buildDelegatedTransfer'),
};
const never = (name: string): never => {
  throw new Error(`a quote does not need ${name}`);
};

const change = (
  account: SolanaAddress,
  mint: SolanaAddress | null,
  before: bigint,
  after: bigint,
): BalanceChange => ({
  account,
  mint,
  before,
  after,
  authorityChanged: false,
});
const paid = change(USDC_ACCOUNT, USDC_MINT, 5_000_000n, 5_000_000n - CAPTURED_BUY.paid);
const ok = (...changes: readonly BalanceChange[]): Simulation => ({ kind: 'ok', changes });

let venue: ReturnType<typeof createDflowVenue>;
let now: number;
const logged: string[] = [];
const write = (level: string) => (context: object, message: string) => {
  logged.push(`${level} ${message} ${JSON.stringify(context)}`);
};
let base: string;
beforeAll(async () => {
  base = await services.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => services.close());
beforeEach(() => {
  seen.length = 0;
  logged.length = 0;
  now = NOON;
  holds = { [USDC_MINT]: 5_000_000n };
  lamports = 1_000_000_000n;
  simulation = ok(change(WALLET, null, 1_000_000_000n, 997_920_893n), paid);
  dflow = { '/api/v1/market/': capturedMarket(), '/order': orderOf() };
  venue = createDflowVenue({
    id: 'kalshi',
    backend: 'live',
    metadataUrl: base,
    tradeUrl: base,
    exchangeStatusUrl: `${base}/trade-api/v2/exchange/status`,
    apiKey: 'the-key',
    slippageBps: 200,
    send: fetchSend,
    clock: { now: () => now },
    log: { error: write('error'), warn: write('warn'), info: write('info') },
    chain,
  });
});

const question = (changes: Partial<QuoteQuestion> = {}): QuoteQuestion => ({
  ticker: TICKER,
  outcome: 'YES',
  side: 'BUY',
  amount: 1_000_000n,
  wallet: WALLET,
  destination: null,
  ...changes,
});
const ask = (changes: Partial<QuoteQuestion> = {}) => venue.quotes.quote(question(changes));
const degraded = (code: string, message: unknown = expect.anything()) => ({
  kind: 'degraded',
  code,
  message,
});

describe('a quote', () => {
  test('is executable when everything about it is right', async () => {
    const quote = await ask();
    expect(quote).toMatchObject({
      kind: 'executable',
      market: { id: TICKER },
      amounts: {
        inputMint: USDC_MINT,
        outputMint: MINTS.yes,
        inAmount: CAPTURED_BUY.paid,
        outAmount: 11_000_000n,
        minOutAmount: 10_000_000n,
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

  test('of a sale takes whole contracts', async () => {
    holds = { [MINTS.yes]: 2_500_000n, [USDC_MINT]: 0n };
    await ask({ side: 'SELL', amount: 2_500_000n });
    expect(seen[1]!.url).toContain(`inputMint=${MINTS.yes}`);
    expect(seen[1]!.url).toContain('amount=2000000');
  });

  test('of a settled market’s winner redeems', async () => {
    holds = { [MINTS.yes]: 2_000_000n, [USDC_MINT]: 0n };
    dflow['/api/v1/market/'] = capturedMarket(
      { status: 'finalized', result: 'yes' },
      { redemptionStatus: 'open' },
    );
    dflow['/order'] = orderOf({
      inputMint: MINTS.yes,
      outputMint: USDC_MINT,
      inAmount: '2000000',
      outAmount: '2000000',
      minOutAmount: '2000000',
      otherAmountThreshold: '2000000',
      revertMint: MINTS.yes,
    });
    const preview = await ask({ side: 'SELL', amount: 2_000_000n, wallet: null });
    expect(preview).toMatchObject({ kind: 'preview', amounts: { isRedemption: true } });
  });
});

describe('there is none', () => {
  test('of a market that is not there', async () => {
    dflow['/api/v1/market/'] = null;
    expect(await ask()).toEqual({ kind: 'degraded', code: 'market_not_found', message: null, market: null });
  });

  test.each(['.', '..'])('of a ticker that would be another path: %s', async (ticker) => {
    expect(await ask({ ticker })).toMatchObject({ kind: 'degraded', code: 'market_not_found' });
    expect(seen).toHaveLength(0);
  });

  test.each([
    [{ status: 'closed' }, {}, 'BUY', 'closed'],
    [{ status: 'inactive' }, {}, 'BUY', 'not trade at the moment'],
    [{ status: 'a state of tomorrow' }, {}, 'BUY', 'not trade at the moment'],
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

  test('for a wallet that cannot pay, with the figures', async () => {
    expect(await ask({ amount: 5_000_001n })).toMatchObject(
      degraded('insufficient_balance', expect.stringMatching(/holds 5 of the 5\.000001 collateral/)),
    );
    holds = {};
    expect(await ask()).toMatchObject(
      degraded('insufficient_balance', expect.stringContaining('holds 0 of')),
    );
    holds = { [USDC_MINT]: 5_000_000n };
    lamports = 2_079_079n;
    expect(await ask()).toMatchObject(
      degraded('insufficient_balance', expect.stringContaining('take at least 2079080')),
    );
    simulation = { kind: 'would_fail', reason: 'InsufficientFundsForRent' };
    lamports = 2_079_080n;
    expect(await ask()).toMatchObject(degraded('insufficient_balance'));
  });

  test.each([
    ['price_impact_too_high', 'price_impact_too_high'],
    ['geoblocked', 'geoblocked'],
    ['wallet_restricted', 'geoblocked'],
    ['zero_out_amount', 'amount_too_small'],
    ['requested_input_amount_is_zero', 'amount_too_small'],
    ['invalid_destination_wallet', 'route_not_found'],
    ['a_code_of_tomorrow', 'route_not_found'],
  ])('when DFlow says %s: %s', async (said, code) => {
    dflow['/order'] = refusal(said);
    expect(await ask()).toMatchObject(degraded(code, expect.stringContaining(`says ${said}`)));
  });

  test('for a wallet nobody verified, with the link', async () => {
    dflow['/order'] = refusal('unverified_wallet_not_allowed', {
      details: { deepLink: 'https://dflow.net/proof?x=1' },
    });
    expect(await ask()).toMatchObject(
      degraded('kyc_required', expect.stringContaining('https://dflow.net/proof?x=1')),
    );
    dflow['/order'] = refusal('unverified_wallet_not_allowed', { details: { deepLink: 'javascript:x' } });
    expect(await ask()).toMatchObject(degraded('kyc_required', expect.not.stringContaining('javascript')));
  });

  test('where no route is found, and why', async () => {
    dflow['/order'] = refusal('route_not_found');
    expect(await ask()).toMatchObject(degraded('route_not_found', null));

    dflow['/trade-api'] = { exchange_active: true, trading_active: false };
    expect(await ask()).toMatchObject(degraded('venue_maintenance', null));
    dflow['/trade-api'] = { exchange_active: true, trading_active: true };
    now = MAINTENANCE;
    expect(await ask()).toMatchObject(degraded('venue_maintenance', null));
    now = NOON;

    // Enough for the price, not for the fee.
    expect(await ask({ amount: 90_735n })).toMatchObject(degraded('amount_too_small'));
    expect(await ask({ amount: 90_736n })).toMatchObject(degraded('route_not_found', null));

    dflow['/api/v1/market/'] = capturedMarket({ yesAsk: null });
    expect(await ask()).toMatchObject(degraded('route_not_found', 'Nobody offers YES now.'));

    const before = capturedMarket();
    let looks = 0;
    dflow['/api/v1/market/'] = (reply) =>
      reply.send(looks++ === 0 ? before : { ...before, status: 'closed' });
    expect(await ask()).toMatchObject(degraded('market_closed', null));
    looks = 0;
    dflow['/api/v1/market/'] = (reply) => (looks++ === 0 ? reply.send(before) : reply.code(404).send({}));
    expect(await ask()).toMatchObject(degraded('market_not_found', null));
  });

  test('while DFlow or the node does not answer', async () => {
    simulation = { kind: 'unknown' };
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

describe('a transaction is not shown', () => {
  const hidden = async (words: string) => {
    expect(await ask()).toMatchObject(degraded('route_not_found', expect.stringContaining(words)));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain("error DFlow's order was not shown");
  };

  test.each<[string, object]>([
    ['other tokens', { outputMint: MINTS.no }],
    ['another amount', { inAmount: '1000001' }],
    ['no least amount', { minOutAmount: '0', otherAmountThreshold: '0' }],
    ['no least amount', { minOutAmount: '11000001', otherAmountThreshold: '11000001' }],
    ['least amounts differ', { otherAmountThreshold: '9000000' }],
    ['execution mode', { executionMode: 'someday' }],
    ['other tokens back', { revertMint: MINTS.no }],
    ['opening the market', { initPredictionMarketCost: 20_000_000 }],
    ['no transaction', { transaction: undefined }],
    ['blockhash', { lastValidBlockHeight: HEIGHT }],
    ['blockhash', { lastValidBlockHeight: HEIGHT + 1_000 }],
    ['canonical base64', { transaction: '!' }],
    ['ends too early', { transaction: 'AQ==' }],
  ])('whose answer has a fault: %s', async (words, changes) => {
    dflow['/order'] = orderOf(changes);
    await hidden(words);
  });

  const memo = (program: SolanaAddress): Instruction => ({
    programAddress: kit(program),
    data: Uint8Array.of(1),
  });
  test.each<[string, Draft]>([
    ['somebody else than the wallet would pay', { payer: STRANGER }],
    ['calls the program', { more: [memo(STRANGER)] }],
    ['it takes 2000000 atoms', { amount: 2_000_000n }],
    ['it takes 1948096 atoms', { more: [transfer(USDC_ACCOUNT, 1_000_000n)] }],
    ['that the quote does not sell', { more: [transfer(YES_ACCOUNT, 1n, YES)] }],
    [
      'gives somebody rights',
      {
        more: [
          getApproveInstruction({
            source: kit(USDC_ACCOUNT),
            delegate: kit(STRANGER),
            owner: createNoopSigner(kit(WALLET)),
            amount: 1n,
          }),
        ],
      },
    ],
    ['is not one that is known', { more: [memo(SOLANA_PROGRAMS.system)] }],
  ])('that goes too far by its bytes: %s', async (words, draft) => {
    dflow['/order'] = orderOf({ transaction: transactionOf(draft) });
    await hidden(words);
  });

  test('that needs another signature', async () => {
    const other = getApproveInstruction({
      source: kit(key(51)),
      delegate: kit(WALLET),
      owner: createNoopSigner(kit(STRANGER)),
      amount: 1n,
    });
    dflow['/order'] = orderOf({ transaction: transactionOf({ more: [other] }) });
    await hidden('more signatures');
  });

  test('unless what cannot be read is DFlow’s own: then the simulation decides', async () => {
    dflow['/order'] = orderOf({
      transaction: transactionOf({ more: [memo(SOLANA_PROGRAMS.dflowAggregator)] }),
    });
    expect(await ask()).toMatchObject({ kind: 'executable' });
    simulation = ok(paid, change(key(52), asSolanaAddress(MINTS.no), 3n, 2n));
    await hidden('would take 1 of the mint');
  });

  test.each<[string, Simulation]>([
    ['would fail (instruction 1: Custom 16)', { kind: 'would_fail', reason: 'instruction 1: Custom 16' }],
    ['instead of at most', ok(change(USDC_ACCOUNT, USDC_MINT, 5_000_000n, 4_000_000n))],
    ['instead of at most', ok(paid, change(key(53), USDC_MINT, 1n, 0n))],
    ['lamports', ok(paid, change(WALLET, null, 1_000_000_000n, 990_000_000n))],
    ['who rules', ok({ ...paid, authorityChanged: true })],
    ['who rules', ok(paid, { ...change(WALLET, null, 5n, 5n), authorityChanged: true })],
  ])('whose simulation shows too much: %s', async (words, simulated) => {
    simulation = simulated;
    await hidden(words);
  });

  test('that trades at once without bringing what it says', async () => {
    dflow['/order'] = orderOf({ executionMode: 'sync' });
    simulation = ok(paid, change(YES_ACCOUNT, YES, 0n, 9_999_999n));
    await hidden('would bring 9999999 instead of at least 10000000');
    simulation = ok(paid, change(YES_ACCOUNT, YES, 0n, 10_000_000n));
    expect(await ask()).toMatchObject({ kind: 'executable' });
  });
});

describe('what became of an order', () => {
  const SIGNATURE = toBase58(new Uint8Array(64).fill(3));
  const fill = {
    signature: 'fill-1',
    inputMint: USDC_MINT,
    inAmount: '948096',
    outputMint: MINTS.yes,
    outAmount: '11000000',
  };
  const revert = { signature: 'revert-1', mint: USDC_MINT, amount: '51904' };
  const trade = { transactionSignature: 'fill-1', outputAmount: '11000000', feeAmount: '68096' };
  const status = (text: string, more: object = {}) => {
    dflow['/order-status'] = { status: text, inAmount: '0', outAmount: '0', ...more };
    return venue.quotes.progress(SIGNATURE, HEIGHT);
  };

  test.each(['pending', 'expired', 'failed', 'a state of tomorrow'])('%s: nothing follows', async (text) => {
    expect(await status(text, { fills: [fill] })).toEqual({ kind: 'unknown' });
  });

  test('a signature that DFlow does not know, or silence: nothing follows', async () => {
    dflow['/order-status'] = null;
    expect(await venue.quotes.progress(SIGNATURE, HEIGHT)).toEqual({ kind: 'unknown' });
    dflow['/order-status'] = (reply) => reply.code(500).send('');
    expect(await venue.quotes.progress(SIGNATURE, HEIGHT)).toEqual({ kind: 'unknown' });
    expect(seen[0]!.url).toBe(`/order-status?signature=${SIGNATURE}&lastValidBlockHeight=${HEIGHT}`);
  });

  test('states that are not known are said once', async () => {
    for (let i = 0; i < 3; i++) await status('a state of tomorrow');
    expect(logged).toHaveLength(1);
  });

  test('open, then closed with fills and reverts, fees from the list of trades', async () => {
    expect(await status('open')).toEqual({ kind: 'open', fills: [], reverts: [] });
    expect(await status('pendingClose')).toMatchObject({ kind: 'open' });
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()], cursor: null };
    dflow['/api/v1/onchain-trades/by-market/'] = {
      trades: [{ ...trade, transactionSignature: 'other' }, 5, trade],
    };
    const closed = {
      kind: 'closed',
      fills: [{ signature: 'fill-1', inAmount: 948_096n, outAmount: 11_000_000n, fee: 68_096n }],
      reverts: [{ signature: 'revert-1', mint: USDC_MINT, amount: 51_904n }],
    };
    expect(await status('closed', { fills: [fill], reverts: [revert] })).toEqual(closed);
    // What was found is not asked for again.
    delete dflow['/api/v1/onchain-trades/by-market/'];
    expect(await status('closed', { fills: [fill], reverts: [revert] })).toEqual(closed);
  });

  test('a fee that nobody tells is none, and does not hold up the fill', async () => {
    const fills = [{ fee: 0n, outAmount: 11_000_000n }];
    expect(await status('closed', { fills: [fill] })).toMatchObject({ kind: 'closed', fills });
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()] };
    dflow['/api/v1/onchain-trades/by-market/'] = { trades: [] };
    expect(await status('closed', { fills: [fill] })).toMatchObject({ kind: 'closed', fills });
  });

  test('closed with nothing at all is no end', async () => {
    expect(await status('closed', { fills: [], reverts: [] })).toEqual({ kind: 'unknown' });
    expect(await status('closed', { fills: [{ ...fill, inAmount: '-1' }] })).toEqual({ kind: 'unknown' });
  });
});

describe('markets', () => {
  const batches = () => seen.filter(({ url }) => url.endsWith('/markets/batch')).map(({ body }) => body);

  test('wanted at once are asked for at once, and kept for a moment', async () => {
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket(), { ticker: 'broken' }], cursor: null };
    const { markets } = venue;
    const [found, missing, byToken, all] = await Promise.all([
      markets.find(TICKER),
      markets.find('KXNONE-1'),
      markets.byToken(MINTS.no),
      markets.findAll([TICKER, 'KXNONE-1']),
    ]);
    expect(found?.id).toBe(TICKER);
    expect(missing).toBeNull();
    expect(logged).toEqual(['warn DFlow lists things in a shape that is not known {"left":1}']);
    expect(byToken).toMatchObject({ market: { id: TICKER }, outcome: 'NO' });
    expect(all.map(({ id }) => id)).toEqual([TICKER]);
    expect(batches()).toEqual([{ tickers: [TICKER, 'KXNONE-1'], mints: [MINTS.no] }]);
    now += 1_999;
    await markets.find(TICKER);
    expect(batches()).toHaveLength(1);
    now += 1;
    await markets.find(TICKER);
    expect(batches()).toHaveLength(2);
  });

  test('more than a hundred are asked for in parts', async () => {
    dflow['/api/v1/markets/batch'] = { markets: [], cursor: null };
    await venue.markets.findAll(Array.from({ length: 150 }, (_, index) => `KXMANY-${index}`));
    expect(batches().map((body) => (body as { tickers: string[] }).tickers.length)).toEqual([100, 50]);
  });

  test('a failure is not kept', async () => {
    dflow['/api/v1/markets/batch'] = (reply) => reply.code(400).send({});
    await expect(venue.markets.find(TICKER)).rejects.toMatchObject({ name: 'VenueUnavailable' });
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()] };
    expect(await venue.markets.find(TICKER)).toMatchObject({ id: TICKER });
  });

  test('are listed page by page, each once, and what is new comes first', async () => {
    const row = (index: number) =>
      capturedMarket({ ticker: `KXROW-${index}`, openTime: 1_770_000_000 + index });
    const pages: Record<string, object[]> = {
      'active 0': Array.from({ length: 255 }, (_, index) => row(index)),
      'active 255': [row(254), row(255)],
      'closed 0': [capturedMarket({ ticker: 'KXCLOSED-1', status: 'closed' })],
    };
    listing = (status, cursor) => pages[`${status} ${cursor}`] ?? [];
    const all = await venue.markets.search('*');
    expect(all).toHaveLength(257);
    expect(seen.filter(({ url }) => url.includes('status=active'))).toHaveLength(2);
    expect(seen).toHaveLength(5);
    const { markets, latest } = await venue.markets.listedAfter(1_770_000_253_000, 5);
    expect(markets.map(({ id }) => id)).toEqual(['KXROW-255', 'KXROW-254']);
    expect(latest).toBe(1_770_000_255_000);
    expect(seen).toHaveLength(5);
  });

  test('match by words, those that have all words first', async () => {
    const other = capturedMarket({ ticker: 'KXEPLGAME-26FEB18WOLARS-ARS', yesSubTitle: 'Arsenal' });
    dflow['/api/v1/search'] = {
      events: [{ ticker: 'KXEPLGAME-26FEB18WOLARS', title: 'x', markets: [other, capturedMarket()] }],
      cursor: null,
    };
    const found = await venue.markets.search('(wolverhampton) winner');
    expect(found.map(({ id }) => id)).toEqual([TICKER, 'KXEPLGAME-26FEB18WOLARS-ARS']);
    await venue.markets.search('(wolverhampton) winner');
    expect(seen).toHaveLength(1);
  });

  test('of mints are those that the venue calls outcome tokens', async () => {
    dflow['/api/v1/filter_outcome_mints'] = { outcomeMints: [MINTS.yes] };
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()] };
    const found = await venue.quotes.marketsByMint([MINTS.yes, key(70)]);
    expect([...found.keys()]).toEqual([MINTS.yes]);
    expect(seen[0]!.body).toEqual({ addresses: [MINTS.yes, key(70)] });
  });

  test('have a book, or none', async () => {
    expect(await venue.markets.book(TICKER, 'YES', 5)).toBeNull();
    dflow['/api/v1/orderbook/'] = { yes_bids: { '0.0700': 3 }, no_bids: { '0.9200': '4' }, sequence: 2 };
    expect(await venue.markets.book(TICKER, 'YES', 5)).toMatchObject({
      bids: [[700, 3_000_000n]],
      asks: [[800, 4_000_000n]],
    });
  });

  test('whose state is not known are said once', async () => {
    dflow['/api/v1/market/'] = capturedMarket({ status: 'a state of tomorrow' });
    await venue.quotes.market(TICKER);
    await venue.quotes.market(TICKER);
    expect(logged).toHaveLength(1);
  });
});
