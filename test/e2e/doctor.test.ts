/** The check before the first order, against the doors of the venue on paper and against a venue that finds fault. */
import { olderAdapterApprovalCall } from '@bellwether/protocol';
import { checkWallet, type Fetch, Signer, type WalletCheckOptions } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { aMarket, newTrader, type TestService, type Trader } from '../harness.ts';
import { startVenue } from '../live-desk.ts';
import { runScript } from '../service-process.ts';

let venue: TestService;
let trader: Trader;
let clobUrl: string;
let tokenId: string;

beforeAll(async () => {
  venue = await startVenue();
  trader = await newTrader(venue, 3);
  clobUrl = `${venue.url}/paper/clob`;
  tokenId = (await aMarket(trader.client)).clobTokenIds[0]!;
});

const options = (changes: Partial<WalletCheckOptions> = {}): WalletCheckOptions => ({
  clobUrl,
  wallet: trader.signer.wallet(3),
  signer: trader.signer,
  tokenId,
  ...changes,
});
/** The check's state by name. */
const states = async (changes: Partial<WalletCheckOptions> = {}) => {
  const { findings } = await checkWallet(options(changes));
  return Object.fromEntries(findings.map(({ check, state }) => [check, state]));
};
/** The venue, with one path answered otherwise. */
const instead =
  (path: string, status: number, body: unknown): Fetch =>
  (url, init) =>
    new URL(url).pathname.endsWith(path)
      ? Promise.resolve(new Response(JSON.stringify(body), { status }))
      : fetch(url, init);

