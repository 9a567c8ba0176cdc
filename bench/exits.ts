/**
 * Measures how late a stop leaves while another owner's exits wait for a slow venue, and what the watch costs everybody: 20,000 exits are
 * armed, 200 of one owner are due at one time at a venue that answers each order after three seconds, and another owner's stop in
 * another market is reached at that time. Meanwhile an agent asks the desk fifty times a second. The desk, the venue and who asks are
 * processes of their own. The agent asks the venue for less than its quotas allow: else the waits for them would be measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BellwetherClient, buildLimitOrder, credentialRequest, type Market } from '@bellwether/sdk';
import { exitIdentity } from '../packages/server/src/exits/leave-exit.ts';
import type { Sql } from '../packages/server/src/platform/database/connection.ts';
import type { Secrets } from '../packages/server/src/platform/secrets.ts';
import { type Service, startService as startDesk } from '../packages/server/src/service.ts';
import { newWallet, openAgent, openLiveStage, openOwner, percentile, type Wallet } from './live-orders.ts';
import { used } from './processor.ts';
import { median, ms, type Report, times, whole } from './report.ts';
import { type BenchService, type Pause, startService } from './service.ts';

const PROFILE = 'polymarket';
const ARMED = 20_000;
const AGENTS_OF_CROWD = 4;
const EXITS_OF_AGENT = 50;
const ANSWERED_AFTER_MS = 3_000;
const HELD_MS = 2_000;
const SIZE = 5;
/** For the last one the venue is asked, which allows ten such questions a second. */
const PATHS = ['/agents/settings', '/markets/exits', '/agents/settings', '/markets/orders', '/agents/me'];
const ASKED_FOR_MS = 12_000;
const WARM_UP = 25;
const SENT_WITHIN_MS = 60_000;

export async function benchExits(): Promise<Report> {
  const { venue, door, config, env, sql, close } = await openLiveStage(openSlowDoor);
  const setUp = await startDesk(config);
  let desk: BenchService | null = null;
  try {
    const stage = { venue: venue.url, desk: setUp };
    const [crowd, single] = [await openOwner(setUp), await openOwner(setUp)];
    const asker = await openAgent(setUp, await newWallet(venue.url), single);
    const markets = (
      await new BellwetherClient({ baseUrl: setUp.address, apiKey: asker }).listMarkets({ q: '*', limit: 50 })
    ).filter(({ tickSize, negRisk, bestBid }) => tickSize === '0.01' && !negRisk && Number(bestBid) > 0.2);
    const [first, second] = markets as [Market, Market];
    const crowdIds: string[] = [];
    for (let nth = 0; nth < AGENTS_OF_CROWD; nth += 1)
      crowdIds.push(
        ...(await leaveExits(stage, first, { owner: crowd, exits: EXITS_OF_AGENT, isStop: false })),
      );
    const [singleId = ''] = await leaveExits(stage, second, { owner: single, exits: 1, isStop: true });
    const [modelId = ''] = await leaveExits(stage, second, { owner: single, exits: 1, isStop: true });
    await sql`update exits set trigger_price = 1 where order_id = ${modelId}`;
    await setUp.stop();
    desk = await startService({ dataDir: config.dataDir, env });
    const running = desk;
    const ask = async (): Promise<Asked> => {
      await running.longestPause();
      const before = running.processor();
      const answers = await askFor(running.url, asker);
      const { programMs, postgresMs } = used(before, running.processor());
      return { answers, busy: (programMs + postgresMs) / ASKED_FOR_MS, pause: await running.longestPause() };
    };
    await ask();
    const without = await ask();
    await copyExits(sql, { modelId, markets, secrets: setUp.needs.secrets });
    await sleep(2_000);
    const armed = await ask();
    await crash(venue.url, second);
    const dueAt = performance.now() + HELD_MS;
    const during = ask();
    await sql`update exits set trigger_at = now() + ${HELD_MS} * interval '1 millisecond' where trigger_kind = 'time'`;
    const lateOf = async (ids: readonly string[]): Promise<number[]> => {
      while (ids.some((id) => !door.arrived.has(id)) && performance.now() < dueAt + SENT_WITHIN_MS)
        await sleep(50);
      return ids.map((id) => (door.arrived.get(id) ?? Number.NaN) - dueAt);
    };
    const late = await lateOf([singleId]);
    const lates = await lateOf(crowdIds);
    return reportOf({ late, lates, without, armed, during: await during });
  } finally {
    await (desk ?? setUp).stop();
    await close();
  }
}

