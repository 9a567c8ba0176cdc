/** Venue A's sockets at a running service: who may connect, and how it stops. */
import { expect, test } from 'vitest';
import { SocketClient } from '../../packages/exchange/test/socket-stage.ts';
import { startTestService } from '../harness.ts';
import { newOfficialWallet } from '../official-clients.ts';
import { rawRequest } from '../raw-http.ts';

const socketOf = (url: string, channel: 'market' | 'user'): string =>
  `${url.replace('http', 'ws')}/paper/ws/${channel}`;

test('hosts, origins and closed doors are judged as for any request', async () => {
  const service = await startTestService({ PAPER_WORLD: 'off', BASE_PATH: '/desk' });
  const market = socketOf(service.url, 'market');
  await expect(new SocketClient(market, { host: 'evil.example' }).open()).rejects.toThrow('HTTP 421');
  await expect(new SocketClient(market, { origin: 'https://evil.example' }).open()).rejects.toThrow(
    'HTTP 403',
  );
  await new SocketClient(market, { origin: service.address }).open();
  await expect(new SocketClient(market.replace('/desk', '')).open()).rejects.toThrow('HTTP 404');
  await expect(new SocketClient(`${market}/%00`).open()).rejects.toThrow('HTTP 4');
  const closed = await startTestService({ PAPER_WORLD: 'off', PAPER_DOORS: 'off' });
  await expect(new SocketClient(socketOf(closed.url, 'market')).open()).rejects.toThrow('HTTP 404');
});

/** As Java's client offers HTTP/2 with each request, and what else a client may ask to change to. */
test.each(['h2c', 'HTTP/2.0', 'websocket', 'TLS/1.0, websocket'])(
  'an upgrade to %s is no reason to lose a body, where no socket is',
  async (protocol) => {
    const service = await startTestService({ PAPER_WORLD: 'off' });
    const upgrade = [
      `Connection: Upgrade, HTTP2-Settings`,
      `Upgrade: ${protocol}`,
      'HTTP2-Settings: AAEAAEAA',
    ];
    const body = '{"name": "Upgraded"}';
    const head = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const post = (path: string, more: readonly string[] = []) =>
      rawRequest(service.url, `POST ${path} HTTP/1.1`, [...upgrade, ...head, ...more], body);
    const registered = await post('/agents/register');
    expect(registered).toMatchObject({ status: 200, body: { apiKeyCode: expect.any(String) } });
    const settings = '/agents/settings';
    const bearer = `Authorization: Bearer ${registered.body.apiKeyCode}`;
    expect(await post(settings, [bearer])).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await post('/paper/ws/market')).toMatchObject({ status: 404 });
    const read = await rawRequest(service.url, 'GET /agents/health HTTP/1.1', upgrade);
    expect(read.status).toBe(200);
  },
);

test('an order of the desk’s venue is sent to its key, and a stop ends sockets with a code', async () => {
  const service = await startTestService({ PAPER_WORLD: 'off' });
  const wallet = await newOfficialWallet(service);
  const client = await new SocketClient(socketOf(service.url, 'user')).open();
  const { key: apiKey, secret, passphrase } = wallet.creds;
  client.send({ type: 'user', auth: { apiKey, secret, passphrase }, markets: [] });
  const market = [...service.exchange.markets()].find(({ status }) => status === 'open')!;
  let number = 0;
  const place = () => {
    number += 1;
    return service.exchange.execute({
      kind: 'place',
      order: {
        orderId: `0x${number.toString(16).padStart(64, '0')}`,
        account: wallet.funder,
        conditionId: market.conditionId,
        outcome: 'YES',
        side: 'BUY',
        limit: market.tickSize,
        size: 5_000_000n,
        timeInForce: 'GTC',
        postOnly: true,
      },
    });
  };
  // The venue acknowledges no subscription.
  for (let i = 0; i < 3_000 && client.of('order').length === 0; i += 1) {
    await place();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(client.of('order')[0]).toMatchObject({
    type: 'PLACEMENT',
    owner: apiKey,
    maker_address: wallet.funder,
  });
  expect(await service.stop()).toBe(true);
  expect((await client.closed).code).toBe(1001);
});
