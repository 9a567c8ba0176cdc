/** Backup while agents trade, restore into an empty folder, and everything that must refuse with a sentence. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type EmbeddedPostgres, reachServer, startEmbeddedPostgres } from '@bellwether/durable/embedded';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_ROLE, DESK_DATABASE } from '../../packages/durable/src/embedded/embedded-postgres.ts';
import { backUpService, restoreService } from '../../packages/server/src/operations/backups.ts';
import { openPool, type Sql, socketUrl } from '../../packages/server/src/platform/database/connection.ts';
import { expectBooksToAgree, ordersOf } from '../books.ts';
import { exitOrder, hold } from '../exits.ts';
import { expectOneEffect, isRecorded, type Timed, tradeUntilStopped } from '../group-trading.ts';
import { aMarket, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import { sharedPostgres } from '../postgres.ts';
import {
  dataFolder,
  kill,
  postgresOf,
  postmasterOf,
  runScript,
  type ServiceProcess,
  signalPostgres,
  startProcess,
  startScript,
  waitFor,
} from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import { copyCluster } from '../setup/copy-cluster.ts';

const TRADERS = 4;
const ENOUGH = 40;

/** A superuser's pool on the database of a data folder. */
async function openOn(folder: string): Promise<Sql> {
  const { socketDir } = postmasterOf(folder);
  const sql = openPool(socketUrl({ socketDir, port: 5432, user: ADMIN_ROLE }, DESK_DATABASE), { max: 1 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  return sql;
}

const remains = (): string[] => readdirSync(folder).filter((name) => name.includes('restoring'));

let folder: string;
let dataDir: string;
let keyFile: string;
let file: string;
let service: ServiceProcess;
let market: Market;
let traders: Trader[];
const sent: Timed[] = [];
/** Taken before the backup: what changed since is asked of the restored service. */
let cursor: string;
let point: number;
/** Leaves an exit before the backup, and takes it back after it. */
let careful: Trader;
let exitId: string;

beforeAll(async () => {
  folder = dataFolder();
  dataDir = join(folder, 'd');
  keyFile = join(folder, 'saved.key');
  file = join(folder, 'b.bellwether');
  service = await startProcess({ dataDir, env: { RATE_LIMITS: 'off' } });
  traders = await Promise.all(Array.from({ length: TRADERS }, () => newTrader(service)));
  const [first] = traders as [Trader];
  market = await aMarket(first.client);
  copyFileSync(join(dataDir, 'master.key'), keyFile);
  cursor = (await first.client.getBriefing()).nextCursor;

  careful = await newTrader(service);
  await hold(careful, market, 20);
  const trigger = { kind: 'price_at_or_above', price: 0.95 } as const;
  const left = { ...(await exitOrder(careful, market, { worst: 0.9 })), trigger };
  ({ exitId } = await careful.client.leaveExit(left));

  const trading = tradeUntilStopped(service, traders, market, sent);
  await waitFor(() => sent.length >= ENOUGH, 60_000);
  const { code, stdout } = await runScript('scripts/backup.ts', ['--to', file, '--data', dataDir]);
  expect(stdout).toContain('holds everything that was acknowledged before');
  expect(code).toBe(0);
  point = Date.parse(/before (\S+Z)/.exec(stdout)?.[1] ?? '');
  await careful.client.cancelExit({ exitId });
  const during = sent.length;
  await waitFor(() => sent.length > during + TRADERS, 60_000);
  kill(service.child.pid as number, 'SIGKILL');
  await trading;
  await service.exit();
});

describe('a restore', () => {
  let restored: TestService;
  let into: string;

  beforeAll(async () => {
    into = join(folder, 'r');
    const args = ['--from', file, '--to', into, '--key-file', keyFile];
    const first = startScript('scripts/restore.ts', args);
    await waitFor(() => remains().length > 0, 60_000, 2);
    kill(first.child.pid as number, 'SIGKILL');
    await first.ended;
    expect(existsSync(into)).toBe(false);

    const again = await runScript('scripts/restore.ts', args);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('holds everything') });
    expect(remains()).toEqual([]);
    const postgres = await startEmbeddedPostgres({ dataDir: into });
    afterFile('databases', () => postgres.stop());
    restored = await startTestService({
      DATABASE_URL: socketUrl(postgres, postgres.database),
      MASTER_KEY: readFileSync(join(into, 'master.key'), 'utf8').trim(),
    });
  });

  test('that was interrupted and repeated has every order acknowledged before the point, and its books agree', async () => {
    const before = sent.filter(({ answer, answeredAt }) => answer?.status === 201 && answeredAt <= point);
    expect(before.length).toBeGreaterThanOrEqual(ENOUGH);
    for (const one of before) expect(await isRecorded(restored, one)).toBe(true);
    await expectBooksToAgree(restored, traders);
  });

  test('leaves the numbers of transactions as they were: a cursor from before it misses nothing', async () => {
    const [{ apiKey, agentId }] = traders as [Trader];
    const client = new BellwetherClient({ baseUrl: restored.url, apiKey });
    const briefing = await client.getBriefing({ since: cursor });
    const reported = new Set(briefing.recentTrades.map(({ orderId }) => orderId));
    const known = await ordersOf(restored, agentId);
    // A briefing tells the newest of many.
    expect(reported.size).toBeGreaterThan(briefing.recentTradesTruncated ? 0 : known.length - 1);
    for (const orderId of reported) expect(known.map((order) => order.orderId)).toContain(orderId);
    expect((await client.getBriefing({ since: briefing.nextCursor })).recentTrades).toEqual([]);
  });

  test('brings back an exit that was canceled since: suspended, and it says so', async () => {
    const client = new BellwetherClient({ baseUrl: restored.url, apiKey: careful.apiKey });
    expect(await client.getExit(exitId)).toMatchObject({ status: 'suspended', because: 'restored' });
    const { riskAlerts } = await client.getBriefing();
    expect(riskAlerts.map(({ code }) => code)).toContain('exit_suspended');
  });

  test('does not have what came later: sent again, it has its one effect', async () => {
    const known = await Promise.all(
      sent.map(async (one) => ({
        one,
        row: await restored.needs.orders.byId(one.trader.agentId, one.orderId),
      })),
    );
    expect(known.some(({ row }) => row === null)).toBe(true);
    // On a busy machine an order may have come too late for its own deadline; its first answer stands.
    const effective = known.filter(({ row }) => row?.errorCode !== 'not_received');
    await expectOneEffect(
      restored,
      effective.map(({ one, row }) => (row === null ? { ...one, answer: null } : one)),
    );
  });

  test('of a later release is refused, and so is a start on its database', async () => {
    const sql = await openOn(into);
    await sql`insert into migrations (number, name) values (9999, 'later')`;
    const later = join(folder, 'later.bellwether');
    await backUpService({ dataDir: into, file: later });
    const restoring = restoreService({ file: later, dataDir: join(folder, 'l'), keyFile, key: null });
    await expect(restoring).rejects.toThrow(/at migration 9999; this release knows \d+\. Restore it with/);
    const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = restored;
    await expect(startTestService({ DATABASE_URL, MASTER_KEY })).rejects.toThrow(/start a newer version/);
    await sql`delete from migrations where number = 9999`;
  });
});

