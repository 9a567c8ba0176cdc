/** The command line as a person has it: at a terminal, and with completion in a shell. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BellwetherClient, Market } from '@bellwether/sdk';
import { deskPlace, KnownMints, readKeys } from '@bellwether/sdk/keystore';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../packages/cli/src/cli-error.ts';
import { cli, cliAtTerminal, cliProcess, deskBetween, python } from '../cli-process.ts';
import { aMarket, newAgent, sharedTestService, startTestService } from '../harness.ts';
import { dataFolder } from '../service-process.ts';

const PASSPHRASE = 'correct horse battery staple';
const CONTROL = '\u001b';

/** Does what a shell does when Tab is pressed behind `bellwether buy 101 YES --wo`. */
const SCRIPTS = {
  bash: [
    'source <(bellwether completion bash)',
    'COMP_WORDS=(bellwether buy 101 YES --wo) COMP_CWORD=4',
    '__bellwether_complete',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n'),
  zsh: [
    'autoload -Uz compinit && compinit -D',
    'source <(bellwether completion zsh)',
    'whence -w _bellwether >/dev/null',
    'bellwether complete -- buy 101 YES --wo',
  ].join('\n'),
};

const shells = ['bash', 'zsh'].map((shell) => ({
  shell,
  isHere: spawnSync(shell, ['-c', 'true']).status === 0,
}));

describe('completion', () => {
  let folder: string;

  /** `bellwether` on the path, as an installation makes it. */
  beforeAll(() => {
    folder = join(dataFolder(), 'bin');
    mkdirSync(folder);
    const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
    writeFileSync(join(folder, 'bellwether'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
    chmodSync(join(folder, 'bellwether'), 0o755);
  });

  const words = (shell: string, script: string) => {
    const env = { PATH: `${folder}:${process.env.PATH}`, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
    const { stdout, status } = spawnSync(shell, [shell === 'bash' ? '--norc' : '--no-rcs', '-c', script], {
      env,
      encoding: 'utf8',
    });
    return { status, words: stdout.split('\n').map((line) => line.split('\t')[0]?.trim()) };
  };

  test.for([
    [['p'], ['positions', 'portfolio', 'pause']],
    [['limits', ''], ['set-spending']],
    [
      ['buy', '101', ''],
      ['YES', 'NO'],
    ],
    [['buy', '101', 'YES', '--wo'], ['--worst-price']],
    [
      ['buy', '101', 'YES', '--type', ''],
      ['GTC', 'GTD', 'FOK', 'FAK'],
    ],
    [['orders', '--js'], ['--json']],
    [
      ['doctor', ''],
      ['wallet', 'order'],
    ],
  ] as const)('%j', async ([typed, expected]) => {
    const { code, stdout } = await cliProcess(['complete', '--', ...typed]);
    expect(code).toBe(0);
    const offered = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[0]);
    expect(offered).toEqual(expect.arrayContaining([...expected]));
  });

  test.for(
    shells.map((one) => ({
      ...one,
      title: one.isHere ? one.shell : `there is no ${one.shell} here, so not tried`,
    })),
  )('$title', ({ shell, isHere }, { skip }) => {
    if (!isHere) return skip(`no ${shell}`);
    const complete = SCRIPTS[shell as keyof typeof SCRIPTS];
    const done = words(shell, complete);
    expect(done.status).toBe(0);
    expect(done.words).toContain('--worst-price');
  });

  test('another shell is refused', async () => {
    const { code, stderr } = await cliProcess(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(stderr).toContain('bash');
  });
});

const atTerminal =
  python === null ? 'there is no Python here, so no terminal is tried' : 'a person at a terminal';

describe(atTerminal, () => {
  let env: Record<string, string>;
  let market: Market;
  let count: () => Promise<number>;

  beforeAll(async () => {
    const service = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
    const { client, apiKey } = await newAgent(service);
    env = {
      BELLWETHER_URL: service.url,
      BELLWETHER_HOME: join(dataFolder(), 'keys'),
      BELLWETHER_API_KEY: apiKey,
      BELLWETHER_PRIVATE_KEY: `0x${'3c'.repeat(32)}`,
      BELLWETHER_SIGNATURE_TYPE: '3',
      BELLWETHER_ORDER_PROFILE: 'polymarket',
    };
    expect(await cliProcess(['init'], env)).toMatchObject({ code: 0 });
    market = await aMarket(client);
    count = async () => (await client.listOrders()).length;
  });

  const needsPython = (skip: (why: string) => void): boolean => {
    if (python === null) skip('no Python');
    return python === null;
  };
  const buy = () => ['buy', market.id, 'YES', '--amount', '2'];

  test('is shown the order and asked; only yes places it', async ({ skip }) => {
    if (needsPython(skip)) return;
    for (const [answer, code] of [
      ['n\n', 7],
      ['\n', 7],
      ['\u0004', 7],
      ['\u0003', 130],
    ] as const) {
      const { screen, ...ended } = await cliAtTerminal(buy(), env, [['[y/N]', answer]]);
      expect({ answer, ...ended }).toEqual({ answer, code });
      expect(screen).toContain('spend at most 2 on YES');
    }
    expect(await count()).toBe(0);
    const { code, screen } = await cliAtTerminal(buy(), env, [['[y/N]', 'y\n']]);
    expect(code).toBe(0);
    expect(screen).toMatch(/status.*matched/);
    expect(await count()).toBe(1);
  });

  test('sees a progress line, tables within the width, and bold titles unless NO_COLOR', async ({ skip }) => {
    if (needsPython(skip)) return;
    const { screen } = await cliAtTerminal(['markets', '--limit', '40'], env, []);
    expect(screen).toContain('Searching … 0 s');
    expect(screen).toContain(`${CONTROL}[1m`);
    const lines = screen.split('\r\n').filter((line) => / polymarket$| kalshi$/.test(line));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
    const plain = await cliAtTerminal(['markets', '--limit', '1'], { ...env, NO_COLOR: '1' }, []);
    expect(plain.screen).not.toContain(`${CONTROL}[1m`);
  });

  test('signs what the live venue takes only when asked to, and the same order again is the same', async () => {
    const { BELLWETHER_ORDER_PROFILE: _, ...silent } = env;
    const before = await count();
    const order = [...buy(), '--worst-price', '0.95', '--yes', '--json'];
    const refused = await cliProcess(order, silent);
    expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('add --live') });
    expect(await count()).toBe(before);
    const named = [...order, '--live', '--client-order-id', 'mine', '--timestamp', String(Date.now())];
    const [first, second] = [await cliProcess(named, silent), await cliProcess(named, silent)];
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(second.stdout).trade).toEqual(JSON.parse(first.stdout).trade);
    expect(await count()).toBe(before + 1);
  });

  test('chooses a passphrase that is not shown, and types a key that is not shown', async ({ skip }) => {
    if (needsPython(skip)) return;
    const { BELLWETHER_URL } = env;
    const home = { BELLWETHER_URL: BELLWETHER_URL as string, BELLWETHER_HOME: join(dataFolder(), 'own') };
    const key = '9d'.repeat(32);
    const made = await cliAtTerminal(['init', '--import-key', '--use', 'paper'], home, [
      ['Private key', `0x${key}\r`],
      ['new passphrase', `${PASSPHRASE}\r`],
      ['The same again', `${PASSPHRASE}\r`],
    ]);
    expect(made.code).toBe(0);
    expect(made.screen).not.toMatch(new RegExp(`${key}|${PASSPHRASE}`));
    const wrong = await cliAtTerminal(['portfolio'], home, [['Passphrase', 'something else\r']]);
    expect(wrong).toMatchObject({ code: 6, screen: expect.stringContaining('error: passphrase_wrong') });
    const raised = (typed: string) =>
      cliAtTerminal(['limits', 'set-spending', '300'], { ...home, BELLWETHER_PASSPHRASE: PASSPHRASE }, [
        ['Passphrase', `${typed}\r`],
      ]);
    expect(await raised('something else')).toMatchObject({
      code: 6,
      screen: expect.stringContaining('passphrase_wrong'),
    });
    expect(await raised(PASSPHRASE)).toMatchObject({ code: 0, screen: expect.stringMatching(/ 300/) });
    const marked = await cliAtTerminal(['keys', 'mark', 'live'], home, [['Passphrase', `${PASSPHRASE}\r`]]);
    expect(marked.code).toBe(0);
    expect((await readKeys(deskPlace(home), PASSPHRASE)).evm[0]).toMatchObject({ use: 'live' });
    const mint = 'CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb';
    const confirmed = await cliAtTerminal(['mint', 'confirm', 'KXTEST', 'YES', mint], home, [
      ['Passphrase', `${PASSPHRASE}\r`],
    ]);
    expect(confirmed.code).toBe(0);
    expect(new KnownMints(deskPlace(home)).find('KXTEST', 'YES')).toMatchObject({ mint, source: 'person' });
    const right = await cliAtTerminal(['portfolio'], home, [['Passphrase', `${PASSPHRASE}\r`]]);
    expect(right).toMatchObject({ code: 0, screen: expect.stringMatching(/balance/) });
  });
});

test('an exit whose answers are all lost: the error names the command that leaves the same one', async () => {
  const service = await startTestService({ PAPER_WORLD: 'off' });
  const agent = await newAgent(service);
  const client: BellwetherClient = agent.client;
  const env = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_API_KEY: agent.apiKey,
    BELLWETHER_PRIVATE_KEY: `0x${'6e'.repeat(32)}`,
    BELLWETHER_KEY_USE: 'paper',
  };
  expect(await cli(['init'], env)).toMatchObject({ code: 0 });
  const market = await aMarket(client);
  expect(await cli(['split', market.id, '20', '--yes'], env)).toMatchObject({ code: 0 });

  let isLost = true;
  const url = await deskBetween(service.url, async ({ path }, pass) => {
    const answer = await pass();
    return isLost && path === '/markets/exits' ? 'cut' : answer;
  });
  const terms = ['sell', market.id, 'YES', '--size', '10', '--price', '0.05', '--below', '0.05'];
  const lost = await cli([...terms, '--group', 'mine', '--yes', '--json', '--url', url], env);
  expect(lost).toMatchObject({ code: EXIT_CODES.unknown.status, stdout: '' });
  const { error } = JSON.parse(lost.stderr);
  expect(error).toMatchObject({
    code: 'exit_outcome_unknown',
    fix: expect.stringContaining('bellwether exits'),
  });

  isLost = false;
  const again = /bellwether (sell .*)$/m.exec(error.fix)?.[1]?.replaceAll("'", '').split(' ') ?? [];
  const repeated = await cli([...again, '--yes', '--json'], env);
  expect({ code: repeated.code, stderr: repeated.stderr }).toMatchObject({ code: 0 });
  expect(JSON.parse(repeated.stdout)).toMatchObject({
    status: 'armed',
    group: 'mine',
    orderId: error.orderId,
  });
  expect(await client.listExits()).toHaveLength(1);
});
