/** Names of outcomes at the command line, of a desk that writes what it likes. */
import type { TradeIntent, TradeRequest } from '@bellwether/contract';
import { outcomeTokens } from '@bellwether/protocol';
import { type Market, Signer } from '@bellwether/sdk';
import { deskPlace, KnownMints } from '@bellwether/sdk/keystore';
import { describe, expect, test } from 'vitest';
import { honestPrepared } from '../../packages/sdk/test/dishonest-desk.ts';
import { MARKET } from '../../packages/sdk/test/market.ts';
import { cli } from '../cli-process.ts';
import { temporaryFolder } from '../setup/clean-up.ts';
import { sendJson, standIn } from '../stand-in.ts';

const KEY = `0x${'17'.repeat(32)}`;
const AGENT = '0190aaaa-0000-7000-8000-00000000000a';
const [FIRST, SECOND] = outcomeTokens(MARKET.conditionId, false);

interface Desk {
  readonly outcomes?: readonly string[];
  readonly clobTokenIds?: readonly string[];
  /** The side that it prepares, whatever was asked. */
  readonly prepares?: 'YES' | 'NO';
  readonly use?: 'paper' | 'live';
}

/** A desk with one market, and how a program reaches it. */
async function deskWith({ outcomes = ['FaZe', 'illwill'], use = 'paper', prepares, ...market }: Desk = {}) {
  const signer = Signer.fromPrivateKey(KEY);
  const listed = {
    ...{
      ...MARKET,
      id: '1042',
      title: MARKET.question,
      venue: 'polymarket',
      version: 'v1',
      status: 'active',
    },
    ...{
      clobTokenIds: [FIRST, SECOND],
      bestBid: '0.4',
      bestAsk: '0.42',
      volume24hr: '1',
      endDate: '',
      category: '',
    },
    ...{ description: 'Rules.', outcomes, ...market },
  } as unknown as Market;
  const named = { marketId: '1042', marketQuestion: MARKET.question, outcomeName: outcomes[1] ?? null };
  const order = {
    ...{ ...named, orderId: '0xab', status: 'live', side: 'BUY', outcome: 'NO', price: 0.4, orderSize: 5 },
    ...{ filledSize: 0, createdAt: '2026-11-29T00:00:00Z' },
  };
  const posted: TradeRequest[] = [];
  const url = await standIn(({ method, url: path, body }, response) => {
    const { pathname } = new URL(path, 'http://desk');
    if (pathname === '/agents/me')
      return sendJson(response, {
        agentId: AGENT,
        venues: [
          { name: 'polymarket', backend: use, status: 'up' },
          { name: 'kalshi', backend: use, status: 'up' },
        ],
      });
    if (pathname === '/markets') return sendJson(response, [listed]);
    if (pathname === '/markets/orders/open') return sendJson(response, [order]);
    if (pathname.startsWith('/markets/') && method === 'GET') return sendJson(response, listed);
    if (pathname === '/markets/trade/prepare') {
      const intent = JSON.parse(body) as TradeIntent;
      const asked = prepares === undefined ? intent : { ...intent, outcome: prepares };
      return sendJson(response, {
        ...{ accepted: true, counted: 20, fill: { shares: 0, averagePrice: null, rests: 50, fee: 0 } },
        ...honestPrepared(asked, { market: listed, signer, agentId: AGENT }),
      });
    }
    // A check of an exit posts nothing that is signed.
    if (JSON.parse(body).validateOnly !== true) posted.push(JSON.parse(body));
    if (pathname === '/markets/exits')
      return sendJson(response, {
        ...{ exitId: '1', status: 'armed', because: null, trigger: { kind: 'silence' }, trouble: null },
        ...{ size: 5, outcome: 'YES', outcomeName: outcomes[0], marketId: '1042', orderId: '0xab' },
      });
    sendJson(response, {
      success: true,
      status: 'live',
      orderId: '0xab',
      filledSize: 0,
      avgPrice: null,
      feePaid: 0,
    });
  });
  const env = {
    ...{ BELLWETHER_URL: url, BELLWETHER_HOME: temporaryFolder(), BELLWETHER_API_KEY: 'bw_key' },
    ...{ BELLWETHER_PRIVATE_KEY: KEY, BELLWETHER_KEY_USE: use },
  };
  return { env, posted, run: (...args: readonly string[]) => cli(args, env) };
}

const buy = (outcome: string, ...more: readonly string[]) =>
  ['buy', '1042', outcome, '--price', '0.4', '--size', '50', ...more] as const;