describe('a restore is refused, and changes nothing,', () => {
  const refused = async (given: Partial<Parameters<typeof restoreService>[0]>, sentence: RegExp) => {
    const before = readdirSync(folder).sort();
    const options = { file, dataDir: join(folder, 'n'), keyFile, key: null, ...given };
    await expect(restoreService(options)).rejects.toThrow(sentence);
    expect(readdirSync(folder).sort()).toEqual(before);
  };
  const altered = (name: string, change: (bytes: Buffer) => Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, change(readFileSync(file)));
    return path;
  };

  test('without the key, and with another one', async () => {
    await refused({ keyFile: null }, /does not contain the master key.*--key-file FILE, or set MASTER_KEY/);
    await refused(
      { keyFile: null, key: 'ab'.repeat(32) },
      /is not the one of .*b\.bellwether\. Give the key/,
    );
    await refused({ keyFile: file }, /does not hold 64 hex digits/);
  });

  test('into a folder that is not empty, or on which a service runs', async () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'notes'), 'mine');
    await refused({ dataDir: full }, /full is not empty, and a restore never replaces anything/);
    expect(readFileSync(join(full, 'notes'), 'utf8')).toBe('mine');
    // Its database outlived the service that was killed.
    await refused({ dataDir }, /A service is running on/);
  });

  test('from a file that is cut off, altered, or no backup', async () => {
    const sentence = /is damaged or incomplete: .*Use another copy of it, or an earlier backup/;
    await refused({ file: altered('cut', (bytes) => bytes.subarray(0, bytes.length - 100)) }, sentence);
    await refused({ file: altered('half', (bytes) => bytes.subarray(0, bytes.length / 2)) }, sentence);
    await refused({ file: altered('flipped', flipped) }, sentence);
    await refused({ file: altered('text', () => Buffer.from('hello')) }, sentence);
    await refused({ file: join(folder, 'missing') }, /There is no file/);
  });
});

