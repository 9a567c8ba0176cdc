/** Failures of the command line: each a clear error with its exit code and the next step, nothing lost, no secret shown. */
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BellwetherClient, type Market, Signer } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODES, type ExitName } from '../../packages/cli/src/cli-error.ts';
import { claim, decline, ownerOf } from '../approving.ts';
import { cli, deskBetween, type Ended, type Passed, startCli } from '../cli-process.ts';
import { aMarket, limitOrder, newAgent, startTestService, type TestService } from '../harness.ts';
import { dataFolder } from '../service-process.ts';

const PRIVATE_KEY = `0x${'5e'.repeat(32)}`;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

let service: TestService;
let env: Record<string, string>;
let client: BellwetherClient;
let market: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  const agent = await newAgent(service);
  client = agent.client;
  env = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_API_KEY: agent.apiKey,
    BELLWETHER_PRIVATE_KEY: PRIVATE_KEY,
    BELLWETHER_KEY_USE: 'paper',
  };
  expect(await cli(['init'], env)).toMatchObject({ code: 0 });
  market = await aMarket(client);
});

/** The error as programs read it; nothing is on stdout, and no key anywhere. */
function failure({ code, stdout, stderr }: Ended, exit: ExitName) {
  for (const secret of [env.BELLWETHER_API_KEY, PRIVATE_KEY.slice(2)])
    expect(stdout + stderr).not.toContain(secret);
  expect({ code, stdout, stderr }).toMatchObject({ code: EXIT_CODES[exit].status, stdout: '' });
  const { error } = JSON.parse(stderr);
  expect(error).toMatchObject({ exitCode: code, code: expect.any(String), message: expect.any(String) });
  return error as { code: string; message: string; fix: string; orderId?: string };
}

const buy = (...more: readonly string[]) =>
  ['buy', market.id, 'YES', '--amount', '2', '--worst-price', '0.95', '--json', ...more] as const;
const ordersPlaced = async (): Promise<number> => (await client.listOrders({ limit: 100 })).length;

