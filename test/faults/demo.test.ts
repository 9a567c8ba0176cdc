/** The examples and demos are programs that check themselves: each exits with 0, and prints no secret. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';
import { sharedPostgres } from '../postgres.ts';
import { dataFolder, freePort, runScript, startProcess, startScript } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import { copyCluster } from '../setup/copy-cluster.ts';
import { movingClock } from '../world.ts';

const run = (env: Readonly<Record<string, string>>) => runScript('examples/first-trade/main.ts', [], { env });

test('npm run demo trades for the first time and ends with 0', async () => {
  const service = await startTestService();
  const { code, stdout, stderr } = await run({ BELLWETHER_URL: service.url });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain('Done: a first trade');
  expect(stdout + stderr).not.toMatch(/bw_[0-9A-Za-z]{10}|0x[0-9a-f]{64}\b/);
});

test('it finds the service of its data folder on any port, and names the address when the service has stopped', async () => {
  const DATA_DIR = dataFolder();
  const service = await startProcess({ dataDir: DATA_DIR, port: await freePort() });
  expect(await run({ DATA_DIR })).toMatchObject({ code: 0 });
  expect(service.output()).toContain(`BELLWETHER_URL=${service.url} npm run demo`);
  service.child.kill('SIGTERM');
  await service.exit();
  const { code, stdout, stderr } = await run({ DATA_DIR });
  expect(code).toBe(1);
  expect(stdout + stderr).toContain('BELLWETHER_URL=');
  expect(stdout + stderr).not.toContain(service.url);
});

test('without a service it explains how to start one', async () => {
  const unanswered = { code: 1, stderr: expect.stringContaining('npm start') };
  expect(await run({ BELLWETHER_URL: 'http://127.0.0.1:9' })).toMatchObject(unanswered);
});

const EXAMPLE = 'examples/quoted-trade/main.ts';
/** The example prints this when it holds both outcomes and has nothing left to do until the market is settled. */
const WAITS_FOR_OUTCOME = 'and is settled some time after';

test('npm run demo:venue-b goes from a quote to a payout and ends with 0', { timeout: 300_000 }, async () => {
  const clock = movingClock();
  const service = await startTestService({}, { clock, jobs: 'by timer' });
  const { child, ended } = startScript(EXAMPLE, [], { env: { BELLWETHER_URL: service.url } });
  let forward: NodeJS.Timeout | undefined;
  let shown = '';
  child.stdout?.on('data', (chunk) => {
    shown += chunk;
    // The market ends and settles at once instead of after minutes.
    if (shown.includes(WAITS_FOR_OUTCOME)) forward ??= setInterval(() => clock.advance(30_000), 250);
    if (/has (won|lost)/.test(shown)) clearInterval(forward);
  });
  const { code, stdout, stderr } = await ended;
  clearInterval(forward);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain('Done: venue B from the first quote to the payout');
  for (const proof of ['would have refused', 'not again', 'has won', 'has lost'])
    expect(stdout).toContain(proof);
  // Neither an API key, nor a key of 64 bytes in base58 (signatures are cut short), nor a key file.
  expect(stdout + stderr).not.toMatch(/bw_[0-9A-Za-z]{10}|[1-9A-HJ-NP-Za-km-z]{80,}|\[\d+(,\d+){31,}\]/);
});

test('without a service it explains how to start one', async () => {
  const { code, stdout, stderr } = await runScript(EXAMPLE, [], {
    env: { BELLWETHER_URL: 'http://127.0.0.1:9' },
  });
  expect(code).toBe(1);
  expect(stdout + stderr).toContain('npm start');
});

const DEMO = join(import.meta.dirname, '..', '..', 'examples', 'console', 'main.ts');

function start(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [DEMO], { env: { PATH: process.env.PATH, ...env } });
  afterFile('processes', () => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, code, output: () => output };
}

test('finds a service, lets four agents trade, says where to claim and watch them, and prints no secret', async () => {
  const service = await startTestService();
  const demo = start({ BELLWETHER_URL: service.url, DEMO_ROUNDS: '2' });
  expect({ code: await demo.code, output: demo.output() }).toMatchObject({ code: 0 });
  expect(demo.output().match(/\/agents\/claim\/\w{5}-\w{5}$/gm)).toHaveLength(4);
  expect(demo.output()).toContain(`${service.needs.publicUrl}/console\n`);
  expect(demo.output()).toMatch(/Round 1: [234] agents acted/);
  expect(demo.output()).not.toMatch(/bw_[0-9A-Za-z]{10}|0x[0-9a-f]{64}\b/);
});

test('without one it starts its own, and Ctrl-C ends both', async () => {
  const DATA_DIR = dataFolder();
  copyCluster((await sharedPostgres()).deskCluster, join(DATA_DIR, 'postgres'));
  const demo = start({ DATA_DIR, PORT: String(await freePort()) });
  await expect.poll(() => demo.output(), { timeout: 120_000 }).toContain('Round 1:');
  expect(existsSync(join(DATA_DIR, 'address'))).toBe(true);
  demo.child.kill('SIGINT');
  expect({ code: await demo.code, output: demo.output() }).toMatchObject({ code: 0 });
  expect(demo.output()).toContain('Done: the agents have stopped.');
  expect(existsSync(join(DATA_DIR, 'address'))).toBe(false);
});
