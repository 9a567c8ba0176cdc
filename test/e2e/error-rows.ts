/** Bad input of which each fault has further ways, or none that its `fix` mends at once: code, fault, request. */
import { call, limitOrder, newAgent, restingOrder } from '../harness.ts';
import {
  type Case,
  changed,
  credentialBody,
  fee,
  get,
  market,
  other,
  post,
  quoting,
  service,
  stranger,
  trade,
  trader,
} from './errors-stage.ts';

export const ERROR_ROWS: readonly Case[] = [
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
  ['invalid_request', 'an invalid order id', () => get('/markets/orders/0x12')],
  ['invalid_request', 'a body that is not an object', () => trade([1, 2])],
  ['body_required', 'an empty body', () => trade('')],
  ['method_not_allowed', 'a wrong method', () => call(service, 'PUT', '/agents/me')],
  ['method_not_allowed', 'a wrong method on a path that also matches a pattern', () => get('/markets/trade')],
  ['unauthorized', 'a malformed key', () => get('/agents/me', 'bw_nonsense')],
  ['unauthorized', 'a well-formed unknown key', () => get('/agents/me', service.needs.secrets.newApiKey())],
  [
    'unauthorized',
    'another scheme',
    () => call(service, 'GET', '/agents/me', { headers: { authorization: `Basic ${trader.apiKey}` } }),
  ],
  [
    'owner_session_required',
    'an unknown session',
    () => call(service, 'GET', '/owner/agents', { headers: { cookie: `bw_owner=${'A'.repeat(43)}` } }),
  ],
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
  ['claim_code_required', 'a blank claim code', () => get('/agents/claim/%20')],
  [
    'api_key_not_found',
    "another agent's key",
    async () => {
      const [foreign] = await stranger.client.listApiKeys();
      return call(service, 'DELETE', `/agents/api-key/${foreign?.id}`, { key: trader.apiKey });
    },
  ],

  [
    'venue_credentials_invalid',
    'an unknown key',
    async () => post('/wallet/credentials', await credentialBody(trader, { apiKey: 'unknown' })),
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
    'webhook_url_refused',
    'a private address',
    () => post('/webhooks', { url: 'https://10.0.0.1/', events: ['fill'] }),
  ],
  [
    'webhook_signature_invalid',
    'an unsigned callback',
    () => call(service, 'POST', '/webhooks/inbound/venue', { body: { id: 1 } }),
  ],

  ['unknown_venue', 'a venue that is not enabled', () => changed({ venue: 'nasdaq' })],
  ['market_not_found', 'the book of an unknown token', () => get('/markets/orderbook/123')],
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

  [
    'token_market_mismatch',
    'a token of another market',
    () => changed({}, { tokenId: other.clobTokenIds[0] }),
  ],
  ['taker_not_supported', 'a private taker', () => changed({}, { taker: stranger.signer.address })],
  ['amount_out_of_range', 'an amount above 256 bits', () => changed({}, { makerAmount: '9'.repeat(78) })],
  [
    'wallet_address_mismatch',
    'a wallet that is neither signer nor maker',
    () => changed({ walletAddress: stranger.signer.address }),
  ],
  ['invalid_order_payload', 'a signature of another order', () => changed({}, { salt: 1 })],
  ['invalid_order_payload', 'a signature of one byte', () => changed({}, { signature: '0x00' })],
  [
    'insufficient_balance',
    'selling tokens that are not held',
    async () => trade(await limitOrder(trader, market, { side: 'SELL', price: 0.99, size: 10 })),
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
  ['invalid_solana_address', 'an invalid wallet', () => quoting({ userPublicKey: 'O0Il' })],
  ['from_address_required', 'no wallet in the query', () => get('/venueb/agent/delegation')],
  ['invalid_solana_address', 'not base58', () => fee({ amount: '0.25', fromAddress: '0x12' })],
];
