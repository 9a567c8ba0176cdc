/** Figures that an operator watches: every metric that an alert or a panel reads is served, moves, and the files are up to date. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildMarketOrder } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALERTS, metricsIn, PANELS } from '../../scripts/ops/alerts.ts';
import { OPS_FILES } from '../../scripts/ops/files.ts';
import { aMarket, call, newTrader, restingOrder, startTestService, type TestService } from '../harness.ts';

const SOURCES = join(import.meta.dirname, '../../packages/server/src');
const JOB_NAMES = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(join(SOURCES, file), 'utf8').matchAll(/\bname: '([^']+)',\s+everyMs:/g)].map(
      ([, name = '']) => name,
    ),
  );
const ROOT = join(import.meta.dirname, '../..');

let service: TestService;
let served: string;

/** The value of one series, 0 where it is not there yet. */
const readingOf = (text: string, series: string): number => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
};
const scrape = async (): Promise<string> => (await call(service, 'GET', '/metrics')).body;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  const trader = await newTrader(service);
  const market = await aMarket(trader.client);
  await trader.client.placeTrade(await restingOrder(trader, market));
  // Nothing on the book is so cheap.
  const order = { signer: trader.signer, market, outcome: 'YES', side: 'BUY', amount: 10 } as const;
  const refused = await buildMarketOrder({ ...order, worstPrice: 0.01 });
  await trader.post('/markets/trade', refused);
  await trader.post('/markets/batch-trade', {
    orders: [await buildMarketOrder({ ...order, worstPrice: 0.01 })],
  });
  await trader.get('/markets/orderbook/1');
  for (const job of ['resolve doubt', 'touch']) await service.runJob(job);
  served = await scrape();
});

describe('metrics', () => {
  test('count refusals by code, those of venues by reason, commits and jobs', () => {
    const refusals = 'bellwether_refusals_total';
    expect(
      readingOf(
        served,
        `${refusals}{route="/markets/orderbook/:tokenId",status="404",code="market_not_found"}`,
      ),
    ).toBe(1);
    expect(
      readingOf(served, 'bellwether_venue_refusals_total{trading="signed orders",code="fak_no_match"}'),
    ).toBe(2);
    expect(readingOf(served, 'bellwether_commit_duration_seconds_count')).toBeGreaterThanOrEqual(3);
    expect(served).toMatch(/bellwether_job_last_success_timestamp_seconds\{job="[a-z ]+"\} \d+/);
    expect(served).toMatch(/bellwether_job_failures_total\{job="[a-z ]+"\} 0/);
  });

  test('say what is in doubt, under way and waits, and who leads', () => {
    expect(readingOf(served, 'bellwether_oldest_doubt_seconds')).toBe(0);
    expect(readingOf(served, 'bellwether_exchange_leads')).toBe(1);
    expect(readingOf(served, 'bellwether_shed_total')).toBe(0);
    // The scrape itself is under way.
    expect(readingOf(served, 'bellwether_in_flight{what="requests"}')).toBeGreaterThanOrEqual(0);
    for (const queue of ['webhooks', 'quoted orders', 'fee charges', 'redemptions'])
      expect(served).toContain(`bellwether_queue_depth{queue="${queue}"} 0`);
  });
});

describe('alerts and panels', () => {
  const queries = [
    ...ALERTS.map(({ name, when }) => [name, when] as const),
    ...PANELS.flatMap(({ title, queries: all }) => all.map(([, promql]) => [title, promql] as const)),
  ];

  test.each(queries)('%s reads only what the service serves: %s', (_name, promql) => {
    const metrics = metricsIn(promql);
    expect(metrics.length).toBeGreaterThan(0);
    for (const metric of metrics) {
      // A live venue alone counts the first, and a failure alone the second.
      if (metric === 'bellwether_venue_count' || metric === 'bellwether_external_call_failures_total')
        expect(served).toContain(`# TYPE ${metric} `);
      else expect(served).toMatch(new RegExp(`^${metric}(\\{| )`, 'm'));
    }
  });

  test.each(ALERTS.filter(({ when }) => /job="/.test(when)))('$name names a job that runs', ({ when }) => {
    const [, job = ''] = /job="([^"]+)"/.exec(when) ?? [];
    expect(JOB_NAMES).toContain(job);
  });

  test.each(Object.entries(OPS_FILES))('%s is up to date: node scripts/generate-ops.ts', (path, content) => {
    expect(readFileSync(join(ROOT, path), 'utf8')).toBe(content());
  });

  test('the rules are YAML with a unique name, a query, a severity and an advice each', () => {
    const { groups } = parse(readFileSync(join(ROOT, 'ops/prometheus-rules.yaml'), 'utf8'));
    const { rules } = groups[0];
    expect(new Set(rules.map(({ alert }: { alert: string }) => alert)).size).toBe(ALERTS.length);
    for (const rule of rules)
      expect(rule).toEqual({
        alert: expect.stringMatching(/^Bellwether\w+$/),
        expr: expect.any(String),
        for: expect.stringMatching(/^\d+m$/),
        labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
        annotations: { summary: expect.stringMatching(/\.$/), description: expect.stringMatching(/\.$/) },
      });
  });
});
