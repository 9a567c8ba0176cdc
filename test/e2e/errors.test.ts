/**
 * Bad input: each gets its documented status and code, never a 500. And the `fix` of every code: a program does what it says,
 * and ends well. Where the text names a route, a value or a list, the program takes it from there, so that a text that
 * leads nowhere fails.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as contract from '@bellwether/contract';
import { ERRORS, type ErrorCode, type Operation } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { headersOf } from '../../packages/server/src/platform/http/answer-headers.ts';
import { errorCodes } from '../../packages/server/src/platform/http/routes.ts';
import { quoteAliases } from '../../packages/server/src/quoting/routes.ts';
import { ownerOf } from '../approving.ts';
import { hold } from '../exits.ts';
import { limitOrder, newTrader, type RawAnswer, restingOrder } from '../harness.ts';
import { ERROR_ROWS } from './error-rows.ts';
import {
  buy,
  changed,
  type Followed,
  get,
  market,
  negRisk,
  post,
  service,
  trade,
  trader,
  useStage,
} from './errors-stage.ts';
import { ORDER_FIXES } from './fix-rows-orders.ts';
import { OWNER_FIXES, useOwnDesk } from './fix-rows-owners.ts';
import { QUOTE_FIXES } from './fix-rows-quotes.ts';
import { REQUEST_FIXES } from './fix-rows-requests.ts';
import { undescribed } from './openapi-answers.ts';

useStage();
useOwnDesk();

const FIXES: Partial<Record<ErrorCode, Followed>> = {
  ...REQUEST_FIXES,
  ...ORDER_FIXES,
  ...QUOTE_FIXES,
  ...OWNER_FIXES,
};

/** Codes that need a fault, a live venue or hours; each names the test that is refused and goes on. */
const FOLLOWED_IN: Readonly<Partial<Record<ErrorCode, string>>> = {
  request_timeout: 'test/faults/edge-connections.test.ts',
  idempotency_limit_reached: 'edge-limits.test.ts',
  skill_limit_reached: 'edge-limits.test.ts',
  wallet_limit_reached: 'edge-limits.test.ts',
  internal_error: 'the unit test of the error handler: the same request again',
  service_unavailable: 'trade.test.ts and the fault suite: the same request again',
  overloaded: 'test/faults: the same request again',
  order_outcome_unknown: 'doubt.test.ts: the same order again',
  history_too_fine: 'history.test.ts',
  market_version_not_supported: 'coherence.test.ts: another market',
  tick_size_not_supported: 'coherence.test.ts: another market',
  fee_terms_not_supported: 'coherence.test.ts: another market',
  resting_amounts_mismatch: 'sell-amount.test.ts: size × price',
  sell_decimals_not_allowed: 'sell-amount.test.ts: 2 and 4 decimals',
  claim_required: 'live-desk.test.ts',
  believed_bid_required: 'exits.test.ts: waits for a bid',
  event_cursor_invalid: 'events.test.ts',
  event_cursor_gone: 'events.test.ts',
  stream_limit_reached: 'events.test.ts',
  webhook_disabled: 'webhooks.test.ts',
  kept_trade_not_found: 'kept-trades.test.ts: the list',
  paper_only: 'live-desk.test.ts: another route',
  blocked_by_policy: 'charge-fee.test.ts: the policy of the provider',
  signing_failed: 'charge-fee.test.ts: the same request again',
  broadcast_failed: 'fee-on-chain.test.ts: the same request again',
  fee_outcome_unknown: 'charge-fee.test.ts: the same request again',
};

const OPERATIONS = (Object.values(contract) as readonly unknown[]).filter(
  (value): value is Operation =>
    typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value,
);
const SOURCES = join(import.meta.dirname, '../../packages');
const namesOf = quoteAliases('kalshi');

const NO_OPERATION: ReadonlySet<string> = new Set([
  'route_not_found',
  'method_not_allowed',
  'invalid_target',
  'headers_too_large',
]);

