/**
 * Follows the transactions of quoted orders to their end. Until one is seen on the chain the same bytes are sent
 * again and again, until its blockhash is dead; then the venue is asked what it filled and what it sent back. Nothing
 * follows from silence. Any replica does this for any order, under leases; a crash leaves the row due.
 */
import { pollPause } from '../domain/amounts.ts';
import type { Job } from '../platform/scheduler.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { Landing } from '../venues/chain.ts';
import {
  type ExecutableQuote,
  isExecutable,
  landed,
  type OutcomeNeeds,
  progressed,
  reject,
} from './outcomes.ts';
import type { ChainOrderRow, QuoteRow } from './quote-store.ts';
import { isUnseen } from './submit.ts';

/** A look-up of signatures takes no more. */
const BATCH = 256;
const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = 500;
const RESEND_EVERY_MS = 2_000;
const SILENT_PAUSE_MS = 1_000;
/** Blocks beyond the last valid one before a transaction counts as dead: forks, and nodes that lag behind. */
const DEAD_AFTER_BLOCKS = 32;
/** Questions to the venue at a time. */
const ASK_AT_ONCE = 16;

/** @returns how many orders were looked after */
export async function followChainOrders(needs: OutcomeNeeds): Promise<number> {
  const at = needs.clock.now();
  const due = await needs.chainOrders.claim({ at, leaseMs: LEASE_MS, limit: BATCH });
  if (due.length === 0) return 0;
  const quotes = new Map(
    (await needs.quotes.byIds(due.map((row) => row.orderId))).map((one) => [one.quoteId, one]),
  );
  const orders = due.map((row) => ({ row, quote: requireQuote(quotes.get(row.orderId)) }));
  await Promise.all([
    followSending(
      needs,
      orders.filter(({ row }) => row.stage === 'sending'),
    ),
    followLanded(
      needs,
      orders.filter(({ row }) => row.stage === 'landed'),
    ),
  ]);
  return due.length;
}

interface FollowedOrder {
  readonly row: ChainOrderRow;
  readonly quote: ExecutableQuote;
}

function requireQuote(quote: QuoteRow | undefined): ExecutableQuote {
  if (quote === undefined || !isExecutable(quote)) throw new Error('a quoted order has no quote');
  return quote;
}

async function followSending(needs: OutcomeNeeds, orders: readonly FollowedOrder[]): Promise<void> {
  if (orders.length === 0) return;
  const { chain } = quotingVenue(needs).quotes;
  let height: number;
  let landings: ReadonlyMap<string, Landing>;
  try {
    // The height first: what is unseen after it was read, and too old at it, cannot land any more.
    height = await chain.blockHeight();
    landings = await chain.landings(signaturesOf(orders), false);
  } catch {
    await postpone(needs, orders, SILENT_PAUSE_MS);
    return;
  }
  const unseen = await settleSeen(needs, orders, landings);
  const isDead = ({ quote }: FollowedOrder) =>
    height > quote.transaction.lastValidBlockHeight + DEAD_AFTER_BLOCKS;
  const now = needs.clock.now();
  const isDue = ({ row, quote }: FollowedOrder) =>
    height <= quote.transaction.lastValidBlockHeight &&
    (row.sentAt === null || now - row.sentAt >= RESEND_EVERY_MS);
  const dead = unseen.filter(isDead);
  const alive = unseen.filter((one) => !isDead(one));
  await Promise.all([
    bury(needs, dead),
    resend(needs, alive.filter(isDue)).then(() => postpone(needs, alive, LOOK_AGAIN_MS)),
  ]);
}

const signaturesOf = (orders: readonly FollowedOrder[]): string[] => orders.map(({ row }) => row.signature);

/** Writes what the chain has seen. @returns the rest */
async function settleSeen(
  needs: OutcomeNeeds,
  orders: readonly FollowedOrder[],
  landings: ReadonlyMap<string, Landing>,
): Promise<FollowedOrder[]> {
  const unseen: FollowedOrder[] = [];
  await Promise.all(
    orders.map(async (order) => {
      const landing = landings.get(order.row.signature);
      if (landing?.kind === 'landed') await landed(needs, order.row);
      else if (landing?.kind === 'failed')
        await reject(needs, order.row, 'transaction_failed', { detail: landing.reason });
      else unseen.push(order);
    }),
  );
  return unseen;
}

