/** Closing a position: what rests is canceled, what is held is sold within a named price, and what remains and guards it is said. */
import { join } from 'node:path';
import { BellwetherUsageError, closePosition, type Market } from '@bellwether/sdk';
import { deskPlace, readKeys } from '@bellwether/sdk/keystore';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cli } from '../cli-process.ts';
import { bidOf, exitOrder, hold } from '../exits.ts';
import {
  limitOrder,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { connect } from '../mcp-client.ts';
import { dataFolder } from '../service-process.ts';

let service: TestService;
let markets: Market[];
let market: Market;
let trader: Trader;
let place = 0;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  markets = await openMarkets((await newTrader(service)).client);
});
beforeEach(async () => {
  market = markets[place] as Market;
  place += 1;
  trader = await newTrader(service);
});

const tick = (price: number) => Math.round(price * 100) / 100;
/** Shares of YES alone: the other half is sold. */
async function holdYes(amount: number): Promise<void> {
  await hold(trader, market, amount);
  const { bids } = await trader.client.getOrderBook(market.clobTokenIds[1] as string);
  const price = String(tick(Number(bids[0]?.price) - 0.05));
  await trader.client.placeTrade(
    await limitOrder(trader, market, { outcome: 'NO', side: 'SELL', size: amount, type: 'FAK', price }),
  );
}
const options = (more: object = {}) => ({
  ...{ client: trader.client, signer: trader.signer, agentId: trader.agentId, market },
  ...{ signatureType: trader.signatureType, worstPrice: tick(bidOf(service, market) - 0.05) },
  ...more,
});

describe('with the SDK', () => {
  test('what rests is canceled, and all is sold within the worst price', async () => {
    await holdYes(20);
    const resting = await trader.client.placeTrade(
      await limitOrder(trader, market, { outcome: 'YES', side: 'SELL', size: 10, price: '0.98' }),
    );
    const closed = await closePosition(options());
    expect(closed.canceled?.canceled).toEqual([resting.orderId]);
    expect(closed.sale).toMatchObject({ status: 'placed', trade: { filledSize: 20 } });
    expect([closed.remains, closed.guards]).toEqual([[], []]);
    // Once more there is nothing to do.
    expect(await closePosition(options())).toMatchObject({ sale: null, canceled: { canceled: [] } });
  });

  test('what the book does not take at that price remains, with what guards it', async () => {
    await holdYes(20);
    const bid = bidOf(service, market);
    const trigger = { kind: 'price_at_or_above' as const, price: 0.98 };
    const { exitId } = await trader.client.leaveExit({
      ...(await exitOrder(trader, market, { worst: 0.98 })),
      trigger,
    });
    const closed = await closePosition(options({ worstPrice: tick(bid + 0.05) }));
    expect(closed.sale?.status).not.toBe('unknown');
    expect(closed.remains).toEqual([expect.objectContaining({ outcome: 'YES', size: 20 })]);
    expect(closed.guards.map((exit) => exit.exitId)).toEqual([exitId]);
  });

  test('of two outcomes asks which, before anything is done; without agreement nothing is done', async () => {
    await hold(trader, market, 20);
    const { orderId } = await trader.client.placeTrade(
      await limitOrder(trader, market, { outcome: 'YES', side: 'SELL', size: 10, price: '0.98' }),
    );
    await expect(closePosition(options())).rejects.toThrow(BellwetherUsageError);
    const declined = await closePosition(options({ outcome: 'YES', agree: () => false }));
    expect(declined).toMatchObject({ canceled: null, sale: null });
    expect((await trader.client.getOrder(orderId)).status).toBe('live');
  });

  test('a pause refuses the sale, and the answer says what was canceled all the same', async () => {
    await holdYes(20);
    const { orderId } = await trader.client.placeTrade(
      await limitOrder(trader, market, { outcome: 'YES', side: 'SELL', size: 10, price: '0.98' }),
    );
    await trader.client.updateSettings({ tradingPaused: true });
    const closed = await closePosition(options());
    expect(closed.canceled?.canceled).toEqual([orderId]);
    expect(closed.sale).toMatchObject({ status: 'refused', refusal: { code: 'trading_paused' } });
    expect(closed.remains).toMatchObject([{ outcome: 'YES', size: 20 }]);
  });
});

test('on the command line and by a tool: one outcome each, with what remains', async () => {
  const home = {
    ...{ BELLWETHER_URL: service.url, BELLWETHER_HOME: join(dataFolder(), 'keys') },
    BELLWETHER_PASSPHRASE: 'correct horse battery staple',
  };
  await cli(['init', '--name', 'closer', '--json'], home);
  const keys = await readKeys(deskPlace(home), home.BELLWETHER_PASSPHRASE);
  const env = {
    ...{ BELLWETHER_URL: service.url, BELLWETHER_HOME: home.BELLWETHER_HOME, BELLWETHER_KEY_USE: 'paper' },
    BELLWETHER_API_KEY: keys.apiKey,
    BELLWETHER_PRIVATE_KEY: keys.evm[0]?.privateKey as string,
  };
  await cli(['split', market.id, '20', '--yes'], env);
  expect(await cli(['close', market.id, '--yes'], env)).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('close needs --worst-price') },
  });
  const worst = String(tick(bidOf(service, market) - 0.05));
  const both = await cli(['close', market.id, '--worst-price', worst, '--yes'], env);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--outcome')]);
  const closing = ['close', market.id, '--outcome', 'YES', '--worst-price', worst, '--yes'];
  const closed = await cli(closing, env);
  expect({ code: closed.code, stderr: closed.code === 0 ? '' : closed.stderr }).toEqual({
    code: 0,
    stderr: '',
  });
  expect(closed.stdout).toMatch(/sold +20 shares/);
  expect(closed.stdout).toMatch(/still held +20 NO/);
  expect(closed.stdout).toMatch(/guarded by +nothing/);
  const model = await connect({ ...env, BELLWETHER_CONFIRM_ABOVE: '1000' }, { transport: 'http' });
  const answer = await model.call('close_position', { market: market.id, outcome: 'NO', worstPrice: 0.02 });
  expect(answer).toMatchObject({ sold: { placed: true, filledSize: 20 }, remains: [], exits: [] });
  await model.close?.();
});
