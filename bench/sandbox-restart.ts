/**
 * How long the sandbox chain needs to restart with 10,000 token accounts, and the cost of a transaction.
 * Run it with `node bench/sandbox-restart.ts`. About ten seconds, on its own embedded PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOLANA_PROGRAMS, toBase58 } from '@bellwether/protocol';
import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import {
  type AddressedAccount,
  openChain,
  SANDBOX_CHAIN_SCHEMA,
  type SandboxChain,
} from '../packages/sandbox/src/solana/index.ts';
import { build, SOL, TestClock, transferSol, wallet } from '../packages/sandbox/test/chain-fixtures.ts';
import { openPool, socketUrl } from '../packages/server/src/platform/database/connection.ts';

const ACCOUNTS = 10_000;
const PER_PUT = 1_000;
const RESTARTS = 3;
const TRANSACTIONS = 500;

const randomAddress = (): string => toBase58(crypto.getRandomValues(new Uint8Array(32)));

function tokenAccount(): AddressedAccount {
  const data = new Uint8Array(165);
  crypto.getRandomValues(data.subarray(0, 64));
  data[108] = 1;
  return {
    address: randomAddress(),
    account: { lamports: 2_039_280n, owner: SOLANA_PROGRAMS.token, data, executable: false },
  };
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [before, started] = [process.cpuUsage(), performance.now()];
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  const elapsed = performance.now() - started;
  console.log(`${what}: ${elapsed.toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of processor)`);
  return result;
}

async function sendMany(chain: SandboxChain): Promise<void> {
  const [from, to] = [await wallet(chain, 5n * SOL), await wallet(chain)];
  const { blockhash } = await chain.latestBlockhash();
  const wires = await Promise.all(
    Array.from({ length: TRANSACTIONS }, (_, index) =>
      build(from, [transferSol(from, to.address, BigInt(index + 1))], { blockhash }),
    ),
  );
  const outcomes = await timed(`${TRANSACTIONS} transactions at once`, () =>
    Promise.all(wires.map((wire) => chain.send(wire))),
  );
  if (outcomes.some(({ kind }) => kind !== 'executed')) throw new Error('a transaction was refused');
}

const folder = mkdtempSync(join(tmpdir(), 'bw-bench-'));
const server = await startEmbeddedPostgres({ dataDir: folder, database: 'bellwether' });
const sql = openPool(socketUrl(server, 'bellwether'), { max: 4 });
try {
  await sql.unsafe(SANDBOX_CHAIN_SCHEMA);
  const open = (): Promise<SandboxChain> => openChain({ sql, seed: 'bench', clock: new TestClock() });
  let chain = await timed('first start', open);
  for (let put = 0; put < ACCOUNTS; put += PER_PUT)
    await chain.put(Array.from({ length: PER_PUT }, tokenAccount));
  for (let restart = 0; restart < RESTARTS; restart++) {
    await chain.close();
    chain = await timed(`restart with ${ACCOUNTS} accounts`, open);
  }
  await sendMany(chain);
  await chain.close();
} finally {
  await sql.end();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