describe('the command line itself', () => {
  test.each([
    [
      ['buy', '1', 'YES', '--prise', '0.4'],
      /unknown option '--prise'\n\(Did you mean --price\?\)/,
      'buy --help',
    ],
    [['positons'], /unknown command 'positons'\n\(Did you mean positions\?\)/, 'bellwether --help'],
    [['buy', '1', ' ', '--amount', '3'], /Give YES, NO, or a name/, 'buy --help'],
    [['mint', 'confirm', 'T', 'MAYBE', '1'], /It is one of YES, NO/, 'mint --help'],
    [['buy', '1', 'YES', '--amount', '-3'], /amount/, 'buy --help'],
    [['buy', '1', 'YES', '--amount', '3', '--size', '3'], /--amount in collateral, not --size/, 'buy --help'],
    [
      ['buy', '1', 'YES', '--amount', '3', '--type', 'GTC', '--post-only'],
      /GTC[\s\S]*--post-only/,
      'buy --help',
    ],
    [['buy', '1', 'YES', '--amount', '3', '--client-order-id', 'a'], /another order/, 'buy --help'],
    [
      ['buy', '1', 'YES', '--amount', '3', '--worst-price', '0.5', '--slippage', '0.1'],
      /no --worst-price with it/,
      'buy --help',
    ],
    [['sell', '1', 'YES', '--size', '3', '--price', '0.5', '--slippage', '0'], /no --price/, 'sell --help'],
    // A number without a unit is a second to one person, and a thousandth of it to another.
    [['buy', '1', 'YES', '--amount', '3', '--cancel-after', '10'], /with its unit from 100ms to 7d/, 'buy'],
    [['buy', '1', 'YES', '--amount', '3', '--cancel-after', '99ms'], /with its unit from 100ms/, 'buy'],
    [['trade', 'buy', 'T', 'YES', '--amount', '3', '--cancel-after', '8d'], /from 100ms to 7d/, 'trade'],
    [['cancel'], /Say what to cancel/, 'bellwether orders'],
    [['--url', 'ftp://somewhere', 'markets'], /address of the desk/, 'BELLWETHER_URL'],
  ] as const)('%j', async (args, message, fix) => {
    const error = failure(await cli([...args, '--json'], env), 'usage');
    expect(error.message).toMatch(message);
    expect(error.fix).toContain(fix);
  });

  test('a fraction of a contract is refused by the desk, which names the whole number', async () => {
    const [{ id: ticker } = { id: '' }] = await client.listMarkets({ q: '*', venue: 'kalshi', limit: 1 });
    const whole = 'Contracts are whole: sell 2 instead of 2.5.';
    const sell = ['sell', ticker, 'YES', '--size', '2.5'] as const;
    const quoted = await cli(['quote', ...sell, '--json'], env);
    expect(quoted).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(quoted.stdout)).toMatchObject({
      quoteErrorCode: 'fraction_of_contract',
      quoteErrorMessage: whole,
    });
    const solana = { BELLWETHER_SOLANA_KEY: JSON.stringify(Array(32).fill(9)) };
    const ended = await cli(['trade', ...sell, '--yes', '--json'], { ...env, ...solana });
    expect(failure(ended, 'refused')).toMatchObject({ code: 'fraction_of_contract', message: whole });
  });

  test('a key that is given as an argument is refused and not repeated', async () => {
    for (const args of [['markets', `--private-key=${PRIVATE_KEY}`], [PRIVATE_KEY], ['init', PRIVATE_KEY]])
      failure(await cli([...args, '--json'], env), 'usage');
  });

  test('without a command the help goes to stderr, and with --help to stdout', async () => {
    expect(await cli([], env)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Commands:'),
    });
    const { stdout } = await cli(['--help'], env);
    for (const { status } of Object.values(EXIT_CODES))
      expect(stdout).toMatch(new RegExp(`^ +${status}  `, 'm'));
  });

  test('a reader that goes away ends nothing but the writing', async () => {
    const running = startCli(['markets', '--limit', '100', '--json'], env);
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
    const endless = startCli(['watch'], env);
    let hasEnded = false;
    const ended = endless.ended.finally(() => {
      hasEnded = true;
    });
    endless.child.stdout?.once('data', () => endless.child.stdout?.destroy());
    // A pipe is known to be closed when something is written to it.
    for (let maxTradesPerDay = 60; !hasEnded; maxTradesPerDay += 1) {
      await client.updateSettings({ maxTradesPerDay });
      await Promise.race([ended, sleep(200)]);
    }
    expect(await ended).toMatchObject({ code: 0 });
  });
});

describe('the desk', () => {
  test('that is not there', async () => {
    const error = failure(
      await cli(['markets', '--json', '--url', NOWHERE, '--timeout', '20'], env),
      'unreachable',
    );
    expect(error).toMatchObject({ code: 'unreachable', fix: expect.stringContaining('--url') });
  });

  test('that never answers: the deadline ends the command', async () => {
    const url = await deskBetween(service.url, async () => 'hang');
    for (const command of ['markets', 'watch']) {
      const error = failure(
        await cli([command, '--json', '--url', url, '--timeout', '1'], env),
        'unreachable',
      );
      expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('within 1 s') });
    }
  });

  test('that refuses: a market and an order that do not exist, and a wrong key', async () => {
    const noMarket = failure(
      await cli(['buy', 'nowhere', 'YES', '--amount', '2', '--yes', '--json'], env),
      'refused',
    );
    expect(noMarket).toMatchObject({
      code: 'market_not_found',
      fix: expect.stringContaining('bellwether markets'),
    });
    const noOrder = failure(await cli(['orders', `0x${'0'.repeat(64)}`, '--json'], env), 'refused');
    expect(noOrder.code).toBe('order_not_found');
    const wrongKey = { ...env, BELLWETHER_API_KEY: 'x'.repeat(64) };
    expect(failure(await cli(['portfolio', '--json'], wrongKey), 'refused')).toMatchObject({
      code: 'unauthorized',
      fix: expect.stringContaining('bellwether doctor'),
    });
  });

  test('that prepares another order than was asked for: it is not signed', async () => {
    const url = await deskBetween(service.url, async ({ path }, pass) => {
      const answer = await pass();
      return path.endsWith('/prepare')
        ? { ...answer, body: answer.body.replaceAll('"2000000"', '"9000000"') }
        : answer;
    });
    const before = await ordersPlaced();
    const error = failure(await cli([...buy('--yes'), '--url', url], env), 'unverified');
    expect(error).toMatchObject({
      code: 'prepared_order_differs',
      message: expect.stringContaining('Do not sign this order'),
      fix: expect.any(String),
    });
    expect(await ordersPlaced()).toBe(before);
  });

  test('whose texts hold escape sequences: none reaches the terminal', async () => {
    const title = `\u001b]0;pwned\u0007\u001b[2J\u009b31m\u202etxet\r\nerror: fake`;
    const url = await deskBetween(service.url, async (_request, pass) => {
      const { status, body } = await pass();
      const poisoned = body.replaceAll(
        /"(question|title|description|marketQuestion|detail)":"(?:[^"\\]|\\.)*"/g,
        (_, name) => `"${name}":${JSON.stringify(title)}`,
      );
      return { status, body: poisoned };
    });
    for (const args of [
      ['markets'],
      ['market', market.id],
      ['context', market.id],
      ['buy', market.id, 'YES', '--amount', '2'],
      ['orders', '0x00'],
      ['markets', '--json'],
    ]) {
      const { stdout, stderr } = await cli([...args, '--url', url], env);
      expect(stdout + stderr).toMatch(/pwned/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
    const { stdout } = await cli(['markets', '--json', '--limit', '1', '--url', url], env);
    expect(JSON.parse(stdout)[0].question).toBe(title);
  });
});

