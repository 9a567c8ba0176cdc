/** What all operations have in common, read from the document that the service serves: statuses, times, and how lists are paged. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  limitOrder,
  marketBuy,
  newTrader,
  openMarkets,
  type RawAnswer,
  restingOrder,
  sharedTestService,
  type TestService,
} from '../harness.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  readonly statuses: readonly string[];
  readonly answer: Schema;
}

let service: TestService;
let entries: readonly Entry[];
/** Bodies of webhooks. */
let told: readonly (readonly [string, Schema])[];
let schemas: Readonly<Record<string, Schema>>;

const schemaIn = (content: Readonly<Record<string, { readonly schema: Schema }>> = {}): Schema =>
  Object.values(content)[0]?.schema ?? {};

beforeAll(async () => {
  service = await sharedTestService();
  // biome-ignore lint/suspicious/noExplicitAny: the document is read by path
  const document: any = await (await fetch(`${service.url}/openapi.json`)).json();
  schemas = document.components.schemas;
  const methods = Object.entries(document.paths).flatMap(([path, of]) =>
    // biome-ignore lint/suspicious/noExplicitAny: the same
    Object.entries(of as any).map(([method, operation]: [string, any]) => ({ path, method, operation })),
  );
  entries = methods.map(({ path, method, operation }) => {
    const statuses = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
    return {
      ...{ id: operation.operationId, method: method.toUpperCase(), path, statuses },
      parameters: (operation.parameters ?? []).map(({ name }: { name: string }) => name),
      answer: schemaIn(operation.responses[statuses.at(-1) ?? '']?.content),
    };
  });
  told = Object.entries(document.webhooks).map(([id, of]) => [
    id,
    // biome-ignore lint/suspicious/noExplicitAny: the same
    schemaIn((of as any).post.requestBody.content),
  ]);
});

test('success is 200, and 201 of a trade alone; a trade that is only checked is 200', () => {
  const others = entries.filter(({ statuses }) => statuses.join() !== '200');
  expect(others.map(({ id, statuses }) => [id, statuses])).toEqual([['placeTrade', ['200', '201']]]);
});

/** Each property of a schema, however deep, with its path. */
function* propertiesOf(schema: Schema, path = '', deep = 0): Generator<readonly [string, Schema]> {
  if (deep > 12) return;
  const { $ref, anyOf = [], allOf = [], items, properties = {} } = schema;
  const named = $ref === undefined ? [] : [schemas[$ref.split('/').at(-1) ?? ''] ?? {}];
  for (const part of [...named, ...anyOf, ...allOf]) yield* propertiesOf(part, path, deep + 1);
  if (items !== undefined) yield* propertiesOf(items, `${path}[]`, deep + 1);
  for (const [name, property] of Object.entries(properties)) {
    yield [`${path}.${name}`, property];
    yield* propertiesOf(property, `${path}.${name}`, deep + 1);
  }
}

describe('times', () => {
  const TIME =
    /\.(\w+At|at|\w+_at|\w*[uU]ntil|\w*[sS]ince|\w*[dD]eadline|expiration\w*|timestamp|\w+Timestamp|endDate)$/;
  /** What is no ISO text, and who says so. */
  const OTHERWISE: readonly (readonly [why: string, where: RegExp])[] = [
    [
      'the record of an API key: epoch milliseconds as text (interface 2.2)',
      /^(getClaim|getClaimByQuery|getMe|createApiKey|listApiKeys|listOwnerAgentKeys|revoke\w*Key\w*)(\[\])?\.(createdAt|lastCalledAt)$/,
    ],
    ['a skill: epoch milliseconds as text (interface 2.12)', /Skills?\S*\.(createdAt|updatedAt)$/],
    ['a quote: epoch milliseconds as a number (interface 2.10)', /^quoteVenueB\.expiresAt$/],
    ['the body of a trade, as it is posted (interface 2.5, 2.6)', /^prepare\w+\S*\.body\./],
    ['a header of the venue, in a worked example', /^getVenueSigning\S*\.l2\.example\.timestamp$/],
  ];
  const isIso = ({ type, format, anyOf }: Schema): boolean =>
    anyOf === undefined ? type === 'null' || format === 'date-time' : anyOf.every(isIso);

  test('of answers are ISO 8601, except where the interface says otherwise', () => {
    const answers = [...told, ...entries.map(({ id, answer }) => [id, answer] as const)];
    const found = answers.flatMap(([id, answer]) =>
      [...propertiesOf(answer)].flatMap(([path, schema]) =>
        TIME.test(path) && !isIso(schema) ? [id + path] : [],
      ),
    );
    const others = new Set(found.filter((where) => !OTHERWISE.some(([, of]) => of.test(where))));
    expect([...others]).toEqual([]);
    const unused = OTHERWISE.filter(([, of]) => !found.some((where) => of.test(where)));
    expect(unused).toEqual([]);
  });
});

