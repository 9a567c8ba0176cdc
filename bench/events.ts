/**
 * Streams of events: what idle ones cost, and how long an event takes from its commit to its client while all of them are open.
 * The facts are written by the clock, each a copy of a real fill: its event is assembled from order, fill and position like
 * any other, and makes four events (fill, fee, position, balance).
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BellwetherClient } from '@bellwether/sdk';
import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { megabytes, ms, type Report, type RowOptions, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { ENVIRONMENT, openDesk } from './traders.ts';

const IDLE = { short: 5_000, full: 5_000 };
const STREAMS_PER_AGENT = 10;
const LISTENING = 20;
const SECONDS = { short: 10, full: 30 };
const FACTS_PER_SECOND = 250;
const BATCHES_PER_SECOND = 50;
const OPENED_AT_ONCE = 100;
const REST_MS = 5_000;
const HEADERS_WITHIN_MS = 20_000;

export async function benchEvents({ full }: RowOptions): Promise<Report> {
  const size = full ? 'full' : 'short';
  const folder = newDataFolder();
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  const url = socketUrl(postgres, postgres.database);
  const sql = openPool(url, { max: 2 });
  const env = {
    ...ENVIRONMENT,
    DATABASE_URL: url,
    MASTER_KEY: '0'.repeat(64),
    MAX_CONNECTIONS: '20000',
  };
  const service = await startService({ dataDir: folder, env });
  const sockets: Socket[] = [];
  try {
    const { traders, keys } = await prepare(service, IDLE[size]);
    const before = await service.memory();
    const rest = await processorOver(service, REST_MS);
    const openedAt = performance.now();
    await openIdle(service, keys, sockets);
    const openMs = performance.now() - openedAt;
    const after = await service.memory();
    const idle = await processorOver(service, REST_MS);
    const latencies = traders.map(() => [] as number[]);
    await Promise.all(
      traders.map((trader, nth) => listen(service, trader.apiKey, sockets, latencies[nth] as number[])),
    );
    const from = service.processor();
    const wrote = await writeFacts(sql, SECONDS[size]);
    await sleep(1_000);
    const to = service.processor();
    const all = latencies.flat().toSorted((a, b) => a - b);
    if (all.length !== wrote * 4) throw new Error(`${wrote * 4} events were written, ${all.length} arrived`);
    const share = (part: number) => all[Math.floor(all.length * part)] ?? Number.NaN;
    return {
      ratios: [['events: p99 from commit to client over 50 ms', (share(0.99) / 50).toFixed(2), '≤ 1']],
      tables: [
        {
          head: ['streams of events', 'figure'],
          rows: [
            ['idle streams', whole(keys.length)],
            ['opened in', ms(openMs)],
            ['memory for each', `${whole((after.rss - before.rss) / keys.length)} bytes`],
            ['memory of the service', megabytes(after.rss)],
            ['processor at rest, no stream', `${rest.toFixed(1)} %`],
            ['processor at rest, all streams', `${idle.toFixed(1)} %`],
            ['events a second', whole(all.length / SECONDS[size])],
            [
              'processor of the service for 1,000 events',
              ms(((to.programMs - from.programMs) / (wrote * 4)) * 1_000),
            ],
            ['from commit to client, p50', ms(share(0.5))],
            ['… p99', ms(share(0.99))],
            ['… longest', ms(share(1 - 1 / all.length))],
          ],
        },
      ],
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await sql.end({ timeout: 1 });
    await service.stop();
    await postgres.stop();
    removeFolder(folder);
  }
}

/** Traders with fills, and as many keys for idle streams as there shall be streams. */
async function prepare(service: BenchService, idle: number) {
  const { agents: traders } = await openDesk(service.url, LISTENING);
  const registering = new BellwetherClient({ baseUrl: service.url });
  const keys: string[] = [];
  while (keys.length < idle) {
    const { apiKeyCode } = await registering.registerAgent({ name: 'Idle' });
    keys.push(...Array<string>(Math.min(STREAMS_PER_AGENT, idle - keys.length)).fill(apiKeyCode));
  }
  return { traders, keys };
}

/** Percent of one processor, of the service and its PostgreSQL. */
async function processorOver(service: BenchService, forMs: number): Promise<number> {
  const from = service.processor();
  await sleep(forMs);
  const to = service.processor();
  const used = (processor: typeof from) =>
    Object.values(processor).reduce((sum, value) => sum + Number(value), 0);
  return ((used(to) - used(from)) / forMs) * 100;
}

/** @param onText every chunk after the headers, too */
function openStream(
  service: BenchService,
  key: string,
  sockets: Socket[],
  onText: (text: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1');
    sockets.push(socket);
    const late = setTimeout(() => reject(new Error('a stream did not begin in time')), HEADERS_WITHIN_MS);
    let isOpen = false;
    socket.setEncoding('utf8');
    socket.on('error', reject);
    socket.on('data', (text: string) => {
      if (!isOpen && !text.startsWith('HTTP/1.1 200')) reject(new Error(text.slice(0, 300)));
      isOpen = true;
      clearTimeout(late);
      resolve();
      onText(text);
    });
    socket.write(
      `GET /events HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
  });
}

async function openIdle(service: BenchService, keys: readonly string[], sockets: Socket[]): Promise<void> {
  for (let nth = 0; nth < keys.length; nth += OPENED_AT_ONCE) {
    await Promise.all(
      keys.slice(nth, nth + OPENED_AT_ONCE).map((key) => openStream(service, key, sockets, () => {})),
    );
  }
}

/** A market that ends soon is a risk, which has events of its own. */
const OF_A_FILL = /^event: (?:fill|fee|position|balance)\n.*?"createdAt":"([^"]+)"/m;

async function listen(
  service: BenchService,
  key: string,
  sockets: Socket[],
  latencies: number[],
): Promise<void> {
  let text = '';
  await openStream(service, key, sockets, (chunk) => {
    const now = Date.now();
    text += chunk;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const at = OF_A_FILL.exec(event)?.[1];
      if (at !== undefined) latencies.push(now - Date.parse(at));
    }
  });
  await sleep(200);
}

/** By the clock, whether the service keeps up or not. @returns how many */
async function writeFacts(sql: Sql, seconds: number): Promise<number> {
  const perBatch = FACTS_PER_SECOND / BATCHES_PER_SECOND;
  const batches = seconds * BATCHES_PER_SECOND;
  const begin = performance.now();
  const writing: Promise<unknown>[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    await sleep(Math.max(0, begin + (batch * 1_000) / BATCHES_PER_SECOND - performance.now()));
    writing.push(
      Promise.resolve(sql`insert into facts (agent_id, kind, subject, at, payload)
        select agent_id, kind, subject, clock_timestamp(), payload from (
          select distinct on (agent_id) * from facts where kind = 'fill' order by agent_id, seq) f
        order by md5(agent_id::text || ${String(batch)}) limit ${perBatch}`),
    );
  }
  await Promise.all(writing);
  return batches * perBatch;
}
