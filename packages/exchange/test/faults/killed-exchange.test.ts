/** An exchange whose process is killed. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { stage } from '../open-exchange-stage.ts';

test.each([
  ['keeps', false],
  ['prunes', true],
])(
  'a process that is killed loses nothing that it acknowledged; it %s its journal',
  async (_, prunesJournal) => {
    const { sql, url, open } = await stage();
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('./open-exchange.crash.ts', import.meta.url)), url, String(prunesJournal)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const acknowledged: string[] = [];
    const firstInJournal = async (): Promise<number> => {
      const [journal] = await sql`select min(seq)::int as first from exchange_journal`;
      return journal?.first;
    };
    for await (const line of createInterface({ input: child.stdout })) {
      const count = acknowledged.push(line);
      // The thread that writes the snapshots may be slower than the orders.
      if (count >= 3_000 && count % 500 === 0 && (!prunesJournal || (await firstInJournal()) >= 700))
        child.kill('SIGKILL');
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(3_000);
    const exchange = await open({
      clock: { now: Date.now, every: () => ({ stop: () => {} }) },
      prunesJournal,
    });
    const hash = exchange.stateHash();
    const [row] = await sql`
    select count(*)::int as count from exchange_orders where order_id = any(${acknowledged})`;
    expect(row?.count).toBe(acknowledged.length);
    for (const id of acknowledged) expect(exchange.openOrder(id)).toBeDefined();
    await exchange.close();
    if (prunesJournal) expect(await firstInJournal()).toBeGreaterThanOrEqual(700);
    // Without a snapshot only a whole journal leads there, else the last ones.
    else await sql`delete from exchange_snapshots`;
    const again = await open();
    expect(again.stateHash()).toBe(hash);
    await again.close();
  },
);
