/** The CLOB door with the faults that its routes know of: delayed matches, and balances that lag behind. */
import { MICRO } from '@bellwether/contract/decimals';
import { exchangeDomains, nobleRecover } from '@bellwether/protocol';
import { AssetType, ClobClient, OrderType, Side } from '@polymarket/clob-client';
import { fastify } from 'fastify';
import { createWalletClient, custom } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  EXCHANGE_KEYS_SCHEMA,
  type FaultPlan,
  Faults,
  polymarketDoor,
  VenueKeys,
} from '../src/doors/polymarket/index.ts';
import { stage } from './open-exchange-stage.ts';

async function door(plan: Partial<FaultPlan>) {
  const { open, sql, clock } = await stage();
  // Keys are judged by real time.
  clock.time = Date.now();
  const exchange = await open();
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  const faults = new Faults(() => clock.time);
  const app = fastify();
  await app.register(polymarketDoor, {
    prefix: '/clob',
    exchange: () => exchange,
    keys: new VenueKeys({ sql, secret: new Uint8Array(32).fill(7) }),
    recover: nobleRecover,
    chainId: 137,
    domains: exchangeDomains(),
    now: () => clock.time,
    orderVersion: 1,
    gtdMinLeadS: 180,
    limitsSigners: true,
    guard: null,
    faults,
  });
  const host = `${await app.listen({ host: '127.0.0.1', port: 0 })}/clob`;
  onTestFinished(async () => {
    await app.close();
    await exchange.close();
  });
  const account = privateKeyToAccount(generatePrivateKey());
  const transport = custom({ request: () => Promise.reject(new Error('no chain here')) });
  const wallet = createWalletClient({ account, chain: polygon, transport });
  const creds = await new ClobClient(host, 137, wallet).createOrDeriveApiKey();
  const clob = new ClobClient(host, 137, wallet, creds);
  const funder = account.address.toLowerCase();
  await exchange.execute({ kind: 'deposit', account: funder, amount: 1_000n * MICRO });
  const market = [...exchange.markets()].find((one) => one.status === 'open' && one.tickSize === 100)!;
  const tokenID = market.tokenIds[0];
  const options = { tickSize: '0.01', negRisk: market.negRisk } as const;
  faults.set(plan);
  return { exchange, clob, clock, funder, tokenID, options };
}

test('a delayed order waits, cannot be cancelled or posted again, and then is matched once', async () => {
  const { exchange, clob, funder, tokenID, options } = await door({ delayedShare: 1, delayedMs: 1_500 });
  const order = await clob.createMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options);
  const posted = await clob.postOrder(order, OrderType.FAK);
  expect(posted).toMatchObject({
    success: true,
    errorMsg: '',
    orderID: expect.stringMatching(/^0x/),
    status: 'delayed',
    makingAmount: '',
    takingAmount: '',
  });
  const { orderID } = posted;
  expect(exchange.available(funder)).toBe(1_000n * MICRO);
  expect(await clob.getOrder(orderID)).toMatchObject({ id: orderID, status: 'DELAYED', size_matched: '0' });
  expect(await clob.cancelOrder({ orderID })).toEqual({
    canceled: [],
    not_canceled: { [orderID]: expect.any(String) },
  });
  expect(await clob.cancelAll()).toEqual({ canceled: [], not_canceled: {} });
  expect((await clob.postOrder(order, OrderType.FAK)).error).toContain('Duplicated');
  await vi.waitFor(async () => expect(await clob.getOrder(orderID)).toMatchObject({ status: 'MATCHED' }), {
    timeout: 30_000,
  });
  expect(await clob.getTrades()).toHaveLength(1);
  expect(exchange.available(funder)).toBeLessThanOrEqual(990n * MICRO);
  expect((await clob.postOrder(order, OrderType.FAK)).error).toContain('Duplicated');
  // An order that would rest is not delayed.
  const bid = await clob.createAndPostOrder({ tokenID, side: Side.BUY, price: 0.01, size: 10 }, options);
  expect(bid).toMatchObject({ status: 'live' });
});

test('a balance that lags is shown until its time is over, or until an update is asked for', async () => {
  const { clob, clock, tokenID, options } = await door({ balanceLagMs: 60_000 });
  const read = async () =>
    (await clob.getBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: tokenID })).balance;
  expect(await read()).toBe('0');
  const bought = await clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options);
  const shares = String(BigInt(Math.round(Number(bought.takingAmount) * 1e6)));
  expect(await read()).toBe('0');
  await clob.updateBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: tokenID });
  expect(await read()).toBe(shares);
  await clob.createAndPostMarketOrder({ tokenID, side: Side.SELL, amount: 5 }, options);
  expect(await read()).toBe(shares);
  clock.time += 61_000;
  expect(Number(await read())).toBeLessThan(Number(shares));
});
