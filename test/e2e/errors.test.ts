/**
 * Bad input, a row per code: each gets its documented status and code, never a 500. The last test holds the rows
 * against the registry, so a new code without a row fails.
 */
import { ERRORS, type ErrorCode } from '@bellwether/contract';
import { parseTransactionBytes, toBase64 } from '@bellwether/protocol';
import {
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  linkSolanaWallet,
  type Market,
  type Signer,
  SolanaSigner,
  type TradeRequest,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  openMarkets,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { BUY_TEN, newTraderB, type TraderB } from '../quote-trader.ts';

let service: TestService;
let limited: TestService;
let trader: Trader;
let stranger: Trader;
let market: Market;
let other: Market;
let negRisk: Market;
/** Trades on a venue B made by hand. */
let onChain: TraderB;
const quoteVenue = createFakeQuoteVenue();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [quoteVenue] });
  limited = await startTestService({
    PAPER_WORLD: 'off',
    RATE_LIMITS: 'on',
    RATE_LIMIT_READ_PER_SECOND: '1',
    RATE_LIMIT_READ_BURST: '2',
  });
  trader = await newTrader(service);
  stranger = await newTrader(service);
  onChain = await newTraderB(service);
  [market, other] = (await openMarkets(trader.client)) as [Market, Market];
  negRisk = await aMarket(trader.client, '0.01', true);
});

type Case = readonly [code: ErrorCode, why: string, run: () => Promise<RawAnswer>];

const post = (path: string, body: unknown, key = trader.apiKey, headers: Record<string, string> = {}) =>
  call(service, 'POST', path, { key, body, headers });
const get = (path: string, key = trader.apiKey) => call(service, 'GET', path, { key });
const trade = (body: unknown, key = trader.apiKey) => post('/markets/trade', body, key);

const A_WALLET = SolanaSigner.generate().address;
const fee = (body: unknown, key = trader.apiKey) => post('/venueb/agent/charge-fee', body, key);

/** A sound resting order, changed by hand; the signature no longer fits where the order itself is changed. */
const bent = async (change: (request: TradeRequest) => unknown): Promise<RawAnswer> => {
  const request = structuredClone(await restingOrder(trader, market)) as TradeRequest;
  return trade(change(request));
};
const withOrder = (fields: Record<string, unknown>) =>
  bent((request) => ({ ...request, order: { ...request.order, ...fields } }));
const withFields = (fields: Record<string, unknown>) => bent((request) => ({ ...request, ...fields }));

/** An agent with its own safeguards and wallet. */
const limitedTrader = async (
  settings: Parameters<Trader['client']['updateSettings']>[0],
): Promise<Trader> => {
  const agent = await newTrader(service);
  await agent.client.updateSettings(settings);
  return agent;
};

const marketBuy = (agent: Trader, amount: number, on = market) =>
  buildMarketOrder({
    signer: agent.signer,
    market: on,
    outcome: 'YES',
    side: 'BUY',
    amount,
    worstPrice: 0.9,
  });

const credentials = (agent: { signer: Signer }) =>
  createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: agent.signer });
const credentialBody = async (agent: { signer: Signer }, fields: Record<string, unknown> = {}) => ({
  walletAddress: agent.signer.address,
  ...(await credentials(agent)),
  ...fields,
});

const quoting = (fields: Record<string, unknown>) =>
  onChain.post('/venueb/agent/quote', { ...BUY_TEN, ...fields });
/** A quote's signed transaction with one byte of it changed. */
const bentSubmit = async (byte: number, change: (before: number) => number = (before) => before ^ 1) => {
  const quote = await onChain.quote();
  const wire = parseTransactionBytes(onChain.wallet.sign(quote.unsignedTransaction));
  const at = byte < 0 ? wire.length + byte : byte;
  wire[at] = change(wire[at] as number);
  return onChain.submit(quote, { signedTransaction: toBase64(wire) });
};

