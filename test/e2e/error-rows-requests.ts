/** Bad input that is refused before an order is checked: code, fault, request. */
import { linkSolanaWallet, SolanaSigner } from '@bellwether/sdk';
import { call, newAgent, newTrader, type RawAnswer } from '../harness.ts';
import {
  type Case,
  changed,
  credentialBody,
  get,
  limited,
  market,
  post,
  service,
  stranger,
  trade,
  trader,
} from './errors-stage.ts';

export const REQUEST_ROWS: readonly Case[] = [
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
  ['invalid_json', 'broken JSON', () => trade('{"order":')],
  ['invalid_json', 'a body with `__proto__`', () => trade('{"__proto__": {"a": 1}}')],
  ['body_required', 'no body', () => trader.post('/markets/trade')],
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
  ['method_not_allowed', 'a wrong method on a path that also matches a pattern', () => get('/markets/trade')],
  ['unauthorized', 'no key', () => call(service, 'GET', '/agents/me')],
  ['unauthorized', 'a malformed key', () => get('/agents/me', 'bw_nonsense')],
  ['unauthorized', 'a well-formed unknown key', () => get('/agents/me', service.needs.secrets.newApiKey())],
  [
    'unauthorized',
    'another scheme',
    () => call(service, 'GET', '/agents/me', { headers: { authorization: `Basic ${trader.apiKey}` } }),
  ],
  ['owner_session_required', 'no session', () => call(service, 'GET', '/owner/agents')],
  [
    'owner_session_required',
    'an unknown session',
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
    "another owner's wallet",
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
    'an unknown nonce',
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
    "positions of another owner's wallet",
    () => get(`/markets/current-positions?user=${stranger.signer.address}`),
  ],
  [
    'wallet_required',
    'unlinking one of several wallets without naming it',
    async () => {
      const agent = await newTrader(service);
      for (let nth = 0; nth < 2; nth += 1) await linkSolanaWallet(agent.client, SolanaSigner.generate());
      await agent.client.unlinkWallet(agent.funder);
      return post('/wallet/unlink', undefined, agent.apiKey);
    },
  ],
  ['webhook_not_found', 'an unknown webhook', () => post(`/webhooks/${trader.agentId}/test`, undefined)],
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
    'an unsigned callback',
    () => call(service, 'POST', '/webhooks/inbound/venue', { body: { id: 1 } }),
  ],
  [
    'faucet_allowance_exceeded',
    'too much paper money',
    () => post('/paper/faucet', { address: trader.funder, amount: 1e9 }),
  ],

  ['unknown_venue', 'a venue that is not enabled', () => changed({ venue: 'nasdaq' })],
  ['wrong_venue_route', 'a quote venue on the route for signed orders', () => changed({ venue: 'kalshi' })],
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
  ['venue_not_found', 'how an unknown venue signs', () => get('/venues/nowhere/signing')],
  ['unknown_sort_field', 'a sort field that does not exist', () => get('/markets?q=will&order=colour')],
];
