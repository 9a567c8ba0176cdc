/** The demo of the console is a program that ends cleanly: with the service that it found, and with the one it started. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';
import { sharedPostgres } from '../postgres.ts';
import { dataFolder, freePort } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import { copyCluster } from '../setup/copy-cluster.ts';

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
