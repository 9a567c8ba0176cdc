/** The example of quoted orders checks itself: it must exit with 0, follow a market to its payout, print no secret. */
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';
import { runScript, startScript } from '../service-process.ts';
import { movingClock } from '../world.ts';

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