describe('an order on its way', () => {
  const isTrade = ({ path }: { path: string }) => path === '/markets/trade';

  test('whose answer is lost is looked up', async () => {
    const url = await deskBetween(service.url, async (request, pass) => {
      const answer = await pass();
      return isTrade(request) ? 'cut' : answer;
    });
    const before = await ordersPlaced();
    const { code, stdout } = await cli([...buy('--yes'), '--url', url], env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).trade).toMatchObject({ status: 'filled', filledSize: expect.any(Number) });
    expect(await ordersPlaced()).toBe(before + 1);
  });

  test('of which nothing is known ends with its id, and the way to send it again', async () => {
    let isDown = true;
    const url = await deskBetween(service.url, async (request, pass) =>
      isDown && isTrade(request)
        ? ({ status: 503, body: '{"code":"service_unavailable"}' } satisfies Passed)
        : pass(),
    );
    const error = failure(await cli([...buy('--yes'), '--url', url, '--timeout', '30'], env), 'unknown');
    isDown = false;
    expect(error).toMatchObject({
      code: 'order_outcome_unknown',
      orderId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    const again = /bellwether (buy .*)$/m.exec(error.fix)?.[1]?.replaceAll("'", '').split(' ') ?? [];
    // To the desk that the command line named, with any environment.
    const elsewhere = { ...env, BELLWETHER_URL: NOWHERE };
    const { code, stdout } = await cli([...again, '--yes', '--json'], elsewhere);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).orderId).toBe(error.orderId);
  });

  test('is named when Ctrl-C comes while it is sent; before that, nothing was sent', async () => {
    for (const [path, exit] of [
      ['/markets/trade', 'unknown'],
      ['/markets/trade/prepare', 'interrupted'],
    ] as const) {
      let hasArrived: () => void = () => {};
      const arrived = new Promise<void>((resolve) => {
        hasArrived = resolve;
      });
      const url = await deskBetween(service.url, async (request, pass) => {
        if (request.path !== path) return pass();
        hasArrived();
        return 'hang';
      });
      const running = startCli([...buy('--yes'), '--url', url], env);
      await arrived;
      running.child.kill('SIGINT');
      const error = failure(await running.ended, exit);
      if (exit === 'unknown') {
        expect(error.message).toContain('after the order was sent');
        expect(error.fix).toContain(`bellwether orders ${error.orderId}`);
      } else expect(error.message).toContain('before anything was placed');
    }
  });

  test('that needs an approval of no owner says how the agent gets one, not to wait', async () => {
    await client.updateSettings({ approvalAbove: 1 });
    const error = failure(await cli(buy('--yes'), env), 'refused');
    await client.updateSettings({ approvalAbove: null });
    expect(error).toMatchObject({ code: 'approval_required', fix: expect.stringContaining('claimUrl') });
    expect(error.fix).not.toContain('Wait');
  });

  test('that needs the approval of the owner says how to go on, and counts as spent once', async () => {
    const owner = await ownerOf(service);
    await claim(owner, { client });
    await client.updateSettings({ approvalAbove: 1 });
    const spent = async () => JSON.parse((await cli(['limits', '--json'], env)).stdout).spending.spent;
    const before = await spent();
    const named = ['--client-order-id', 'wanted', '--cancel-after', '5m'];
    const error = failure(await cli(buy('--yes', '--url', `${service.url}/`, ...named), env), 'refused');
    expect(error).toMatchObject({
      code: 'approval_required',
      fix: expect.stringMatching(
        /bellwether watch[\s\S]*bellwether buy .*--cancel-after '300000ms' .*--client-order-id 'wanted'/,
      ),
    });
    // Requests of the desk that the command line named.
    expect(error.fix).toContain(`--url '${service.url}'`);
    // The desk has the signed order.
    const counted = await spent();
    expect(counted).toBeGreaterThan(before);

    const [waiting] = await client.listApprovals();
    await decline(owner, waiting?.approvalId as string, 'too large');
    const declined = failure(await cli(buy('--yes', ...named), env), 'refused');
    await client.updateSettings({ approvalAbove: null });
    expect(declined).toMatchObject({ message: expect.stringContaining('too large') });
    expect(declined.fix).toMatch(/decision is final/);
    expect(await spent()).toBe(counted);
  });

  test('is not sent while no person can be asked', async () => {
    const before = await ordersPlaced();
    const { code, stderr } = await cli(['buy', market.id, 'YES', '--amount', '2'], env, 'y\n');
    expect(code).toBe(EXIT_CODES.unconfirmed.status);
    expect(stderr).toContain('fix: Add --yes');
    expect(await ordersPlaced()).toBe(before);
  });
});