describe('against the doors', () => {
  test('a funded deposit wallet with a credential is ready', async () => {
    const { isReady, findings } = await checkWallet(options());
    expect(findings.filter(({ state }) => state !== 'good')).toEqual([]);
    expect(isReady).toBe(true);
    expect(findings.find(({ check }) => check === 'signer')?.found).toContain(
      `order.signer is ${trader.signer.wallet(3)}`,
    );
  });

  test('another key’s wallet has the wrong owner, and the right wallets are named', async () => {
    const signer = Signer.generate();
    const { isReady, findings } = await checkWallet(options({ signer }));
    expect(isReady).toBe(false);
    expect(findings.find(({ check }) => check === 'owner')).toMatchObject({
      state: 'wrong',
      nextStep: expect.stringContaining(signer.wallet(3)),
    });
    expect(findings.find(({ check }) => check === 'credential')).toMatchObject({ state: 'wrong' });
  });

  test('a key without a credential gets none from the check', async () => {
    const signer = Signer.generate();
    const asked: string[] = [];
    const spy: Fetch = (url, init) => {
      asked.push(`${init.method ?? 'GET'} ${new URL(url).pathname}`);
      return fetch(url, init);
    };
    const found = await states({ signer, wallet: signer.wallet(3), fetch: spy });
    expect(found).toMatchObject({ owner: 'good', credential: 'wrong', balance: 'unknown' });
    expect(asked.filter((line) => !line.startsWith('GET'))).toEqual([]);
  });

  test('a plain key learns of the deposit wallet', async () => {
    expect(await states({ wallet: trader.signer.address })).toMatchObject({ 'signature type': 'wrong' });
  });

  test('without a key and a token, what follows from them is unknown', async () => {
    const { clobUrl: url, wallet } = options();
    const { findings } = await checkWallet({ clobUrl: url, wallet });
    expect(findings.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(findings.filter(({ state }) => state === 'unknown').map(({ check }) => check)).toEqual([
      'owner',
      'signature type',
      'signer',
      'credential',
      'API key',
      'neg-risk',
      'tick size',
      'balance',
      'allowance',
    ]);
  });
});

describe('finds', () => {
  test('a venue that does not answer', async () => {
    expect(await states({ clobUrl: 'http://127.0.0.1:1', timeoutMs: 500 })).toMatchObject({ venue: 'wrong' });
  });

  test('no fault of the wallet where the venue did not say one', async () => {
    const { findings } = await checkWallet(options({ clobUrl: 'http://127.0.0.1:1', timeoutMs: 500 }));
    expect(findings.filter(({ state }) => state === 'wrong').map(({ check }) => check)).toEqual(['venue']);
    const others: readonly (readonly [string, string])[] = [
      ['/version', 'domain'],
      ['/auth/derive-api-key', 'credential'],
      ['/neg-risk', 'neg-risk'],
      ['/tick-size', 'tick size'],
    ];
    for (const [path, check] of others)
      for (const status of [403, 425, 429, 503])
        expect(
          await states({ fetch: instead(path, status, { error: 'Service is not ready' }) }),
        ).toMatchObject({
          [check]: 'unknown',
        });
  });

  test.each<[string, string, number, unknown, string]>([
    ['a clock that is wrong', '/time', 200, 1_600_000_000, 'venue'],
    ['another order version', '/version', 200, { version: 3 }, 'domain'],
    ['a token without a book', '/tick-size', 404, { error: 'No orderbook exists' }, 'tick size'],
    ['a market that is not known', '/neg-risk', 404, { error: 'market not found' }, 'neg-risk'],
    [
      'a credential that was replaced',
      '/auth/ban-status/closed-only',
      401,
      { error: 'Unauthorized/Invalid api key' },
      'credential',
    ],
    [
      'an account that may only close',
      '/auth/ban-status/closed-only',
      200,
      { closed_only: true },
      'credential',
    ],
    [
      'an API key of another key',
      '/auth/api-keys',
      401,
      { error: 'Unauthorized/Invalid api key' },
      'API key',
    ],
    ['an API key that is not listed', '/auth/api-keys', 200, { apiKeys: ['another'] }, 'API key'],
    ['an empty wallet', '/balance-allowance', 200, { balance: '0', allowances: {} }, 'balance'],
    ['a missing approval', '/balance-allowance', 200, { balance: '5', allowances: {} }, 'allowance'],
  ])('%s', async (_title, path, status, body, check) => {
    expect(await states({ fetch: instead(path, status, body) })).toMatchObject({ [check]: 'wrong' });
  });

  test('a deposit wallet that is not deployed, where the relayer says so', async () => {
    const relayerUrl = 'https://relayer.test';
    const found = async (status: number, body: unknown) => {
      const { findings } = await checkWallet(
        options({ relayerUrl, fetch: instead('/deployed', status, body) }),
      );
      return findings.find(({ check }) => check === 'API key');
    };
    expect(await found(200, { deployed: false })).toMatchObject({
      state: 'wrong',
      found: expect.stringContaining('is not deployed'),
      nextStep: expect.stringContaining('Deploy the wallet'),
    });
    expect(await found(200, { deployed: true })).toMatchObject({ state: 'good' });
    expect(await found(503, {})).toMatchObject({ state: 'unknown' });
  });

  test('which approvals are missing, as calls', async () => {
    const { findings } = await checkWallet(
      options({ fetch: instead('/balance-allowance', 200, { balance: '5', allowances: {} }) }),
    );
    expect(findings.find(({ check }) => check === 'allowance')?.nextStep).toContain('data 0x095ea7b3');
  });
});

test('the command prints what is wrong with its next step, no secret, and ends with 1', async () => {
  const key = `0x${'5a'.repeat(32)}`;
  const wallet = Signer.fromPrivateKey(key).wallet(3);
  const { code, stdout } = await runScript(
    'scripts/doctor.ts',
    ['--wallet', wallet, '--token', tokenId, '--clob', clobUrl],
    { env: { WALLET_PRIVATE_KEY: key, WALLET_KEY_USE: 'paper' } },
  );
  expect(code).toBe(1);
  expect(stdout).toContain('WRONG    credential');
  expect(stdout).toContain('createVenueCredentials()');
  expect(stdout).not.toContain('5a5a5a5a');
});

test('the older adapter is shown only where it is asked for by name, for an amount', async () => {
  const doctor = (amount: string) =>
    runScript('scripts/doctor.ts', ['--wallet', trader.signer.wallet(3), '--older-adapter', amount]);
  const { code, stdout } = await doctor('25');
  expect(code).toBe(0);
  expect(stdout).toContain(`data ${olderAdapterApprovalCall(25_000_000n).data}`);
  expect(stdout).toContain('Only the wallet');
  expect(await doctor('all')).toMatchObject({ code: 2 });
});
