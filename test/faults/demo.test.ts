/** The example is a program that checks itself: it must exit with 0, and print no secret. */
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';
import { dataFolder, freePort, runScript, startProcess } from '../service-process.ts';

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
