/**
 * npm run verify-receipts -- <file.json>               an export: what GET /agents/receipts answers, or a list of its pages
 * npm run verify-receipts -- [--data <folder>]         the whole embedded database, while the service runs or not
 * npm run verify-receipts -- --database <url>          a whole database of your own (default: DATABASE_URL)
 *   --head <agentId>:<sequence>:<hash>                 a head that you kept; may be repeated
 *
 * Checks offline that no receipt, order or fill was altered, and names the first that was. Ends with 0 when all holds.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ReceiptEntry, ReceiptLink } from '@bellwether/contract';
import { DESK_DATABASE, reachServer } from '@bellwether/durable/embedded';
import { verifyReceipts } from '@bellwether/sdk';
import { openPool } from '../packages/server/src/adapters/postgres/connection.ts';
import { auditReceipts as inDatabase } from '../packages/server/src/adapters/postgres/receipt-audit.ts';
import { auditReceipts } from '../packages/server/src/app/receipts/audit-receipts.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string' },
    data: { type: 'string' },
    head: { type: 'string', multiple: true, default: [] },
  },
});

const HEAD = /^([0-9a-f-]{36}):(\d+):([0-9a-f]{64})$/;
const kept = new Map<string, ReceiptLink>();
for (const text of values.head) {
  const [, agentId, sequence, hash] = HEAD.exec(text) ?? [];
  if (agentId === undefined || hash === undefined) fail(`--head is not <agentId>:<sequence>:<hash>: ${text}`);
  kept.set(agentId, { sequence: Number(sequence), hash });
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

interface Page {
  readonly entries: readonly ReceiptEntry[];
}

function entriesIn(file: string): readonly ReceiptEntry[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    fail(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  const pages = Array.isArray(content) ? content : [content];
  return pages.flatMap((item: Page | ReceiptEntry) => ('entries' in item ? item.entries : [item]));
}

function verifyFile(file: string): boolean {
  let isSound = true;
  for (const [agentId, entries] of Map.groupBy(entriesIn(file), (entry) => entry.agentId)) {
    const head = kept.get(agentId);
    const found = verifyReceipts({ entries, ...(head === undefined ? {} : { head }) });
    if (found.ok)
      console.log(
        `ok      agent ${agentId}: ${found.entries} entries; head ${found.head.sequence}:${found.head.hash}`,
      );
    else console.log(`ALTERED agent ${agentId}, receipt ${found.fault.sequence}: ${found.fault.problem}`);
    isSound &&= found.ok;
  }
  return isSound;
}

async function verifyDatabase(url: string): Promise<boolean> {
  const sql = openPool(url);
  try {
    const { agents, entries, orders, faults } = await inDatabase(sql, (audit) => auditReceipts(audit, kept));
    for (const { agentId, row, problem } of faults)
      console.log(`ALTERED agent ${agentId}, ${row}: ${problem}`);
    console.log(
      `${agents} agents, ${entries} receipts and ${orders} orders checked; ${faults.length} altered.`,
    );
    return faults.length === 0;
  } finally {
    await sql.end();
  }
}

/** By the server of the running service, or by one of our own. */
async function verifyEmbedded(dataDir: string): Promise<boolean> {
  const server = await reachServer(dataDir, DESK_DATABASE).catch((error: Error) =>
    fail(
      `${error.message}\nOr name an export, or a database: npm run verify-receipts -- --database postgresql://…`,
    ),
  );
  try {
    return await verifyDatabase(server.url);
  } finally {
    await server.close();
  }
}

const [file] = positionals;
const url = values.database ?? process.env.DATABASE_URL;
const verify = (): boolean | Promise<boolean> => {
  if (file !== undefined) return verifyFile(file);
  return url === undefined
    ? verifyEmbedded(values.data ?? process.env.DATA_DIR ?? './data')
    : verifyDatabase(url);
};
process.exitCode = (await verify()) ? 0 : 1;
