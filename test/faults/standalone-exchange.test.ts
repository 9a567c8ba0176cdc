/** `npm run exchange` from a process: the venue in a box, without any configuration. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SolanaSigner } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, socketUrl } from '../../packages/durable/src/index.ts';
import { sharedPostgres } from '../postgres.ts';
import {
  dataFolder,
  type ProcessOptions,
  postgresOf,
  type ServiceProcess,
  startProcess,
  startRefused,
} from '../service-process.ts';
import { copyCluster } from '../setup/copy-cluster.ts';

const exchange = (options: ProcessOptions): Promise<ServiceProcess> =>
  startProcess({ program: 'exchange', ...options });
const refused = (options: ProcessOptions) => startRefused({ program: 'exchange', ...options });

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client in JavaScript reads them
async function ask(url: string, body?: unknown): Promise<{ status: number; body: any }> {
  const response = await fetch(
    url,
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  return { status: response.status, body: await response.json() };
}

test('npm run exchange starts alone, names its doors, keeps its world, and leaves nothing running', async () => {
  const dataDir = dataFolder();
  const first = await exchange({ dataDir, via: 'npm', makesCluster: true });
  const doors = ['clob', 'gamma', 'data', 'dflow/metadata', 'dflow/trade', 'solana', 'faucet'];
  for (const door of doors) expect(first.output(), door).toContain(`${first.url}/paper/${door}`);
  expect(first.output()).toContain(`${first.url.replace('http', 'ws')}/paper/ws`);
  expect(first.output()).toContain(`curl '${first.url}/paper/gamma/markets?limit=1'`);
  const { body: listed } = await ask(`${first.url}/paper/gamma/markets?limit=1`);
  expect((await ask(`${first.url}/paper/clob/markets/${listed[0].conditionId}`)).body.market_slug).toBe(
    listed[0].slug,
  );
  expect(statSync(join(dataDir, 'master.key')).mode & 0o777).toBe(0o600);

  const second = await refused({ dataDir });
  expect(second.exit.code).toBe(1);
  expect(second.output).toContain(`Another Bellwether is running on ${dataDir}`);
  // The second has not taken the database along.
  expect((await ask(`${first.url}/paper/clob/time`)).status).toBe(200);

  const elsewhere = dataFolder();
  copyCluster((await sharedPostgres()).newCluster, join(elsewhere, 'postgres'));
  const busy = await refused({ dataDir: elsewhere, port: first.port });
  expect(busy.output).toContain(`Port ${first.port} is taken. Stop what is listening there, or set PORT`);
  expect(postgresOf(elsewhere)).toEqual([]);

  first.child.kill('SIGTERM');
  await first.exit();
  expect(postgresOf(dataDir)).toEqual([]);
  const again = await exchange({ dataDir });
  expect((await ask(`${again.url}/paper/gamma/markets?id=${listed[0].id}`)).body[0].conditionId).toBe(
    listed[0].conditionId,
  );
  again.child.kill('SIGINT');
  expect((await again.exit()).code).toBe(0);
});

test('the faucet takes wallets of both kinds, and says what is wrong with others', async () => {
  const { url } = await exchange({ dataDir: dataFolder() });
  const faucet = `${url}/paper/faucet`;
  const account = `0x${'Ab'.repeat(20)}`;
  expect((await ask(faucet, { address: account, amount: '12.5' })).body).toEqual({
    address: account.toLowerCase(),
    amount: 12.5,
  });
  expect((await ask(faucet, { address: account })).body).toMatchObject({ amount: 10_000 });
  const { address } = SolanaSigner.generate();
  expect((await ask(faucet, { address })).body).toMatchObject({ address, collateral: '10000' });
  const bad: readonly [object, string][] = [
    [{ address: '0x12' }, 'address must be a wallet'],
    [{ adress: account }, '"adress" is not a field'],
    [{ address: account, amount: 10_000.5 }, 'amount must be above 0'],
    [{ address: account, amount: 'lots' }, 'amount must be above 0'],
    [{ address, amount: 1 }, 'leave "amount" out'],
  ];
  for (const [body, text] of bad) {
    const { status, body: answer } = await ask(faucet, body);
    expect([status, answer.error], JSON.stringify(body)).toEqual([400, expect.stringContaining(text)]);
  }
});

test('it refuses the folder of a desk, and a named database without its key', async () => {
  const dataDir = dataFolder();
  mkdirSync(dataDir, { recursive: true });
  copyCluster((await sharedPostgres()).newCluster, join(dataDir, 'postgres'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const sql = openPool(socketUrl(postgres, postgres.database), { max: 1 });
  await sql.unsafe('create table safeguards ()');
  await sql.end({ timeout: 1 });
  await postgres.stop();

  const desk = await refused({ dataDir });
  expect(desk.output).toContain(`the folder ${dataDir} belongs to a desk`);
  expect(desk.exit.code).toBe(1);
  expect(postgresOf(dataDir)).toEqual([]);
  const unkeyed = await refused({ env: { DATABASE_URL: 'postgres://nowhere/x' } });
  expect(unkeyed.output).toContain('DATABASE_URL needs MASTER_KEY');
  const misspelt = await refused({ dataDir, env: { PAPER_SPEED: 'fast' } });
  expect(misspelt.output).toContain('PAPER_SPEED must be a number');
});
