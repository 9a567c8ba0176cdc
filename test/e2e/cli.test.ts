/** Every command of the command line against a running service, for programs (--json) and for people (a table). */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { deskPlace, readKeys, SpendingLimit } from '@bellwether/sdk/keystore';
import { beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../cli-process.ts';
import { startTestService, type TestService, withTurns } from '../harness.ts';
import { dataFolder } from '../service-process.ts';
import { endingMarkets, type ManualClock, movingClock, resolveMarket } from '../world.ts';

const PASSPHRASE = 'correct horse battery staple';

let service: TestService;
let clock: ManualClock;
/** A newcomer's machine: a folder for the keystore, and its passphrase. */
let home: Record<string, string>;
/** The same agent, with its keys in the environment, which saves the passphrase's cost. */
let env: Record<string, string>;
let client: BellwetherClient;
let market: Market;
let begun: { agentId: string; walletAddress: string; solAddress: string; claimUrl: string };
let shown = '';

beforeAll(async () => {
  clock = movingClock();
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  home = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_PASSPHRASE: PASSPHRASE,
  };
  const { code, stdout, stderr } = await cli(['init', '--name', 'newcomer', '--json'], home);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  shown = stdout;
  begun = JSON.parse(stdout);
  const keys = await readKeys(deskPlace(home), PASSPHRASE);
  env = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: home.BELLWETHER_HOME as string,
    BELLWETHER_API_KEY: keys.apiKey,
    BELLWETHER_PRIVATE_KEY: keys.evm[0]?.privateKey as string,
    BELLWETHER_SOLANA_KEY: keys.solana?.secretKey as string,
    BELLWETHER_KEY_USE: 'paper',
  };
  client = new BellwetherClient({ baseUrl: service.url, apiKey: keys.apiKey });
  const found = await endingMarkets({ client });
  market = found[0] as Market;
});

/** The answer in JSON, of a run that did what it should. */
async function json(...args: readonly string[]) {
  const { code, stdout, stderr } = await cli([...args, '--json'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The text for people; other text goes to stderr. */
async function text(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args, env);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Both at a time: each of them is a process that has to start. */
const both = (...args: readonly string[]) => Promise.all([json(...args), text(...args)]);

const firstWords = (table: string): string[] => (table.split('\n', 1)[0] ?? '').split(/ {2,}/);

describe('init', () => {
  test('makes an agent with wallets, paper money and keys that only this user can read', async () => {
    expect(begun).toMatchObject({
      agentId: expect.any(String),
      name: 'newcomer',
      claimUrl: expect.stringContaining('/agents/claim/'),
      walletAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/i),
      paperBalance: expect.any(Number),
      todo: null,
    });
    const place = deskPlace(home);
    expect((begun as Record<string, unknown>).keys).toBe(place.keys);
    expect(statSync(place.keys).mode & 0o077).toBe(0);
    const me = await client.getMe();
    expect(me.simulationBalance).toBeGreaterThan(0);
    expect(me.solAddress).toBe(begun.solAddress);
  });

  test('shows no secret, and the keystore holds none in the clear', async () => {
    const file = readFileSync(deskPlace(home).keys, 'utf8');
    for (const secret of [env.BELLWETHER_API_KEY, env.BELLWETHER_PRIVATE_KEY, env.BELLWETHER_SOLANA_KEY])
      for (const place of [shown, file]) expect(place).not.toContain(String(secret).replace(/^0x/, ''));
  });

  test('once more finishes what is missing and leaves the rest', async () => {
    const { code, stdout } = await cli(['init', '--json'], home);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ...begun, claimUrl: null });
  });
});

