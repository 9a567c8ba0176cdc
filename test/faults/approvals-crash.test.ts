/** The service is killed between an owner's approval and the trade: the approval holds, once, and the receipt tells both. */
import { BellwetherClient, verifyReceipts } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { approve, claim } from '../approving.ts';
import { aMarket, call, marketBuy, newTrader } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { dataFolder, kill, runScript, startProcess } from '../service-process.ts';

test('killed after the approval, the same signed order trades after the restart, once', async () => {
  const dataDir = dataFolder();
  const first = await startProcess({ dataDir });
  const { port, url } = first;
  const trader = await newTrader(first);
  const owner = new Visitor(first, `http://localhost:${port}`);
  await owner.register('Ada');
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: 10 });
  const market = await aMarket(trader.client);
  const order = await marketBuy(trader, market, 20);
  const post = () => call(first, 'POST', '/markets/trade', { key: trader.apiKey, body: order });
  const asked = await post();
  expect(asked.body).toMatchObject({ code: 'approval_required' });
  const { approvalId } = asked.body;
  expect((await approve(owner, approvalId)).status).toBe(200);

  kill(first.child.pid as number, 'SIGKILL');
  await first.exit();
  await startProcess({ dataDir, port });

  const placed = await post();
  expect(placed).toMatchObject({ status: 201, body: { success: true } });
  const again = await post();
  expect(again.body.orderId).toBe(placed.body.orderId);
  const client = new BellwetherClient({ baseUrl: url, apiKey: trader.apiKey });
  expect(await client.listFills()).toHaveLength(1);
  const shown = await call(first, 'GET', `/agents/approvals/${approvalId}`, { key: trader.apiKey });
  expect(shown.body.status).toBe('used');
  await expect.poll(async () => (await client.listReceipts()).entries.length).toBeGreaterThan(0);
  expect(verifyReceipts({ entries: (await client.listReceipts()).entries }).ok).toBe(true);
  // The operator's command finds the embedded database of the folder.
  expect(await runScript('scripts/verify-receipts.ts', ['--data', dataDir])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 orders checked; 0 altered.'),
  });
});
