/** Venue A's sockets at a replica that follows, while there is a leader and when it is gone. */
import { randomBytes } from 'node:crypto';
import { createVenueCredentials, Signer } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { SocketClient } from '../../packages/exchange/test/socket-stage.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, startProcess } from '../service-process.ts';

const socketOf = (url: string, channel: 'market' | 'user'): string =>
  `${url.replace('http', 'ws')}/paper/ws/${channel}`;

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