describe('finding a market', () => {
  test('markets', async () => {
    const [found, table] = await both('markets', '--limit', '3', '--order', 'liquidity');
    expect(found).toHaveLength(3);
    expect(firstWords(table).slice(0, 2)).toEqual(['ID', 'QUESTION']);
    expect(table.trimEnd().split('\n')).toHaveLength(4);
  });

  test('market', async () => {
    const [found, table] = await both('market', market.id);
    expect(found).toMatchObject({ id: market.id, conditionId: market.conditionId });
    expect(table).toContain(market.conditionId);
    expect(table).toContain('Rules (written by others)');
  });

  test('context', async () => {
    const [found, table] = await both(
      'context',
      market.id,
      '--probability',
      '0.9',
      '--side',
      'buy',
      '--size',
      '5',
    );
    expect(found.edge.myProbability).toBe(0.9);
    expect(table).toMatch(/YES BID +SIZE +ASK +SIZE/);
  });
});

describe('trading', () => {
  test('buy and sell at once; each is a fill', async () => {
    const bought = await json('buy', market.id, 'YES', '--amount', '12', '--yes');
    expect(bought.trade).toMatchObject({ success: true, status: 'matched', orderId: bought.orderId });
    expect(bought).not.toHaveProperty('prepared.typedData');
    const { code, stdout, stderr } = await cli(
      ['sell', market.id, 'yes', '--size', '6.007692', '--yes'],
      env,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^status +matched\nfilled +6 shares/);
    expect(stderr).toContain(market.question.slice(0, 20));
    expect(stderr).toMatch(/not in it +0\.007692: .* stays in the wallet/);
  });

  test('a limit order rests, is listed, and is cancelled by its id', async () => {
    const order = await json(
      'buy',
      market.id,
      'NO',
      '--price',
      market.tickSize,
      '--size',
      '20',
      '--post-only',
      '--reasoning',
      'cheap',
      '--cancel-after',
      '1.5h',
      '--yes',
    );
    expect(order.trade.status).toBe('live');
    const [open, table] = await both('orders', '--market', market.id);
    expect(open.map((one: { orderId: string }) => one.orderId)).toEqual([order.orderId]);
    expect(table).toContain(order.orderId);
    const [one, story] = await both('orders', order.orderId);
    expect(one).toMatchObject({ reasoning: 'cheap', journal: expect.any(Array) });
    expect(Date.parse(one.cancelAt) - Date.parse(one.createdAt)).toBe(5_400_000);
    expect(story).toContain('No fills.');
    expect(await json('cancel', order.orderId)).toMatchObject({ canceled: [order.orderId] });
    const again = await cli(['cancel', order.orderId], env);
    expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('error: not_canceled') });
  });

  test('orders are cancelled by market, and all of them', async () => {
    for (const way of [['--market', market.id], ['--all']]) {
      const resting = ['buy', market.id, 'YES', '--price', market.tickSize, '--size', '20', '--yes'];
      const { orderId } = await json(...resting);
      expect(await text('cancel', ...way)).toBe(`Canceled 1:\n${orderId}\n`);
    }
    expect(await text('orders')).toContain('No open orders');
    expect((await json('orders', '--all', '--limit', '3')).length).toBe(3);
  });

  test('the same client order id is the same order', async () => {
    const args = [
      'buy',
      market.id,
      'YES',
      '--amount',
      '3',
      '--worst-price',
      '0.9',
      '--client-order-id',
      'once',
      '--yes',
    ];
    const [first, second] = [await json(...args), await json(...args)];
    expect(second.trade).toEqual(first.trade);
  });

  test('only checked: nothing is placed', async () => {
    const before = await json('orders', '--all');
    const [checked, line] = await Promise.all([
      json('buy', market.id, 'YES', '--amount', '3', '--validate-only'),
      cli(['buy', market.id, 'YES', '--amount', '3', '--validate-only'], env),
    ]);
    expect(checked).toMatchObject({ accepted: true });
    expect(checked).not.toHaveProperty('trade');
    expect(line).toMatchObject({
      code: 0,
      stdout: 'Checked: the desk would take this order. Nothing was signed or placed.\n',
    });
    expect(await json('orders', '--all')).toEqual(before);
  });
});

