/**
 * npm run verify-receipts -- <file.json>               an export: what GET /agents/receipts answers, or a list of its pages
 * npm run verify-receipts -- [--data <folder>]         the whole embedded database, while the service runs or not
 * npm run verify-receipts -- --database <url>          a whole database of your own (default: DATABASE_URL)
 *   --head <agentId>:<sequence>:<hash>                 a head that you kept; may be repeated
 *
 * Checks offline that no receipt, order or fill was altered, and names the first that was. Ends with 0 when all holds, with 1
 * where something was altered, with 2 where a file is no export, and with 3 where there was nothing to verify.
 */
import { readFileSync } from 'node:fs';
import type { ReceiptEntry, ReceiptLink } from '@bellwether/contract';
import { DESK_DATABASE, reachServer } from '@bellwether/durable/embedded';
import { verifyReceipts } from '@bellwether/sdk';
import { openPool, type Sql } from '../packages/server/src/platform/database/connection.ts';
import { nativeSha256 } from '../packages/server/src/platform/system/secrets.ts';
import { type AuditCounts, auditReceipts } from '../packages/server/src/receipts/audit.ts';
import { readOptions, runOperation, usage } from './operation.ts';

const HOW =
  'npm run verify-receipts -- [FILE | --data FOLDER | --database URL] [--head AGENT_ID:SEQUENCE:HASH]…';
const PROGRESS_MS = 2_000;
const HEAD = /^([0-9a-f-]{36}):(\d+):([0-9a-f]{64})$/;
type Verdict = 'sound' | 'altered' | 'nothing';
const STATUS: Readonly<Record<Verdict, number>> = { sound: 0, altered: 1, nothing: 3 };
/** The heads that somebody kept, by agent. */
type Kept = ReadonlyMap<string, ReceiptLink>;

function keptHeads(texts: readonly string[]): Kept {
  const kept = new Map<string, ReceiptLink>();
  for (const text of texts) {
    const [, agentId, sequence, hash] = HEAD.exec(text) ?? [];
    if (agentId === undefined || hash === undefined)
      throw usage(`--head is not AGENT_ID:SEQUENCE:HASH, but ${text}`, HOW);
    kept.set(agentId, { sequence: Number(sequence), hash });
  }
  return kept;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function entriesIn(file: string): readonly ReceiptEntry[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    fail(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  const pages: readonly unknown[] = Array.isArray(content) ? content : [content];
  const entries = pages.flatMap((item) => (isObject(item) && 'entries' in item ? item.entries : [item]));
  if (!entries.every(isObject))
    fail(
      `${file} is no export of receipts: it has to be what GET /agents/receipts answers, or a list of that.`,
    );
  return entries as unknown as readonly ReceiptEntry[];
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A file that holds no receipt at all was not altered: another file was named. */
function verified(file: string, receipts: Parameters<typeof verifyReceipts>[0]) {
  try {
    return verifyReceipts(receipts);
  } catch (error) {
    fail(`${file} is no export of receipts: ${(error as Error).message}`);
  }
}

function verifyFile(file: string, kept: Kept): Verdict {
  const chains = Map.groupBy(entriesIn(file), (entry) => entry.agentId);
  let verdict: Verdict = chains.size === 0 ? 'nothing' : 'sound';
  if (verdict === 'nothing') console.log(`${file} has no receipts: nothing was verified.`);
  for (const [agentId, { sequence }] of kept) {
    if (sequence === 0 || chains.has(agentId)) continue;
    console.log(
      `ALTERED agent ${agentId}: no receipt of it is there, and the head that you kept is entry ${sequence}.`,
    );
    verdict = 'altered';
  }
  for (const [agentId, entries] of chains) {
    const head = kept.get(agentId);
    const found = verified(file, { entries, ...(head === undefined ? {} : { head }) });
    if (found.ok)
      console.log(
        `ok      agent ${agentId}: ${found.entries} entries; head ${found.head.sequence}:${found.head.hash}`,
      );
    else console.log(`ALTERED agent ${agentId}, receipt ${found.fault.sequence}: ${found.fault.problem}`);
    if (!found.ok) verdict = 'altered';
  }
  return verdict;
}

/** On the error output, so that the result alone can be kept. */
function progressEvery(ms: number): (sofar: AuditCounts) => void {
  let next = performance.now() + ms;
  return ({ agents, entries, orders }) => {
    if (performance.now() < next) return;
    next = performance.now() + ms;
    console.error(`${agents} agents, ${entries} receipts and ${orders} orders so far …`);
  };
}

function poolOn(url: string): Sql {
  try {
    return openPool(url);
  } catch (error) {
    fail(`${(error as Error).message}.`);
  }
}

async function verifyDatabase(url: string, kept: Kept): Promise<Verdict> {
  const sql = poolOn(url);
  try {
    const { agents, entries, orders, faults } = await auditReceipts(sql, {
      kept,
      sha256: nativeSha256,
      onProgress: progressEvery(PROGRESS_MS),
    });
    for (const { agentId, row, problem } of faults)
      console.log(`ALTERED agent ${agentId}, ${row}: ${problem}`);
    console.log(
      `${agents} agents, ${entries} receipts and ${orders} orders checked; ${faults.length} altered.`,
    );
    if (faults.length > 0) return 'altered';
    if (entries + orders > 0) return 'sound';
    console.log('There are no receipts, and no orders: nothing was verified.');
    return 'nothing';
  } finally {
    await sql.end();
  }
}

/** By the server of the running service, or by one of our own. */
async function verifyEmbedded(dataDir: string, kept: Kept): Promise<Verdict> {
  const server = await reachServer(dataDir, DESK_DATABASE).catch((error: Error) =>
    fail(
      `${error.message}\nOr name an export, or a database: npm run verify-receipts -- --database postgresql://…`,
    ),
  );
  try {
    return await verifyDatabase(server.url, kept);
  } finally {
    await server.close();
  }
}

await runOperation(async () => {
  const { values, positionals } = readOptions(HOW, {
    allowPositionals: true,
    options: {
      database: { type: 'string' },
      data: { type: 'string' },
      head: { type: 'string', multiple: true, default: [] },
    },
  });
  const kept = keptHeads(values.head);
  const [file] = positionals;
  const url = values.database ?? process.env.DATABASE_URL;
  const verify = (): Verdict | Promise<Verdict> => {
    if (file !== undefined) return verifyFile(file, kept);
    return url === undefined
      ? verifyEmbedded(values.data ?? process.env.DATA_DIR ?? './data', kept)
      : verifyDatabase(url, kept);
  };
  process.exitCode = STATUS[await verify()];
});