describe('an order', () => {
  test('takes a name, says which side it is, and posts the side', async () => {
    const { run, posted } = await deskWith();
    for (const [word, side] of [
      ['faze', 'YES'],
      ['illwill', 'NO'],
      ['no', 'NO'],
    ] as const) {
      const { code, stderr } = await run(...buy(word, '--yes'));
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stderr).toContain(side === 'YES' ? 'buy 50 YES = FaZe at 0.4' : 'buy 50 NO = illwill at 0.4');
      expect(posted.at(-1)).toMatchObject({
        outcome: side,
        order: { tokenId: side === 'YES' ? FIRST : SECOND },
      });
    }
    const { stdout } = await run(...buy('FaZe', '--validate-only', '--json'));
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'YES', outcomeName: 'FaZe' });
  });

  test('by a name that the market has not is refused with both', async () => {
    const { run, posted } = await deskWith();
    const { code, stderr } = await run(...buy('Up', '--yes', '--json'));
    expect(code).not.toBe(0);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'outcome_name_mismatch',
      message: 'This market has no outcome "Up": YES is "FaZe", NO is "illwill".',
      fix: expect.stringContaining('YES or NO'),
    });
    const equal = await deskWith({ outcomes: ['Same', 'same'] });
    expect((await equal.run(...buy('same', '--yes'))).stderr).toContain('outcome_name_mismatch');
    expect((await equal.run(...buy('YES', '--yes'))).code).toBe(0);
    expect([posted.length, equal.posted.length]).toEqual([0, 1]);
  });

  test('that the desk prepares for the other side is not signed', async () => {
    const { run, posted } = await deskWith({ prepares: 'NO' });
    const { stderr } = await run(...buy('FaZe', '--yes', '--json'));
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'prepared_order_differs' });
    expect(posted).toEqual([]);
  });

  test('in a market whose venue lists No first: a live key trades it once a person confirmed its token', async () => {
    const turned = { outcomes: ['Yes', 'No'], clobTokenIds: [SECOND, FIRST] };
    const paper = await deskWith(turned);
    expect(await paper.run(...buy('YES', '--yes'))).toMatchObject({ code: 0 });
    const { run, posted, env } = await deskWith({ ...turned, use: 'live' });
    const { stderr } = await run(...buy('YES', '--yes', '--json'));
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'tokens_differ',
      message: expect.stringContaining(`bellwether mint confirm ${MARKET.conditionId} YES <token>`),
      fix: expect.stringContaining('at the venue itself'),
    });
    expect(posted).toEqual([]);
    const mints = new KnownMints(deskPlace(env));
    const confirmed = { ticker: MARKET.conditionId, side: 'YES', source: 'person' } as const;
    mints.remember({ ...confirmed, mint: SECOND });
    expect(await run(...buy('YES', '--yes'))).toMatchObject({ code: 0 });
    expect(posted.at(-1)).toMatchObject({ outcome: 'YES', order: { tokenId: SECOND } });
    expect(
      await run('sell', '1042', 'YES', '--price', '0.4', '--size', '5', '--below', '0.4', '--yes'),
    ).toMatchObject({
      code: 0,
    });
    expect(posted.at(-1)).toMatchObject({
      trigger: { kind: 'price_at_or_below' },
      order: { tokenId: SECOND },
    });
    // The person finds out that it was the other one.
    mints.remember({ ...confirmed, mint: FIRST });
    expect((await run(...buy('YES', '--yes'))).stderr).toContain('tokens_differ');
    expect(posted).toHaveLength(2);
  });
});

test('a token is confirmed by a person alone, in the form of its venue', async () => {
  const { run, env } = await deskWith();
  const mint = 'CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb';
  for (const [market, token] of [
    [MARKET.conditionId, mint],
    ['TICKER', SECOND],
    [MARKET.conditionId, 'YES!'],
  ] as const)
    expect((await run('mint', 'confirm', market, 'YES', token)).code).toBe(2);
  expect((await run('mint', 'confirm', MARKET.conditionId, 'YES', SECOND)).stderr).toContain(
    'person_required',
  );
  expect(
    new KnownMints(deskPlace(env)).tokensOf({ ...MARKET, clobTokenIds: [FIRST, SECOND] }),
  ).toBeUndefined();
});

describe('names that hold escape sequences, an instruction or ten thousand characters', () => {
  const EVIL = '\u001b]0;pwned\u0007\u001b[2J\u009b31m\u202etxet\r\nerror: fake';
  const commands = [
    ['markets'],
    ['market', '1042'],
    ['orders'],
    [...buy('YES', '--validate-only')],
    [...buy('Up', '--yes')],
    ['watch', '1042', '--outcome', 'Up'],
  ];
  test.each(commands)('reach no terminal as they are: %s', async (...command) => {
    for (const outcomes of [
      [EVIL, `${EVIL}2`],
      ['x'.repeat(10_000), 'y'.repeat(10_000)],
    ]) {
      const { run } = await deskWith({ outcomes });
      const shown = Object.values(await run(...command)).join('');
      expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(shown).not.toMatch(/^error: fake/m);
      expect(shown).not.toMatch(/[xy]{200}/);
      expect(shown).toMatch(/pwned|x{50}|y{50}/);
    }
  });

  test('are beside the sides of tables, and left out where they are simply Yes and No', async () => {
    const { run } = await deskWith();
    expect((await run('orders')).stdout).toContain('NO illwill');
    expect((await run('markets')).stdout).toContain('FaZe / illwill');
    expect((await run('market', '1042')).stdout).toMatch(/YES +FaZe\n *NO +illwill/);
    const plain = await deskWith({ outcomes: ['Yes', 'No'] });
    expect((await plain.run('orders')).stdout).not.toMatch(/NO No/);
    expect((await plain.run(...buy('YES', '--yes'))).stderr).toContain('buy 50 YES at 0.4');
  });
});

test('a quote of venue B by a name is asked for the side', async () => {
  const { run } = await deskWith();
  const asked = await run('quote', 'buy', 'TICKER', 'Up', '--amount', '5', '--json');
  expect(JSON.parse(asked.stderr).error).toMatchObject({ code: 'outcome_name_mismatch' });
});