const CASES: readonly Case[] = [
  [
    'invalid_request',
    'every field wrong',
    () => trade({ outcome: 'MAYBE', orderSize: '5', order: { salt: -1 } }),
  ],
  ['invalid_request', 'a wrong type in a query', () => get('/markets?q=x&limit=many')],
  ['invalid_request', 'an unknown setting', () => post('/agents/settings', { maxTradesPerDai: 5 })],
  [
    'invalid_request',
    'a setting finer than a micro-unit',
    () => post('/agents/settings', { maxTradeAmount: 1.0000001 }),
  ],
  ['invalid_request', 'a control character', () => post('/agents/register', { name: 'a\u0000b' })],
  ['invalid_request', 'half a surrogate pair', () => post('/agents/register', '{"name":"\\ud800"}')],
  ['invalid_request', 'an order id that is none', () => get('/markets/orders/0x12')],
  ['invalid_request', 'a body that is no object', () => trade([1, 2])],
  ['invalid_json', 'broken JSON', () => trade('{"order":')],
  ['invalid_json', 'a poisoned prototype', () => trade('{"__proto__": {"a": 1}}')],
  ['body_required', 'no body', () => call(service, 'POST', '/markets/trade', { key: trader.apiKey })],
  ['body_required', 'an empty body', () => trade('')],
  ['body_too_large', 'a body over 64 KiB', () => trade({ reasoning: 'x'.repeat(70_000) })],
  [
    'unsupported_media_type',
    'a form',
    () =>
      post('/markets/trade', 'a=b', trader.apiKey, { 'content-type': 'application/x-www-form-urlencoded' }),
  ],
  ['route_not_found', 'an unknown route', () => get('/nowhere')],
  ['method_not_allowed', 'a wrong method', () => call(service, 'PUT', '/agents/me')],
  ['method_not_allowed', 'a wrong method on a path that a pattern fits', () => get('/markets/trade')],
  ['unauthorized', 'no key', () => call(service, 'GET', '/agents/me')],
  ['unauthorized', 'a malformed key', () => get('/agents/me', 'bw_nonsense')],
  [
    'unauthorized',
    'a well-formed key that nobody has',
    () => get('/agents/me', service.deps.secrets.newApiKey()),
  ],
  [
    'unauthorized',
    'another scheme',
    () => call(service, 'GET', '/agents/me', { headers: { authorization: `Basic ${trader.apiKey}` } }),
  ],
  ['owner_session_required', 'no session', () => call(service, 'GET', '/owner/agents')],
  [
    'owner_session_required',
    'a session that nobody has',
    () => call(service, 'GET', '/owner/agents', { headers: { cookie: `bw_owner=${'A'.repeat(43)}` } }),
  ],
  ['origin_not_allowed', 'no origin', () => call(service, 'POST', '/owner/sign-out')],
  [
    'origin_not_allowed',
    'another site',
    () => call(service, 'POST', '/owner/sign-out', { headers: { origin: 'https://evil.example' } }),
  ],
  [
    'unauthorized',
    'a revoked key',
    async () => {
      const spare = await trader.client.createApiKey('spare');
      await call(service, 'DELETE', `/agents/api-key/${spare.id}`, { key: trader.apiKey });
      return get('/agents/me', spare.apiKeyCode);
    },
  ],
  [
    'rate_limited',
    'too many reads',
    async () => {
      const agent = await newAgent(limited);
      let answer: RawAnswer | undefined;
      for (let i = 0; i < 4; i++) answer = await call(limited, 'GET', '/agents/me', { key: agent.apiKey });
      return answer as RawAnswer;
    },
  ],
  [
    'idempotency_key_invalid',
    'a key of 256 characters',
    () => post('/markets/orders/cancel-market', {}, trader.apiKey, { 'idempotency-key': 'x'.repeat(256) }),
  ],
  [
    'idempotency_key_reused',
    'another body',
    async () => {
      await post('/agents/create-api-key', { keyName: 'one' }, trader.apiKey, {
        'idempotency-key': 'reused',
      });
      return post('/agents/create-api-key', { keyName: 'two' }, trader.apiKey, {
        'idempotency-key': 'reused',
      });
    },
  ],
  [
    'secret_already_shown',
    'the replay of an answer with a key',
    async () => {
      const headers = { 'idempotency-key': 'secret' };
      await post('/agents/create-api-key', { keyName: 'one' }, trader.apiKey, headers);
      return post('/agents/create-api-key', { keyName: 'one' }, trader.apiKey, headers);
    },
  ],
  ['claim_code_required', 'no claim code', () => get('/agents/claim')],
  ['claim_code_required', 'a blank claim code', () => get('/agents/claim/%20')],
  ['claim_code_not_found', 'an unknown claim code', () => get('/agents/claim/00000-00000')],
  [
    'api_key_not_found',
    "another agent's key",
    async () => {
      const [foreign] = await stranger.client.listApiKeys();
      return call(service, 'DELETE', `/agents/api-key/${foreign?.id}`, { key: trader.apiKey });
    },
  ],
  [
    'last_active_key',
    'revoking the only key',
    async () => {
      const agent = await newAgent(service);
      const [only] = await agent.client.listApiKeys();
      return call(service, 'DELETE', `/agents/api-key/${only?.id}`, { key: agent.apiKey });
    },
  ],

  [
    'venue_credentials_invalid',
    'a wrong secret',
    async () => post('/wallet/credentials', await credentialBody(trader, { apiSecret: 'AAAA' })),
  ],
  [
    'venue_credentials_invalid',
    'an unknown key',
    async () => post('/wallet/credentials', await credentialBody(trader, { apiKey: 'nobody' })),
  ],
  [
    'wallet_owner_mismatch',
    "somebody else's wallet",
    async () =>
      post('/wallet/credentials', await credentialBody(trader, { walletAddress: stranger.signer.address })),
  ],
  [
    'wallet_owner_mismatch',
    'the wrong type for a derived wallet',
    async () =>
      post(
        '/wallet/credentials',
        await credentialBody(trader, { walletAddress: trader.signer.wallet(1), signatureType: 2 }),
      ),
  ],
  [
    'wallet_already_registered',
    'a wallet of another owner',
    async () => post('/wallet/credentials', await credentialBody(stranger)),
  ],
  [
    'invalid_solana_address',
    'base58 of 31 bytes',
    () => post('/wallet/update-sol-address', { solAddress: `2${'z'.repeat(41)}` }),
  ],
  [
    'link_challenge_invalid',
    'a nonce that nobody made',
    () =>
      post('/wallet/link', {
        address: trader.funder,
        nonce: 'a'.repeat(76),
        signature: `0x${'1'.repeat(130)}`,
      }),
  ],
  [
    'link_signature_invalid',
    'a challenge that another key signed',
    async () => {
      const { nonce, message } = await trader.client.getLinkChallenge(trader.signer.address);
      const signature = await stranger.signer.signMessage(message);
      return post('/wallet/link', { address: trader.signer.address, nonce, signature });
    },
  ],
  [
    'wallet_not_found',
    "positions of somebody else's wallet",
    () => get(`/markets/current-positions?user=${stranger.signer.address}`),
  ],
  [
    'wallet_required',
    'unlinking one of several wallets without naming it',
    async () => {
      const agent = await newTrader(service);
      await linkSolanaWallet(agent.client, SolanaSigner.generate());
      return post('/wallet/unlink', undefined, agent.apiKey);
    },
  ],
  [
    'webhook_not_found',
    'a webhook that nobody has',
    () => post(`/webhooks/${trader.agentId}/test`, undefined),
  ],
  [
    'webhook_url_refused',
    'a private address',
    () => post('/webhooks', { url: 'https://10.0.0.1/', events: ['fill'] }),
  ],
  [
    'webhook_limit_reached',
    'an eleventh webhook',
    async () => {
      const agent = await newAgent(service);
      const body = { url: 'https://hooks.example.com/', events: ['fill'] };
      for (let i = 0; i < 10; i++) await post('/webhooks', body, agent.apiKey);
      return post('/webhooks', body, agent.apiKey);
    },
  ],
  [
    'webhook_signature_invalid',
    'a callback that nobody signed',
    () => call(service, 'POST', '/webhooks/inbound/venue', { body: { id: 1 } }),
  ],
  [
    'faucet_allowance_exceeded',
    'too much paper money',
    () => post('/paper/faucet', { address: trader.funder, amount: 1e9 }),
  ],

  ['unknown_venue', 'a venue that is not enabled', () => withFields({ venue: 'nasdaq' })],
  ['wrong_venue_route', 'venue B on the route of venue A', () => withFields({ venue: 'kalshi' })],
  ['market_not_found', 'a market that does not exist', () => get('/markets/nothing-like-this')],
  [
    'market_not_resolved',
    'redeeming before the outcome',
    () => post('/markets/redeem', { marketId: market.id }),
  ],
  ['market_not_found', 'the book of an unknown token', () => get('/markets/orderbook/123')],
  ['contradictory_filter', 'closed and active', () => get('/markets?q=will&closed=true&eventsStatus=active')],
  [
    'contradictory_filter',
    'an interval and a range',
    () => get(`/markets/prices-history?market=${market.clobTokenIds[0]}&interval=1d&startTs=1`),
  ],
  [
    'market_not_found',
    'the history of an unknown token',
    () => get('/markets/prices-history?market=1&interval=1d'),
  ],
  ['unknown_sort_field', 'a sort field that does not exist', () => get('/markets?q=will&order=colour')],

  [
    'unknown_market',
    'an unknown condition id',
    () => withFields({ marketConditionId: `0x${'0'.repeat(64)}` }),
  ],
  ['token_market_mismatch', 'a token of another market', () => withOrder({ tokenId: other.clobTokenIds[0] })],
  ['outcome_token_mismatch', 'the other outcome', () => withFields({ outcome: 'NO' })],
  ['taker_not_supported', 'a private taker', () => withOrder({ taker: stranger.signer.address })],
  ['salt_out_of_range', 'a salt above 2^53−1', () => withOrder({ salt: '9007199254740992' })],
  ['fee_rate_out_of_range', 'a fee rate above 10 %', () => withOrder({ feeRateBps: '1001' })],
  ['amount_out_of_range', 'a zero amount', () => withOrder({ makerAmount: '0' })],
  ['amount_out_of_range', 'an amount above 256 bits', () => withOrder({ makerAmount: '9'.repeat(78) })],
  ['order_size_mismatch', 'a size that is not the signed one', () => withFields({ orderSize: 11 })],
  ['price_mismatch', 'a price that is not the signed one', () => withFields({ price: 0.02 })],
  ['price_off_tick_grid', 'a price between two ticks', () => withFields({ price: 0.015 })],
  ['price_out_of_range', 'a price of one', () => withOrder({ makerAmount: '10000000' })],
  [
    'immediate_buy_precision',
    'a FAK BUY with too many decimals',
    () =>
      bent((request) => ({
        ...request,
        orderType: 'FAK',
        price: 0.2,
        order: { ...request.order, makerAmount: '2000001' },
      })),
  ],
  [
    'size_below_minimum',
    'fewer shares than the minimum',
    () =>
      bent((request) => ({
        ...request,
        orderSize: 4,
        order: { ...request.order, makerAmount: '40000', takerAmount: '4000000' },
      })),
  ],
  [
    'amount_below_minimum',
    'a market BUY under 1 collateral',
    () =>
      bent((request) => ({
        ...request,
        orderType: 'FAK',
        order: { ...request.order, makerAmount: '100000' },
      })),
  ],
  [
    'order_type_mismatch',
    'a market order that rests',
    () => withFields({ isLimitOrder: false, orderType: 'GTC' }),
  ],
  ['post_only_mismatch', 'a post-only FOK', () => withFields({ orderType: 'FOK', postOnly: true })],
  ['expiration_required', 'GTD without expiration', () => withFields({ orderType: 'GTD' })],
  [
    'expiration_too_soon',
    'GTD in a minute',
    () =>
      bent((request) => ({
        ...request,
        orderType: 'GTD',
        order: { ...request.order, expiration: String(Math.floor(Date.now() / 1000) + 60) },
      })),
  ],
  [
    'expiration_not_allowed',
    'GTC with expiration',
    () => withFields({ expirationTime: Date.now() + 600_000 }),
  ],
  [
    'expiration_mismatch',
    'two expirations',
    () =>
      bent((request) => ({
        ...request,
        orderType: 'GTD',
        expirationTime: Date.now() + 900_000,
        order: { ...request.order, expiration: String(Math.floor(Date.now() / 1000) + 600) },
      })),
  ],
  [
    'wallet_address_mismatch',
    'a wallet that is neither signer nor maker',
    () => withFields({ walletAddress: stranger.signer.address }),
  ],
  [
    'funder_address_mismatch',
    'a funder that is not the maker',
    () => withFields({ funderAddress: stranger.signer.address }),
  ],
  ['owner_mismatch', 'an owner that is not the credential', () => withFields({ owner: 'somebody' })],
  ['tick_size_mismatch', "a tick size that is not the market's", () => withFields({ tickSize: '0.001' })],
  ['neg_risk_mismatch', "negRisk that is not the market's", () => withFields({ negRisk: true })],
  ['invalid_order_payload', 'a signature of another order', () => withOrder({ salt: 1 })],
  ['invalid_order_payload', 'a signature of one byte', () => withOrder({ signature: '0x00' })],
  [
    'credential_type_mismatch',
    'a type 3 order with a credential of type 0',
    async () => {
      const request = await buildLimitOrder({
        signer: trader.signer,
        signatureType: 3,
        market,
        outcome: 'YES',
        side: 'BUY',
        price: 0.01,
        size: 10,
      });
      return trade({ ...request, walletAddress: trader.signer.address });
    },
  ],
  ['insufficient_balance', 'more than the account has', async () => trade(await marketBuy(trader, 50_000))],
  [
    'insufficient_balance',
    'selling what is not held',
    async () =>
      trade(
        await buildLimitOrder({
          signer: trader.signer,
          market,
          outcome: 'YES',
          side: 'SELL',
          price: 0.99,
          size: 10,
        }),
      ),
  ],
  [
    'order_not_found',
    "another agent's order",
    async () => {
      const { orderId } = await stranger.client.placeTrade(await restingOrder(stranger, market));
      return get(`/markets/orders/${orderId}`);
    },
  ],
  [
    'order_not_found',
    "canceling another agent's order",
    async () => {
      const { orderId } = await stranger.client.placeTrade(await restingOrder(stranger, market));
      return post('/markets/orders/cancel', { orderId });
    },
  ],
  [
    'order_already_placed',
    'the same order with other options',
    async () => {
      const request = await restingOrder(trader, market);
      await trade(request);
      return trade({ ...request, postOnly: true });
    },
  ],

  [
    'trading_paused',
    'a paused agent',
    async () => {
      const agent = await limitedTrader({ tradingPaused: true });
      return trade(await restingOrder(agent, market), agent.apiKey);
    },
  ],
  [
    'credentials_not_registered',
    'an agent without credentials',
    async () => {
      const agent = await newAgent(service);
      return trade(
        await restingOrder({ ...agent, signatureType: 0, funder: agent.signer.address }, market),
        agent.apiKey,
      );
    },
  ],
  [
    'max_trade_amount_exceeded',
    'a large trade',
    async () => {
      const agent = await limitedTrader({ maxTradeAmount: 10 });
      return trade(await marketBuy(agent, 10.01), agent.apiKey);
    },
  ],
  [
    'max_trades_per_day_exceeded',
    'the second of one trade',
    async () => {
      const agent = await limitedTrader({ maxTradesPerDay: 1 });
      await agent.client.placeTrade(await restingOrder(agent, market));
      return trade(await restingOrder(agent, market), agent.apiKey);
    },
  ],
  [
    'daily_trade_amount_exceeded',
    'more than the day allows',
    async () => {
      const agent = await limitedTrader({ dailyTradeAmountLimit: 20 });
      await agent.client.placeTrade(await marketBuy(agent, 15));
      return trade(await marketBuy(agent, 15), agent.apiKey);
    },
  ],
  [
    'max_position_value_exceeded',
    'a position that grows too large',
    async () => {
      const agent = await limitedTrader({ maxPositionValue: 20 });
      await agent.client.placeTrade(await marketBuy(agent, 15));
      return trade(await marketBuy(agent, 15), agent.apiKey);
    },
  ],
  [
    'daily_loss_limit_reached',
    'a loss beyond the limit',
    async () => {
      const agent = await limitedTrader({ dailyLossLimit: 0.01 });
      const { filledSize } = await agent.client.placeTrade(await marketBuy(agent, 50));
      await agent.client.placeTrade(
        await buildMarketOrder({
          signer: agent.signer,
          market,
          outcome: 'YES',
          side: 'SELL',
          shares: Math.floor(filledSize),
          worstPrice: 0.01,
        }),
      );
      return trade(await marketBuy(agent, 5), agent.apiKey);
    },
  ],
  ['amount_required', 'a BUY of nothing', () => quoting({ amount: undefined })],
  ['shares_required', 'a SELL of nothing', () => quoting({ action: 'SELL', amount: undefined })],
  ['amount_not_allowed', 'a SELL with an amount', () => quoting({ action: 'SELL', shares: 1 })],
  ['shares_not_allowed', 'a BUY with shares', () => quoting({ shares: 1 })],
  ['too_many_decimals', 'seven decimals', () => quoting({ amount: 1.0000001 })],
  ['invalid_solana_address', 'a wallet that is none', () => quoting({ userPublicKey: 'O0Il' })],
  [
    'quote_not_found',
    'a quote that nobody gave',
    () => onChain.post('/venueb/agent/submit', { quoteId: 'x', signedTransaction: 'AAAA' }),
  ],
  [
    'quote_not_executable',
    'a degraded quote',
    async () =>
      onChain.submit(await onChain.quote({ marketTicker: 'KXNONE' }), { signedTransaction: 'AAAA' }),
  ],
  [
    'quote_expired',
    'a blockhash that is dead',
    async () => {
      const quote = await onChain.quote();
      quoteVenue.fate.height += 151;
      return onChain.submit(quote);
    },
  ],
  [
    'quote_already_used',
    'another signature for a used quote',
    async () => {
      const quote = await onChain.quote();
      await onChain.submit(quote);
      return onChain.submit(quote, { signedTransaction: quote.unsignedTransaction });
    },
  ],
  [
    'quote_mismatch',
    'another side than was quoted',
    async () => onChain.submit(await onChain.quote(), { side: 'NO' }),
  ],
  [
    'transaction_malformed',
    'no transaction',
    async () => onChain.submit(await onChain.quote(), { signedTransaction: 'AAAA' }),
  ],
  ['transaction_version_not_supported', 'version 1', () => bentSubmit(0, () => 0x81)],
  ['transaction_mismatch', 'one byte of the message', () => bentSubmit(-6)],
  [
    'transaction_not_signed',
    'the transaction as it was quoted',
    async () => {
      const quote = await onChain.quote();
      return onChain.submit(quote, { signedTransaction: quote.unsignedTransaction });
    },
  ],
  ['transaction_signature_invalid', 'one byte of the signature', () => bentSubmit(5)],
  [
    'transaction_would_fail',
    'what the chain would refuse',
    async () => {
      const quote = await onChain.quote();
      quoteVenue.fate.simulation = { kind: 'would_fail', reason: 'insufficient funds' };
      const answer = await onChain.submit(quote);
      quoteVenue.fate.simulation = { kind: 'unknown' };
      return answer;
    },
  ],
  ['order_id_required', 'a cancel of nothing', () => onChain.post('/venueb/agent/cancel', {})],
  ['fee_amount_required', 'no amount', () => fee({ fromAddress: A_WALLET })],
  ['invalid_fee_amount', 'a JSON number', () => fee({ amount: 0.25, fromAddress: A_WALLET })],
  [
    'fee_amount_too_large',
    'beyond MAX_FEE_CHARGE',
    () => fee({ amount: '100.000001', fromAddress: A_WALLET }),
  ],
  ['from_address_required', 'no wallet', () => fee({ amount: '0.25' })],
  ['from_address_required', 'no wallet to tell of', () => get('/venueb/agent/delegation')],
  ['invalid_solana_address', 'no base58', () => fee({ amount: '0.25', fromAddress: '0x12' })],
  [
    'delegate_equals_owner',
    "the platform's own wallet",
    async () => {
      const { body } = await get(`/venueb/agent/delegation?walletAddress=${A_WALLET}`);
      return fee({ amount: '0.25', fromAddress: body.delegate });
    },
  ],
  ['wallet_not_yours', "a stranger's wallet", () => fee({ amount: '0.25', fromAddress: A_WALLET })],
  [
    'token_account_not_found',
    'a linked wallet that never held collateral',
    async () => {
      const agent = await newAgent(service);
      const signer = SolanaSigner.generate();
      await linkSolanaWallet(agent.client, signer);
      return fee({ amount: '0.25', fromAddress: signer.address }, agent.apiKey);
    },
  ],
];

