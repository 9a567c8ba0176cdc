/** A pooler between the service and PostgreSQL is refused with a sentence. The stand-in does what pgbouncer does to a startup. */
import { connect, createServer, type Socket } from 'node:net';
import { openPool, refusePooler } from '@bellwether/durable';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';

/** Length and protocol before the pairs of a startup message. */
const HEAD = 8;

/** The startup message without `options`, as with pgbouncer's `ignore_startup_parameters = options`. */
function withoutOptions(startup: Buffer): Buffer {
  const texts = startup
    .subarray(HEAD, startup.length - 2)
    .toString()
    .split('\0');
  const kept: string[] = [];
  for (let at = 0; at + 1 < texts.length; at += 2)
    if (texts[at] !== 'options') kept.push(texts[at] as string, texts[at + 1] as string);
  const pairs = Buffer.from(`${kept.join('\0')}\0\0`);
  const message = Buffer.concat([startup.subarray(0, HEAD), pairs]);
  message.writeInt32BE(message.length);
  return message;
}

/** As pgbouncer answers what it does not know. */
function refused(): Buffer {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

async function startPooler(url: string, mode: 'drops' | 'refuses'): Promise<string> {
  const target = new URL(url.replace('postgres://', 'http://').replace('@/', '@localhost/'));
  const folder = target.searchParams.get('host');
  const port = Number(target.searchParams.get('port') ?? target.port);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    client.once('data', (startup) => {
      if (mode === 'refuses') return void client.end(refused());
      const upstream =
        folder === null ? connect(port, target.hostname) : connect(`${folder}/.s.PGSQL.${port}`);
      sockets.add(upstream);
      upstream.on('error', () => client.destroy());
      upstream.write(withoutOptions(startup as Buffer));
      upstream.pipe(client);
      client.pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port: own } = server.address() as { readonly port: number };
  return `postgres://${target.username}:${target.password}@127.0.0.1:${own}${target.pathname}`;
}

const said = async (url: string): Promise<string> => {
  const sql = openPool(url, { max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return refusePooler(sql).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
};

test('one that drops the settings of sessions, one that refuses them, and none', async () => {
  const url = await createTestDatabase();
  expect(await said(await startPooler(url, 'drops'))).toMatch(
    /pgbouncer .* drops the settings .*Name PostgreSQL/,
  );
  expect(await said(await startPooler(url, 'refuses'))).toMatch(/pgbouncer .* refuses the settings/);
  expect(await said(url)).toBe('accepted');
});