describe('the keys', () => {
  const noKeys = (changes: Record<string, string> = {}): Record<string, string> => ({
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: env.BELLWETHER_HOME as string,
    ...changes,
  });

  test('that are not there', async () => {
    const error = failure(await cli(['portfolio', '--json'], noKeys()), 'keystore');
    expect(error).toMatchObject({
      code: 'keystore_missing',
      fix: expect.stringContaining('bellwether init'),
    });
    const half = noKeys({ BELLWETHER_PRIVATE_KEY: PRIVATE_KEY });
    expect(failure(await cli(['portfolio', '--json'], half), 'keystore').code).toBe('keys_incomplete');
  });

  test('are imported from standard input, and opened by no other passphrase', async () => {
    const home = noKeys({
      BELLWETHER_HOME: join(dataFolder(), 'own'),
      BELLWETHER_PASSPHRASE: 'the right passphrase',
    });
    const key = `0x${'a7'.repeat(32)}`;
    // The venue's own protocol, as for a live venue.
    const clob = ['--clob', `${service.url}/paper/clob`, '--wallet-type', 'deposit'];
    const unsaid = failure(await cli(['init', '--import-key', '--json', ...clob], home, `${key}\n`), 'usage');
    expect(unsaid.fix).toContain('--use paper');
    const paper = ['init', '--import-key', '--use', 'paper', '--json'];
    const made = await cli([...paper, ...clob], home, `${key}\n`);
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' });
    expect(made.stdout).not.toContain(key.slice(2));
    expect(JSON.parse(made.stdout).walletAddress).toBe(Signer.fromPrivateKey(key).wallet(3));
    const wrong = { ...home, BELLWETHER_PASSPHRASE: 'another passphrase' };
    expect(failure(await cli(['portfolio', '--json'], wrong), 'keystore').code).toBe('passphrase_wrong');
    const { BELLWETHER_PASSPHRASE: _, ...nobody } = home;
    expect(failure(await cli(['portfolio', '--json'], nobody), 'keystore').code).toBe('passphrase_missing');
    const again = failure(await cli(['init', '--import-key', '--json'], home, key), 'keystore');
    expect(again.code).toBe('keystore_exists');
    const [file] = readdirSync(home.BELLWETHER_HOME as string).filter((name) => name.endsWith('.keys.json'));
    chmodSync(join(home.BELLWETHER_HOME as string, file as string), 0o644);
    expect(failure(await cli(['portfolio', '--json'], home), 'keystore').code).toBe('keystore_permissions');
  });

  test('that are none are refused before an agent is made', async () => {
    const home = noKeys({
      BELLWETHER_HOME: join(dataFolder(), 'none'),
      BELLWETHER_PASSPHRASE: 'a long passphrase',
    });
    const error = failure(
      await cli(['init', '--import-key', '--use', 'paper', '--json'], home, 'not a key\n'),
      'keystore',
    );
    expect(error).toMatchObject({ code: 'key_invalid' });
  });
});

