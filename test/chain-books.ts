/** Compares the desk's quoted orders with the sandbox chain, to the micro-unit. */
import { USDC_MINT } from '@bellwether/protocol';
import type { QuotedOrderDetail } from '@bellwether/sdk';
import { expect } from 'vitest';
import type { Sql } from '../packages/server/src/platform/database/connection.ts';
import { type SandboxTrader, tokenAccounts } from './sandbox.ts';

const PAGE = 100;
const ENDED = ['filled', 'partially_filled', 'reverted', 'expired', 'failed', 'canceled'];
const micro = (value: number): bigint => BigInt(Math.round(value * 1e6));

/** Every order of the trader, with its fills. */
async function allOrders({ client }: SandboxTrader): Promise<QuotedOrderDetail[]> {
  const details: QuotedOrderDetail[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.venueB.orders({ limit: PAGE, offset });
    for (const { orderId } of page) details.push(await client.venueB.order(orderId));
    if (page.length < PAGE) return details;
  }
}

/** Waits until all of them are final. */
export async function allEnded(traders: readonly SandboxTrader[], timeoutMs = 60_000): Promise<void> {
  await expect
    .poll(
      async () => {
        const pages = await Promise.all(traders.map(({ client }) => client.venueB.orders({ limit: PAGE })));
        return pages.flat().filter(({ status }) => !ENDED.includes(status));
      },
      { timeout: timeoutMs, interval: 250 },
    )
    .toEqual([]);
}

/** The transactions that landed on the chain, and if each had an effect. */
async function landedOn(sql: Sql): Promise<ReadonlyMap<string, boolean>> {
  const rows = await sql<
    { signature: string; succeeded: boolean }[]
  >`select signature, err is null as succeeded from sandbox_transactions`;
  return new Map(rows.map(({ signature, succeeded }) => [signature, succeeded]));
}

function expectProof(order: QuotedOrderDetail, landed: ReadonlyMap<string, boolean>): void {
  const { status, txSignature, fills, reverts } = order;
  const own = landed.get(txSignature);
  const name = `${status} ${txSignature}`;
  if (status === 'expired' || status === 'canceled') expect(own, name).toBeUndefined();
  else if (status === 'failed') expect(own, name).not.toBe(true);
  else expect(own, name).toBe(true);
  for (const each of [...fills, ...reverts]) expect(landed.get(each.txSignature), name).toBe(true);
  expect(fills.length > 0, name).toBe(status === 'filled' || status === 'partially_filled');
  if (status === 'reverted') expect(reverts.length, name).toBeGreaterThan(0);
}

/**
 * Every order has an end that the chain proves, each is filled once, wallets hold exactly what their orders
 * say, and every landed transaction belongs to an order.
 * @param credited each wallet's paper money; `charged` subtracts the fees
 */
export async function expectChainToAgree(
  sql: Sql,
  traders: readonly SandboxTrader[],
  { credited = 10_000, charged = new Map<string, number>() } = {},
): Promise<QuotedOrderDetail[]> {
  const landed = await landedOn(sql);
  const accounts = await tokenAccounts(sql);
  const all: QuotedOrderDetail[] = [];
  for (const trader of traders) {
    const orders = await allOrders(trader);
    all.push(...orders);
    const money = micro(credited) - micro(charged.get(trader.wallet) ?? 0);
    const expected = new Map<string, bigint>([[USDC_MINT, money]]);
    const add = (mint: string, amount: bigint) => expected.set(mint, (expected.get(mint) ?? 0n) + amount);
    for (const order of orders) {
      expect(ENDED, order.orderId).toContain(order.status);
      expectProof(order, landed);
      const { action, inputMint, outputMint, filledSize, filledAmount, feePaid } = order;
      const isBuy = action === 'BUY';
      add(isBuy ? outputMint : inputMint, isBuy ? micro(filledSize) : -micro(filledSize));
      add(USDC_MINT, isBuy ? -micro(filledAmount) - micro(feePaid) : micro(filledAmount) - micro(feePaid));
    }
    const held = new Map<string, bigint>();
    for (const { owner, mint, amount } of accounts)
      if (owner === trader.wallet) held.set(mint, (held.get(mint) ?? 0n) + amount);
    const nonZero = (sums: ReadonlyMap<string, bigint>) => [...sums].filter(([, sum]) => sum !== 0n).sort();
    expect(nonZero(held), trader.wallet).toEqual(nonZero(expected));
    const positions = await trader.client.venueB.positions(trader.wallet);
    const tokens = nonZero(held).filter(([mint]) => mint !== USDC_MINT);
    expect(positions.map(({ mint, size }) => [mint, micro(size)]).sort(), trader.wallet).toEqual(tokens);
    const onChain = await sql`
      select signature from sandbox_orders where wallet = ${trader.wallet} and signature is not null`;
    const reported = orders.filter(({ txSignature }) => landed.has(txSignature));
    expect(onChain.map(({ signature }) => signature).sort()).toEqual(
      reported.map(({ txSignature }) => txSignature).sort(),
    );
  }
  return all;
}
