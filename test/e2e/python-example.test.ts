/** The first trade in plain Python: with what the service serves and nothing else; and it signs no order that was changed. */
import { execFile, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { deskBetween } from '../cli-process.ts';
import { sharedTestService, type TestService } from '../harness.ts';
import { noteSkipped } from '../setup/skipped.ts';

const PROGRAM = join(resolve(import.meta.dirname, '../..'), 'examples/python/first_trade.py');
const NEEDS = 'import ecdsa\ntry:\n  import Cryptodome\nexcept ImportError:\n  import Crypto';

/** A Python that has the two libraries, as Debian packages them; `null` without one. */
const python =
  ['/usr/bin/python3', 'python3'].find((name) => spawnSync(name, ['-c', NEEDS]).status === 0) ?? null;
if (python === null) noteSkipped('python-example.test.ts', 'no Python with ecdsa and pycryptodome');

let service: TestService;

beforeAll(async () => {
  if (python !== null) service = await sharedTestService();
});

interface Outcome {
  readonly failed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (url: string, market?: string): Promise<Outcome> =>
  new Promise((done) => {
    const chosen = market === undefined ? {} : { BELLWETHER_MARKET: market };
    const env = { PATH: process.env.PATH, BELLWETHER_URL: url, ...chosen };
    execFile(python as string, [PROGRAM], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      done({ failed: error !== null, stdout, stderr }),
    );
  });

type Change = (prepared: Record<string, unknown>) => void;

/** The service behind somebody who changes what is prepared, and counts the trades that come through. */
async function dishonest(change: Change): Promise<{ readonly url: string; readonly trades: () => number }> {
  let trades = 0;
  const url = await deskBetween(service.url, async ({ path }, pass) => {
    if (path === '/markets/trade') trades += 1;
    const { status, body } = await pass();
    return { status, body: path === '/markets/trade/prepare' ? changed(body, change) : body };
  });
  return { url, trades: () => trades };
}

function changed(text: string, change: Change): string {
  const prepared = JSON.parse(text) as Record<string, unknown>;
  change(prepared);
  return JSON.stringify(prepared);
}

// biome-ignore lint/suspicious/noExplicitAny: the answer is changed by path
type Any = any;

describe.skipIf(python === null)('the first trade in Python', () => {
  test('registers, proves a wallet, verifies, signs and trades', async () => {
    const { failed, stdout, stderr } = await run(service.url);
    expect(stderr).toBe('');
    expect(failed).toBe(false);
    expect(stdout).toMatch(/^wallet 0x[0-9a-f]{40} of agent /);
    expect(stdout).toMatch(/\nbought [\d.]+ YES at 0\.\d+, fee [\d.]+\nposition [\d.]+ YES: .+\n$/);
  });

  test('trades in a market of version v2, and signs for no other contract than ExchangeV3', async () => {
    const markets = [...service.exchange.markets()];
    const market = markets.find(
      ({ version, status, bestAsk }) => version === 'v2' && status === 'open' && bestAsk,
    )!;
    const { stdout, stderr } = await run(service.url, market.id);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/\nbought [\d.]+ YES at 0\.\d+/);
    const proxy = await dishonest((prepared) => {
      delete prepared.exchangeVersion;
    });
    expect((await run(proxy.url, market.id)).stderr).toMatch(/^DoNotSign: exchangeVersion/);
    expect(proxy.trades()).toBe(0);
  });

  test.each<[string, Change]>([
    [
      'a larger budget',
      ({ typedData }: Any) => Object.assign(typedData.message, { makerAmount: '90000000' }),
    ],
    [
      'another contract',
      ({ typedData }: Any) => Object.assign(typedData.domain, { verifyingContract: `0x${'1'.repeat(40)}` }),
    ],
    ['another token', ({ body }: Any) => Object.assign(body.order, { tokenId: '1' })],
    ['another salt', ({ body }: Any) => Object.assign(body.order, { salt: 1 })],
    ['another digest', (prepared) => Object.assign(prepared, { digest: `0x${'ab'.repeat(32)}` })],
    ['one field more', ({ body }: Any) => Object.assign(body, { owner: 'somebody' })],
  ])('signs nothing when the answer has %s', async (_name, change) => {
    const proxy = await dishonest(change);
    const { failed, stderr } = await run(proxy.url);
    expect(failed).toBe(true);
    expect(stderr).toMatch(/^DoNotSign: [^\n]+\n$/);
    expect(proxy.trades()).toBe(0);
  });
});