/** One bit of the plain archive, compressed again: only the checksum can notice. */
function flipped(bytes: Buffer): Buffer {
  const plain = zstdDecompressSync(bytes);
  const at = plain.length / 2;
  plain[at] = (plain[at] ?? 0) ^ 1;
  return zstdCompressSync(plain);
}

describe('a backup', () => {
  let small: string;
  let postgres: EmbeddedPostgres;
  const to = (name: string): string => join(small, name);
  const back = (name: string) => backUpService({ dataDir: join(small, 'd'), file: to(name) });

  beforeAll(async () => {
    small = dataFolder();
    mkdirSync(join(small, 'd'));
    copyCluster((await sharedPostgres()).newCluster, join(small, 'd', 'postgres'));
    postgres = await startEmbeddedPostgres({ dataDir: join(small, 'd') });
    afterFile('databases', () => postgres.stop());
  });

  test('never replaces a file, and runs alone', async () => {
    const both = await Promise.allSettled([back('one'), back('two')]);
    const failed = both.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []));
    expect(failed).toEqual([expect.stringContaining('Another backup of this folder is running.')]);
    const made = existsSync(to('one')) ? 'one' : 'two';
    const bytes = readFileSync(to(made));
    await expect(back(made)).rejects.toThrow(/exists already\. Name another file/);
    expect(readFileSync(to(made)).equals(bytes)).toBe(true);
  });

  test('of a folder without a database, or to a folder that is missing, is refused', async () => {
    const nowhere = backUpService({ dataDir: join(small, 'nothing'), file: to('nothing.file') });
    await expect(nowhere).rejects.toThrow(/There is no database in .*Name the data folder/);
    await expect(back('missing/file')).rejects.toThrow(/does not exist\. Create it, or name another file/);
  });

  test('that finds no room leaves no file and says so', async () => {
    const prefix = ['bash', '-c', 'ulimit -f 40; exec "$0" "$@"'];
    const args = ['--to', to('full'), '--data', join(small, 'd')];
    const ended = await runScript('scripts/backup.ts', args, { prefix });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no room for') });
    expect(readdirSync(small).filter((name) => name.startsWith('full'))).toEqual([]);
  });

  test('a frozen backup blocks nothing; a killed one leaves no file of that name, and the next one clears up', async () => {
    const unfinished = () => readdirSync(small).filter((name) => name.startsWith('killed.unfinished'));
    const { child, ended } = startScript('scripts/backup.ts', [
      '--to',
      to('killed'),
      '--data',
      join(small, 'd'),
    ]);
    await waitFor(() => unfinished().length > 0, 60_000, 2);
    kill(child.pid as number, 'SIGSTOP');
    const sql = await openOn(join(small, 'd'));
    await sql`create table written_meanwhile (n integer)`;
    await sql`insert into written_meanwhile values (1)`;
    kill(child.pid as number, 'SIGKILL');
    await ended;
    expect(existsSync(to('killed'))).toBe(false);
    await back('killed');
    expect(unfinished()).toEqual([]);
  });

  test('starts the database of a service that is stopped, and ends it again', async () => {
    await postgres.stop();
    await back('stopped');
    expect(postgresOf(join(small, 'd'))).toEqual([]);
  });

  test('ends it also when a session of its own is still listed, and leaves it to who came to use it', async () => {
    const leaving = await reachServer(join(small, 'd'), DESK_DATABASE);
    const sql = await openOn(join(small, 'd'));
    await sql`select 1`;
    const closed = leaving.close();
    await sleep(300);
    await sql.end();
    await closed;
    expect(postgresOf(join(small, 'd'))).toEqual([]);

    const staying = await reachServer(join(small, 'd'), DESK_DATABASE);
    const user = await openOn(join(small, 'd'));
    await user`select 1`;
    await staying.close();
    expect(await user`select 1 as n`).toEqual([{ n: 1 }]);
    signalPostgres(join(small, 'd'), 'SIGKILL');
  });
});
