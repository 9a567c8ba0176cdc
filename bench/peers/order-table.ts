/**
 * Shared by the peers: an embedded PostgreSQL of their own, started like the service's (the same settings, full
 * durability), a pool, one table with one primary key, and one INSERT for each order. And the banner that the benchmark
 * waits for.
 */
import type { TradeRequest } from '@bellwether/contract';
import { Pool } from 'pg';
import { startEmbeddedPostgres } from '../../packages/durable/src/embedded/embedded-postgres.ts';

const POOL = 20;

const COLUMNS = [
  ['order_id', 'text primary key'],
  ['condition_id', 'text not null'],
  ['outcome', 'text not null'],
  ['side', 'text not null'],
  ['order_type', 'text'],
  ['price', 'numeric not null'],
  ['size', 'numeric not null'],
  ['maker', 'text not null'],
  ['signer', 'text not null'],
  ['token_id', 'text not null'],
  ['maker_amount', 'numeric not null'],
  ['taker_amount', 'numeric not null'],
  ['salt', 'text not null'],
  ['signature', 'text not null'],
] as const;

// With a name the driver prepares it once on each connection: the server neither parses nor plans it again.
const INSERT = {
  name: 'insert-order',
  text: `insert into orders (${COLUMNS.map(([name]) => name).join(', ')})
    values (${COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})`,
};

export interface OrderTable {
  /** Resolves when the order is durable. */
  insert(orderId: string, request: TradeRequest): Promise<void>;
  close(): Promise<void>;
}

export async function openOrderTable(dataDir: string): Promise<OrderTable> {
  const postgres = await startEmbeddedPostgres({ dataDir, database: 'peer' });
  const { socketDir: host, port, user, database } = postgres;
  const pool = new Pool({ host, port, user, database, max: POOL, idleTimeoutMillis: 0 });
  const columns = COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');
  await pool.query(`create table orders (${columns}, created_at timestamptz not null default now())`);
  return {
    async insert(orderId, { order, ...request }) {
      const values = [
        orderId,
        request.marketConditionId,
        request.outcome,
        String(order.side),
        request.orderType,
        request.price,
        request.orderSize,
        order.maker,
        order.signer,
        order.tokenId,
        order.makerAmount,
        order.takerAmount,
        String(order.salt),
        order.signature,
      ];
      await pool.query({ ...INSERT, values });
    },
    async close() {
      await pool.end();
      await postgres.stop();
    },
  };
}

/** Runs a peer: what the benchmark asks of a program is the service's environment, banner and signal. */
export async function runPeer(
  name: string,
  listen: (port: number, table: OrderTable) => Promise<{ close(): Promise<unknown> }>,
): Promise<void> {
  const { PORT, DATA_DIR } = process.env;
  if (PORT === undefined || DATA_DIR === undefined) throw new Error('PORT and DATA_DIR must be set');
  const table = await openOrderTable(DATA_DIR);
  const server = await listen(Number(PORT), table);
  process.once('SIGTERM', async () => {
    await server.close();
    await table.close();
    process.exit(0);
  });
  console.log(`${name} is ready (for the benchmark)`);
}