describe('doctor', () => {
  test('the set-up: good, and what is wrong with it', async () => {
    const solana = { BELLWETHER_SOLANA_KEY: JSON.stringify(Array(32).fill(9)) };
    const fine = await cli(['doctor', '--json'], { ...env, ...solana });
    expect(fine).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(fine.stdout)).toMatchObject({ isReady: true });
    const away = await cli(['doctor', '--url', NOWHERE], env);
    expect(away).toMatchObject({
      code: EXIT_CODES.findings.status,
      stdout: expect.stringMatching(/^WRONG +desk/),
    });
    expect(away.stdout).toContain('→ Start the desk');
  });

  test.each([['with a market'], ['without one']])('a wallet on a healthy paper desk, %s', async (how) => {
    const token = how === 'with a market' ? ['--token', market.clobTokenIds[0] as string] : [];
    const { code, stdout } = await cli(['doctor', 'wallet', ...token], env);
    expect(stdout).toMatch(/^ok {7}venue: it answers/);
    expect(stdout).not.toMatch(/WRONG|unknown/);
    if (token.length > 0) expect(stdout).toMatch(/^ok {7}tick size: 0\.01$/m);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^Nothing is wrong: this wallet can trade on paper\./,
    );
    expect(code).toBe(0);
  });

  test('a wallet of another key on paper, and any wallet where the venue is judged as a live one', async () => {
    const other = Signer.generate().address;
    const strange = await cli(['doctor', 'wallet', other], env);
    expect(strange).toMatchObject({ code: EXIT_CODES.findings.status });
    expect(strange.stdout).toMatch(/^WRONG +owner/m);
    const live = await cli(['doctor', 'wallet', '--clob', `${service.url}/paper/clob`], env);
    expect(live).toMatchObject({ code: EXIT_CODES.findings.status });
    expect(live.stdout).toMatch(/^WRONG +signature type/m);
    expect(live.stderr).toMatch(/of these are wrong\.\n.*Take the next steps/s);
  });

  test('a signed order from a file, and from standard input', async () => {
    const signer = Signer.fromPrivateKey(PRIVATE_KEY);
    const terms = { outcome: 'YES', side: 'BUY', price: 0.4, size: 5 } as const;
    const sent = JSON.stringify(await limitOrder({ signer }, market, { ...terms }));
    const file = join(dataFolder(), 'order.json');
    writeFileSync(file, sent);
    const good = await cli(['doctor', 'order', file, '--json'], env);
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(good.stdout)).toMatchObject({ isSound: true, orderId: expect.stringMatching(/^0x/) });
    const changed = sent.replace('"side":"BUY"', '"side":"SELL"');
    const bad = await cli(
      ['doctor', 'order', '-', '--neg-risk', market.negRisk ? 'yes' : 'no'],
      env,
      changed,
    );
    expect(bad.code).toBe(EXIT_CODES.findings.status);
    expect(bad.stdout).toMatch(/^WRONG {4}signature: side: order\.side/m);
    expect(failure(await cli(['doctor', 'order', '-', '--json'], env, 'no json'), 'usage').code).toBe(
      'order_unreadable',
    );
  });
});