/** Codes that no request alone can bring about; each names the test that does. */
const ELSEWHERE: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_target: 'edge-targets.test.ts',
  host_not_allowed: 'edge-targets.test.ts',
  headers_too_large: 'edge-connections.test.ts',
  request_timeout: 'edge-connections.test.ts',
  idempotency_limit_reached: 'edge-limits.test.ts',
  api_key_limit_reached: 'edge-limits.test.ts',
  skill_limit_reached: 'edge-limits.test.ts',
  wallet_limit_reached: 'edge-limits.test.ts',
  internal_error: 'unit test of the error handler',
  service_unavailable: 'crash tests',
  overloaded: 'overload.test.ts',
  history_too_fine: 'history.test.ts',
  max_open_orders_exceeded: 'max-open-orders.test.ts',
  idempotency_in_flight: 'trade.test.ts, concurrent twins',
  order_outcome_unknown: 'doubt.test.ts',
  market_not_active: 'coherence.test.ts',
  claim_required: 'safeguards.test.ts: live venues only',
  locked_by_owner: 'owners.test.ts',
  passkey_challenge_expired: 'owners.test.ts',
  passkey_rejected: 'owners.test.ts',
  agent_already_claimed: 'owners.test.ts',
  agent_not_found: 'owners.test.ts',
  operator_disabled: 'skills.test.ts',
  skill_not_found: 'skills.test.ts',
  skill_queue_full: 'skills.test.ts',
  paper_only: 'live venues only',
  webhook_disabled: 'webhooks.test.ts, an endpoint that failed for long',
  delegation_insufficient: 'fees.test.ts',
  blocked_by_policy: 'fees.test.ts',
  signing_failed: 'charge-fee.test.ts',
  broadcast_failed: 'fee-on-chain.test.ts',
  fee_outcome_unknown: 'charge-fee.test.ts',
};

