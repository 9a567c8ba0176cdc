/** Waits of a quote and a submit: trips to the database, and questions to the chain. */
import { toBase64 } from '@bellwether/protocol';
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Chain } from '../../packages/server/src/venues/chain.ts';
import { startTestService, type TestService } from '../harness.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';

let service: TestService;
let trader: SandboxTrader;
let market: Market;
const statements: { connection: number; statement: string }[] = [];
/** Calls of the desk to the chain. */
const asked: string[] = [];
/** Simulations whose answers wait until so many have come, so that their submits go on together. */
let together = 1;
let waiting: (() => void)[] = [];

async function meet(): Promise<void> {
  const released = new Promise<void>((resolve) => waiting.push(resolve));
  if (waiting.length >= together) {
    for (const release of waiting) release();
    waiting = [];
  }
  await released;
}

beforeAll(async () => {
  service = await startTestService(
    { PAPER_WORLD: 'off', PAPER_B_FILL_DELAY_MS: '60000' },
    { onStatement: (connection, statement) => statements.push({ connection, statement }) },
  );
  const venue = [...service.needs.venues.values()].find(({ quotes }) => quotes !== undefined);
  const chain = venue?.quotes?.chain as Chain;
  for (const name of Object.keys(chain) as (keyof Chain)[]) {
    if (name === 'status') continue;
    const own = chain[name] as (...args: unknown[]) => unknown;
    Object.assign(chain, {
      [name]: async (...args: unknown[]) => {
        asked.push(name);
        const answer = await own(...args);
        if (name === 'simulate') await meet();
        return answer;
      },
    });
  }
  // Only what requests ask for is counted, and no job.
  const { chainOrders } = service.needs;
  Object.assign(service.needs, { chainOrders: { ...chainOrders, claim: async () => [] } });
  trader = await newSandboxTrader(service);
  market = await aSandboxMarket(trader.client);
});

/** Statements that jobs, logs and the exchange issue beside a request. */
const BESIDE =
  /durable_terms|pg_notify|replicas|webhook|last_called_at|exchange_|idempotency|budget_returns where|listen |price_ticks|fact_cursor|analyze|redemption_requests|fee_charges|chain_orders c set due_at|traded_markets|rate_buckets|raised_alerts|risk_watches|late_orders|silence_seconds|cancel_silent|handed_out|sandbox_orders\s+where status = 'issued'|min\(due_ms\)|order by due_ms|pg_stat|pg_class|receipt|limit 1000|equity_|delete from (quotes|facts)/i;
const KEY_LOOKUP = /join api_keys k on k.key_hash/;

/** Transactions and single statements, by a word each. */
function tripsOf(): string[] {
  const trips: string[] = [];
  const open = new Map<number, string[]>();
  for (const { connection, statement } of statements) {
    const text = statement.replaceAll(/\s+/g, ' ').trim();
    if (text === 'begin') {
      open.set(connection, []);
      continue;
    }
    const transaction = open.get(connection);
    if (transaction === undefined) {
      if (!BESIDE.test(text) && !KEY_LOOKUP.test(text)) trips.push(text.slice(0, 60));
      continue;
    }
    transaction.push(text);
    if (!/^(commit|rollback)$/.test(text)) continue;
    open.delete(connection);
    if (transaction.some((line) => /safeguards/.test(line))) trips.push(...kindsOf(transaction));
  }
  return trips;
}

const kindsOf = (transaction: readonly string[]): string[] => [
  transaction.some((line) => line.includes('for no key update')) ? 'lock and read' : 'look',
  ...(transaction.some((line) => line.includes('insert into orders')) ? ['record, commit'] : []),
];

const ask = () => trader.quote({ marketTicker: market.id, side: 'YES', action: 'BUY', amount: 5 });

async function signed() {
  const { body } = await ask();
  const wire = trader.signer.signTransaction(new Uint8Array(Buffer.from(body.unsignedTransaction, 'base64')));
  return { quoteId: body.quoteId as string, transaction: toBase64(wire) };
}

const forget = () => {
  statements.length = 0;
  asked.length = 0;
};

describe('trips', () => {
  test('a quote takes three to the database: the venue issues, the desk looks and stores', async () => {
    await ask();
    forget();
    expect((await ask()).status).toBe(200);
    expect(tripsOf()).toEqual([
      expect.stringContaining('insert into sandbox_orders'),
      'look',
      expect.stringContaining('insert into quotes'),
    ]);
    expect(asked.toSorted()).toEqual([
      ...['blockHeight', 'blockMs', 'lamports', 'simulate'],
      ...['tokenAccount', 'tokenAccount'],
    ]);
  });

  test('a submit takes four: it reads the quote, locks and reads, records, begins to send', async () => {
    const first = await signed();
    await trader.submit(first.quoteId, first.transaction);
    const { quoteId, transaction } = await signed();
    forget();
    expect(await trader.submit(quoteId, transaction)).toMatchObject({ status: 200, body: { success: true } });
    expect(tripsOf()).toEqual([
      expect.stringMatching(/^select c\.\*, q\.\*/),
      'lock and read',
      'record, commit',
      expect.stringContaining('update chain_orders c set attempts'),
    ]);
    expect(asked).toEqual(['blockHeight', 'simulate', 'send']);
  });

  test('submits of many agents that arrive together share these trips', async () => {
    const many = await Promise.all(Array.from({ length: 6 }, () => newSandboxTrader(service)));
    const ready = await Promise.all(
      many.map(async (one) => {
        const { body } = await one.quote({ marketTicker: market.id, side: 'YES', action: 'BUY', amount: 5 });
        const wire = one.signer.signTransaction(
          new Uint8Array(Buffer.from(body.unsignedTransaction, 'base64')),
        );
        return { one, quoteId: body.quoteId as string, transaction: toBase64(wire) };
      }),
    );
    forget();
    together = ready.length;
    const answers = await Promise.all(
      ready.map(({ one, quoteId, transaction }) => one.submit(quoteId, transaction)),
    );
    together = 1;
    for (const { status, body } of answers)
      expect({ status, success: body.success }).toEqual({ status: 200, success: true });
    const trips = tripsOf();
    const count = (what: RegExp) => trips.filter((trip) => what.test(trip)).length;
    expect(count(/record/)).toBeGreaterThan(0);
    expect(count(/record/)).toBeLessThanOrEqual(3);
    expect(count(/set attempts/)).toBeLessThanOrEqual(3);
  });
});