describe('lists', () => {
  /** Newest first: `limit`, and where a page begins: `cursor`, or `offset`. */
  const PAGED = [
    ...['listOpenOrders', 'listOrders', 'listFills', 'listExits', 'listApprovals', 'listAgentTrades'],
    ...['listOwnerAgentOpenOrders', 'listOwnerAgentOrders', 'listOwnerAgentFills', 'listOwnerExits'],
    ...['listOwnerApprovals', 'listOwnerAgentDecisions', 'listVenueBOrders', 'listKeptTrades'],
    ...['listWebhookDeliveries', 'listOwnerAgentWebhookDeliveries'],
  ];
  /** Other ways to turn the page, which the Link header goes, too. */
  const OTHERWISE: Readonly<Record<string, readonly [turnedBy: string, why: string]>> = {
    listMarkets: ['page', 'the interface names it (4.7)'],
    ...Object.fromEntries(
      ['listSkills', 'listSkillsAlias', 'listMySkills', 'listSkillsForReview'].map((id) => [
        id,
        ['offset', 'the interface names it (4.14)'],
      ]),
    ),
    ...Object.fromEntries(
      [
        ...['getCurrentPositions', 'getClosedPositions', 'getExpiringPositions'],
        ...['listOwnerAgentPositions', 'listOwnerAgentClosedPositions'],
      ].map((id) => [
        id,
        ['offset', 'sorted by figures that move: a place in it is no place a moment later'],
      ]),
    ),
    ...Object.fromEntries(
      ['listReceipts', 'listOwnerAgentReceipts'].map((id) => [
        id,
        ['after', 'oldest first, and numbered without gaps'],
      ]),
    ),
    ...Object.fromEntries(
      ['getStatement', 'getOwnerStatement'].map((id) => [
        id,
        ['cursor', 'a report of one span, oldest first'],
      ]),
    ),
  };
  /** Answered whole, because something bounds them. */
  const WHOLE: Readonly<Record<string, string>> = {
    listApiKeys: 'ten active keys and a hundred revoked ones',
    listOwnerAgentKeys: 'the same',
    listWebhooks: 'ten of an agent',
    listOwnerAgentWebhooks: 'the same',
    listVenues: 'those of the configuration',
    listSafeguards: 'a table of the service',
    listTradesByStrategy: 'one row for each pair of labels',
    listVenueBPositions: 'what the chain says of one wallet',
    listOwnerAgents: "the owner's agents",
    listOwnerAgentWallets: 'a hundred wallets of an owner',
    listLeftWallets: 'the same',
    listOwnerPasskeys: 'twenty of an owner',
    getLeaderboard: 'the best hundred',
    getWalletPositions: 'of one wallet',
  };

  test('are paged in one way, but for those that are named here with a reason', () => {
    const reads = entries.filter(({ method }) => method === 'GET');
    const isList = ({ id, answer, parameters }: Entry): boolean =>
      answer.type === 'array' || id.startsWith('list') || parameters.includes('limit') || id in WHOLE;
    const parametersOf = Object.fromEntries(reads.map(({ id, parameters }) => [id, parameters]));
    const named = [...PAGED, ...Object.keys(OTHERWISE), ...Object.keys(WHOLE)];
    expect(
      reads
        .filter(isList)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(named.toSorted());
    for (const id of PAGED)
      expect(parametersOf[id], id).toEqual(expect.arrayContaining(['limit', 'offset', 'cursor']));
    for (const [id, [turnedBy]] of Object.entries(OTHERWISE))
      expect(parametersOf[id], id).toEqual(expect.arrayContaining(['limit', turnedBy]));
    for (const id of Object.keys(WHOLE)) {
      expect(parametersOf[id], id).not.toContain('offset');
      expect(parametersOf[id], id).not.toContain('cursor');
    }
  });

  type Send = (path: string) => Promise<RawAnswer>;
  const itemsOf = (body: unknown): readonly unknown[] =>
    Array.isArray(body) ? body : (Object.values(body as object).find(Array.isArray) as unknown[]);
  const nextOf = ({ headers }: RawAnswer): string | undefined =>
    /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  const idOf = (item: unknown): string => {
    const { exitId, approvalId, tradeId, orderId, id, at, createdAt } = item as Record<string, string>;
    return [exitId ?? approvalId ?? id ?? orderId, tradeId, id === undefined ? (at ?? createdAt) : ''].join(
      ' ',
    );
  };

  /** Follows the links from the first page to the last, while one more item comes in behind the first. */
  async function walk(send: Send, path: string, add: () => Promise<unknown>, keyOf = idOf): Promise<void> {
    const whole = await send(`${path}${path.includes('?') ? '&' : '?'}limit=100`);
    const known = itemsOf(whole.body).map(keyOf);
    expect(new Set(known).size, path).toBe(known.length);
    expect(known.length, path).toBeGreaterThanOrEqual(3);
    expect([whole.headers.get('x-total-count'), nextOf(whole)], path).toEqual([
      String(known.length),
      undefined,
    ]);
    const seen: string[] = [];
    let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}limit=1`;
    for (let page = 0; next !== undefined; page += 1) {
      const answer = await send(next);
      const total = String(known.length + (page === 0 ? 0 : 1));
      expect([answer.status, answer.headers.get('x-total-count')], next).toEqual([200, total]);
      expect(itemsOf(answer.body), next).toHaveLength(1);
      seen.push(...itemsOf(answer.body).map(keyOf));
      next = nextOf(answer);
      if (page === 0) await add();
    }
    expect(seen, path).toEqual(known);
    const second = itemsOf((await send(`${path}${path.includes('?') ? '&' : '?'}limit=1&offset=2`)).body);
    expect(second.map(keyOf), path).toEqual([known[1]]);
    for (const cursor of [
      'AA',
      Buffer.from('1.2.3').toString('base64url'),
      Buffer.from(`1.'`).toString('base64url'),
    ]) {
      const { status, body } = await send(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
      expect([status, body.code], path).toEqual([400, 'invalid_request']);
    }
  }

  test('give every item once, with a true total, while others come in', async () => {
    const trader = await newTrader(service);
    const [market] = (await openMarkets(trader.client)) as [Market];
    const owner = await ownerOf(service, trader);
    await trader.client.splitSets({ clientOrderId: 'held', marketId: market.id, amount: 60 });
    const hook = { url: 'https://hooks.example.com/lists', events: ['order.filled' as const] };
    const { id: webhookId } = await trader.client.createWebhook(hook);
    const rest = async () => trader.client.placeTrade(await restingOrder(trader, market));
    let attempts = 0;
    const refused = async () => {
      const reasoning = `attempt ${attempts++}`;
      const order = await restingOrder(trader, market, 20_000_000);
      return trader.post('/markets/trade', { ...order, reasoning });
    };
    const trigger = { kind: 'time', at: new Date(Date.now() + 3_600_000).toISOString() } as const;
    const add = {
      order: rest,
      fill: async () => trader.client.placeTrade(await marketBuy(trader, market, 2)),
      // Some of one moment.
      attempts: async () => Promise.all([refused(), refused(), refused(), rest()]),
      exit: async () =>
        trader.client.leaveExit({
          ...(await limitOrder(trader, market, { side: 'SELL', size: 5, price: '0.9' })),
          trigger,
        }),
      delivery: () => trader.client.testWebhook(webhookId),
      approval: async () => {
        await trader.client.updateSettings({ approvalAbove: 0 });
        await trader.post('/markets/trade', await restingOrder(trader, market));
        await trader.client.updateSettings({ approvalAbove: null });
      },
    };
    for (const one of Object.values(add)) for (let nth = 0; nth < 3; nth += 1) await one();
    const own: Send = (path) => trader.get(path);
    const owners: Send = (path) => owner.send('GET', path);
    const ofAgent = `/owner/agents/${trader.agentId}`;
    await walk(own, '/markets/orders/open', add.order);
    await walk(owners, `${ofAgent}/orders/open`, add.order);
    await walk(own, '/markets/orders', add.order);
    await walk(owners, `${ofAgent}/orders`, add.order);
    await walk(own, '/markets/fills', add.fill);
    await walk(owners, `${ofAgent}/fills`, add.fill);
    await walk(own, '/markets/exits', add.exit);
    await walk(own, '/markets/exits?status=open&outcome=YES', add.exit);
    await walk(owners, '/owner/exits', add.exit);
    await walk(own, '/agents/approvals', add.approval);
    await walk(own, '/agents/approvals?status=waiting', add.approval);
    await walk(owners, '/owner/approvals', add.approval);
    await walk(owners, `/owner/approvals?agentId=${trader.agentId}`, add.approval);
    await walk(own, '/agents/trades', refused, JSON.stringify);
    await walk(own, '/agents/trades?venue=polymarket', rest, JSON.stringify);
    await walk(owners, `${ofAgent}/decisions`, refused, JSON.stringify);
    await walk(own, `/webhooks/${webhookId}/deliveries`, add.delivery);
    await walk(owners, `${ofAgent}/webhooks/${webhookId}/deliveries`, add.delivery);
  });
});
