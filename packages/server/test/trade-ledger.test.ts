/** The line of trades: what one group that stands still, or fails, does to the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, type Sql } from '@bellwether/durable';
import { expect, onTestFinished, test } from 'vitest';
import { createDeskDatabase } from '../../../test/postgres.ts';
import type { Admission } from '../src/trading/admission.ts';
import { createTradeLedger } from '../src/trading/ledger.ts';

/** Longer than a group may take before it is overtaken. */
const SLOW_MS = 400;

async function pool(): Promise<Sql> {
  const sql = openPool(await createDeskDatabase(), { max: 6 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return sql;
}

/** A trade of an agent that does not exist: nothing is locked, and nothing is recorded. */
const admission = (turn: number): Admission => ({
  caller: { agentId: '00000000-0000-4000-8000-000000000000', userId: 1n, keyId: 1n },
  venue: 'polymarket',
  orderId: `order ${turn}`,
  clientOrderId: null,
  wallets: [],
  funder: '0x00000000000000000000000000000000000a11ce' as Admission['funder'],
  signer: '0x00000000000000000000000000000000000a11ce' as Admission['signer'],
  conditionId: 'condition',
  tokenIds: ['1', '2'],
  at: Date.now(),
  judge: () => null,
});

/** A pool whose first connections, as many as said, are lent and never answer. */
function withSilent(sql: Sql, silent: number): Sql {
  const { connections } = sql;
  let lent = 0;
  return Object.assign(((...args: Parameters<Sql>) => sql(...args)) as Sql, sql, {
    connections: {
      acquire(use: Parameters<typeof connections.acquire>[0], fail: (fault: unknown) => void): void {
        lent += 1;
        if (lent > silent) connections.acquire(use, fail);
      },
      release: (connection: Parameters<typeof connections.release>[0]) => connections.release(connection),
    },
  });
}

test('a group whose connection does not answer does not stop the trades after it', async () => {
  const ledger = createTradeLedger(withSilent(await pool(), 2), null);
  const answered: number[] = [];
  const send = (turn: number) =>
    // The agent is unknown, which is an answer.
    void ledger.admit(admission(turn)).then(
      () => answered.push(turn),
      () => answered.push(turn),
    );
  for (const turn of [1, 2]) {
    send(turn);
    await sleep(SLOW_MS);
  }
  send(3);
  await expect.poll(() => answered).toEqual([3]);
});
