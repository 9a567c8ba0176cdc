/** Commands of an operator that were started in a wrong way: one sentence that says what to do, and a status. */
import { expect, test } from 'vitest';
import { runScript } from '../service-process.ts';

const COMMANDS = [
  ['scripts/backup.ts', '--to'],
  ['scripts/restore.ts', '--from'],
  ['scripts/rotate-key.ts', '--prepare'],
  ['scripts/doctor.ts', '--wallet'],
  ['scripts/sentinel.ts', '--clob'],
  ['scripts/verify-receipts.ts', '--head'],
  ['bench/main.ts', '--only'],
  ['test/simulation/main.ts', '--seed'],
] as const;

test.each(COMMANDS)(
  '%s names a misspelt option, those that there are, and does nothing',
  async (script, known) => {
    const { code, stdout, stderr } = await runScript(script, ['--misspelt', '1']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('There is no option --misspelt; the options are ');
    expect(stderr).toContain(known);
    expect(stderr).toContain('npm run ');
    expect(stderr).not.toMatch(/^\s+at /m);
  },
);

test.each(COMMANDS)('%s says with --help how it is used', async (script, known) => {
  const { code, stdout, stderr } = await runScript(script, ['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(known);
});

test.each([
  ['no wallet', 'doctor', [], 2, 'Say which wallet is to pay'],
  ['no credentials of the relayer', 'doctor', ['--relayer'], 2, 'Set POLYMARKET_RELAYER_API_KEY and'],
  ['a broken key', 'doctor', ['--wallet', `0x${'1'.repeat(40)}`], 1, 'A private key is 0x and 64 hex digits'],
  ['no file', 'backup', ['--to'], 2, '--to'],
  ['an argument', 'restore', ['backup.tar'], 2, "Unexpected argument 'backup.tar'"],
  [
    'a head of another form',
    'verify-receipts',
    ['--head', 'x:1'],
    2,
    '--head is not AGENT_ID:SEQUENCE:HASH, but x:1',
  ],
  ['no JSON', 'verify-receipts', ['README.md'], 2, 'README.md cannot be read as JSON'],
] as const)('%s of the %s is a sentence', async (_, script, args, code, sentence) => {
  const env = { WALLET_PRIVATE_KEY: '0x5a' };
  const ended = await runScript(`scripts/${script}.ts`, args, { env });
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/^[^\n]*\n$/) });
  expect(ended.stderr).toContain(sentence);
});
