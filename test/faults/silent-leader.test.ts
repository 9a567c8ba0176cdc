/** A leader that is frozen, or cut off from the database, is replaced; when it returns it does no harm. */
import { randomBytes } from 'node:crypto';
import { BellwetherClient } from '@bellwether/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { call, newTrader } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';
import { aPurchase, cutOff, type Fault, freeze } from '../takeover-stage.ts';

/** Five seconds are promised on an idle machine; a busy one gets twice that. */
const TAKEOVER_MS = 10_000;
const RETURN_MS = 30_000;

const termOf = async (sql: Sql): Promise<bigint> => {
  const [row] = await sql`select term from durable_terms where name = 'exchange'`;
  return row?.term;
};

const isReady = async (process: ServiceProcess): Promise<boolean> =>
  (await call(process, 'GET', '/readyz')).status === 200;

const FAULTS: Readonly<Record<string, Fault>> = {
  'is frozen': freeze,
  'is cut off from the database': cutOff(),
};

test.each(Object.entries(FAULTS))('a leader that %s is replaced, and can return safely', async (_, fault) => {
  const databaseUrl = await createDeskDatabase();
  const env = { MASTER_KEY: randomBytes(32).toString('hex'), LOG_LEVEL: 'fatal' };
  const leader = await startProcess({
    env: { ...env, DATABASE_URL: await fault.leaderUrl(databaseUrl) },
  });
  const follower = await startProcess({ env: { ...env, DATABASE_URL: databaseUrl } });
  const trader = await newTrader(follower);
  const before = await trader.client.placeTrade(await aPurchase(trader, 20));
  expect(before).toMatchObject({ success: true, status: 'matched' });

  const sql = openPool(databaseUrl, { max: 1 });
  onTestFinished(() => sql.end());
  const first = await termOf(sql);
  fault.begin(leader);
  // In flight to a leader that will not answer: the outcome is unknown.
  const meanwhile = await aPurchase(trader, 20);
  const onItsWay = call(follower, 'POST', '/markets/trade', { key: trader.apiKey, body: meanwhile });
  await expect.poll(() => termOf(sql), { timeout: TAKEOVER_MS, interval: 50 }).toBe(first + 1n);
  await expect.poll(() => isReady(follower), { timeout: TAKEOVER_MS, interval: 50 }).toBe(true);
  const inDoubt = await onItsWay;

  const after = await trader.client.placeTrade(await aPurchase(trader, 20));
  expect(after).toMatchObject({ success: true, status: 'matched' });

  fault.end(leader);
  await expect.poll(() => isReady(leader), { timeout: RETURN_MS, interval: 100 }).toBe(true);
  const there = new BellwetherClient({ baseUrl: leader.url, apiKey: trader.apiKey });
  const last = await there.placeTrade(await aPurchase(trader, 20));
  expect(last).toMatchObject({ success: true, status: 'matched' });

  // The order in doubt has one outcome, the same at both replicas, and counts in the position once or never.
  const isSettled = async (): Promise<boolean> => {
    const { status, body } = await call(follower, 'POST', '/markets/trade', {
      key: trader.apiKey,
      body: meanwhile,
    });
    return body.code !== 'order_outcome_unknown' && status !== 409;
  };
  await expect.poll(isSettled, { timeout: RETURN_MS, interval: 200 }).toBe(true);
  const settled = await call(follower, 'POST', '/markets/trade', { key: trader.apiKey, body: meanwhile });
  expect(await call(leader, 'POST', '/markets/trade', { key: trader.apiKey, body: meanwhile })).toMatchObject(
    {
      status: settled.status,
      body: settled.status === 201 ? settled.body : { code: settled.body.code },
    },
  );
  if (inDoubt.status === 201) expect(settled.body).toEqual(inDoubt.body);
  const filled = settled.status === 201 ? settled.body.filledSize : 0;
  const held = [...(await trader.client.getCurrentPositions()), ...(await there.getCurrentPositions())];
  const expected = [before, after, last].reduce((sum, { filledSize }) => sum + filledSize, filled);
  expect(held.reduce((sum, { size }) => sum + size, 0)).toBeCloseTo(2 * expected, 5);
});
