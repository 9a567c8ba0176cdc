/** The sandbox forgets most of its past after two days, and keeps the rest. */
import { generateKeyPairSigner } from '@solana/kit';
import { expect, test } from 'vitest';
import { forgetHistory, HISTORY_SLOTS } from '../src/history.ts';
import { SLOT_MS } from '../src/solana/block-clock.ts';
import { openStage } from './stage.ts';

const SOL = 1_000_000_000n;

test('old transactions are forgotten, except recent, open and awaited ones', async () => {
  const stage = await openStage();
  const { sql } = stage;
  const { address } = await generateKeyPairSigner();
  const gifts = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => stage.chain.airdrop(address, SOL)));
  const order = (signature: string | undefined, status: string) => sql`
    insert into sandbox_orders (message_hash, status, kind, ticker, condition_id, outcome, wallet, recipient, refund,
      in_amount, min_out, last_valid_block_height, signature)
    values (${`hash of ${signature}`}, ${status}, 'BUY', 'T', 'c', 'YES', 'w', 'w', 'w', 1, 1, 1, ${signature ?? null})`;
  const forget = (awaited: string | null = null, signal = new AbortController().signal) =>
    forgetHistory({ sql, awaited, signal }, stage.chain.blocks().slot);
  const known = async (signatures: readonly string[]) =>
    (await stage.chain.statuses(signatures, true)).map((status) => status !== null);

  const old = await gifts(4);
  await order(old[0], 'open');
  await order(old[1], 'closed');
  const before = await stage.chain.transactionCount();
  const awaited = `select '${old[2]}'`;
  stage.clock.time += HISTORY_SLOTS * SLOT_MS;

  // The last blocks before a stop are never forgotten: they prove what landed.
  expect(await forget(awaited)).toBe(0);
  const recent = await gifts(1);
  expect(await forget(awaited)).toBe(0);
  stage.clock.time += SLOT_MS;
  expect(await forget(awaited, AbortSignal.abort())).toBe(0);
  expect(await forget(awaited)).toBe(before - 2);
  expect(await known([...old, ...recent])).toEqual([true, false, true, false, true]);
  const orders = await sql`select signature from sandbox_orders`;
  expect(orders.map((row) => row.signature)).toEqual([old[0]]);

  // No caller waits for it any more.
  await sql`update sandbox_orders set status = 'closed'`;
  expect(await forget()).toBe(2);
  expect(await known([...old, ...recent])).toEqual([false, false, false, false, true]);
  await stage.restart();
  expect(await stage.chain.transactionCount()).toBe(before + 1);
  expect((await stage.chain.account(address))?.lamports).toBe(5n * SOL);
});
