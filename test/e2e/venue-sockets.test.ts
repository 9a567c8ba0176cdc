/** Venue A's sockets at a running service: who may connect, how it stops, and through a replica that follows. */
import { randomBytes } from 'node:crypto';
import { createVenueCredentials, Signer } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { SocketClient } from '../../packages/exchange/test/socket-stage.ts';
import { startTestService } from '../harness.ts';
import { newOfficialWallet } from '../official-clients.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, startProcess } from '../service-process.ts';

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

test('an order of the desk’s venue is told to its key, and a stop ends sockets with a code', async () => {
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

test('a follower serves sockets through the leader, and ends them when it is gone', async () => {
  const env = {
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    LOG_LEVEL: 'warn',
  };
  const leader = await startProcess({ env });
  const follower = await startProcess({ env });
  const listed = (await (await fetch(`${follower.url}/paper/gamma/markets?limit=1`)).json()) as {
    readonly clobTokenIds: string;
  }[];
  const tokens = JSON.parse(listed[0]!.clobTokenIds) as string[];
  const client = await new SocketClient(socketOf(follower.url, 'market')).open();
  client.send({ type: 'market', assets_ids: tokens });
  client.send('PING');
  await client.until(({ frames }) => frames.length >= 2);
  expect(client.of('book').map(({ asset_id: token }) => token)).toEqual(tokens);
  expect(client.frames).toContain('PONG');

  const signer = Signer.generate();
  await createVenueCredentials({ clobUrl: `${follower.url}/paper/clob`, signer });
  const user = await new SocketClient(socketOf(follower.url, 'user')).open();
  user.send({ type: 'user', auth: { apiKey: 'a', secret: 'b', passphrase: 'c' } });
  expect(await user.closed).toEqual({ code: 1008, reason: 'Unauthorized/Invalid api key' });

  kill(leader.child.pid!, 'SIGKILL');
  expect(await client.closed).toEqual({ code: 1012, reason: 'connect again' });
});
