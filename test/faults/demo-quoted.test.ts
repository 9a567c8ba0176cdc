/** The example of quoted orders checks itself: it must exit with 0, follow a market to its payout, print no secret. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';
import { movingClock } from '../world.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'quoted-trade', 'main.ts');
/** The example prints this when it holds both outcomes and has nothing left to do until the market is settled. */
const WAITS_FOR_OUTCOME = 'and is settled some time after';

async function runExample(url: string, onOutput: (output: string) => void = () => {}) {
  const child = spawn(process.execPath, [EXAMPLE], { env: { ...process.env, BELLWETHER_URL: url } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
      onOutput(output);
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

test('npm run demo:venue-b goes from a quote to a payout and ends with 0', { timeout: 300_000 }, async () => {
  const clock = movingClock();
  const service = await startTestService({}, { clock, jobs: 'by timer' });
  let forward: NodeJS.Timeout | undefined;
  const { code, output } = await runExample(service.url, (text) => {
    // The market ends and settles at once instead of after minutes.
    if (text.includes(WAITS_FOR_OUTCOME)) forward ??= setInterval(() => clock.advance(30_000), 250);
    if (text.includes('has won') || text.includes('has lost')) clearInterval(forward);
  });
  clearInterval(forward);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('Done: venue B from the first quote to the payout');
  for (const proof of ['would have refused', 'not again', 'has won', 'has lost'])
    expect(output).toContain(proof);
  // Neither an API key, nor a key of 64 bytes in base58 (signatures are cut short), nor a key file.
  expect(output).not.toMatch(/bw_[0-9A-Za-z]{10}|[1-9A-HJ-NP-Za-km-z]{80,}|\[\d+(,\d+){31,}\]/);
});

test('without a service it explains how to start one', async () => {
  const { code, output } = await runExample('http://127.0.0.1:9');
  expect(code).toBe(1);
  expect(output).toContain('npm start');
});
