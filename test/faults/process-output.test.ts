/** Output of a started service: what is public, and no error for what is only checked. */
import { buildMarketOrder } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { aMarket, call, newTrader } from '../harness.ts';
import { dataFolder, startProcess } from '../service-process.ts';

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
