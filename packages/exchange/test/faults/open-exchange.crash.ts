/**
 * Runs an exchange under load for a test that kills it: prints the id of every order that was acknowledged. The
 * arguments: the database's URL, and whether the journal is pruned.
 */
import { openPool } from '@bellwether/durable';
import { type NewOrder, openExchange } from '../../src/index.ts';

const ACCOUNT = '0x00000000000000000000000000000000000a11ce';
const IN_FLIGHT = 32;

const sql = openPool(process.argv[2]!, { max: 2 });
const prunesJournal = process.argv[3] === 'true';
const exchange = await openExchange({ sql, seed: 'test', snapshotEveryCommands: 700, prunesJournal });
await exchange.execute({ kind: 'deposit', account: ACCOUNT, amount: 1_000_000_000_000n });
const market = [...exchange.markets()].find((one) => one.endDate > Date.now() + 86_400_000)!;
let next = 0;

async function placeForEver(): Promise<never> {
  for (;;) {
    next += 1;
    const order: NewOrder = {
      orderId: `0x${next.toString(16).padStart(64, '0')}`,
      account: ACCOUNT,
      conditionId: market.conditionId,
      outcome: 'YES',
      side: 'BUY',
      limit: market.tickSize,
      size: 5_000_000n,
      timeInForce: 'GTC',
      postOnly: true,
    };
    await exchange.execute({ kind: 'place', order });
    process.stdout.write(`${order.orderId}\n`);
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, placeForEver));
