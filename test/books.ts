/** Compares what the desk says of agents with itself and with the exchange's ledger, to the micro-unit. */
import type { EngineEvent } from '@bellwether/exchange';
import { asAddress } from '@bellwether/protocol';
import { BellwetherClient } from '@bellwether/sdk';
import { expect } from 'vitest';
import { isInDoubt, isTerminal } from '../packages/server/src/domain/lifecycle.ts';
import type { FillRow, OrderRow } from '../packages/server/src/domain/records.ts';
import type { TestService, Trader } from './harness.ts';
import { micro } from './world.ts';

const PAGE = 100;
const CREDITED = 10_000_000_000n;
const EVERYWHERE = { except: [] };

export async function ordersOf({ needs }: TestService, agentId: string): Promise<OrderRow[]> {
  const rows: OrderRow[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await needs.orders.history(agentId, { limit: PAGE, offset });
    rows.push(...(await needs.orders.byIds(page.orders.map(({ orderId }) => orderId))));
    if (page.orders.length < PAGE) return rows;
  }
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/** Part of its day's amount that an order takes: for a finished BUY its cost, for an open order what was counted. */
function usedBy({ status, side, counted, cost, shares, filled }: OrderRow): bigint {
  if (!isTerminal(status)) return counted;
  return side === 'BUY' ? cost : counted - (counted * (shares > filled ? shares - filled : 0n)) / shares;
}

/** No order is in doubt; each one that reached the exchange is recorded at both, and counts once everywhere. */
export async function expectBooksToAgree(service: TestService, traders: readonly Trader[]): Promise<void> {
  for (const trader of traders) {
    const client = new BellwetherClient({ baseUrl: service.url, apiKey: trader.apiKey });
    const orders = await ordersOf(service, trader.agentId);
    expect(orders.filter(({ status }) => isInDoubt(status))).toEqual([]);
    for (const { orderId, errorCode } of orders) {
      const record = await service.exchange.orderRecord(orderId);
      // The exchange may at most refuse an order that it never received.
      const isRefusal = ({ kind, ...event }: EngineEvent): boolean =>
        kind === 'order_rejected' && 'reason' in event && event.reason === 'not_received';
      expect({ orderId, isReceived: record !== undefined && !record.events.every(isRefusal) }).toEqual({
        orderId,
        isReceived: errorCode !== 'not_received',
      });
    }
    await expectBudget(client, orders);
    await expectFills(service, trader, orders);
    await expectLedger(service, trader);
  }
}

async function expectBudget(client: BellwetherClient, orders: readonly OrderRow[]): Promise<void> {
  const [market] = await client.listMarkets({ q: '*', limit: 1 });
  const { safeguards } = await client.getMarketContext(market?.id ?? '');
  const counted = orders.filter(({ status, kind }) => status !== 'rejected' && kind !== 'merge');
  expect({
    trades: safeguards.tradesToday.used,
    amount: micro(safeguards.dailyTradeAmount.used),
  }).toEqual({ trades: counted.length, amount: sum(counted.map(usedBy)) });
}

/** Each order's fills add up to what its row says. */
async function expectFills(
  { needs }: TestService,
  { funder }: Trader,
  orders: readonly OrderRow[],
): Promise<void> {
  for (const { orderId, filled, cost, fees, outcome, kind } of orders) {
    const fills = filled === 0n ? [] : await needs.orders.fills(asAddress(funder), orderId);
    if (kind === 'convert') {
      expectConversion(fills, filled);
      continue;
    }
    expect({
      // A set is a share of each outcome.
      filled: sum(fills.map(({ size }) => size)) / (outcome === 'BOTH' ? 2n : 1n),
      cost: sum(fills.map((fill) => fill.cost)),
      fees: sum(fills.map(({ fee }) => fee)),
    }).toEqual({ filled, cost, fees });
  }
}

/** The NO shares of one market went, and as many YES shares of at least one other came for the same. */
function expectConversion(fills: readonly FillRow[], filled: bigint): void {
  if (filled === 0n) return;
  const [sold, ...made] = fills;
  expect(new Set(fills.map(({ size }) => size))).toEqual(new Set([filled]));
  expect(made.length).toBeGreaterThan(0);
  expect(sum(made.map(({ cost }) => cost))).toBe(sold?.cost);
}

/** Positions, money, and open orders are the exchange's. */
async function expectLedger({ needs, exchange }: TestService, { agentId, funder }: Trader): Promise<void> {
  const wallets = [asAddress(funder)];
  const account = exchange.account(funder);
  const [rows, results] = await Promise.all([
    needs.positions.held(wallets, EVERYWHERE),
    needs.positions.results(wallets, EVERYWHERE),
  ]);
  const held = new Map<string, bigint>();
  for (const [conditionId, { yes, no, yesHeld, noHeld }] of account.tokens) {
    if (yes + yesHeld > 0n) held.set(`${conditionId} YES`, yes + yesHeld);
    if (no + noHeld > 0n) held.set(`${conditionId} NO`, no + noHeld);
  }
  expect(new Map(rows.map(({ conditionId, outcome, size }) => [`${conditionId} ${outcome}`, size]))).toEqual(
    held,
  );
  const cost = sum(rows.map((row) => row.cost));
  expect(CREDITED - cost + results.realized - results.fees).toBe(account.available + account.held);
  const there = exchange.openOrders(funder).map(({ orderId }) => orderId);
  const open = await needs.orders.open(agentId, { limit: there.length + 1, offset: 0 });
  expect(new Set(open.orders.map(({ orderId }) => orderId))).toEqual(new Set(there));
}