describe('what the agent has', () => {
  test('statement, and all its events in a new file', async () => {
    const [found, facts] = await both('statement', '--fifo');
    expect(found).toMatchObject({ method: 'fifo', totals: { notExplained: 0 }, isCurrent: true });
    expect(facts).toContain('not explained');
    expect(facts).toContain('BY CATEGORY');
    const file = join(dataFolder(), 'statement.csv');
    expect(await json('statement', '--csv', file)).toEqual({ file, events: found.eventsTotal });
    const lines = readFileSync(file, 'utf8').split('\r\n');
    expect(lines).toHaveLength(found.eventsTotal + 5);
    const again = await cli(['statement', '--csv', file], env);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not overwritten')]);
    expect(readFileSync(file, 'utf8').split('\r\n')).toEqual(lines);
  });

  test('positions, now, closed and expiring', async () => {
    const [held, table] = await both('positions', '--market', market.id);
    expect(held).toEqual([expect.objectContaining({ marketId: market.id, outcome: 'YES' })]);
    expect(firstWords(table).slice(0, 3)).toEqual(['MARKET ID', 'MARKET', 'OUTCOME']);
    expect(await text('positions', '--closed')).toBe('No such positions.\n');
    expect(await json('positions', '--expiring', '8000')).toHaveLength(1);
  });

  test('portfolio', async () => {
    const [found, table] = await both('portfolio');
    expect(found.positionsCount).toBe(1);
    expect(table).toMatch(/^balance, all venues +\d/);
  });

  // After what counts positions, and before the clock moves.
  test('buys in a market of version v2; with a name of its own it needs the time of the first try', async () => {
    const { id } = [...service.exchange.markets()].find(
      ({ version, status, bestAsk = 0 }) => version === 'v2' && status === 'open' && bestAsk > 100,
    )!;
    const buy = ['buy', id, 'YES', '--amount', '5', '--worst-price', '0.99', '--yes'];
    const { trade } = await json(...buy);
    expect(trade).toMatchObject({ success: true, orderVersion: 2, exchangeVersion: 3 });
    const named = [...buy, '--client-order-id', 'v2-of-the-cli'];
    const refused = await cli([...named, '--json'], env);
    expect([refused.code === 0, refused.stderr + refused.stdout]).toEqual([
      false,
      expect.stringContaining('--timestamp'),
    ]);
    const first = await json(...named, '--timestamp', '1780449126930');
    expect(first.trade.success).toBe(true);
    expect((await json(...named, '--timestamp', '1780449126930')).orderId).toBe(first.orderId);
    const ofV1 = await cli(['buy', market.id, 'YES', '--amount', '5', '--timestamp', '5', '--json'], env);
    expect(ofV1.stderr + ofV1.stdout).toContain('market of version v2');
  });

  test('briefing, and what changed since', async () => {
    const [found, table] = await both('briefing');
    expect(found.agent.agentId).toBe(begun.agentId);
    expect(table).toContain(begun.agentId);
    expect((await json('briefing', '--since', found.nextCursor)).recentTrades).toEqual([]);
  });
});

describe('limits', () => {
  test('safeguards with what is used, and the spending limit of this machine', async () => {
    const [found, table] = await both('limits');
    const trades = found.safeguards.find(({ name }: { name: string }) => name === 'maxTradesPerDay');
    expect(trades.used).toBeGreaterThan(0);
    expect(found.spending.spent).toBeGreaterThan(15);
    expect(table).toMatch(/maxTradesPerDay +\d+ +\d+/);
  });

  test('an order above the spending limit is not sent', async () => {
    const { spending } = await json('limits');
    // Only a person raises it: at a terminal, with the passphrase typed there.
    const alone = await cli(['limits', 'set-spending', '1000'], home);
    expect(alone).toMatchObject({ code: 6, stderr: expect.stringContaining('error: person_required') });
    expect((await json('limits')).spending).toEqual(spending);
    const limit = new SpendingLimit(deskPlace(env));
    const micro = (amount: number) => BigInt(Math.round(amount * 1_000_000));
    limit.setLimit(micro(spending.spent + 1));
    const before = await json('orders', '--all');
    const refused = await cli(['buy', market.id, 'YES', '--amount', '2', '--yes'], env);
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('error: spending_limit_reached'),
    });
    expect(await json('orders', '--all')).toEqual(before);
    limit.setLimit(micro(1000));
  });

  test('pause stops trades with the way back, and resume lifts it', async () => {
    expect(await json('pause')).toEqual({ tradingPaused: true, pausedByOwner: false });
    const refused = await cli(['buy', market.id, 'YES', '--amount', '2', '--yes', '--json'], env);
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stderr)).toEqual({
      error: expect.objectContaining({
        exitCode: 3,
        code: 'trading_paused',
        message: expect.any(String),
        fix: expect.stringContaining('bellwether resume'),
      }),
    });
    expect(await text('resume')).toBe('Trading is on.\n');
  });
});

