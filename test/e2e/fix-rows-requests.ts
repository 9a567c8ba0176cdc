/** What the `fix` of a fault of the request, of an account or of a market says, done. */
import type { ErrorCode } from '@bellwether/contract';
import {
  createVenueCredentials,
  credentialRequest,
  linkSignersWallet,
  linkSolanaWallet,
  SolanaSigner,
} from '@bellwether/sdk';
import { expect } from 'vitest';
import {
  call,
  newAgent,
  newTrader,
  type RawAnswer,
  recordFirst,
  restingOrder,
  startTestService,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { type RawReply, rawRequest } from '../raw-http.ts';
import { manualClock } from '../world.ts';
import {
  changed,
  credentialBody,
  type Followed,
  get,
  market,
  onChain,
  post,
  routeIn,
  service,
  stranger,
  trade,
  trader,
} from './errors-stage.ts';

const raw = async (line: string, headers?: readonly string[]) =>
  ({ method: line.split(' ')[0] ?? '', ...(await rawRequest(service.url, line, headers)) }) as RawReply &
    RawAnswer;
const settings = (body: unknown, key?: string) => post('/agents/settings', body, key);
const create = (keyName: string, key: string, idempotencyKey: string) =>
  post('/agents/create-api-key', { keyName }, key, { 'idempotency-key': idempotencyKey });

export const REQUEST_FIXES = {
  invalid_request: async (refused) => {
    const { errors } = refused(await settings({ maxTradesPerDai: 50 })).body;
    const [, name = ''] = /did you mean "(\w+)"/.exec(errors[0].message) ?? [];
    return settings({ [name]: 5000 });
  },
  invalid_json: async (refused) => {
    refused(await settings('{"maxTradesPerDay": 5000, "maxTradesPerDay": 5}'));
    return settings('{"maxTradesPerDay": 5000}');
  },
  body_required: async (refused) => {
    refused(await trader.post('/agents/settings'));
    return settings({});
  },
  body_too_large: async (refused) => {
    const padded = (length: number) => settings('{}'.padEnd(length));
    const { fix } = refused(await padded(65_537)).body;
    return padded(1024 * Number(/at most (\d+) KiB/.exec(fix)?.[1]));
  },
  unsupported_media_type: async (refused) => {
    const { fix } = refused(
      await post('/agents/settings', '{}', trader.apiKey, { 'content-type': 'text/plain' }),
    ).body;
    const [, type = ''] = /Content-Type: (\S+\w)/.exec(fix) ?? [];
    return post('/agents/settings', '{}', trader.apiKey, { 'content-type': type });
  },
  route_not_found: async (refused) => {
    const { fix } = refused(await get('/agents/mee')).body;
    const [path = ''] = /\/[\w./]*\w/.exec(fix) ?? [];
    return get(path);
  },
  invalid_target: async (refused) => {
    refused(await raw('GET //agents/health HTTP/1.1'));
    return raw('GET /agents/health HTTP/1.1');
  },
  host_not_allowed: async (refused) => {
    refused(await raw('GET /agents/health HTTP/1.1', ['Host: evil.example']));
    return raw('GET /agents/health HTTP/1.1', [`Host: ${new URL(service.needs.publicUrl).host}`]);
  },
  origin_not_allowed: async (refused) => {
    refused(await call(service, 'POST', '/owner/passkey/sign-in-options'));
    return new Visitor(service).send('POST', '/owner/passkey/sign-in-options');
  },
  headers_too_large: async (refused) => {
    const { fix } = refused(await raw('GET /agents/health HTTP/1.1', [`X-Long: ${'x'.repeat(20_000)}`])).body;
    const room = 1024 * Number(/at most (\d+) KiB/.exec(fix)?.[1]) - 200;
    return raw('GET /agents/health HTTP/1.1', [`X-Long: ${'x'.repeat(room)}`]);
  },
  method_not_allowed: async (refused) => {
    const { headers } = refused(await call(service, 'PUT', '/agents/me'));
    const [method = ''] = headers.get('allow')?.split(', ') ?? [];
    return call(service, method, '/agents/me', { key: trader.apiKey });
  },
  unauthorized: async (refused) => {
    const { fix } = refused(await call(service, 'GET', '/agents/me')).body;
    const [method, path] = routeIn(fix);
    const { body } = await call(service, method, path, { body: { name: 'New' } });
    return get('/agents/me', body.apiKeyCode);
  },
  rate_limited: async (refused) => {
    const clock = manualClock();
    const limited = await startTestService(
      { PAPER_WORLD: 'off', RATE_LIMITS: 'on', RATE_LIMIT_READ_PER_SECOND: '1', RATE_LIMIT_READ_BURST: '1' },
      { clock },
    );
    const { get: read } = await newAgent(limited);
    await read('/agents/me');
    const answer = refused(await read('/agents/me'));
    clock.advance(1000 * Number(answer.headers.get('retry-after')));
    return read('/agents/me');
  },
  idempotency_key_invalid: async (refused) => {
    const cancel = (headers?: Record<string, string>) =>
      post('/markets/orders/cancel-market', {}, undefined, headers);
    refused(await cancel({ 'idempotency-key': 'x'.repeat(256) }));
    refused(await cancel({ 'idempotency-key': ' ' }));
    return cancel({ 'idempotency-key': 'x'.repeat(255) });
  },
  idempotency_key_reused: async (refused) => {
    const { apiKey } = await newAgent(service);
    await create('one', apiKey, 'reused');
    refused(await create('two', apiKey, 'reused'));
    return create('two', apiKey, 'new');
  },
  idempotency_in_flight: async (refused) => {
    const body = await restingOrder(trader, market);
    const { promise, resolve } = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const { end } = recordFirst(service, () => {
      reached.resolve();
      return promise;
    });
    const first = trade(body);
    await reached.promise;
    end();
    const { headers } = refused(await trade(body));
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    resolve();
    await first;
    return trade(body);
  },
  secret_already_shown: async (refused) => {
    const { apiKey } = await newAgent(service);
    await create('one', apiKey, 'secret');
    refused(await create('one', apiKey, 'secret'));
    return create('one', apiKey, 'another');
  },

  claim_code_required: async (refused) => {
    const { fix } = refused(await get('/agents/claim')).body;
    const { claimCode } = await trader.client.getMe();
    const [method, path] = routeIn(fix, { claimCode: String(claimCode) });
    return call(service, method, path);
  },
  claim_code_not_found: async (refused) => {
    refused(await get('/agents/claim/00000-00000'));
    const { claimCode } = await trader.client.getMe();
    expect(claimCode).toMatch(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
    return get(`/agents/claim/${claimCode}`);
  },
  api_key_not_found: async (refused) => {
    const { client, apiKey, get: read } = await newAgent(service);
    await client.createApiKey('spare');
    const { fix } = refused(await call(service, 'DELETE', '/agents/api-key/1', { key: apiKey })).body;
    const [{ id }] = (await read(routeIn(fix)[1])).body;
    return call(service, 'DELETE', `/agents/api-key/${id}`, { key: apiKey });
  },
  api_key_limit_reached: async (refused) => {
    const { client, apiKey } = await newAgent(service);
    for (let nth = 1; nth < 10; nth += 1) await client.createApiKey(`${nth}`);
    const more = () => post('/agents/create-api-key', { keyName: 'more' }, apiKey);
    const { fix } = refused(await more()).body;
    const spare = (await client.listApiKeys()).find(({ keyName }) => keyName === '1');
    await call(service, ...routeIn(fix, { id: String(spare?.id) }), { key: apiKey });
    return more();
  },
  last_active_key: async (refused) => {
    const { client, apiKey } = await newAgent(service);
    const [only] = await client.listApiKeys();
    const revoke = () => call(service, 'DELETE', `/agents/api-key/${only?.id}`, { key: apiKey });
    refused(await revoke());
    await client.createApiKey('another');
    return revoke();
  },

  venue_credentials_invalid: async (refused) => {
    const agent = await newAgent(service);
    refused(await agent.post('/wallet/credentials', await credentialBody(agent, { apiSecret: 'AAAA' })));
    const made = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: agent.signer });
    return agent.post('/wallet/credentials', credentialRequest(agent.signer, made, 0));
  },
  wallet_owner_mismatch: async (refused) => {
    const agent = await newAgent(service);
    const body = await credentialBody(agent);
    refused(await agent.post('/wallet/credentials', { ...body, walletAddress: stranger.signer.address }));
    return agent.post('/wallet/credentials', { ...body, walletAddress: agent.signer.address });
  },
  wallet_already_registered: async (refused) => {
    const [before, agent] = [await newTrader(service), await newAgent(service)];
    const { signer } = before;
    const answer = refused(await agent.post('/wallet/credentials', await credentialBody({ signer })));
    expect(routeIn(answer.body.fix)).toEqual(['POST', '/wallet/link']);
    await linkSignersWallet({ client: agent.client, signer });
    const now = { ...agent, signer, signatureType: 0 as const, funder: before.funder };
    return trade(await restingOrder(now, market), agent.apiKey);
  },
  credential_type_mismatch: async (refused) => {
    const { funder: _, ...agent } = await newTrader(service);
    const order = { signatureType: 3 as const, funder: agent.signer.wallet(3) };
    const wrong = await restingOrder({ ...agent, ...order }, market);
    refused(await trade({ ...wrong, walletAddress: agent.signer.address }, agent.apiKey));
    await agent.post('/wallet/credentials', await credentialBody(agent, { signatureType: 3 }));
    return trade({ ...wrong, walletAddress: agent.signer.address }, agent.apiKey);
  },
  invalid_solana_address: async (refused) => {
    const name = (solAddress: string) => post('/wallet/update-sol-address', { solAddress });
    refused(await name(`2${'z'.repeat(41)}`));
    return name(SolanaSigner.generate().address);
  },
  link_challenge_invalid: async (refused) => {
    const { client, signer, post: send } = await newAgent(service);
    const { address } = signer;
    const used = { address, nonce: 'a'.repeat(76), signature: await signer.signMessage('anything') };
    const { fix } = refused(await send('/wallet/link', used)).body;
    expect(routeIn(fix)).toEqual(['GET', '/wallet/link/challenge']);
    const { nonce, message } = await client.getLinkChallenge(address);
    return send('/wallet/link', { address, nonce, signature: await signer.signMessage(message) });
  },
  link_signature_invalid: async (refused) => {
    const { client, signer, post: send } = await newAgent(service);
    const { address } = signer;
    const { nonce, message } = await client.getLinkChallenge(address);
    const signed = async (by: typeof signer) => ({
      address,
      nonce,
      signature: await by.signMessage(message),
    });
    refused(await send('/wallet/link', await signed(stranger.signer)));
    return send('/wallet/link', await signed(signer));
  },
  wallet_not_found: async (refused) => {
    const positions = (user: string) => get(`/markets/current-positions?user=${user}`);
    refused(await positions(stranger.signer.address));
    return positions(trader.funder);
  },
  wallet_required: async (refused) => {
    const agent = await newAgent(service);
    for (let nth = 0; nth < 2; nth += 1) await linkSolanaWallet(agent.client, SolanaSigner.generate());
    const { detail } = refused(await agent.post('/wallet/unlink')).body;
    const [, address] = /: (\w+),/.exec(detail) ?? [];
    return agent.post('/wallet/unlink', { address });
  },

  unknown_venue: async (refused) => {
    const { detail } = refused(await get('/markets?q=*&venue=nasdaq')).body;
    const [, venue] = /Enabled: ([\w-]+)/.exec(detail) ?? [];
    return get(`/markets?q=*&venue=${venue}`);
  },
  venue_not_found: async (refused) => {
    const { fix } = refused(await get('/venues/nowhere/signing')).body;
    const [{ name }] = (await get(routeIn(fix)[1])).body;
    return get(`/venues/${name}/signing`);
  },
  wrong_venue_route: async (refused) => {
    const { detail } = refused(await changed({ venue: 'kalshi' })).body;
    const [, path] = routeIn(detail);
    return onChain.post(path, { marketTicker: 'KXTEST-1', side: 'YES', action: 'BUY', amount: 10 });
  },
  market_not_found: async (refused) => {
    const { fix } = refused(await get('/markets/nothing-like-this')).body;
    const [{ id }] = (await get(`${routeIn(fix)[1]}?q=*`)).body;
    return get(`/markets/${id}`);
  },
  market_not_resolved: async (refused) => {
    refused(await post('/markets/redeem', { marketId: market.id }));
    return settings({ autoRedeemEnabled: true });
  },
  contradictory_filter: async (refused) => {
    const { body } = refused(await get('/markets?q=*&closed=true&eventsStatus=active'));
    expect(body.errors[0].path).toBe('closed');
    return get('/markets?q=*&eventsStatus=active');
  },
  unknown_sort_field: async (refused) => {
    const { detail } = refused(await get('/markets?q=*&order=colour')).body;
    const [, field] = /Use one of (\w+)/.exec(detail) ?? [];
    return get(`/markets?q=*&order=${field}`);
  },
} as const satisfies Partial<Record<ErrorCode, Followed>>;
