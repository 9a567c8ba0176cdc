/** `bellwether-mcp` as a person uses it at a terminal. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/setup/clean-up.ts';
import { readConfig } from '../../src/desk.ts';

const FOLDER = join(import.meta.dirname, '../..');

function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const home = temporaryFolder();
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    BELLWETHER_HOME: home,
    BELLWETHER_PASSPHRASE: 'a passphrase',
    ...more,
  };
  const options = { env, encoding: 'utf8', input: '' } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(FOLDER, 'src', 'main.ts'), ...args],
    options,
  );
  return { status, stdout, stderr, files: readdirSync(home) };
}

test('helps, and says its version, which is that of the package', () => {
  expect(run(['--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining('limit set AMOUNT') });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(run(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '', files: [] });
});

test.each([[['trade']], [['limit', 'raise', '5']], [['--prot', '80']], [['http', '--port', 'many']]])(
  '%j is no command: exit 2, and where to look',
  (args) => {
    expect(run(args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--help'),
      stdout: '',
      files: [],
    });
  },
);

test('shows the limit, sets it for a person alone, and takes nothing that is no amount', () => {
  const home = temporaryFolder();
  const here = { BELLWETHER_HOME: home };
  expect(run(['limit'], here).stdout).toContain(': 100 a UTC day; 0 used');
  // Only a person raises it: at a terminal, with the passphrase typed there, with any environment.
  expect(run(['limit', 'set', '200.5'], { ...here, BELLWETHER_PASSPHRASE: 'a passphrase' })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('terminal'),
  });
  for (const amount of ['-1', 'all', '1e40', '0.0000001'])
    expect(run(['limit', 'set', '--', amount], here)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('amount'),
    });
  expect(run(['limit'], here).stdout).toContain(': 100 a UTC day');
});

test('makes no keys where no desk answers', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as { port: number };
  await new Promise((resolve) => gone.close(resolve));
  const ended = run(['init'], { BELLWETHER_URL: `http://127.0.0.1:${port}` });
  expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining('Is the desk running') });
  expect(ended.files).toEqual([]);
});

test('says everything that is wrong in the environment at once', () => {
  const env = {
    BELLWETHER_CONFIRM_ABOVE: 'much',
    BELLWETHER_TIMEOUT_MS: '5',
    BELLWETHER_ORDER_PROFILE: 'own',
  };
  expect(() => readConfig(env)).toThrow(/CONFIRM_ABOVE.*ORDER_PROFILE.*TIMEOUT_MS/);
});