/** Where a request arrived; a path without parameters wins. */
function operationAt(method: string, instance: string): Operation | undefined {
  const fits = (path: string): boolean =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(instance);
  const found = OPERATIONS.filter(
    (operation) => operation.method === method && [operation.path, ...namesOf(operation.path)].some(fits),
  );
  return found.find(({ path }) => !path.includes('{')) ?? found[0];
}

/** The answer says what the registry says, and what to do next; its code is one of those of its operation. */
function requireProblem(code: string, { method, status, body, headers }: RawAnswer): void {
  const { status: documented } = ERRORS[code as ErrorCode];
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: documented,
    code,
    detail: expect.any(String),
  });
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect(body).toMatchObject({
    type: expect.stringMatching(new RegExp(`^http://localhost:\\d+/docs/errors/${code}$`)),
    status: documented,
    message: body.detail,
    fix: expect.any(String),
  });
  expect(body.requestId).toBe(headers.get('x-request-id'));
  // An observed code is declared, unless no operation was reached.
  if (NO_OPERATION.has(code)) return;
  const operation = operationAt(method, body.instance);
  expect(operation === undefined ? [] : errorCodes(operation)).toContain(code);
  if (operation === undefined) return;
  const described = headersOf(operation, status, errorCodes(operation));
  expect(undescribed(headers, described)).toEqual([]);
  if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  if (status === 401) expect(headers.get('www-authenticate')).toContain('Bearer');
}

