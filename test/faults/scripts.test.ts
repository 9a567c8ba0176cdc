/** Programs as a shell sees them: commands that were started in a wrong way say what to do, and a service says only what is public. */

import { buildMarketOrder } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { aMarket, call, newTrader } from '../harness.ts';
import { dataFolder, runScript, startProcess } from '../service-process.ts';

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

test('the start lists what is public only when other machines can reach the service', async () => {
  const open = await startProcess({ dataDir: dataFolder(), env: { HOST: '0.0.0.0', PAPER_WORLD: 'off' } });
  const text = open.output();
  expect(text).toContain('without a key');
  for (const route of ['POST /agents/register', '/paper/clob', 'GET /agents/claim/{claimCode}', '/docs'])
    expect(text).toContain(route);
  expect(text).toContain('ALLOWED_HOSTS');
  open.child.kill('SIGTERM');
  const closed = await startProcess({ dataDir: dataFolder(), env: { PAPER_WORLD: 'off' } });
  expect(closed.output()).not.toContain('without a key');
  closed.child.kill('SIGTERM');
  await Promise.all([open.exit(), closed.exit()]);
});

test('what is only checked leaves no error in the log', async () => {
  const desk = await startProcess({ dataDir: dataFolder() });
  const agent = await newTrader(desk);
  const itsMarket = await aMarket(agent.client);
  const order = { signer: agent.signer, market: itsMarket, outcome: 'YES', side: 'BUY' } as const;
  const request = await buildMarketOrder({ ...order, amount: 20, worstPrice: 0.95 });
  const body = { ...request, validateOnly: true };
  const checked = await call(desk, 'POST', '/markets/trade', { key: agent.apiKey, body });
  expect(checked).toMatchObject({ status: 200, body: { validateOnly: true } });
  desk.child.kill('SIGINT');
  await desk.exit();
  expect(desk.output()).not.toMatch(/"level":[56]0/);
});
