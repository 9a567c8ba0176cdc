/** The MCP server with the official client against a running service: what a language model does on its first day. */
import { deskPlace, SpendingLimit } from '@bellwether/sdk/keystore';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedTestService, type TestService } from '../harness.ts';
import {
  connect,
  environmentFor,
  type Facts,
  type Generation,
  type McpEnvironment,
  type Model,
  runMcp,
  type Transport,
} from '../mcp-client.ts';

let service: TestService;
let env: McpEnvironment;

const WAYS: readonly (readonly [Transport, Generation])[] = [
  ['stdio', '2025'],
  ['stdio', '2026'],
  ['http', '2025'],
  ['http', '2026'],
];

beforeAll(async () => {
  service = await sharedTestService();
  env = environmentFor(service.url);
  // As a person does, with a key derivation that costs what theirs does.
  expect(await runMcp(['init'], env)).toMatchObject({ code: 0, stderr: '' });
  // As a person does in a terminal.
  new SpendingLimit(deskPlace(env)).setLimit(10_000_000_000n);
});

/** A market with a book in the middle, and what an amount costs there. */
async function findTrade(model: Model, amount: number) {
  const wanted = { query: '*', order: 'liquidity', minPrice: 0.25, maxPrice: 0.75, limit: 50 };
  const { markets } = await model.call('search_markets', wanted);
  const market = markets.find((one: Facts) => one.tradable && one.bestAsk > 0.2 && one.bestAsk < 0.8);
  const look = await model.call('look_at_market', { market: market.market, amount });
  expect(look.costs).toContainEqual(expect.objectContaining({ side: 'BUY', outcome: 'YES', amount }));
  // Above every change of the book meanwhile, and on every tick grid.
  return {
    terms: { market: market.market, outcome: 'YES', side: 'BUY', worstPrice: 0.9, amount },
  };
}

const ANSWERS = {
  accepted: { action: 'accept', confirm: true },
  'not confirmed': { action: 'accept', confirm: false },
  declined: { action: 'decline' },
} as const;

describe.each(WAYS)('over %s, for a client of %s', (transport, generation) => {
  test('a model finds a market, trades, and sees what it holds; above the threshold a person decides', async () => {
    const answers = Object.values<(typeof ANSWERS)[keyof typeof ANSWERS]>(ANSWERS);
    const person = { answer: () => answers.shift() ?? ANSWERS.declined };
    const model = await connect(env, { transport, generation, person });
    const { terms } = await findTrade(model, 5);
    expect(await model.call('check_order', terms)).toMatchObject({ accepted: true });
    const placed = await model.call('place_order', terms);
    expect(placed).toMatchObject({ placed: true, repeated: false, averagePrice: expect.any(Number) });
    expect(placed.filledSize).toBeGreaterThan(0);
    const { order, fills } = await model.call('get_order', { orderId: placed.orderId });
    expect(order).toMatchObject({ orderId: placed.orderId, side: 'BUY', outcome: 'YES' });
    expect(fills.length).toBeGreaterThan(0);
    const { positions } = await model.call('list_positions', { limit: 100 });
    expect(positions.map(({ market }: Facts) => market)).toContain(terms.market);
    expect(model.questions).toEqual([]);

    const large = { ...terms, amount: 30 };
    expect(await model.call('place_order', large)).toMatchObject({ placed: true });
    expect(await model.refusal('place_order', large)).toMatchObject({ code: 'declined_by_person' });
    expect(await model.refusal('place_order', large)).toMatchObject({ code: 'declined_by_person' });
    expect(model.questions).toHaveLength(3);
    for (const question of model.questions)
      expect(question).toMatch(
        /^Place this order\? BUY [\d.]+ YES shares of market \S+ \(polymarket\) at [\d.]+ or better; it pays at most 30, fees apart\. Order id 0x[0-9a-f]{64}\.$/,
      );
    await model.close();
  });

  test('a model trades in a market of version v2 as in any other', async () => {
    const model = await connect(env, { transport, generation });
    const { id } = [...service.exchange.markets()].find(
      ({ version, status, bestAsk = 0 }) => version === 'v2' && status === 'open' && bestAsk > 100,
    )!;
    const terms = { market: id, outcome: 'YES', side: 'BUY', worstPrice: 0.99, amount: 2 };
    const placed = await model.call('place_order', terms);
    expect(placed).toMatchObject({ placed: true });
    expect(placed.filledSize).toBeGreaterThan(0);
    await model.close();
  });

  test('a client that cannot ask places nothing above the threshold', async () => {
    const model = await connect(env, { transport, generation });
    const { terms } = await findTrade(model, 30);
    const before = await model.call('get_portfolio');
    expect(await model.refusal('place_order', terms)).toMatchObject({ code: 'approval_not_possible' });
    expect((await model.call('get_portfolio')).spendingLimit).toEqual(before.spendingLimit);
    await model.close();
  });
});