describe('watch', () => {
  test('the events of the agent, a line of JSON each, resumable', async () => {
    const first = await cli(['watch', '--count', '2', '--json'], env);
    expect(first.code).toBe(0);
    const [ready, ...others] = first.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(ready).toMatchObject({ type: 'ready', data: { resumed: false } });
    expect(others).toHaveLength(1);
    await json('buy', market.id, 'YES', '--amount', '2', '--yes');
    const later = await cli(['watch', '--after', ready.cursor, '--count', '8'], env);
    expect(later.stdout).toMatch(/ fill {2}side BUY {2}outcome YES|fill {2}.*side BUY/);
    expect(later.stderr).toMatch(/^Continue with: bellwether watch --after e/);
    const broken = await cli(['watch', '--after', 'broken'], env);
    expect(broken.stderr).toContain('event_cursor_invalid');
    expect(broken.stderr).not.toContain('Continue with');
  });

  test('the books of a market', async () => {
    const lines = await text('watch', market.id, '--outcome', 'YES', '--count', '1');
    expect(lines).toMatch(
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}${market.id} YES( \\S.*)? {2}bid 0\\.\\d+ × `),
    );
    const { stdout } = await cli(['watch', market.id, '--outcome', 'NO', '--count', '1', '--json'], env);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'book', data: { tokenId: market.clobTokenIds[1] } });
  });
});

describe('venue B', () => {
  test('a quote, a purchase and a sale', async () => {
    const listed: Market[] = await json('markets', '--venue', 'kalshi', '--limit', '200');
    const found = listed.find(
      ({ bestBid, bestAsk }) => Number(bestBid) >= 0.2 && Number(bestAsk) <= 0.8,
    ) as Market;
    const [quote, table] = await both('quote', 'buy', found.id, 'YES', '--amount', '5');
    expect(quote).toMatchObject({ marketTicker: found.id, unsignedTransaction: expect.any(String) });
    expect(table).toMatch(/quoted: takes +\d/);
    const follow = ['follow'];
    const buy = json('trade', 'buy', found.id, 'YES', '--amount', '5', '--yes');
    const bought = await withTurns(service, follow, buy);
    expect(bought).toMatchObject({ status: 'filled', marketTicker: found.id });
    const sell = text('trade', 'sell', found.id, 'YES', '--size', '1', '--yes');
    expect(await withTurns(service, follow, sell)).toMatch(/status +filled/);
    expect(await text('trade', 'buy', found.id, 'YES', '--amount', '5', '--validate-only')).toContain(
      'Nothing was signed.',
    );
  });

  test('an identity that is missing is proved at a link of its own, and then it buys', async () => {
    const [{ id }] = (await json('markets', '--venue', 'kalshi', '--limit', '1')) as [Market];
    const buy = ['trade', 'buy', id, 'YES', '--amount', '5', '--validate-only'];
    Object.assign(service.sandbox.venue.switches, { kyc: 'required' });
    const { code, stderr } = await cli([...buy, '--json'], env);
    expect([code, JSON.parse(stderr).error.code]).toEqual([3, 'kyc_required']);
    expect(JSON.parse(stderr).error.fix).toContain('bellwether identity');
    const { wallet, link } = await json('identity');
    expect(wallet).toBe(begun.solAddress);
    expect((await fetch(link)).status).toBe(200);
    expect(await text(...buy)).toContain('Nothing was signed.');
    Object.assign(service.sandbox.venue.switches, { kyc: 'off', verifiedWallets: new Set() });

    const { BELLWETHER_KEY_USE: _, ...unmarked } = env;
    const real = await cli(['identity', '--redirect', 'https://agent.example/'], unmarked);
    const { origin, pathname, searchParams } = new URL(real.stdout);
    expect([origin + pathname, searchParams.get('wallet')]).toEqual(['https://dflow.net/proof', wallet]);
    expect(searchParams.get('redirect_uri')).toBe('https://agent.example/');
    const wrong = await cli(['identity', '--redirect', 'http://agent.example/'], unmarked);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('https:') });
  });
});

describe('the program', () => {
  test('has the version of the release', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await text('--version')).toBe(`${version}\n`);
  });
});

describe('full sets', () => {
  test('are split and merged once under a name, within the spending limit', async () => {
    const split = ['split', market.id, '4', '--client-order-id', 'cli-split', '--yes'];
    const first = await json(...split);
    expect(first).toMatchObject({ status: 'filled', amount: 4, clientOrderId: 'cli-split' });
    expect(await json(...split)).toEqual(first);
    const { spending: before } = await json('limits');
    expect(await json('split', market.id, '1', '--yes')).toMatchObject({ status: 'filled', amount: 1 });
    const { spending: after } = await json('limits');
    expect(after.spent - before.spent).toBeCloseTo(1, 6);
    expect(await json('merge', market.id, '5', '--yes')).toMatchObject({ status: 'filled', amount: 5 });
    const { code, stderr } = await cli(['merge', market.id, '1', '--yes'], env);
    expect(code).toBe(3);
    expect(stderr).toContain('0 pairs can be merged');
    const other = await cli(['split', market.id, '9', '--client-order-id', 'cli-split', '--yes'], env);
    expect(other.stderr).toContain('client_order_id_already_used');
  });
});

describe('exits', () => {
  test('a sale with a trigger is left with the desk, listed with its distance, and taken back', async () => {
    await json('split', market.id, '20', '--yes');
    const terms = ['sell', market.id, 'YES', '--size', '10', '--price', '0.05', '--yes'];
    const [checked, said] = await both(...terms, '--below', '0.05', '--validate-only');
    expect(checked).toMatchObject({ exit: { trigger: { kind: 'price_at_or_below', price: 0.05 } } });
    // A signature would be a valid SELL in the hands of the desk.
    expect(JSON.stringify(checked)).not.toMatch(/exitId|signature|0x[0-9a-f]{130}/);
    expect(said).toContain('Nothing was signed or left.');
    expect(await json('exits', '--all')).toEqual([]);
    const exit = await json(...terms, '--below', '0.05', '--group', 'position');
    expect(exit).toMatchObject({ status: 'armed', size: 10, worstPrice: 0.05, group: 'position' });
    const [listed, table] = await both('exits');
    expect(listed.map(({ exitId }: { exitId: string }) => exitId)).toEqual([exit.exitId]);
    expect(table).toContain('the book pays 0.05 or less for 10 shares');
    expect(await json('cancel-exit', exit.exitId)).toMatchObject({ status: 'canceled', because: 'by_agent' });
    expect(await text('exits')).toContain('No exit is left.');
  });
});

/** Last: time moves to the end of markets, and prepared orders have to be fresh. */
describe('redeem', () => {
  test('pays a resolved market once, and then all there is', async () => {
    await json('buy', market.id, 'NO', '--amount', '3', '--yes');
    await resolveMarket(service, clock, market.conditionId);
    const [redeemed] = await json('redeem', '--all');
    expect(redeemed).toMatchObject({ status: 'redeemed', conditionId: market.conditionId });
    expect(redeemed.redeemedAmount).toBeGreaterThan(0);
    expect(await json('redeem', market.id)).toMatchObject({ status: 'nothing_to_redeem' });
    expect(await text('redeem', '--all')).toBe('Nothing can be redeemed.\n');
  });
});