/** One more look, into history too; then it is proved that nothing happened. */
async function bury(needs: OutcomeNeeds, orders: readonly FollowedOrder[]): Promise<void> {
  if (orders.length === 0) return;
  let landings: ReadonlyMap<string, Landing>;
  try {
    landings = await quotingVenue(needs).quotes.chain.landings(signaturesOf(orders), true);
  } catch {
    await postpone(needs, orders, SILENT_PAUSE_MS);
    return;
  }
  const unseen = await settleSeen(needs, orders, landings);
  // A signature that the answer leaves out is no proof.
  const gone = unseen.filter(({ row }) => landings.get(row.signature)?.kind === 'unseen');
  await Promise.all(gone.map(({ row }) => reject(needs, row, 'not_landed')));
}

async function resend(needs: OutcomeNeeds, orders: readonly FollowedOrder[]): Promise<void> {
  if (orders.length === 0) return;
  const now = needs.clock.now();
  const begun = await needs.chainOrders.beginSend(
    orders.map(({ row }) => row.orderId),
    now,
    now + LEASE_MS,
  );
  await Promise.all(
    orders
      .filter(({ row }) => begun.has(row.orderId))
      .map(async ({ row }) => {
        const answer = await quotingVenue(needs).quotes.chain.send(row.wire);
        // After an earlier send a refusal proves nothing: that one may have landed and be the very reason.
        if (answer.kind !== 'refused' || row.attempts > 0) return;
        if (!(await isUnseen(quotingVenue(needs), row.signature))) return;
        await reject(needs, { ...row, attempts: 1 }, 'refused_by_chain', { detail: answer.reason });
      }),
  );
}

async function followLanded(needs: OutcomeNeeds, orders: readonly FollowedOrder[]): Promise<void> {
  const failures: unknown[] = [];
  for (let i = 0; i < orders.length; i += ASK_AT_ONCE) {
    const some = orders.slice(i, i + ASK_AT_ONCE);
    // One order that cannot be recorded must not hold up the others.
    const turns = await Promise.allSettled(some.map((order) => followFills(needs, order)));
    failures.push(...turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : [])));
    const now = needs.clock.now();
    await needs.chainOrders.postpone(
      some.map(({ row }) => ({ orderId: row.orderId, dueAt: now + pollPause(now - (row.landedAt ?? now)) })),
    );
  }
  if (failures.length > 0) throw new AggregateError(failures, 'quoted orders were not recorded');
}

async function followFills(needs: OutcomeNeeds, { row, quote }: FollowedOrder): Promise<void> {
  const { inputMint, outputMint, inAmount } = quote.amounts;
  const progress = await quotingVenue(needs).quotes.progress({
    ...{ inputMint, outputMint, inAmount, signature: row.signature },
    lastValidBlockHeight: quote.transaction.lastValidBlockHeight,
  });
  if (progress.kind !== 'unknown') await progressed(needs, row, quote, progress);
}

const postpone = (needs: OutcomeNeeds, orders: readonly FollowedOrder[], pauseMs: number): Promise<void> => {
  const dueAt = needs.clock.now() + pauseMs;
  return needs.chainOrders.postpone(orders.map(({ row }) => ({ orderId: row.orderId, dueAt })));
};

/** Long enough to tell a late agent that its quote has expired; quotes come by the second. */
const QUOTE_KEPT_MS = 3_600_000;

export const quotingJobs = (needs: OutcomeNeeds): readonly Job[] => [
  { name: 'follow', everyMs: 300, run: () => followChainOrders(needs) },
  {
    name: 'sweep quotes',
    everyMs: 60_000,
    run: () => needs.quotes.sweep(needs.clock.now() - QUOTE_KEPT_MS),
  },
];