describe('bad input', () => {
  test.each(CASES)('%s: %s', async (code, _why, run) => {
    const { status, body, headers } = await run();
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: ERRORS[code].status,
      code,
      detail: expect.any(String),
    });
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({
      type: expect.stringMatching(new RegExp(`^http://localhost:\\d+/docs/errors/${code}$`)),
      status: ERRORS[code].status,
      message: body.detail,
      fix: expect.any(String),
    });
    expect(body.requestId).toBe(headers.get('x-request-id'));
  });

  test('all invalid fields are reported together', async () => {
    const { body } = await trade({
      outcome: 'MAYBE',
      orderSize: '5',
      price: 2,
      order: { salt: -1, side: 'HOLD' },
    });
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining([
        'marketConditionId',
        'marketQuestion',
        'outcome',
        'orderSize',
        'price',
        'order.salt',
        'order.side',
        'order.maker',
        'order.signature',
      ]),
    );
  });

  test('all incoherent fields are reported together, the first being the code', async () => {
    const { body } = await withFields({ orderSize: 11, price: 0.02, tickSize: '0.1', negRisk: true });
    expect(body.code).toBe('order_size_mismatch');
    expect(body.errors.map(({ code }: { code: string }) => code)).toEqual([
      'order_size_mismatch',
      'price_mismatch',
      'tick_size_mismatch',
      'neg_risk_mismatch',
    ]);
  });

  test('the wrong contract is diagnosed: a neg-risk market signed for the plain one', async () => {
    const request = await restingOrder(trader, { ...negRisk, negRisk: false });
    const { status, body } = await trade({ ...request, negRisk: true });
    expect(status).toBe(400);
    expect(body.detail).toBe('Invalid order payload');
    expect(body.diagnosis).toMatchObject({
      check: 'verifying_contract',
      signedFor: expect.stringContaining('version 2'),
    });
  });

  test('every code of the registry has a row here or a named test elsewhere', () => {
    const covered = new Set([...CASES.map(([code]) => code), ...Object.keys(ELSEWHERE)]);
    expect(Object.keys(ERRORS).filter((code) => !covered.has(code as ErrorCode))).toEqual([]);
  });
});