interface SlowDoor {
  readonly url: string;
  /** When an order first arrived, by its id. */
  readonly arrived: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** The venue's door, whose answers to orders take their time. */
async function openSlowDoor(venueUrl: string): Promise<SlowDoor> {
  const arrived = new Map<string, number>();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const { host: _, connection: __, ...sent } = headers;
    const isOrder = method === 'POST' && url.endsWith('/order');
    const at = performance.now();
    const passed = http.request(venueUrl + url, { method, agent, headers: sent }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      if (isOrder) {
        const id = String((JSON.parse(body.toString()) as { orderID?: string }).orderID);
        if (!arrived.has(id)) arrived.set(id, at);
        await sleep(ANSWERED_AFTER_MS);
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
    });
    passed.on('error', () => response.destroy());
    passed.end(Buffer.concat(chunks));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    async close() {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Stage {
  readonly venue: string;
  readonly desk: Service;
}

const tick = (price: number): string => (Math.floor(price * 100) / 100).toFixed(2);
const stopOf = ({ bestBid }: Market): number => Number(tick(Number(bestBid) - 0.03));

/** An agent with shares, which leaves exits: stops, or sales in an hour. @returns the ids of their orders */
async function leaveExits(
  { venue, desk }: Stage,
  market: Market,
  { owner, exits, isStop }: { readonly owner: bigint; readonly exits: number; readonly isStop: boolean },
): Promise<string[]> {
  const wallet = await newWallet(venue);
  await split(venue, wallet, market, exits * SIZE);
  const apiKey = await openAgent(desk, wallet, owner);
  const client = new BellwetherClient({ baseUrl: desk.address, apiKey });
  const price = stopOf(market);
  const ids: string[] = [];
  for (let nth = 0; nth < exits; nth += 1) {
    const order = await buildLimitOrder({
      ...{ signer: wallet.signer, market, profile: PROFILE, outcome: 'YES', side: 'SELL', size: SIZE },
      price: tick((isStop ? price : Number(market.bestBid)) * 0.95),
    } as never);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const { orderId } = await client.leaveExit({
      ...order,
      trigger: isStop ? { kind: 'price_at_or_below', price } : { kind: 'time', at },
    });
    ids.push(orderId);
  }
  return ids;
}

/** At the venue itself, which is a desk on paper. */
async function split(venue: string, { signer, credentials }: Wallet, market: Market, amount: number) {
  const agent = await new BellwetherClient({ baseUrl: venue }).registerAgent({ name: 'Bench' });
  const client = new BellwetherClient({ baseUrl: venue, apiKey: agent.apiKeyCode });
  await client.registerCredentials(credentialRequest(signer, credentials));
  await client.updateSettings({ maxTradeAmount: 100_000, dailyTradeAmountLimit: 1_000_000 });
  await client.splitSets({ clientOrderId: crypto.randomUUID(), marketId: market.id, amount });
  return client;
}

/** Sells into the bids until the best one is at the stop. */
async function crash(venue: string, market: Market): Promise<void> {
  const price = stopOf(market);
  for (;;) {
    const wallet = await newWallet(venue);
    const client = await split(venue, wallet, market, 9_000);
    const { bids } = await client.getOrderBook(market.clobTokenIds[0] as string);
    if (Number(bids[0]?.price ?? 0) <= price + 1e-9) return;
    await client.placeTrade(
      await buildLimitOrder({
        ...{ signer: wallet.signer, market, profile: PROFILE, outcome: 'YES', side: 'SELL', size: 9_000 },
        price: (price + 0.01).toFixed(2),
      } as never),
    );
  }
}

/** Exits that never fire, in all markets, each with its own seal: they are looked over, too. */
async function copyExits(
  sql: Sql,
  of: { readonly modelId: string; readonly markets: readonly Market[]; readonly secrets: Secrets },
): Promise<void> {
  const rows = await sql<{ readonly column_name: string }[]>`
    select column_name from information_schema.columns where table_name = 'exits'`;
  const own: Readonly<Record<string, string>> = {
    exit_id: 'm.ids[n]',
    order_id: `'0x' || lpad(to_hex(n), 64, '0')`,
    condition_id: '(m.conditions)[n % cardinality(m.conditions) + 1]',
    sealed: 'm.seals[n]',
    reviewed_at: `now() - n * interval '30 seconds' / ${ARMED}`,
  };
  const [model] = await sql<{ exit_id: string; key_id: number; sealed: Buffer }[]>`
    select exit_id, key_id, sealed from exits where order_id = ${of.modelId}`;
  if (model === undefined) throw new Error('the exit was not left');
  const opened = of.secrets.open({ keyId: model.key_id, bytes: model.sealed }, exitIdentity(model.exit_id));
  const ids = Array.from({ length: ARMED }, () => of.secrets.newId());
  const seals = ids.map((id) => Buffer.from(of.secrets.seal(opened, exitIdentity(id)).bytes));
  const names = rows.map((row) => row.column_name);
  const values = names.map((name) => own[name] ?? `e.${name}`).join(', ');
  await sql`alter table exits disable trigger exits_count`;
  await sql`insert into exits (${sql.unsafe(names.join(', '))}) select ${sql.unsafe(values)} from exits e cross join generate_series(1, ${ARMED}) n
    cross join (select ${of.markets.map(({ conditionId }) => conditionId)}::text[] as conditions, ${ids}::text[] as ids, ${seals}::bytea[] as seals) m
    where e.order_id = ${of.modelId}`;
  await sql`alter table exits enable trigger exits_count`;
}

/** Asks by the clock. @returns milliseconds of each answer */
async function askFor(url: string, apiKey: string): Promise<readonly number[]> {
  const program = `
    const found = [];
    const paths = ${JSON.stringify(PATHS)};
    const ask = async (nth) => {
      const from = performance.now();
      const answer = await fetch('${url}' + paths[nth % paths.length], { headers: { authorization: 'Bearer ${apiKey}' } });
      await answer.text();
      if (!answer.ok) throw new Error('answered ' + answer.status);
      // What the asking program itself loads with its first requests is no time of the desk.
      if (nth >= ${WARM_UP}) found.push(performance.now() - from);
    };
    const until = performance.now() + ${ASKED_FOR_MS};
    const asked = [];
    for (let nth = 0; performance.now() < until; nth += 1) {
      asked.push(ask(nth));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await Promise.all(asked);
    console.log(JSON.stringify(found));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error('a request was refused');
  return JSON.parse(text) as number[];
}

interface Asked {
  /** Milliseconds of each. */
  readonly answers: readonly number[];
  /** Of one processor, the desk and its PostgreSQL together. */
  readonly busy: number;
  readonly pause: Pause;
}

interface Found {
  readonly late: readonly number[];
  readonly lates: readonly number[];
  readonly without: Asked;
  readonly armed: Asked;
  readonly during: Asked;
}

function reportOf({ late, lates, without, armed, during }: Found): Report {
  const p99 = ({ answers }: Asked): number => percentile(answers, 0.99);
  const seconds = (value: number): string => `${(value / 1_000).toFixed(1)} s`;
  const asked = (name: string, found: Asked) => [
    ...[name, ms(median(found.answers)), ms(p99(found))],
    ...[`${whole(found.busy * 100)} %`, ms(found.pause.processorMs), ms(found.pause.clockMs)],
  ];
  return {
    ratios: [
      [
        "another owner's stop leaves after its two seconds, s",
        ((late[0] ?? Number.NaN) / 1_000).toFixed(1),
        '≤ 3',
      ],
      ['p99 of a request while 200 exits are due ÷ before', times(p99(during) / p99(without)), '≤ 2'],
    ],
    tables: [
      {
        head: [`${whole(ARMED)} exits armed`, 'first', 'median', 'last'],
        rows: [
          ["another owner's stop, after its two seconds", seconds(late[0] ?? Number.NaN), '', ''],
          [
            `${whole(lates.length)} exits of one owner, after their time`,
            seconds(Math.min(...lates)),
            seconds(median(lates)),
            seconds(Math.max(...lates)),
          ],
        ],
      },
      {
        head: [
          ...["an agent's requests, 50 a second", 'median', 'p99', 'processor'],
          ...['longest pause, own time', 'by the clock'],
        ],
        rows: [
          asked('202 exits armed', without),
          asked(`${whole(ARMED)} exits armed`, armed),
          asked('200 of them due at a slow venue', during),
        ],
      },
    ],
  };
}