describe('bad input', () => {
  test.each(ERROR_ROWS)('%s: %s', async (code, _why, run) => requireProblem(code, await run()));

  test.each(Object.entries(FIXES))('%s: what its fix says is done, and ends well', async (code, follow) => {
    let refusals = 0;
    const { status, body } = await follow((answer) => {
      requireProblem(code, answer);
      refusals += 1;
      return answer;
    });
    expect(refusals).toBeGreaterThan(0);
    expect({ status, body }).toEqual({
      status: expect.toSatisfy((is: number) => is >= 200 && is < 300),
      body,
    });
    // A trade that the venue refuses has a good status, too.
    expect(body).not.toMatchObject({ success: false });
  });

  const aPrepare = { clientOrderId: 'a', side: 'BUY', outcome: 'YES', price: 0.01, size: 10 };
  test.each<readonly [what: string, send: () => Promise<RawAnswer>, said: string]>([
    ['an order id', () => get('/markets/orders/0x12'), 'orderId must be an order id: 0x and 64 hex digits'],
    [
      'seconds, for a signed expiration in milliseconds',
      () => changed({ orderType: 'GTD' }, { expiration: String(Date.now() + 600_000) }),
      'order.expiration is in seconds',
    ],
    [
      'seconds, for an intended one',
      () => post('/markets/trade/prepare', { ...aPrepare, marketId: market.id, expiration: Date.now() }),
      'expiration must be <= 253402300799: it is in seconds, not milliseconds',
    ],
    [
      'the kinds of a trigger',
      () => post('/markets/exits', { trigger: { kind: 'stop_loss' } }),
      'trigger.kind must be one of price_at_or_below, price_at_or_above, time, before_end, silence',
    ],
    [
      'a time',
      () => post('/markets/exits', { trigger: { kind: 'time', at: 'tomorrow' } }),
      'trigger.at must be an ISO 8601 time with zone, such as',
    ],
    [
      'a truth value, for that of Python',
      () => get('/markets?q=*&ascending=True'),
      'ascending must be true or false, in lower case',
    ],
    [
      "the venue of the other venue's market",
      () => post('/markets/trade/prepare', { ...aPrepare, marketId: 'KXTEST-1' }),
      'It is a market of venue "kalshi", and venue "polymarket" was asked.',
    ],
  ])('says %s', async (_what, send, said) => {
    const { body } = await send();
    expect(body.detail).toContain(said);
  });

  test('a sale above a limit says what its own agent can do, and what only its owner can', async () => {
    const agent = await newTrader(service);
    await hold(agent, market, 30);
    await agent.client.updateSettings({ maxTradeAmount: 5 });
    const sell = async () =>
      (await trade(await limitOrder(agent, market, { side: 'SELL', price: 0.99, size: 10 }), agent.apiKey))
        .body;
    const fix = 'Trade less at a time, or raise maxTradeAmount in POST /agents/settings.';
    expect(await sell()).toMatchObject({ code: 'max_trade_amount_exceeded', fix });
    const owner = await ownerOf(service, agent);
    const letsPass = 'Your owner can let exits pass this limit (capsBindExits, on the console).';
    expect((await sell()).fix).toBe(`${fix} ${letsPass}`);
    const limits = { maxTradeAmount: { limit: 5, locked: true } };
    await owner.send('POST', `/owner/agents/${agent.agentId}/safeguards`, limits);
    expect((await sell()).fix).toBe(
      `Trade less at a time, or ask your owner, who has locked maxTradeAmount at 5. ${letsPass}`,
    );
    expect((await trade(await buy(agent, 6), agent.apiKey)).body.fix).toContain(
      'ask your owner, who has locked',
    );
  });

  test('all invalid fields are reported together', async () => {
    const { body } = await trade({
      outcome: 'MAYBE',
      orderSize: '5',
      price: 2,
      order: { salt: -1, side: 'HOLD' },
    });
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining([
        'marketConditionId',
        'marketQuestion',
        'outcome',
        'orderSize',
        'price',
        'order.salt',
        'order.side',
        'order.maker',
        'order.signature',
      ]),
    );
  });

  test('all incoherent fields are reported together, the first one as the code', async () => {
    const { body } = await changed({ orderSize: 11, price: 0.02, tickSize: '0.1', negRisk: true });
    expect(body.code).toBe('order_size_mismatch');
    expect(body.errors.map(({ code }: { code: string }) => code)).toEqual([
      'order_size_mismatch',
      'price_mismatch',
      'tick_size_mismatch',
      'neg_risk_mismatch',
    ]);
  });

  test('the wrong contract is diagnosed: a neg-risk market signed for the plain one', async () => {
    const request = await restingOrder(trader, { ...negRisk, negRisk: false });
    const { status, body } = await trade({ ...request, negRisk: true });
    expect(status).toBe(400);
    expect(body.detail).toBe('Invalid order payload');
    expect(body.diagnosis).toMatchObject({
      check: 'verifying_contract',
      signedFor: expect.stringContaining('version 2'),
    });
  });

  test('every fix of the registry is followed, here or in the test that is named', () => {
    const followed = [...Object.keys(FIXES), ...Object.keys(FOLLOWED_IN)];
    expect(followed.toSorted()).toEqual(Object.keys(ERRORS).toSorted());
  });
});

/** Of the desk, and no operations; and of the venue's relayer. */
const OTHER_ROUTES = ['POST /submit', 'GET /llms.txt', 'GET /metrics', 'GET /readyz'];

test('every route that a text of the desk names exists', () => {
  const shape = (path: string) => path.replaceAll(/\$?\{[^}]*\}/g, '{}');
  const routes = new Set([
    ...OTHER_ROUTES,
    ...OPERATIONS.map(({ method, path }) => `${method} ${shape(path)}`),
  ]);
  const files = ['contract/src', 'server/src'].flatMap((folder) =>
    readdirSync(join(SOURCES, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  );
  const named = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const lines = readFileSync(join(SOURCES, file), 'utf8').split('\n');
      const texts = lines
        .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
        .map((line) => line.replaceAll(/\{\{|\}\}/g, (is) => is.charAt(0)));
      return [...texts.join('\n').matchAll(/\b(GET|POST|PUT|DELETE) (\/[\w{}$/.-]*[\w}])/g)].map(
        ([, method, path = '']) => [`${method} ${shape(path)}`, file] as const,
      );
    });
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(([route]) => !routes.has(route))).toEqual([]);
});
