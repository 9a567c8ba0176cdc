/** The example is a program that checks itself: it must exit with 0, and print no secret. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';
import { dataFolder, freePort, startProcess } from '../service-process.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'first-trade', 'main.ts');

test('npm run demo trades for the first time and ends with 0', async () => {
  const service = await startTestService();
  const child = spawn(process.execPath, [EXAMPLE], { env: { ...process.env, BELLWETHER_URL: service.url } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('Done: a first trade');
  expect(output).not.toMatch(/bw_[0-9A-Za-z]{10}|0x[0-9a-f]{64}\b/);
});

test('it finds the service of its data folder on any port, and names the address when the service has stopped', async () => {
  const DATA_DIR = dataFolder();
  const service = await startProcess({ dataDir: DATA_DIR, port: await freePort() });
  const env = { PATH: process.env.PATH, DATA_DIR };
  const run = async () => {
    const child = spawn(process.execPath, [EXAMPLE], { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return { code: await new Promise((resolve) => child.once('exit', resolve)), output };
  };
  expect(await run()).toMatchObject({ code: 0 });
  expect(service.output()).toContain(`BELLWETHER_URL=${service.url} npm run demo`);
  service.child.kill('SIGTERM');
  await service.exit();
  const after = await run();
  expect(after.code).toBe(1);
  expect(after.output).toContain('BELLWETHER_URL=');
  expect(after.output).not.toContain(service.url);
});

test('without a service it explains how to start one', async () => {
  const child = spawn(process.execPath, [EXAMPLE], {
    env: { ...process.env, BELLWETHER_URL: 'http://127.0.0.1:9' },
  });
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
  expect(output).toContain('npm start');
});
