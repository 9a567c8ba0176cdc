/** The example of venue B checks itself: it must end well, see a market through to its payout, and print no secret. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestService } from '../harness.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'venue-b', 'main.ts');

async function runExample(url: string): Promise<{ code: unknown; output: string }> {
  const child = spawn(process.execPath, [EXAMPLE], { env: { ...process.env, BELLWETHER_URL: url } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

test('npm run demo:venue-b goes from a quote to a payout and ends with 0', { timeout: 240_000 }, async () => {
  // Four times as fast: the market of two minutes is over in thirty seconds.
  const service = await startTestService({ PAPER_SPEED: '4' });
  const { code, output } = await runExample(service.url);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('Done: venue B from the first quote to the payout');
  for (const proof of ['would have refused', 'not again', 'has won', 'has lost'])
    expect(output).toContain(proof);
  // Neither an API key, nor a key of 64 bytes in base58 (signatures are cut short), nor a key file.
  expect(output).not.toMatch(/bw_[0-9A-Za-z]{10}|[1-9A-HJ-NP-Za-km-z]{80,}|\[\d+(,\d+){31,}\]/);
});

test('without a service it says how to start one', async () => {
  const { code, output } = await runExample('http://127.0.0.1:9');
  expect(code).toBe(1);
  expect(output).toContain('npm start');
});
