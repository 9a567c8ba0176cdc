/**
 * The cost of statements must not grow with the tables. Plans are cached per connection, and a new database makes them
 * while its tables are empty: such a plan must use indexes, too.
 */
import { withOrigin } from '@bellwether/durable';
import { buildMarketOrder } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { PLANNING } from '../../packages/exchange/src/journal/commits.ts';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { resolveDoubt } from '../../packages/server/src/trading/doubts.ts';
import { aMarket, newTrader, recordFirst, restingOrder, startTestService } from '../harness.ts';

/** Tables that grow for as long as there are agents that trade. */
const GROWING = new Set([
  'agents',
  'agent_wallets',
  'api_keys',
  'budget_returns',
  'credentials',
  'daily_results',
  'exchange_journal',
  'exchange_orders',
  'fills',
  'orders',
  'positions',
  'safeguards',
  'webhook_deliveries',
]);

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Plans?: readonly Plan[];
}

/** Nodes that read a whole table, or the whole of its index. */
function walks(plan: Plan): string[] {
  const { 'Node Type': kind, 'Relation Name': relation = '', Plans = [] } = plan;
  const isWalk =
    kind === 'Seq Scan' ||
    (/^Index (Only )?Scan/.test(kind) && plan['Index Cond'] === undefined) ||
    (kind === 'Bitmap Heap Scan' && plan['Recheck Cond'] === undefined);
  const own = isWalk && GROWING.has(relation) ? [`${kind} on ${relation}`] : [];
  return [...own, ...Plans.flatMap(walks)];
}

const RESOLVER = 'the resolver of this test';
/** Not the name of a job. */
const IS_REQUEST = /^[0-9a-f-]{36}$/;

/** Statements of the trades below, by whether the journal's own connection sent them. */
const ofPool = new Set<string>();
const ofLead = new Set<string>();

beforeAll(async () => {
  const sent: { connection: number; statement: string; origin: string | undefined }[] = [];
  const service = await startTestService(
    { PAPER_WORLD: 'off' },
    {
      onStatement: (connection, statement, origin) => sent.push({ connection, statement, origin }),
    },
  );
  const trader = await newTrader(service);
  const market = await aMarket(trader.client);
  const lead = sent.find(({ statement }) => statement.includes('pg_try_advisory_lock'))?.connection;
  expect(lead).toBeDefined();
  sent.length = 0;
  const spend = {
    signer: trader.signer,
    market,
    outcome: 'YES',
    side: 'BUY',
    amount: 5,
    worstPrice: 0.95,
  } as const;
  // In the journal's commit, as where this process leads, and recorded first, as on a replica that follows.
  for (const begin of [() => {}, () => void recordFirst(service)]) {
    begin();
    await trader.client.placeTrade(await buildMarketOrder(spend));
    const { orderId } = await trader.client.placeTrade(await restingOrder(trader, market));
    await trader.client.cancelOrder(orderId);
  }
  await withOrigin(RESOLVER, () => resolveDoubt(service.needs, 0));
  for (const { connection, statement, origin } of sent)
    if (origin === RESOLVER || IS_REQUEST.test(origin ?? ''))
      (connection === lead ? ofLead : ofPool).add(statement);
  // An empty copy: plans made before any row exists.
  const empty = await startTestService({ PAPER_WORLD: 'off' });
  pool = openPool(empty.databaseUrl, { max: 1 });
  return () => pool.end();
});

let pool: Sql;

async function walksOf(statement: string): Promise<string[]> {
  if (!/^\s*(with|select|insert|update|delete)\b/i.test(statement)) return [];
  const rows = await pool.unsafe(`explain (generic_plan, format json) ${statement}`);
  return rows.flatMap((row) =>
    (row['QUERY PLAN'] as readonly { readonly Plan: Plan }[]).flatMap(({ Plan }) => walks(Plan)),
  );
}

const guilty = async (statements: ReadonlySet<string>) => {
  const found: { statement: string; walks: string[] }[] = [];
  for (const statement of statements) {
    const walked = await walksOf(statement);
    if (walked.length > 0) found.push({ statement: statement.trim().slice(0, 300), walks: walked });
  }
  return found;
};

test('the statements of a trade and of the resolver find their rows by index', async () => {
  expect([...ofPool].some((statement) => statement.includes('insert into orders'))).toBe(true);
  expect(await guilty(ofPool)).toEqual([]);
});

test('the statements of the journal and its evidence do, too', async () => {
  for (const words of ['update orders', 'insert into orders'])
    expect([...ofLead].some((statement) => statement.includes(words))).toBe(true);
  for (const [name, value] of Object.entries(PLANNING)) await pool.unsafe(`set ${name} = ${value}`);
  expect(await guilty(ofLead)).toEqual([]);
});
